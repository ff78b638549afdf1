//! The quantity that a run optimises.

use crate::Direction;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of the time of a run in expressions.
pub(crate) const TIME_MS: &str = "time_ms";

/// The objective of a run: a quantity with its direction, its unit, and the origin of its numbers.
///
/// Everything that is shown, ranked or written about an objective follows from this value.
/// [`ObjectiveFunction`](crate::ObjectiveFunction) computes its scores.
///
/// ```
/// use tunesmith_core::{Direction, Objective, Source};
///
/// let time = Objective::time();
/// assert_eq!((time.to_string().as_str(), time.unit(), time.comparative()), ("minimise time", Some("ms"), "faster"));
/// let score = Objective::new("score", Direction::Maximise, None, Source::Printed);
/// assert!(score.is_better(-1.0, -2.0));
/// assert_eq!((score.to_string().as_str(), score.comparative()), ("maximise score", "better"));
/// ```
/// Files hold it as `{"name", "direction", "unit", "source"}`. A front has `parts` besides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Record")]
pub struct Objective {
    name: String,
    direction: Direction,
    unit: Option<String>,
    source: Source,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Objective>,
}

/// An [`Objective`] as it is read. Journals of older versions call the name `metric`, and have neither
/// unit nor source.
#[derive(Deserialize)]
struct Record {
    #[serde(alias = "metric")]
    name: String,
    direction: Direction,
    unit: Option<String>,
    #[serde(default)]
    source: Source,
    #[serde(default, alias = "front")]
    parts: Vec<Objective>,
}

impl From<Record> for Objective {
    fn from(record: Record) -> Self {
        if !record.parts.is_empty() {
            return Self::front(&record.name, record.parts);
        }
        // Journals of older versions keep the time by its name in expressions.
        if record.name == TIME_MS {
            return Self::new("time", record.direction, Some("ms"), Source::Time);
        }
        Self::new(&record.name, record.direction, record.unit.as_deref(), record.source)
    }
}

/// The origin of the numbers of an objective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The time of a run.
    Time,
    /// A metric of the problem, a predefined one, or a number that Tunesmith measures besides the time.
    #[default]
    Metric,
    /// A number that the program prints, or that a function returns.
    Printed,
    /// A number of a recording.
    Recorded,
}

impl Default for Objective {
    fn default() -> Self {
        Self::time()
    }
}

impl Objective {
    /// Returns the time of a run in milliseconds, minimised.
    pub fn time() -> Self {
        Self::new("time", Direction::Minimise, Some("ms"), Source::Time)
    }

    /// Creates the objective to minimise or maximise the quantity `name`, in `unit` if it is known.
    pub fn new(name: &str, direction: Direction, unit: Option<&str>, source: Source) -> Self {
        Self { name: name.to_string(), direction, unit: unit.map(str::to_string), source, parts: Vec::new() }
    }

    /// Creates the objective to minimise one number, called `name`, that joins the objectives `parts` of a front.
    pub fn front(name: &str, parts: Vec<Self>) -> Self {
        Self { parts, ..Self::new(name, Direction::Minimise, None, Source::Metric) }
    }

    /// Returns the name of the quantity.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name in expressions and among measured numbers: `time_ms` for time.
    pub fn quantity(&self) -> &str {
        if self.source == Source::Time { TIME_MS } else { &self.name }
    }

    /// Returns the name for axes and headings. Of a front, it also names the objectives.
    pub fn label(&self) -> String {
        if self.parts.is_empty() { self.name.clone() } else { format!("{} of {self}", self.name) }
    }

    /// Returns the direction of improvement.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns the unit of its values, if it is known.
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    /// Returns the origin of its numbers.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Returns the objectives of a front. Empty if there is only one.
    pub fn parts(&self) -> &[Self] {
        &self.parts
    }

    /// Returns the score of a value: a number of which less is better.
    pub fn score(&self, value: f64) -> f64 {
        self.direction.score(value)
    }

    /// Returns the value with this score.
    pub fn value(&self, score: f64) -> f64 {
        // The direction is its own inverse.
        self.direction.score(score)
    }

    /// Returns true if the value `a` is better than `b`.
    pub fn is_better(&self, a: f64, b: f64) -> bool {
        self.score(a) < self.score(b)
    }

    /// Returns true if the time is minimised. The values are then the times that every measurement has.
    ///
    /// Only what holds times and nothing else asks this, such as a model of times. The architecture test
    /// lists who does, each with its reason.
    pub fn is_time(&self) -> bool {
        self.source == Source::Time && self.direction == Direction::Minimise
    }

    /// Returns the word for what is better: `faster` for time.
    pub fn comparative(&self) -> &'static str {
        if self.is_time() { "faster" } else { "better" }
    }

    /// Returns the word for what is worse: `slower` for time.
    pub fn negative(&self) -> &'static str {
        if self.is_time() { "slower" } else { "worse" }
    }

    /// Returns the word for what is as good: `fast` for time.
    pub fn positive(&self) -> &'static str {
        if self.is_time() { "fast" } else { "good" }
    }

    /// Returns the words between a ratio and what it refers to: a speed-up is so many `times` the default.
    pub fn ratio_words(&self) -> &'static str {
        if self.is_time() { "times" } else { "times as good as" }
    }

    /// Returns a text about the value that is shown beside the time: none if the value is the time.
    pub fn beside_time<T>(&self, text: T) -> Option<T> {
        (!self.is_time()).then_some(text)
    }

    /// Returns the word for a gain: `speed-up` for time.
    pub fn gain_word(&self) -> &'static str {
        if self.is_time() { "speed-up" } else { "gain" }
    }
}

/// Writes the objective as users do.
impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, rest @ ..] = &self.parts[..] else {
            return write!(f, "{} {}", self.direction, self.name);
        };
        write!(f, "{first}")?;
        rest.iter().try_for_each(|part| write!(f, ", {part}"))
    }
}
