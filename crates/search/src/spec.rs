//! A strategy as users write it, parsed once.

use crate::catalogue::{self, Strategy};
use crate::knowledge::Knowledge;
use crate::options::{Options, StrategyError, parse_call};
use std::fmt;
use std::str::FromStr;
use tunesmith_core::Searcher;

/// A strategy of the catalogue with its options, parsed from `random` or
/// `annealing(temperature=0.5)`.
///
/// Parsing checks the name, the options and their values. Its error suggests the correct text.
/// [`Display`](fmt::Display) returns the text as written.
///
/// ```
/// use tunesmith_search::{Knowledge, StrategySpec};
///
/// let spec: StrategySpec = "annealing(temperature=0.5)".parse()?;
/// assert_eq!(spec.strategy().name, "annealing");
/// assert_eq!(spec.to_string(), "annealing(temperature=0.5)");
/// let searcher = spec.build(&Knowledge::default())?;
/// # Ok::<(), tunesmith_search::StrategyError>(())
/// ```
#[derive(Clone)]
pub struct StrategySpec {
    text: String,
    strategy: &'static Strategy,
    given: Vec<(String, String)>,
}

impl StrategySpec {
    /// Reads the name and the options. Building the strategy checks the values.
    fn read(text: &str) -> Result<Self, StrategyError> {
        let (name, given) = parse_call(text)?;
        Ok(Self { text: text.to_string(), strategy: catalogue::find(&name)?, given })
    }

    /// Returns the strategy's entry in the catalogue.
    pub fn strategy(&self) -> &'static Strategy {
        self.strategy
    }

    /// Makes the strategy. It and the strategies that it runs may use `knowledge`.
    ///
    /// # Errors
    /// A parsed text gives none, because parsing checks all options.
    pub fn build(&self, knowledge: &Knowledge) -> Result<Box<dyn Searcher>, StrategyError> {
        (self.strategy.build)(&self.options(knowledge)?)
    }

    /// Returns true if the strategy draws uniformly and each configuration once. The expectation of
    /// its best is then known exactly.
    pub fn has_exact_expectation(&self) -> bool {
        let options = self.options(&Knowledge::default()).map(|options| self.strategy.draws_each_once(&options));
        options.is_ok_and(|draws| draws.unwrap_or(false))
    }

    fn options<'a>(&'a self, knowledge: &'a Knowledge) -> Result<Options<'a>, StrategyError> {
        Options::new(self.strategy.name, self.strategy.options, &self.given, knowledge, nested)
    }
}

/// Makes a strategy that another one runs. Checking the outer text checks it too.
fn nested(text: &str, knowledge: &Knowledge) -> Result<Box<dyn Searcher>, StrategyError> {
    StrategySpec::read(text)?.build(knowledge)
}

impl FromStr for StrategySpec {
    type Err = StrategyError;

    fn from_str(text: &str) -> Result<Self, StrategyError> {
        let spec = Self::read(text)?;
        spec.build(&Knowledge::default())?;
        Ok(spec)
    }
}

impl fmt::Display for StrategySpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl fmt::Debug for StrategySpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "StrategySpec({:?})", self.text)
    }
}

impl PartialEq for StrategySpec {
    /// Compares the texts, because journals and file names contain them.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for StrategySpec {}

impl Default for StrategySpec {
    fn default() -> Self {
        let strategy = catalogue::default();
        Self { text: strategy.name.to_string(), strategy, given: Vec::new() }
    }
}

/// Makes the strategy that `text` names, without knowledge of the kernel.
///
/// # Errors
/// The errors of parsing a [`StrategySpec`].
pub fn build(text: &str) -> Result<Box<dyn Searcher>, StrategyError> {
    StrategySpec::read(text)?.build(&Knowledge::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> StrategySpec {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn every_name_of_the_catalogue_is_a_spec_and_prints_as_written() {
        for strategy in catalogue::catalogue() {
            assert_eq!(spec(strategy.name).strategy().name, strategy.name);
        }
        for text in [" random ( replacement = true )", "bandit(techniques=annealing+torczon(edge=0.25))"] {
            assert_eq!(spec(text).to_string(), text);
        }
        assert_eq!(StrategySpec::default(), spec("default"));
    }

    #[test]
    fn parsing_refuses_unknown_names_options_and_values() {
        let error = |text: &str| text.parse::<StrategySpec>().unwrap_err().to_string();
        assert!(error("anealing").contains("did you mean `annealing`?"));
        assert!(error("random(replacment=true)").contains("did you mean `replacement`?"));
        assert!(error("random(replacement=perhaps)").contains("cannot be `perhaps`"));
        assert!(error("bandit(techniques=ranom)").contains("did you mean `random`?"));
    }

    #[test]
    fn only_random_search_without_replacement_has_an_exact_expectation() {
        for text in ["random", " random( )", "random( replacement = false )"] {
            assert!(spec(text).has_exact_expectation(), "{text}");
        }
        for text in ["random(replacement=true)", "annealing", "round_robin(techniques=random)"] {
            assert!(!spec(text).has_exact_expectation(), "{text}");
        }
    }

    #[test]
    fn a_strategy_falls_back_to_another_of_the_catalogue_only_if_it_takes_a_guide() {
        for strategy in catalogue::catalogue().iter().filter(|strategy| strategy.without_guide().is_some()) {
            assert!(strategy.takes_guide(), "{}", strategy.name);
            assert!(strategy.without_guide().is_some_and(|name| catalogue::find(name).is_ok()), "{}", strategy.name);
        }
    }
}
