//! Finds the functions that a source file defines. It is a scan for messages, not a parser.

/// A function definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionDefinition {
    /// Its name.
    pub name: String,
    /// The parameters as written.
    pub parameters: Vec<String>,
}

/// Returns the functions that `source` defines at top level, in `extern "C"` and in namespaces.
/// Does not expand macros, so it misses functions that a macro defines.
pub fn functions(source: &str) -> Vec<FunctionDefinition> {
    let source = strip(source);
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut statement_start = 0;
    for (at, character) in source.char_indices() {
        match character {
            '{' => {
                let head = source[statement_start..at].trim();
                if depth == 0 && is_transparent(head) {
                    statement_start = at + 1;
                    continue;
                }
                if depth == 0 {
                    found.extend(definition(head));
                }
                depth += 1;
            }
            '}' => {
                depth = depth.saturating_sub(1);
                statement_start = at + 1;
            }
            ';' if depth == 0 => statement_start = at + 1,
            _ => {}
        }
    }
    found
}

/// Returns true if a block holds definitions rather than statements.
fn is_transparent(head: &str) -> bool {
    head.ends_with("extern \"\"") || head.split_whitespace().any(|word| word == "namespace")
}

/// Returns the function whose text before the body is `head`.
fn definition(head: &str) -> Option<FunctionDefinition> {
    // Attributes have parentheses too. The parameters are in the last ones.
    let close = head.rfind(')')?;
    let open = matching_open(&head[..close])?;
    let before = head[..open].trim_end();
    let result = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    let name = &before[result.len()..];
    if name.is_empty() || result.trim().is_empty() || result.contains('=') {
        return None;
    }
    Some(FunctionDefinition { name: name.to_owned(), parameters: split_parameters(&head[open + 1..close]) })
}

fn matching_open(text: &str) -> Option<usize> {
    let mut depth = 1;
    for (at, character) in text.char_indices().rev() {
        match character {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn split_parameters(text: &str) -> Vec<String> {
    let mut parameters = vec![String::new()];
    let mut depth = 0_i32;
    for character in text.chars() {
        match character {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth -= 1,
            _ => {}
        }
        if character == ',' && depth == 0 {
            parameters.push(String::new());
        } else if let Some(last) = parameters.last_mut() {
            last.push(character);
        }
    }
    let words = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let parameters: Vec<String> = parameters.iter().map(words).collect();
    if parameters == [""] || parameters == ["void"] { Vec::new() } else { parameters }
}

/// Returns the source without comments, contents of strings, and preprocessor lines.
fn strip(source: &str) -> String {
    let source = source.replace("\\\n", " ");
    let mut kept = String::with_capacity(source.len());
    let mut rest = source.as_str();
    while let Some(character) = rest.chars().next() {
        let line_start = kept.trim_end_matches([' ', '\t']).ends_with('\n') || kept.trim().is_empty();
        let skipped = match character {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '#' if line_start => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => literal_length(rest, character),
            _ => 0,
        };
        match (character, skipped) {
            (_, 0) => kept.push(character),
            ('"', _) => kept.push_str("\"\""),
            _ => kept.push(' '),
        }
        rest = &rest[if skipped == 0 { character.len_utf8() } else { skipped }..];
    }
    kept
}

/// Returns the length of a string or character literal, including its quotes.
fn literal_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return at,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(source: &str) -> Vec<String> {
        functions(source).into_iter().map(|function| function.name).collect()
    }

    #[test]
    fn letters_of_several_bytes_stand_anywhere() {
        assert_eq!(names("void\u{3000}gemm(int n) {}"), ["gemm"]);
        assert_eq!(names("int —f(int é) { é = 1; } »g() {} void h() {}"), ["f", "g", "h"]);
    }

    #[test]
    fn definitions_are_found_with_their_parameters() {
        let source = "
            #define TWICE(x) { x; x; }
            static inline float half(float x) { return x / 2; } // void hidden(int) {}
            __attribute__((noinline)) void gemm(const float *restrict a, int n,\n float (*f)(float, int)) {
                if (n) { half(1); }
            }
            void declared(int);
            int table[] = { 1, 2 };
            struct point { int x; };
            void none(void) { char c = '}'; const char *s = \"}\"; }
        ";
        let found = functions(source);
        let names: Vec<&str> = found.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["half", "gemm", "none"]);
        assert_eq!(found[1].parameters, ["const float *restrict a", "int n", "float (*f)(float, int)"]);
        assert!(found[2].parameters.is_empty());
    }

    #[test]
    fn extern_c_and_namespaces_are_looked_into() {
        let source = "extern \"C\" { void a() {} }\nnamespace inner { void b() {} }\nextern \"C\" void c(int) {}";
        assert_eq!(names(source), ["a", "b", "c"]);
    }

    #[test]
    fn a_template_counts_its_own_commas_only() {
        let found = functions("template <int A, int B> void k(std::array<int, 3> x, int y) { }");
        assert_eq!(found[0].parameters.len(), 2);
    }

    proptest! {
        #[test]
        fn any_text_is_scanned_without_panic(text in "[a-z{}()\"'/*#\\\\\n ;,é]{0,60}") {
            functions(&text);
        }
    }
}
