//! Options of strategies: `NAME(option=value, ...)`.

use crate::knowledge::Knowledge;
use tunesmith_core::Searcher;
use tunesmith_space::{ErrorClass, UserError, closest};

/// One option of a strategy. Its default is defined here only.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// The name that users write.
    pub name: &'static str,
    /// The default, in the form that users write.
    pub default: &'static str,
    /// The meaning, with unit and range.
    pub meaning: &'static str,
}

/// The reason why a text does not give a strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StrategyError {
    /// The text is not of the form `NAME` or `NAME(option=value, ...)`.
    #[error("`{text}` is not a strategy; write NAME or NAME(option=value, ...)")]
    Form {
        /// The given text.
        text: String,
    },
    /// No strategy has this name.
    #[error("there is no strategy `{name}`{suggestion}\nstrategies are {known}")]
    UnknownStrategy {
        /// The given name.
        name: String,
        /// `; did you mean ...?` or empty.
        suggestion: String,
        /// All names.
        known: String,
    },
    /// The strategy has no such option.
    #[error("strategy `{strategy}` has no option `{option}`{suggestion}\n{known}")]
    UnknownOption {
        /// The strategy.
        strategy: &'static str,
        /// The given option.
        option: String,
        /// `; did you mean ...?` or empty.
        suggestion: String,
        /// All options of the strategy.
        known: String,
    },
    /// The value is of the wrong kind or out of range.
    #[error("option `{option}` of strategy `{strategy}` cannot be `{value}`: it is {expected}")]
    BadValue {
        /// The strategy.
        strategy: &'static str,
        /// The option.
        option: &'static str,
        /// The given value.
        value: String,
        /// The allowed values.
        expected: String,
    },
}

impl UserError for StrategyError {
    fn class(&self) -> ErrorClass {
        ErrorClass::Request
    }
}

/// Maximum of a whole number. No run makes more evaluations, and this many items fit into memory.
const MAX_WHOLE: usize = 1_000_000;

/// Names and values as the user wrote them.
pub(crate) type Pairs = [(String, String)];

/// Makes a strategy from its text. A strategy that runs others receives this function with its
/// options, so that only the catalogue knows all strategies.
pub(crate) type Make = fn(&str, &Knowledge) -> Result<Box<dyn Searcher>, StrategyError>;

/// The options given to one strategy, checked against its list.
pub struct Options<'a> {
    strategy: &'static str,
    specs: &'static [OptionSpec],
    given: &'a Pairs,
    knowledge: &'a Knowledge,
    make: Make,
}

impl<'a> Options<'a> {
    /// Returns the options. Fails if `specs` lacks an option in `given`.
    pub(crate) fn new(
        strategy: &'static str,
        specs: &'static [OptionSpec],
        given: &'a Pairs,
        knowledge: &'a Knowledge,
        make: Make,
    ) -> Result<Self, StrategyError> {
        let is_unknown = |(name, _): &&(String, String)| specs.iter().all(|spec| spec.name != name);
        match given.iter().find(is_unknown) {
            None => Ok(Self { strategy, specs, given, knowledge, make }),
            Some((option, _)) => Err(StrategyError::UnknownOption {
                strategy,
                option: option.clone(),
                suggestion: suggestion(option, specs.iter().map(|spec| spec.name)),
                known: known_options(specs),
            }),
        }
    }

    /// Returns the defaults of `specs`, the options of another strategy, with the same knowledge.
    pub(crate) fn defaults_of(&self, specs: &'static [OptionSpec]) -> Self {
        Self { strategy: self.strategy, specs, given: &[], knowledge: self.knowledge, make: self.make }
    }

    /// Makes the strategy with the text `text`, a part of an option's value. It receives the same
    /// knowledge.
    pub(crate) fn searcher(&self, text: &str) -> Result<Box<dyn Searcher>, StrategyError> {
        (self.make)(text, self.knowledge)
    }

    /// Returns the word given for `name`, or its default, parsed by `meaning`.
    pub(crate) fn word<T>(&self, name: &str, meaning: fn(&str) -> Option<T>) -> Result<T, StrategyError> {
        self.parsed(name, meaning)
    }

    /// Returns true if the user gave any option.
    pub(crate) fn are_given(&self) -> bool {
        !self.given.is_empty()
    }

    /// Returns the knowledge of the kernel.
    pub(crate) fn knowledge(&self) -> &Knowledge {
        self.knowledge
    }

    /// Returns the number given for `name`, or its default. Fails unless it is `valid`.
    pub(crate) fn number(&self, name: &str, valid: fn(f64) -> bool) -> Result<f64, StrategyError> {
        self.parsed(name, |text| text.parse().ok().filter(|number: &f64| number.is_finite() && valid(*number)))
    }

    /// Returns the whole number from `least` to `most` given for `name`, or its default.
    pub(crate) fn count(&self, name: &str, least: usize, most: usize) -> Result<usize, StrategyError> {
        self.parsed(name, |text| text.parse().ok().filter(|count| (least..=most).contains(count)))
    }

    /// Returns the text given for `name`, or its default.
    pub(crate) fn text(&self, name: &str) -> Result<String, StrategyError> {
        self.parsed(name, |text| Some(text.to_string()))
    }

    /// Returns the truth value given for `name`, or its default.
    pub(crate) fn truth(&self, name: &str) -> Result<bool, StrategyError> {
        self.parsed(name, |text| text.parse().ok())
    }

    /// Returns the whole number given for `name`, or its default. Fails below `least` and above a
    /// million.
    pub(crate) fn whole(&self, name: &str, least: usize) -> Result<usize, StrategyError> {
        self.parsed(name, |text| text.parse().ok().filter(|number| (least..=MAX_WHOLE).contains(number)))
    }

    /// Returns the position in `words` of the word given for `name`, or of its default.
    pub(crate) fn choice(&self, name: &str, words: &[&str]) -> Result<usize, StrategyError> {
        self.parsed(name, |text| words.iter().position(|word| *word == text))
    }

    fn parsed<T>(&self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, StrategyError> {
        let spec = self.specs.iter().find(|spec| spec.name == name);
        let spec = spec.unwrap_or_else(|| panic!("strategy `{}` reads an option it does not list", self.strategy));
        let given = self.given.iter().rev().find(|(given, _)| given == name);
        let text = given.map_or(spec.default, |(_, text)| text.as_str());
        parse(text).ok_or_else(|| StrategyError::BadValue {
            strategy: self.strategy,
            option: spec.name,
            value: text.to_string(),
            expected: spec.meaning.to_string(),
        })
    }
}

fn known_options(specs: &[OptionSpec]) -> String {
    if specs.is_empty() {
        return "it has no options".to_string();
    }
    let lines: Vec<String> =
        specs.iter().map(|spec| format!("  {}={}: {}", spec.name, spec.default, spec.meaning)).collect();
    format!("its options and their defaults are\n{}", lines.join("\n"))
}

/// Returns ``; did you mean `name`?`` with the name closest to `wrong`, or an empty string.
pub(crate) fn suggestion(wrong: &str, names: impl Iterator<Item = &'static str>) -> String {
    closest(wrong, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Splits `NAME(option=value, ...)` into the name and its pairs. A value may itself be such a call.
pub(crate) fn parse_call(text: &str) -> Result<(String, Vec<(String, String)>), StrategyError> {
    let malformed = || StrategyError::Form { text: text.to_string() };
    let Some((name, rest)) = text.split_once('(') else {
        return if text.contains(')') { Err(malformed()) } else { Ok((text.trim().to_string(), Vec::new())) };
    };
    let inside = rest.trim_end().strip_suffix(')').ok_or_else(malformed)?;
    let parts = split_outside(inside, ',').ok_or_else(malformed)?;
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    let pair = |part| str::split_once(part, '=').map(|(option, value)| (option.trim().into(), value.trim().into()));
    let pairs: Option<Vec<(String, String)>> = parts.map(pair).collect();
    Ok((name.trim().to_string(), pairs.ok_or_else(malformed)?))
}

/// Maximum nesting of calls. It is more than any sensible text needs, and hostile text cannot
/// exhaust the stack.
const MAX_DEPTH: usize = 16;

/// Splits `text` at each `separator` outside of parentheses. Returns `None` if the parentheses do
/// not match or nest too deeply.
pub(crate) fn split_outside(text: &str, separator: char) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, sign) in text.char_indices() {
        match sign {
            '(' if depth == MAX_DEPTH => return None,
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ if sign == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + sign.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    (depth == 0).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_be_calls_with_options_of_their_own() {
        let (name, pairs) = parse_call("a(techniques = b(x=1, y=2)+c, window=5)").unwrap();
        assert_eq!(name, "a");
        assert_eq!(pairs, [("techniques", "b(x=1, y=2)+c"), ("window", "5")].map(|(a, b)| (a.into(), b.into())));
        assert_eq!(split_outside("b(x=1e+5, y=2)+c", '+').unwrap(), ["b(x=1e+5, y=2)", "c"]);
    }

    #[test]
    fn parentheses_that_do_not_match_or_nest_too_deeply_are_refused() {
        let hostile = format!("a(b={}{})", "c(d=".repeat(10_000), ")".repeat(10_000));
        for text in ["a(b=c(d)", "a(b=c))", "a)", "a(b=)(", "a(b=c)(d=e)", &hostile] {
            assert!(matches!(parse_call(text), Err(StrategyError::Form { .. })), "{}", &text[..8.min(text.len())]);
        }
    }
}
