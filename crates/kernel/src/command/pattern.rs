//! Regular expressions over a command's output.

use crate::command::number::{self, Borders, NumberFault};
use regex_lite::{Regex, RegexBuilder};
use std::fmt;

/// A regular expression with one group, which captures a number: `cost: ([-+0-9.eE]+) ms`.
///
/// `^` and `$` match at the ends of lines. If the expression matches several times, the last match
/// counts, because programs print their result at the end. It does not see the colours of terminals.
/// A captured part of a number, such as `5` of `9.8e-05`, is a fault. A separator that the expression
/// names beside the group, as in `,([0-9]+)`, ends a number.
///
/// ```
/// # use tunesmith_kernel::command::NumberPattern;
/// let pattern = NumberPattern::parse(r"time: ([-+0-9.eE]+)")?;
/// assert_eq!(pattern.last("time: 7\ntime: 2.5e1 ms\n"), Some(Ok(25.0)));
/// assert_eq!(pattern.last("no time at all"), None);
/// # Ok::<(), tunesmith_kernel::command::PatternError>(())
/// ```
#[derive(Clone, Debug)]
pub struct NumberPattern {
    regex: Regex,
    borders: Borders,
}

/// A regular expression that a command's output must match.
#[derive(Clone, Debug)]
pub struct TextPattern(Regex);

/// An invalid pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// A text that is not a regular expression.
    #[error("`{text}` is no regular expression: {problem}")]
    Syntax {
        /// The text as written.
        text: String,
        /// The fault.
        problem: String,
    },
    /// A regular expression without exactly one group.
    #[error(
        "`{text}` has {groups} groups, but one group is the number; put the number alone into parentheses, as in \
         `time: ([-+0-9.eE]+)`, and write `(?:...)` for any other"
    )]
    Groups {
        /// The text as written.
        text: String,
        /// The number of its groups.
        groups: usize,
    },
}

impl NumberPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// The text is not a regular expression, or it does not have exactly one group.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let regex = compile(text)?;
        match regex.captures_len() - 1 {
            1 => Ok(Self { regex, borders: number::borders(text) }),
            groups => Err(PatternError::Groups { text: text.to_owned(), groups }),
        }
    }

    /// Returns the number captured by the last match in `text`, or the reason why the capture is not a
    /// number. Takes time linear in the length of `text`.
    pub fn last(&self, text: &str) -> Option<Result<f64, NumberFault>> {
        let text = number::without_colours(text);
        let group = self.regex.captures_iter(&text).filter_map(|captures| captures.get(1)).last()?;
        Some(number::read(&text, group.range(), self.borders))
    }
}

impl TextPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// The text is not a regular expression.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        compile(text).map(Self)
    }

    /// Returns true if the pattern matches anywhere in `text`.
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

fn compile(text: &str) -> Result<Regex, PatternError> {
    RegexBuilder::new(text)
        .multi_line(true)
        .build()
        .map_err(|error| PatternError::Syntax { text: text.to_owned(), problem: error.to_string() })
}

impl fmt::Display for NumberPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.regex.as_str())
    }
}

impl fmt::Display for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_match_counts_and_lines_have_ends() {
        let pattern = NumberPattern::parse("^took ([-+0-9.eE]+) s$").unwrap();
        assert_eq!(pattern.last("took 1 s\ntook 2.5 s\nit took 9 s\n"), Some(Ok(2.5)));
        assert_eq!(pattern.last("took 1 second"), None);
    }

    #[test]
    fn what_is_matched_and_no_number_is_told() {
        let read = |text: &str| NumberPattern::parse("loss=(.*)").unwrap().last(text).unwrap();
        assert_eq!(read("loss= 1e-3 "), Ok(1e-3));
        assert_eq!(read("loss=small").unwrap_err().to_string(), "`small`, which is not a number");
        let odd = ["nan", "-inf", "1e400"].map(|text| read(&format!("loss={text}")).unwrap_err().to_string());
        assert!(odd.iter().all(|text| text.ends_with("which is no finite number")), "{odd:?}");
        assert!(read("loss=1.5 us").unwrap_err().to_string().contains("leave `us` outside of the group"));
        assert!(read("loss=15%").unwrap_err().to_string().contains("leave `%` outside of the group"));
    }

    #[test]
    fn wrong_patterns_are_refused_with_what_to_do() {
        let message = |text| NumberPattern::parse(text).unwrap_err().to_string();
        assert!(message("([0-9]+").contains("`([0-9]+` is no regular expression: found open group"));
        assert!(message("[0-9]+").contains("has 0 groups"));
        assert!(message("(a|b)=([0-9]+)").contains("has 2 groups, but one group is the number"));
        assert!(TextPattern::parse("*").is_err());
    }
}
