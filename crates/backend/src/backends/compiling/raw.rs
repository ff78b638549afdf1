//! Kernels inside of C++ raw string literals, as CLBlast and CLTune keep them: `R"(` stands on a line
//! before the kernel, and `)"` on one behind it, so that a C++ program can include the file.

/// Returns the source without the marks of its raw string literals, or `None` if it is no such file.
/// Blanks replace the marks, so that lines and columns stay. Outside of the literals, such a file has
/// only comments.
pub(super) fn unwrapped(source: &str) -> Option<String> {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    let mut literals = 0;
    while let Some(first) = rest.chars().next() {
        if let Some((mark, inside, behind)) = literal(rest) {
            text.extend(std::iter::repeat_n(' ', mark));
            text += inside;
            text.extend(std::iter::repeat_n(' ', mark - 1));
            (rest, literals) = (behind, literals + 1);
            continue;
        }
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/")? + 2,
            _ if first.is_whitespace() => first.len_utf8(),
            _ => return None,
        };
        text += &rest[..length];
        rest = &rest[length..];
    }
    (literals > 0).then_some(text)
}

/// Returns the raw string literal at the beginning of `text`: the length of its opening mark, what
/// it holds, and the text behind it. The closing mark is one shorter, since it has no `R`.
fn literal(text: &str) -> Option<(usize, &str, &str)> {
    /// The largest number of characters between the quote and the parenthesis.
    const DELIMITER: usize = 16;
    let (delimiter, inside) = text.strip_prefix("R\"")?.split_once('(')?;
    let is_delimiter = |c: char| !c.is_whitespace() && !matches!(c, ')' | '\\' | '"');
    if delimiter.len() > DELIMITER || !delimiter.chars().all(is_delimiter) {
        return None;
    }
    let (inside, behind) = inside.split_once(&format!("){delimiter}\""))?;
    Some((delimiter.len() + 3, inside, behind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_kernels_in_raw_literals_keep_their_lines() {
        let clblast = "// Part 1\n\nR\"(\n__kernel void a() {}\n)\"\n// Part 2\nR\"x(\n__kernel void b() { f(\")\"); }\n)x\" /* end */\n";
        let wanted = "// Part 1\n\n   \n__kernel void a() {}\n  \n// Part 2\n    \n__kernel void b() { f(\")\"); }\n    /* end */\n";
        assert_eq!(unwrapped(clblast).as_deref(), Some(wanted));
        assert_eq!(unwrapped("R\"(a)\"").as_deref(), Some("   a  "));
    }

    #[test]
    fn other_sources_are_no_such_files() {
        let other = [
            "__kernel void a() {}",
            "",
            "// R\"(\n",
            "const char *text = R\"(a)\";",
            "R\"(never closed",
            "R\"two words(a)two words\"",
            "/* open R\"(a)\"",
            "R\"(a)\" __kernel",
        ];
        for source in other {
            assert_eq!(unwrapped(source), None, "{source}");
        }
    }

    proptest! {
        #[test]
        fn what_is_wrapped_comes_back_in_its_place(body in "[a-z(){}\\n/* é]{0,40}", before in "(//[a-z ]{0,5}\\n){0,3}") {
            let wrapped = format!("{before}R\"--({body})--\"\n");
            let text = unwrapped(&wrapped).unwrap();
            let wanted = format!("{before}{}{body}{}\n", " ".repeat(5), " ".repeat(4));
            prop_assert_eq!(&text, &wanted);
            prop_assert_eq!(text.lines().count(), wrapped.lines().count());
        }
    }
}
