//! The objective that a file states.

use super::number::milliseconds;
use serde_json::Value as Json;
use tunesmith_core::recording::{Ranking, Recording};
use tunesmith_core::{Direction, Objective, Source};

/// Names that tuners give to the time of a configuration.
const TIMES: [&str; 9] = [
    "time",
    "time_ms",
    "TotalDuration",
    "Duration",
    "duration",
    "runtime",
    "kernel_time",
    "execution_time",
    "compute_time",
];

/// The objective of a file: a name, and what the file adds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Statement {
    pub(super) name: Option<String>,
    pub(super) direction: Option<Direction>,
    pub(super) unit: Option<String>,
    /// The objectives of a front, which only our own files have.
    pub(super) front: Option<Objective>,
}

impl Statement {
    /// Returns true if the objective has a name of the time, or none.
    pub(super) fn is_called_time(&self) -> bool {
        self.name.as_deref().is_none_or(|name| TIMES.contains(&name))
    }

    /// Returns true if the objective is the time, or if there is none.
    pub(super) fn measures_time(&self) -> bool {
        self.is_called_time() && self.unit.as_deref().is_none_or(|unit| milliseconds(unit).is_some())
    }

    /// Returns the objective, and what is assumed about it.
    pub(super) fn ranking(self) -> (Ranking, Vec<String>) {
        let is_time = self.measures_time();
        let Self { name, direction, unit, front } = self;
        if let Some(front) = front {
            return (Ranking::Known(front), Vec::new());
        }
        let Some(name) = name else {
            return (
                Ranking::default(),
                vec!["the file names no objective: the time is taken, less of it is better".to_string()],
            );
        };
        if is_time {
            let direction = direction.unwrap_or_default();
            return (Ranking::Known(Objective::new("time", direction, Some("ms"), Source::Time)), Vec::new());
        }
        let is_better = |direction| if direction == Direction::Maximise { "more" } else { "less" };
        let known = |direction| Ranking::Known(Objective::new(&name, direction, unit.as_deref(), Source::Recorded));
        match (direction, usual_direction(&name, unit.as_deref())) {
            (Some(direction), _) => (known(direction), Vec::new()),
            (None, Some(usual)) => {
                let text = format!(
                    "the file does not state the direction of `{name}`: {} of it is taken as better",
                    is_better(usual)
                );
                (known(usual), vec![text])
            }
            (None, None) => (Ranking::Undirected { name, unit }, Vec::new()),
        }
    }
}

/// Returns the direction in a file: a word, or true if more is better.
pub(super) fn direction(json: &Json) -> Option<Direction> {
    match json {
        Json::Bool(is_higher_better) => Some(if *is_higher_better { Direction::Maximise } else { Direction::Minimise }),
        word => serde_json::from_value(word.clone()).ok(),
    }
}

/// Returns the front in a file of ours, with recorded numbers in place of computed ones.
pub(super) fn front(json: &Json) -> Option<Objective> {
    let front: Objective = serde_json::from_value(json.clone()).ok()?;
    let recorded = |part: &Objective| match part.source() {
        Source::Time => part.clone(),
        _ => Objective::new(part.name(), part.direction(), part.unit(), Source::Recorded),
    };
    let parts: Vec<Objective> = front.parts().iter().map(recorded).collect();
    (!parts.is_empty()).then(|| Objective::front(front.name(), parts))
}

/// Adds a text that a file states about its subject, unless it is empty.
pub(super) fn add_to_subject(recording: &mut Recording, name: &str, json: Option<&Json>) {
    let text = match json {
        None | Some(Json::Null) => return,
        Some(Json::String(text)) => text.clone(),
        Some(Json::Array(list)) => {
            let texts = list.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_string));
            texts.collect::<Vec<_>>().join(" x ")
        }
        Some(other) => other.to_string(),
    };
    if !text.is_empty() {
        recording.subject.insert(name.to_string(), text);
    }
}

/// Returns an explanation if `stated` lies outside of its samples. A mean, a median or a minimum lies among them.
pub(super) fn contradiction(name: &str, stated: f64, samples: &[f64]) -> Option<String> {
    let (least, most) = samples.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
    let slack = 1e-6 * least.abs().max(most.abs());
    let is_among = samples.is_empty() || (least - slack..=most + slack).contains(&stated);
    (!is_among).then(|| {
        let range = if least == most { format!("{least}") } else { format!("between {least} and {most}") };
        format!("`{name}` is {stated}, but its samples are {range}")
    })
}

/// Returns the direction in which a number of this name or unit is better, if the name or unit is one that
/// tuners and papers use. A rate or an efficiency is better if it is higher; time, energy and errors are
/// better if they are lower.
pub(super) fn usual_direction(name: &str, unit: Option<&str>) -> Option<Direction> {
    let name = name.to_ascii_lowercase();
    let is_rate = |text: &str| ["/s", "/j", "/w"].iter().any(|end| text.trim_end().ends_with(end));
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |list: &[&str]| list.iter().any(|known| words.contains(known) || name == *known);
    if is_rate(&name) || unit.is_some_and(|unit| is_rate(&unit.to_ascii_lowercase())) || has(&HIGHER) {
        return Some(Direction::Maximise);
    }
    has(&LOWER).then_some(Direction::Minimise)
}

/// Names of numbers that are better if they are higher. The first ones are those of Kernel Tuner.
const HIGHER: [&str; 13] = [
    "score",
    "fitness",
    "gflops",
    "tflops",
    "flops",
    "gbytes",
    "bandwidth",
    "throughput",
    "speedup",
    "efficiency",
    "accuracy",
    "occupancy",
    "ipc",
];

/// Names of numbers that are better if they are lower.
const LOWER: [&str; 16] = [
    "cost",
    "loss",
    "time",
    "duration",
    "totalduration",
    "runtime",
    "latency",
    "energy",
    "edp",
    "power",
    "watts",
    "joules",
    "error",
    "errors",
    "misses",
    "cycles",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(name: &str, unit: Option<&str>) -> String {
        let stated = Statement { name: Some(name.to_string()), unit: unit.map(str::to_string), ..Statement::default() };
        match stated.ranking() {
            (Ranking::Undirected { name, .. }, _) => format!("{name}?"),
            (ranking, assumptions) => format!("{ranking}{}", if assumptions.is_empty() { "" } else { "!" }),
        }
    }

    #[test]
    fn a_usual_name_or_unit_tells_the_direction_and_that_is_said() {
        assert_eq!(ranking("time", None), "minimise time in ms");
        assert_eq!(ranking("TotalDuration", Some("Microseconds")), "minimise time in ms");
        assert_eq!(ranking("GFLOP/s", None), "maximise GFLOP/s!");
        assert_eq!(ranking("rate", Some("GB/s")), "maximise rate in GB/s!");
        assert_eq!(ranking("ps_energy", Some("J")), "minimise ps_energy in J!");
        assert_eq!(ranking("score", None), "maximise score!");
        assert_eq!(ranking("quality", None), "quality?");
        assert_eq!(ranking("time", Some("iterations")), "minimise time in iterations!");
    }

    #[test]
    fn a_statement_outside_of_its_samples_is_a_contradiction() {
        assert_eq!(contradiction("time", 2.0, &[1.0, 2.5]), None);
        assert_eq!(contradiction("time", 2.5, &[]), None);
        assert_eq!(contradiction("time", 1.0, &[5.0, 5.0]).unwrap(), "`time` is 1, but its samples are 5");
        assert!(contradiction("time", 0.9, &[1.0, 2.0]).unwrap().ends_with("between 1 and 2"));
    }
}
