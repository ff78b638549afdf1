//! The quantity to optimise, as users name it.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

/// The direction of improvement of a metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Less is better.
    #[default]
    Minimise,
    /// More is better.
    Maximise,
}

impl Direction {
    /// Returns the score of a value: a number of which less is better. Twice, it returns the value.
    pub fn score(self, value: f64) -> f64 {
        match self {
            Self::Minimise => value,
            // Not the negative, so that a zero is no negative zero.
            Self::Maximise => 0.0 - value,
        }
    }
}

/// The quantity that a run optimises, as users write it: `time`, `minimise NAME`, `maximise NAME`
/// or `NAME`. A bare `gflops`, `gbytes` or `gflops_per_w` is maximised, any other bare name
/// minimised. Two or three of
/// them with commas between are the objectives of a front.
///
/// ```
/// use tunesmith_core::{Direction, Target};
///
/// let target: Target = "gflops".parse()?;
/// assert_eq!(target, Target::Metric { direction: Direction::Maximise, name: "gflops".to_string() });
/// assert_eq!(target.to_string(), "maximise gflops");
/// # Ok::<(), tunesmith_core::TargetParseError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The time of a run, minimised.
    #[default]
    Time,
    /// A metric: one of the problem, or a value that the run yields.
    Metric {
        /// The direction of improvement.
        direction: Direction,
        /// The metric's name.
        name: String,
    },
    /// Two or three objectives, none of which is a front. The run searches for the configurations that
    /// no other one dominates.
    Front(Vec<Target>),
}

/// The error for a text that is not an objective.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an objective")]
pub struct TargetParseError {
    /// The whole text.
    pub text: String,
}

impl TargetParseError {
    /// Returns the correct forms.
    pub fn remedy(&self) -> &'static str {
        "write `time`, `minimise NAME` or `maximise NAME`, or two or three different ones with commas between"
    }
}

/// Metrics to be maximised.
const RATES: [&str; 3] = ["gflops", "gbytes", "gflops_per_w"];

impl FromStr for Target {
    type Err = TargetParseError;

    fn from_str(text: &str) -> Result<Self, TargetParseError> {
        let parts: Vec<&str> = text.split(',').collect();
        if let [_] = parts[..] {
            return single(text);
        }
        let parts = parts.into_iter().map(single).collect::<Result<Vec<_>, _>>();
        parts.and_then(Self::joined).map_err(|_| TargetParseError { text: text.to_string() })
    }
}

impl Target {
    /// Returns the objective with these parts: the only one, or a front.
    ///
    /// # Errors
    /// There are none or more than three, or two of them are about the same quantity.
    pub fn joined(parts: Vec<Self>) -> Result<Self, TargetParseError> {
        let text = || parts.iter().map(Self::to_string).collect::<Vec<_>>().join(", ");
        let parts: Vec<Self> = parts.iter().flat_map(Self::parts).cloned().collect();
        let names: HashSet<&str> = parts.iter().map(Self::quantity).collect();
        match parts.len() {
            1 => parts.into_iter().next().ok_or_else(|| TargetParseError { text: text() }),
            2 | 3 if names.len() == parts.len() => Ok(Self::Front(parts)),
            _ => Err(TargetParseError { text: text() }),
        }
    }

    /// Returns the objectives of a front, or the only one.
    pub fn parts(&self) -> &[Self] {
        match self {
            Self::Front(parts) => parts,
            single => std::slice::from_ref(single),
        }
    }

    /// Returns the word for what is better: `faster` for time.
    pub fn comparative(&self) -> &'static str {
        if *self == Self::Time { "faster" } else { "better" }
    }

    /// Returns the word for a gain: `speed-up` for time.
    pub fn gain_word(&self) -> &'static str {
        if *self == Self::Time { "speed-up" } else { "gain" }
    }

    /// Returns the name of the quantity of a single objective.
    fn quantity(&self) -> &str {
        match self {
            Self::Metric { name, .. } => name,
            Self::Time | Self::Front(_) => "time_ms",
        }
    }
}

/// Reads a single objective.
fn single(text: &str) -> Result<Target, TargetParseError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (direction, name) = match words[..] {
        [name] if RATES.contains(&name) => (Direction::Maximise, name),
        [name] | ["minimise" | "minimize", name] => (Direction::Minimise, name),
        ["maximise" | "maximize", name] => (Direction::Maximise, name),
        _ => return Err(TargetParseError { text: text.to_string() }),
    };
    let name = if name == "time" { "time_ms" } else { name };
    let is_time = name == "time_ms" && direction == Direction::Minimise;
    Ok(if is_time { Target::Time } else { Target::Metric { direction, name: name.to_string() } })
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => f.write_str("minimise time"),
            Self::Metric { direction, name } => write!(f, "{direction} {name}"),
            Self::Front(parts) => {
                let texts: Vec<String> = parts.iter().map(Self::to_string).collect();
                f.write_str(&texts.join(", "))
            }
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Minimise { "minimise" } else { "maximise" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Target {
        text.parse().unwrap()
    }

    #[test]
    fn time_is_no_metric_and_directions_are_read() {
        assert_eq!((target("time"), target("minimise time_ms")), (Target::Time, Target::Time));
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
        assert!(error.remedy().contains("`maximise NAME`"));
    }
}
