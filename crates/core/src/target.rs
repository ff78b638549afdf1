//! The quantity to optimise, as users name it.

use crate::objective::TIME_MS;
use crate::{Direction, Objective};
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use tunesmith_space::{ErrorClass, UserError};

/// One quantity to optimise, as users write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aim {
    /// The direction of improvement.
    pub direction: Direction,
    /// The quantity: a metric, or a number that the run yields. The time is `time_ms`.
    pub name: String,
}

impl Default for Aim {
    fn default() -> Self {
        Self { direction: Direction::Minimise, name: TIME_MS.to_string() }
    }
}

/// The quantities that a run optimises, as users write them: `time`, `minimise NAME`, `maximise NAME`
/// or `NAME`. A bare `gflops`, `gbytes` or `gflops_per_w` is maximised, any other bare name
/// minimised. Two or three of
/// them with commas between are the objectives of a front. The default is the time.
///
/// ```
/// use tunesmith_core::Target;
///
/// let target: Target = "gflops".parse()?;
/// assert_eq!(target.parts()[0].name, "gflops");
/// assert_eq!(target.to_string(), "maximise gflops");
/// # Ok::<(), tunesmith_core::TargetParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    parts: Vec<Aim>,
}

impl Default for Target {
    fn default() -> Self {
        Self { parts: vec![Aim::default()] }
    }
}

/// The error for a text that is not an objective.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an objective")]
pub struct TargetParseError {
    /// The whole text.
    pub text: String,
}

impl UserError for TargetParseError {
    fn class(&self) -> ErrorClass {
        ErrorClass::Request
    }

    fn remedy(&self) -> Option<&str> {
        Some("write `time`, `minimise NAME` or `maximise NAME`, or two or three different ones with commas between")
    }
}

/// Metrics to be maximised.
const RATES: [&str; 3] = ["gflops", "gbytes", "gflops_per_w"];

impl FromStr for Target {
    type Err = TargetParseError;

    fn from_str(text: &str) -> Result<Self, TargetParseError> {
        let parts = text.split(',').map(str::parse).collect::<Result<Vec<Aim>, _>>();
        parts.and_then(Self::new).map_err(|_| TargetParseError { text: text.to_string() })
    }
}

impl Target {
    /// Returns the target with these parts: the only one, or the objectives of a front.
    fn new(parts: Vec<Aim>) -> Result<Self, TargetParseError> {
        let names: HashSet<&str> = parts.iter().map(|aim| aim.name.as_str()).collect();
        if (1..=3).contains(&parts.len()) && names.len() == parts.len() {
            return Ok(Self { parts });
        }
        let texts: Vec<String> = parts.iter().map(Aim::to_string).collect();
        Err(TargetParseError { text: texts.join(", ") })
    }

    /// Joins targets into one: the only one, or a front of all their parts.
    ///
    /// # Errors
    /// There are no parts or more than three, or two of them are about the same quantity.
    pub fn joined(targets: Vec<Self>) -> Result<Self, TargetParseError> {
        Self::new(targets.into_iter().flat_map(|target| target.parts).collect())
    }

    /// Returns the objectives of a front, or the only one.
    pub fn parts(&self) -> &[Aim] {
        &self.parts
    }
}

/// Returns the target that users write for an objective.
impl From<&Objective> for Target {
    fn from(objective: &Objective) -> Self {
        let aim = |one: &Objective| Aim { direction: one.direction(), name: one.quantity().to_string() };
        let parts = Vec::from_iter(objective.parts().iter().map(aim));
        Self { parts: if parts.is_empty() { vec![aim(objective)] } else { parts } }
    }
}

impl FromStr for Aim {
    type Err = TargetParseError;

    fn from_str(text: &str) -> Result<Self, TargetParseError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (direction, name) = match words[..] {
            [name] if RATES.contains(&name) => (Direction::Maximise, name),
            [name] | ["minimise" | "minimize", name] => (Direction::Minimise, name),
            ["maximise" | "maximize", name] => (Direction::Maximise, name),
            _ => return Err(TargetParseError { text: text.to_string() }),
        };
        Ok(Self { direction, name: if name == "time" { TIME_MS } else { name }.to_string() })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.parts.iter().map(Aim::to_string).collect();
        f.write_str(&texts.join(", "))
    }
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name == TIME_MS { "time" } else { &self.name };
        write!(f, "{} {name}", self.direction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    fn target(text: &str) -> Target {
        text.parse().unwrap()
    }

    #[test]
    fn time_has_two_names_and_directions_are_read() {
        assert_eq!([target("time"), target("minimise time_ms")], [Target::default(), Target::default()]);
        let texts = ["gflops", "maximize gflops", "minimise gflops", "x"].map(|text| target(text).to_string());
        assert_eq!(texts, ["maximise gflops", "maximise gflops", "minimise gflops", "minimise x"]);
    }

    #[test]
    fn what_is_written_is_parsed_as_the_same() {
        for text in ["time", "maximise time", "energy", "gbytes", "minimize gflops", "time,energy, gflops"] {
            assert_eq!(target(&target(text).to_string()), target(text));
        }
    }

    #[test]
    fn an_objective_is_written_as_its_target() {
        let score = Objective::new("score", Direction::Maximise, None, Source::Printed);
        let front = Objective::front("mean", vec![Objective::time(), score.clone()]);
        for objective in [Objective::time(), score, front] {
            assert_eq!(Target::from(&objective), target(&objective.to_string()));
        }
    }

    #[test]
    fn a_front_has_two_or_three_different_objectives() {
        assert_eq!(target("time,gflops").to_string(), "minimise time, maximise gflops");
        for wrong in ["a,b,c,d", "time,time_ms", "a,", "a,maximise a"] {
            assert_eq!(wrong.parse::<Target>().unwrap_err().to_string(), format!("`{wrong}` is not an objective"));
        }
    }

    #[test]
    fn several_words_are_refused_with_what_would_be_right() {
        let error = "fast and good".parse::<Target>().unwrap_err();
        assert_eq!(error.to_string(), "`fast and good` is not an objective");
        assert!(error.remedy().is_some_and(|remedy| remedy.contains("`maximise NAME`")));
    }
}
