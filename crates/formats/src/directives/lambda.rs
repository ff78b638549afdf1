//! Reduces the body of a lambda to one expression.

use super::translate::{bracket, outside, renamed, split};

/// Maximum length of an expression. A variable that occurs twice doubles what it stands for.
const LONGEST: usize = 1 << 14;

/// Maximum number of statements in a row or inside of each other.
const MOST: usize = 100;

const SUPPORTED: &str = "a lambda may declare variables (`auto y = N / x;`), may have `if (..) return ..; else ..`, \
                         and ends with `return`";

/// Returns the expression, in C++, that the statements of `body` compute. Variables are replaced by
/// their values, and branches become `condition ? value : value`.
pub(super) fn value(body: &str) -> Result<String, String> {
    block(body, MOST)
}

fn block(text: &str, left: usize) -> Result<String, String> {
    let text = text.trim();
    let Some(left) = left.checked_sub(1).filter(|_| text.len() <= LONGEST) else {
        return Err("the lambda is too long once its variables are replaced".to_string());
    };
    if text.is_empty() {
        return Err(format!("a path through the lambda has no `return`; {SUPPORTED}"));
    }
    if let Some(rest) = keyword(text, "if") {
        return branch(rest, left);
    }
    if text.starts_with('{') {
        let (inside, rest) = bracket(text)?;
        return nothing_behind(rest).and_then(|()| block(inside, left));
    }
    let (statement, rest) = statement(text)?;
    match keyword(statement, "return") {
        Some(value) => nothing_behind(rest).map(|()| value.trim().to_string()),
        None => {
            let (name, value) = declaration(statement)?;
            block(&renamed(rest, name, &format!("({value})")), left)
        }
    }
}

/// Reads what follows `if`. Both ways return.
fn branch(text: &str, left: usize) -> Result<String, String> {
    let (condition, rest) = bracket(text.trim_start())?;
    let (then, rest) = part(rest)?;
    let otherwise = match keyword(rest.trim_start(), "else") {
        Some(otherwise) => otherwise,
        None => rest,
    };
    Ok(format!("(({condition}) ? ({}) : ({}))", block(then, left)?, block(otherwise, left)?))
}

/// Returns a block in braces or one statement, and the text behind it.
fn part(text: &str) -> Result<(&str, &str), String> {
    let text = text.trim_start();
    if text.starts_with('{') {
        return bracket(text);
    }
    let (one, rest) = statement(text)?;
    // The statement keeps its semicolon.
    Ok((&text[..one.len() + 1], rest))
}

/// Returns the text up to the next semicolon, and the text behind it.
fn statement(text: &str) -> Result<(&str, &str), String> {
    let end = outside(text, |rest| rest.starts_with(';'));
    let end = end.ok_or_else(|| format!("`{}` ends without `;`; {SUPPORTED}", text.trim()))?;
    Ok((&text[..end], &text[end + 1..]))
}

/// Returns name and value of `auto y = N / x` or `const int y(N / x)`.
fn declaration(statement: &str) -> Result<(&str, &str), String> {
    let refused = || format!("`{}` is not supported; {SUPPORTED}", statement.trim());
    let equals = outside(statement, |rest| rest.starts_with('='));
    let equals = equals.filter(|at| !statement[at + 1..].starts_with('=')).ok_or_else(refused)?;
    let (left, value) = (statement[..equals].trim(), statement[equals + 1..].trim());
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (kind, name) = left.split_at(left.trim_end_matches(is_word).len());
    let is_type = |c: char| is_word(c) || c.is_whitespace() || matches!(c, ':' | '&' | '<' | '>');
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if kind.trim().is_empty() || !kind.chars().all(is_type) || !is_name || split(value)?.len() != 1 {
        return Err(refused());
    }
    Ok((name, value))
}

/// Returns the text behind the word `word` at the beginning of `text`.
fn keyword<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(word)?;
    (!rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')).then_some(rest)
}

fn nothing_behind(rest: &str) -> Result<(), String> {
    if rest.trim().is_empty() { Ok(()) } else { Err(format!("`{}` stands behind a `return`", rest.trim())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_several_bytes_are_refused() {
        for text in ["autoܳy = 3; return y;", "auto ܳ = 3; return 1;", "r   eturn (N / WPT) %ܳS = 1;", "ܳy = 3; return y;"]
        {
            assert!(value(text).unwrap_err().contains("is not supported"), "{text}");
        }
    }

    #[test]
    fn variables_are_replaced_by_their_values() {
        assert_eq!(value("return i % X == 0;").as_deref(), Ok("i % X == 0"));
        assert_eq!(value("auto y = N/x; return y % 2 == 0;").as_deref(), Ok("(N/x) % 2 == 0"));
        let chained = "const std::size_t a = x + 1;\n int b = a * a; return b < yb && b != a;";
        assert_eq!(value(chained).as_deref(), Ok("((x + 1) * (x + 1)) < yb && ((x + 1) * (x + 1)) != (x + 1)"));
    }

    #[test]
    fn branches_become_conditional_expressions() {
        let text = "if (x > 4) { int y = x / 2; return y; } else if (x == 0) return N; return 1;";
        assert_eq!(value(text).as_deref(), Ok("((x > 4) ? ((x / 2)) : (((x == 0) ? (N) : (1))))"));
    }

    #[test]
    fn what_is_not_supported_is_told_with_what_is() {
        let refused = |text: &str| value(text).unwrap_err();
        assert!(refused("for (int i = 0; i < x; ++i) {} return 1;").contains("is not supported; a lambda may declare"));
        assert!(refused("y = 3; return y;").starts_with("`y = 3` is not supported"));
        assert!(refused("int y = 1, z = 2; return y;").starts_with("`int y = 1, z = 2` is not supported"));
        assert!(refused("int y += 1; return y;").starts_with("`int y += 1` is not supported"));
        assert!(refused("if (x > 1) return 1;").starts_with("a path through the lambda has no `return`"));
        assert!(refused("return 1; return 2;").contains("stands behind a `return`"));
        assert!(refused("return 1").starts_with("`return 1` ends without `;`"));
        assert!(refused("").contains("no `return`"));
    }

    #[test]
    fn a_lambda_that_doubles_without_end_is_refused() {
        let doubling: String = (0..40).map(|i| format!("int a{} = a{i} + a{i}; ", i + 1)).collect();
        assert!(value(&format!("{doubling} return a40;")).unwrap_err().contains("too long"));
        let many: String = (0..200).map(|i| format!("int a{i} = 1; ")).collect();
        assert!(value(&format!("{many} return 1;")).unwrap_err().contains("too long"));
    }
}
