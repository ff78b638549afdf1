//! Finds directives in a kernel source.

use std::ops::Range;

/// The words that begin the parts of a `tp` directive.
const PARTS: [&str; 4] = ["name", "type", "range", "constraint"];

/// A directive and its place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Directive {
    /// The text after `#atf::` up to the first space: `tp`, `var::N`, `search_technique`.
    pub(super) name: String,
    /// The place of the whole directive.
    pub(super) span: Range<usize>,
    /// The place of the text after its name.
    pub(super) rest: Range<usize>,
    /// True if it stands in a comment, where a compiler does not see it.
    pub(super) in_comment: bool,
}

/// Returns `text` with its comment marks blanked byte for byte, so that places stay the same. These
/// are `//`, `/*`, `*` and `#` at the beginning of a line, `*/`, a `\` at the end of a line, and
/// everything after a further `//` or ` # `. A directive needs none of them. If the first directive
/// stands behind another mark (`--`, `!`, `%`, `;`), that one is blanked as well.
pub(super) fn without_comment_marks(text: &str) -> String {
    let mark = other_mark(text).unwrap_or("//");
    text.split_inclusive('\n').map(|line| clean_line(line, mark)).collect()
}

/// Returns the mark of comments before the first directive, if it is neither C's nor a shell's.
fn other_mark(text: &str) -> Option<&str> {
    let (before, _) = text.split_once("#atf::")?;
    let mark = before.rsplit('\n').next()?.trim();
    (!mark.is_empty() && mark.bytes().all(|byte| b"-!%;".contains(&byte))).then_some(mark)
}

fn clean_line(line: &str, other_mark: &str) -> String {
    let trimmed = line.trim_start();
    let run = |mark: u8| trimmed.bytes().take_while(|&byte| byte == mark).count();
    let leader: usize = match trimmed {
        _ if trimmed.starts_with("//") => run(b'/'),
        _ if trimmed.starts_with("/*") => 2,
        _ if trimmed.starts_with('*') && !trimmed.starts_with("*/") => 1,
        // A preprocessor's line has no blank behind its `#`.
        _ if trimmed[run(b'#')..].starts_with([' ', '\t']) => run(b'#'),
        _ if trimmed.starts_with(other_mark) => other_mark.len(),
        _ => 0,
    };
    let (head, tail) = line.split_at(line.len() - trimmed.len() + leader);
    let end = comment_start(tail).unwrap_or(tail.len());
    let end = tail[..end].trim_end().strip_suffix('\\').map_or(end, str::len);
    let blank = |text: &str| -> String { text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect() };
    format!("{}{}{}", blank(head), &tail[..end], blank(&tail[end..]))
}

/// Returns the place where a comment begins or ends outside of quotes.
fn comment_start(text: &str) -> Option<usize> {
    let mut quoted = false;
    let bytes = text.as_bytes();
    let is_blank = |at: usize| bytes.get(at).is_none_or(u8::is_ascii_whitespace);
    (0..bytes.len()).find(|&at| {
        quoted ^= bytes[at] == b'"';
        let of_c = || [&b"//"[..], b"/*", b"*/"].iter().any(|mark| bytes[at..].starts_with(mark));
        let of_a_shell = || bytes[at] == b'#' && at > 0 && is_blank(at - 1) && is_blank(at + 1);
        !quoted && (of_c() || of_a_shell())
    })
}

/// Brackets and quotes that are open at the end of a text. It is read in pieces, each once, so that a
/// bracket that nobody closes costs no more than the rest of the file.
#[derive(Clone, Copy, Debug, Default)]
struct Brackets {
    depth: i32,
    quoted: bool,
}

impl Brackets {
    fn read(&mut self, text: &str) {
        for c in text.chars() {
            self.quoted ^= c == '"';
            if !self.quoted {
                self.depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
            }
        }
    }
}

/// A text up to a place that only moves on, and the comment of C that is open there.
#[derive(Default)]
struct Comments {
    read: usize,
    open: Option<usize>,
    closed: Option<usize>,
}

impl Comments {
    /// Returns true if the text after `at` is inside a comment.
    fn at(&mut self, text: &str, at: usize) -> bool {
        let (from, more) = (self.read, &text[self.read..at]);
        self.open = more.rfind("/*").map(|place| from + place).or(self.open);
        self.closed = more.rfind("*/").map(|place| from + place).or(self.closed);
        self.read = at;
        let line = text[..at].rfind('\n').map_or(&text[..at], |newline| &text[newline + 1..at]);
        line.contains("//") || line.contains('#') || self.open.is_some_and(|open| self.closed < Some(open))
    }
}

/// Returns the directives of `clean`, which is `text` without comment marks.
pub(super) fn directives(text: &str, clean: &str) -> Vec<Directive> {
    let mut found: Vec<Directive> = Vec::new();
    let mut open: Option<(Directive, Brackets)> = None;
    let mut comments = Comments::default();
    let mut start = 0;
    let mut goes_on = false;
    for line in clean.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        let indent = line.len() - line.trim_start().len();
        if let Some(rest) = line.trim_start().strip_prefix("#atf::") {
            found.extend(open.take().map(|(directive, _)| directive));
            let name = directive_name(rest);
            let rest_start = start + indent + "#atf::".len() + name.len();
            let rest = rest_start..end.max(rest_start);
            let in_comment = comments.at(text, start + indent);
            let mut brackets = Brackets::default();
            brackets.read(&clean[rest.clone()]);
            let name = name.to_string();
            open = Some((Directive { name, span: start + indent..end, rest, in_comment }, brackets));
        } else if let Some((directive, brackets)) = &mut open {
            let so_far = &clean[directive.rest.clone()];
            if goes_on || brackets.depth > 0 || continues(so_far, line) {
                let end = end.max(directive.rest.end);
                brackets.read(&clean[directive.rest.end..end]);
                (directive.rest.end, directive.span.end) = (end, end);
            } else {
                found.extend(open.take().map(|(directive, _)| directive));
            }
        }
        goes_on = text[start..start + line.len()].trim_end().ends_with('\\');
        start += line.len();
    }
    found.extend(open.map(|(directive, _)| directive));
    found
}

/// Returns the name at the beginning of `rest`, including a `<T>`.
fn directive_name(rest: &str) -> &str {
    let mut angles = 0;
    let end = rest.find(|c: char| {
        angles += i32::from(c == '<') - i32::from(c == '>');
        angles == 0 && (c.is_whitespace() || c == '=' || c == '(')
    });
    &rest[..end.unwrap_or(rest.len())]
}

/// Returns true if `line` continues the directive so far, whose brackets are closed.
fn continues(so_far: &str, line: &str) -> bool {
    let line = line.trim();
    let first_word = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("");
    let joins = |text: &str, end: fn(&str, &str) -> bool| ["&&", "||", ","].into_iter().any(|sign| end(text, sign));
    !line.is_empty() && joins(so_far.trim_end(), |text, sign| text.ends_with(sign))
        || joins(line, |text, sign| text.starts_with(sign))
        || PARTS.contains(&first_word)
}

/// Returns the span without white space and quotes around it. A `"` inside keeps the quotes: they
/// belong to several texts then.
pub(super) fn unquoted(text: &str, span: Range<usize>) -> Range<usize> {
    let span = trimmed(text, span);
    let inside = text[span.clone()].strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inside.filter(|inside| !inside.contains('"')) {
        Some(inside) => trimmed(text, span.start + 1..span.start + 1 + inside.len()),
        None => span,
    }
}

/// Returns the parts of a `tp` directive: each word of [`PARTS`] outside of brackets, with the text
/// after it.
pub(super) fn parts(clean: &str, rest: Range<usize>) -> Vec<(&'static str, Range<usize>)> {
    let text = &clean[rest.clone()];
    let (mut brackets, mut read) = (Brackets::default(), 0);
    let part = |(at, word): (usize, &str)| {
        brackets.read(&text[read..at]);
        read = at;
        let part = PARTS.into_iter().find(|part| *part == word)?;
        (brackets.depth == 0 && !brackets.quoted).then_some((part, at))
    };
    let starts: Vec<(&'static str, usize)> = words(text).filter_map(part).collect();
    let end_of = |index: usize| starts.get(index + 1).map_or(text.len(), |(_, start)| *start);
    let spanned = |(index, &(part, start)): (usize, &(&'static str, usize))| {
        (part, trimmed(clean, rest.start + start + part.len()..rest.start + end_of(index)))
    };
    starts.iter().enumerate().map(spanned).collect()
}

/// Returns the whole lines that `span` touches.
pub(super) fn lines_of(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[span.end..].find('\n').map_or(text.len(), |newline| span.end + newline);
    start..end
}

/// Returns the span without the white space around it.
pub(super) fn trimmed(text: &str, span: Range<usize>) -> Range<usize> {
    let part = &text[span.clone()];
    let start = span.start + part.len() - part.trim_start().len();
    start..(start + part.trim().len()).max(start)
}

fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(move |c: char| !is_word(c)).map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bracket_that_nobody_closes_costs_one_pass_over_the_file() {
        // Reading the directive anew for each line or word would take minutes.
        let lines = "    x[i] = name + 1; // type\n".repeat(40_000);
        let text = format!("// #atf::tp name \"A\" range interval<int>(1, 2\n{lines}");
        let clean = without_comment_marks(&text);
        let found = directives(&text, &clean);
        assert_eq!((found.len(), found[0].rest.end), (1, clean.trim_end().len()));
        assert_eq!(parts(&clean, found[0].rest.clone()).len(), 2);
        let many = "/* #atf::var::N 1 */ \n".repeat(40_000);
        let found = directives(&many, &without_comment_marks(&many));
        assert!(found.len() == 40_000 && found.iter().all(|one| one.in_comment));
    }

    #[test]
    fn directives_are_found_in_comments_of_all_kinds_and_go_on_over_lines() {
        let text = "// #atf::var::M $1 // first\n/*\n * #atf::tp name \"A\"\n *   range interval<int>( 1,\n *     M )\n \
                    *   constraint divides(M) &&\n *     less_than(9)\n */\n#atf::search_technique x\n__kernel void f() {}\n";
        let clean = without_comment_marks(text);
        assert_eq!(clean.len(), text.len());
        let found = directives(text, &clean);
        assert_eq!(found.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["var::M", "tp", "search_technique"]);
        assert_eq!(found.iter().map(|one| one.in_comment).collect::<Vec<_>>(), [true, true, false]);
        let parts = parts(&clean, found[1].rest.clone());
        let texts: Vec<String> = parts
            .iter()
            .map(|(word, span)| {
                format!("{word}: {}", clean[span.clone()].split_whitespace().collect::<Vec<_>>().join(" "))
            })
            .collect();
        assert_eq!(texts, ["name: \"A\"", "range: interval<int>( 1, M )", "constraint: divides(M) && less_than(9)"]);
    }
}
