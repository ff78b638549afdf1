//! Translates the C++ of ATF's directives to expressions.

use super::lambda;
use tunesmith_space::alias::Alias;

/// The context of an expression in a directive.
pub(super) struct Translator<'a> {
    /// The parameter that aliases and lambdas refer to, if there is one.
    pub(super) parameter: Option<&'a str>,
    /// True if numbers are whole, so that `/` rounds down. C++ rounds towards zero, which is the
    /// same for numbers that are not negative.
    pub(super) whole_numbers: bool,
}

/// Types that may stand in casts.
const TYPES: &[&str] = &[
    "int", "unsigned", "size_t", "long", "short", "char", "bool", "float", "double", "cl_int", "cl_uint", "cl_ulong",
    "int32_t", "int64_t", "uint32_t", "uint64_t", "auto",
];

impl Translator<'_> {
    /// Returns the expression that `text` means.
    ///
    /// Fails if brackets do not match, if a lambda is more than an expression, or if an alias has no
    /// parameter.
    pub(super) fn expression(&self, text: &str) -> Result<String, String> {
        check_nesting(text)?;
        self.within(text, DEEPEST)
    }

    /// Translates `text`, a part of an expression in which `left` more levels may follow. Quotes, casts
    /// and lambdas hide levels from [`check_nesting`], so that every level counts itself.
    fn within(&self, text: &str, left: usize) -> Result<String, String> {
        let left = left.checked_sub(1).ok_or_else(too_deep)?;
        if let Some((condition, then, otherwise)) = ternary(text)? {
            let [condition, then, otherwise] = [condition, then, otherwise].map(|part| self.within(part, left));
            return Ok(format!("(({}) if ({}) else ({}))", then?, condition?, otherwise?));
        }
        if mixes_bits_and_comparisons(text) {
            return Err("in C++, `&`, `|` and `^` bind looser than comparisons: write parentheses".to_string());
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if first.is_ascii_alphabetic() || first == '_' {
                rest = self.word(rest, &mut out, left)?;
            } else if first.is_ascii_digit() {
                rest = number(rest, &mut out);
            } else if first == '[' {
                rest = self.lambda(rest, &mut out, left)?;
            } else if first == '(' {
                let (inside, after) = bracket(rest)?;
                if TYPES.contains(&inside.trim()) {
                    // A cast does not change the value here.
                } else {
                    out.push_str(&format!("({})", self.arguments(inside, left)?));
                }
                rest = after;
            } else if first == '"' {
                let end = rest[1..].find('"').ok_or("a quote is not closed")? + 2;
                out.push_str(&rest[..end]);
                rest = &rest[end..];
            } else if first == '/' && self.whole_numbers && !rest.starts_with("//") {
                out.push_str("//");
                rest = &rest[1..];
            } else {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
            if out.len() > LONGEST {
                return Err("the expression is too long once its lambdas are replaced".to_string());
            }
        }
        Ok(out)
    }

    fn arguments(&self, inside: &str, left: usize) -> Result<String, String> {
        let parts = split(inside)?.into_iter().map(|part| self.within(part, left));
        Ok(parts.collect::<Result<Vec<String>, String>>()?.join(", "))
    }

    /// Translates a name with its arguments. Returns the text after it.
    fn word<'t>(&self, text: &'t str, out: &mut String, left: usize) -> Result<&'t str, String> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
        let end = text.find(|c: char| !is_name(c)).unwrap_or(text.len());
        // A single colon belongs to the text after it.
        let end = text[..end].find(':').filter(|&at| !text[at..].starts_with("::")).unwrap_or(end);
        let (name, rest) = (text[..end].trim_end_matches(':'), &text[end..]);
        let name = name.rsplit_once("std::").map_or(name, |(_, name)| name);
        if let Some(limit) = name.strip_prefix("atf::ocl::").or_else(|| name.strip_prefix("atf::cuda::")) {
            out.push_str(&device_limit(limit));
            return Ok(rest);
        }
        let name = name.strip_prefix("atf::").unwrap_or(name);
        if name == "static_cast" {
            return Ok(rest.find('>').map_or(rest, |close| &rest[close + 1..]));
        }
        let is_alias = Alias::named(name, "1").is_some();
        if !(is_alias && rest.trim_start().starts_with('(')) {
            out.push_str(name);
            return Ok(rest);
        }
        let (inside, after) = bracket(rest.trim_start())?;
        let parameter = self.parameter.ok_or_else(|| format!("`{name}` needs a tuning parameter"))?;
        let alias = Alias::named(name, &self.within(inside.trim(), left)?);
        let text = alias.map(|alias| alias.text(parameter)).unwrap_or_default();
        out.push_str(&format!("({text})"));
        Ok(after)
    }

    /// Translates `[](auto i){ return CONDITION; }` to the condition on the parameter. The body may
    /// have more statements, as [`lambda`] says. Returns the text after it.
    fn lambda<'t>(&self, text: &'t str, out: &mut String, left: usize) -> Result<&'t str, String> {
        let (_, rest) = bracket(text)?;
        let (arguments, rest) = bracket(rest.trim_start())?;
        let body_start = rest.find('{').ok_or("a lambda needs a body in braces")?;
        let (body, rest) = bracket(&rest[body_start..])?;
        let own = arguments.split_whitespace().last().map(|name| name.trim_matches(['&', '*'])).unwrap_or("");
        let value = lambda::value(body)?;
        let parameter = self.parameter.ok_or("a lambda needs a tuning parameter")?;
        out.push_str(&format!("({})", self.within(&renamed(&value, own, parameter), left)?));
        Ok(rest)
    }
}

/// Maximum number of brackets, branches and lambdas inside of each other. Expressions are no deeper, and
/// hostile texts must not exhaust the stack.
pub(super) const DEEPEST: usize = 100;

/// Maximum length of a translated expression. A lambda may contain others, each of which grows.
const LONGEST: usize = 1 << 18;

/// Returns the fault of a text with more than [`DEEPEST`] levels.
pub(super) fn too_deep() -> String {
    format!("nested more than {DEEPEST} deep")
}

/// Fails if brackets or branches are nested too deeply, at the cost of one look at the text.
fn check_nesting(text: &str) -> Result<(), String> {
    let (mut depth, mut deepest) = (0_usize, text.matches('?').count());
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest > DEEPEST { Err(too_deep()) } else { Ok(()) }
}

/// Returns true if an operand of `&&` and `||` has both operators of bits and comparisons outside of
/// brackets. C++ and Python would read it in different ways.
fn mixes_bits_and_comparisons(text: &str) -> bool {
    let (mut bits, mut compares) = (false, false);
    let found = outside_with(text, |at| {
        let (before, here) = (&text[..at], &text[at..]);
        let starts = |signs: &[&str]| signs.iter().any(|sign| here.starts_with(sign));
        if starts(&["&&", "||", ",", "?"]) {
            (bits, compares) = (false, false);
        } else if starts(&["&", "|", "^"]) && !before.ends_with(['&', '|']) {
            bits = true;
        } else if starts(&["==", "!=", "<=", ">=", "< ", "> "]) && !before.ends_with(['<', '>', '-']) {
            compares = true;
        }
        bits && compares
    });
    found.is_some()
}

/// Limits that ATF calls by OpenCL's names or by abbreviations of them, with our names.
const LIMITS: [(&str, &str); 6] = [
    ("max_wi_size", "max_work_item_size"),
    ("max_wg_size", "max_work_group_size"),
    ("max_compute_units", "compute_units"),
    ("local_mem_size", "local_memory"),
    ("global_mem_size", "global_memory"),
    ("max_clock_frequency", "clock_mhz"),
];

/// Returns the name of a device limit in expressions.
fn device_limit(name: &str) -> String {
    let full = LIMITS.iter().fold(name.to_string(), |name, (theirs, ours)| name.replace(theirs, ours));
    format!("device.{full}")
}

/// Copies a number without the suffix of its type. Returns the text after it.
fn number<'t>(text: &'t str, out: &mut String) -> &'t str {
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let mut previous = ' ';
    let belongs = |c: char| {
        let exponent_sign = (c == '+' || c == '-') && matches!(previous, 'e' | 'E') && !hexadecimal;
        previous = c;
        c.is_ascii_alphanumeric() || c == '.' || c == '\'' || exponent_sign
    };
    let mut belongs = belongs;
    let end = text.find(|c: char| !belongs(c)).unwrap_or(text.len());
    let digits = if hexadecimal {
        text[..end].trim_end_matches(['u', 'U', 'l', 'L'])
    } else {
        text[..end].trim_end_matches(['u', 'U', 'l', 'L', 'f', 'F'])
    };
    out.push_str(&digits.replace('\'', ""));
    &text[end..]
}

/// Returns the parts of `condition ? then : otherwise`, or `None` if `text` has no `?` outside of
/// brackets.
fn ternary(text: &str) -> Result<Option<(&str, &str, &str)>, String> {
    let Some(question) = outside(text, |rest| rest.starts_with('?')) else { return Ok(None) };
    let rest = &text[question + 1..];
    let mut nested = 0;
    let colon = outside_with(rest, |at| {
        let here = &rest[at..];
        let part_of_two = here.starts_with("::") || rest[..at].ends_with(':');
        nested += i32::from(here.starts_with('?'));
        let found = here.starts_with(':') && !part_of_two && nested == 0;
        nested -= i32::from(here.starts_with(':') && !part_of_two && !found);
        found
    });
    let colon = colon.ok_or("`?` has no `:`")?;
    Ok(Some((&text[..question], &rest[..colon], &rest[colon + 1..])))
}

/// Returns the parts of `text` between commas outside of brackets.
pub(super) fn split(text: &str) -> Result<Vec<&str>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(comma) = outside(rest, |rest| rest.starts_with(',')) {
        parts.push(rest[..comma].trim());
        rest = &rest[comma + 1..];
    }
    if !rest.trim().is_empty() || !parts.is_empty() {
        parts.push(rest.trim());
    }
    Ok(parts)
}

/// Returns the first place outside of brackets and quotes for which `found` is true.
pub(super) fn outside(text: &str, found: impl Fn(&str) -> bool) -> Option<usize> {
    outside_with(text, |at| found(&text[at..]))
}

fn outside_with(text: &str, mut found: impl FnMut(usize) -> bool) -> Option<usize> {
    let (mut depth, mut quoted) = (0_i32, false);
    for (at, c) in text.char_indices() {
        quoted ^= c == '"';
        if quoted {
            continue;
        }
        depth += i32::from("([{".contains(c));
        if depth == 0 && found(at) {
            return Some(at);
        }
        depth -= i32::from(")]}".contains(c));
    }
    None
}

/// Returns the inside of the bracket at the beginning of `text`, and the text after the bracket.
pub(super) fn bracket(text: &str) -> Result<(&str, &str), String> {
    let first = text.chars().next().filter(|c| "([{".contains(*c)).ok_or("a bracket is missing")?;
    let (mut depth, mut quoted) = (0_i32, false);
    for (at, c) in text.char_indices() {
        quoted ^= c == '"';
        if quoted {
            continue;
        }
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        if depth == 0 {
            return Ok((&text[1..at], &text[at + 1..]));
        }
    }
    Err(format!("`{first}` is not closed"))
}

/// Returns `text` with every word `from` replaced by `to`.
pub(super) fn renamed(text: &str, from: &str, to: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let end = rest[start..].find(|c| !is_word(c)).map_or(rest.len(), |length| start + length);
        out.push_str(&rest[..start]);
        out.push_str(if &rest[start..end] == from { to } else { &rest[start..end] });
        rest = &rest[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lambdas_inside_of_lambdas_cannot_grow_without_end() {
        // Each has ten times the one before it.
        let grown = |inner: &str| {
            let calls = ["y"; 10].join(" + ");
            format!("[](auto i){{ auto y = {inner}; return {calls}; }}")
        };
        let deep = (0..12).fold("i".to_string(), |inner, _| grown(&inner));
        let refused = Translator { parameter: Some("P"), whole_numbers: true }.expression(&deep).unwrap_err();
        assert!(refused.contains("too long"), "{refused}");
    }

    fn translated(text: &str) -> String {
        Translator { parameter: Some("P"), whole_numbers: true }.expression(text).unwrap()
    }

    #[test]
    fn aliases_lambdas_and_operators_become_expressions() {
        assert_eq!(translated("multiple_of( A*B ) && less_than_or_eq(N/2)"), "(P % (A*B) == 0) && (P <= (N//2))");
        assert_eq!(translated("[](auto i){ return i % X == 0; }"), "(P % X == 0)");
        assert_eq!(translated("[&](auto i){ auto y = N/i; return y % 2 == 0; }"), "((N//P) % 2 == 0)");
        assert_eq!(
            translated("[&](auto i){ if (i > 2) return A; return B; }"),
            "(((( (A) ) if ((P > 2) ) else ( (B)))))"
        );
        assert_eq!(translated("(P & (P - 1)) == 0 && static_cast<int>(P) & 4"), "(P & (P - 1)) == 0 && (P) & 4");
        assert_eq!(translated("!atf::divides(N) || (P > 16u)"), "!((N) % P == 0) || (P > 16)");
        assert_eq!(translated("A?B?1:2:3"), "((((1) if (B) else (2))) if (A) else (3))");
        assert_eq!(translated("std::max((size_t)A, static_cast<int>(B))"), "max(A, (B))");
        assert_eq!(translated("P <= atf::ocl::max_wi_size_0"), "P <= device.max_work_item_size_0");
        assert_eq!(translated("1.5f * 0x1fUL + 1e-3"), "1.5 * 0x1f + 1e-3");
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        let refused =
            |text: &str| Translator { parameter: Some("P"), whole_numbers: true }.expression(text).unwrap_err();
        assert_eq!(refused("divides(N"), "`(` is not closed");
        assert!(refused("[](auto i){ ++i; return i; }").contains("`++i` is not supported"));
        assert_eq!(refused("A ? B"), "`?` has no `:`");
        assert!(refused(&format!("{}1{}", "(".repeat(50_000), ")".repeat(50_000))).contains("nested more than 100"));
        assert!(refused(&"A ? B : ".repeat(50_000)).contains("nested more than 100"));
        // Brackets in quotes close nothing, and a cast may begin in a quote.
        let hidden = |open: &str| format!("{}1{}", open.repeat(1_000), ")".repeat(1_000));
        assert!(refused(&hidden("(\")\"+")).contains("nested more than 100"));
        assert!(refused(&format!("static_cast\">{}", hidden("(\")\"+"))).contains("nested more than 100"));
        assert!(refused("P & 1 == 0").contains("write parentheses"));
        assert!(refused("A && (P < 3 | B)").contains("write parentheses"));
    }
}
