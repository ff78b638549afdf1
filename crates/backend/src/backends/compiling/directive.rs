//! Directives of the preprocessor that name files.

/// The name of an included file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncludedFile<'a> {
    /// `#include "NAME"`.
    Quoted(&'a str),
    /// `#include <NAME>`.
    Angled(&'a str),
    /// A macro gives the name.
    Computed,
}

impl<'a> IncludedFile<'a> {
    /// Reads a line that includes a file.
    pub fn read(line: &'a str) -> Option<Self> {
        let rest = line.trim_start().strip_prefix('#')?.trim_start();
        let rest = rest.strip_prefix("include_next").or_else(|| rest.strip_prefix("include"))?.trim_start();
        let between = |open, close| rest.strip_prefix(open)?.split(close).next();
        Some(match (between('"', '"'), between('<', '>')) {
            (Some(name), _) => Self::Quoted(name),
            (None, Some(name)) => Self::Angled(name),
            (None, None) => Self::Computed,
        })
    }

    /// Returns the name, unless a macro gives it.
    pub(crate) fn name(self) -> Option<&'a str> {
        match self {
            Self::Quoted(name) | Self::Angled(name) => Some(name),
            Self::Computed => None,
        }
    }
}

/// Returns the directive with which compilers count the lines behind it from 1, as those of the file
/// `name`. The name is a literal there.
pub fn line_directive(name: &str) -> String {
    let escaped = |letter: char| match letter {
        // Two question marks may begin a trigraph.
        '"' | '\\' | '?' => format!("\\{letter}"),
        _ if letter.is_ascii_control() => format!("\\{:03o}", u32::from(letter)),
        _ => letter.to_string(),
    };
    format!("#line 1 \"{}\"\n", name.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_directive_names_any_file_on_one_line() {
        assert_eq!(line_directive("k $#'%.cl"), "#line 1 \"k $#'%.cl\"\n");
        assert_eq!(line_directive("a\"b\\c\nd\te??/"), "#line 1 \"a\\\"b\\\\c\\012d\\011e\\?\\?/\"\n");
    }

    #[test]
    fn an_included_file_ends_at_the_sign_that_it_began_with() {
        assert_eq!(IncludedFile::read("#include \"a>b.h\""), Some(IncludedFile::Quoted("a>b.h")));
        assert_eq!(IncludedFile::read(" # include <a\"b.h> // x"), Some(IncludedFile::Angled("a\"b.h")));
        assert_eq!(IncludedFile::read("#include HEADER"), Some(IncludedFile::Computed));
        assert_eq!(IncludedFile::read("int include;"), None);
    }
}
