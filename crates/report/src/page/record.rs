//! A tuning run as a page takes it.

use super::curve;
use crate::FailureLine;
use crate::front::Front;
use crate::table::TopRow;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tunesmith_core::{Cuts, FailureKind, Objective};
use tunesmith_explain::{FailureCause, Importance};

/// Maximum number of evaluations that a page holds. Of more, see [`Evaluations::kept`].
pub const EVALUATIONS: usize = 5000;

/// One run of a [`Page`](super::Page).
#[derive(Clone, Debug, Default)]
pub struct RunSection {
    /// Name of the run in legends and headings.
    pub name: String,
    /// The problem. Runs of different subjects share no axis.
    pub subject: Subject,
    /// The facts that a reader must know about the best, a sentence each.
    pub verdict: Vec<String>,
    /// The tuning parameters.
    pub parameters: Vec<ParameterValues>,
    /// The evaluations.
    pub evaluations: Evaluations,
    /// The best configurations, the best first. Empty if none was correct.
    pub top: Vec<TopRow>,
    /// The front, if the run has several objectives.
    pub front: Front,
    /// The best configuration for a build.
    pub builds: Vec<BuildText>,
    /// The importance of the parameters.
    pub importance: Importance,
    /// Samples of the leaders.
    pub samples: SampleSet,
    /// Where the time went.
    pub spent: Spent,
    /// The workers, if several devices measured.
    pub workers: Vec<WorkerLine>,
    /// Failures by kind, with the commonest message of each.
    pub failures: Vec<FailureLine>,
    /// The configurations that limits from the best time cut. They are not among the failures.
    pub cut: Option<Cuts>,
    /// The values that explain failures.
    pub causes: Vec<FailureCause>,
    /// The notes on the measurements of correct configurations, in the order in which they came up.
    pub notes: Vec<NoteLine>,
    /// The device, the settings and the program: labels and values.
    pub environment: Vec<(String, String)>,
    /// Commands that repeat the run.
    pub reproduce: Vec<String>,
}

/// A note on measurements, such as a trouble of the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoteLine {
    /// The note.
    pub note: String,
    /// Number of evaluations that have it.
    pub count: usize,
    /// The first one, counted from 1.
    pub first: usize,
}

/// The work of one device of several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerLine {
    /// Its name.
    pub name: String,
    /// Number of configurations that it compiled, if it only compiles.
    pub compiled: Option<u64>,
    /// Number of its measurements.
    pub measurements: usize,
    /// Number of them that failed.
    pub failed: usize,
    /// Seconds from requests to their answers, without overlaps.
    pub busy: f64,
    /// The share of each of many equal parts of the run in which it had a request, from 0 to 1.
    pub parts: Vec<f64>,
}

/// The subject of a run. Numbers of runs with the same subject can be compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// The problem.
    pub problem: String,
    /// The sizes of its input, as `NAME=VALUE,...`.
    pub sizes: String,
    /// The quantity that is optimised.
    pub objective: Objective,
}

impl Subject {
    /// Returns the subject in one line.
    pub(super) fn title(&self) -> String {
        let sizes =
            if self.sizes.is_empty() { String::new() } else { format!(" ({})", super::text::name(&self.sizes)) };
        format!("{}{sizes}", super::text::name(&self.problem))
    }
}

/// A tuning parameter.
#[derive(Clone, Debug, Default)]
pub struct ParameterValues {
    /// Its name.
    pub name: String,
    /// Its values in the user's order.
    pub values: Vec<String>,
}

/// The evaluations of a run as columns of one length, in the order made.
#[derive(Clone, Debug, Default)]
pub struct Evaluations {
    /// The value of the objective, if the configuration is correct and has one.
    pub values: Vec<Option<f64>>,
    /// Seconds since the start of the run.
    pub clocks: Vec<f64>,
    /// The kind of failure, or `None` if the configuration is correct.
    pub failures: Vec<Option<FailureKind>>,
    /// The positions of those that limits from the best time cut. They did not fail, whatever their kind.
    pub cut: BTreeSet<usize>,
    /// For each parameter, the position of the configuration's value in its list. A position beyond
    /// the list is an unlisted value.
    pub columns: Vec<Vec<u32>>,
    /// The positions of the evaluations that the page holds, ascending.
    pub kept: Vec<usize>,
    /// The messages of those that failed, by position.
    pub messages: BTreeMap<usize, String>,
}

impl Evaluations {
    /// Returns the number of evaluations.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns true if there is no evaluation.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns true if the page holds only some of the evaluations.
    pub fn is_thinned(&self) -> bool {
        self.kept.len() < self.len()
    }

    /// Returns the positions, ascending, of at most `most` evaluations to show. Of more, up to a
    /// quarter are steps of the best so far, a quarter are the best, and the others an even sample.
    pub fn thinned(&self, objective: &Objective, most: usize) -> Vec<usize> {
        if self.len() <= most {
            return (0..self.len()).collect();
        }
        let steps = curve::steps(self, objective);
        let steps = even(steps.len(), most / 4).map(|at| steps[at]);
        let best = self.best(objective, most / 4);
        let others = even(self.len(), most / 2);
        let kept: BTreeSet<usize> = steps.chain(best).chain(others).collect();
        kept.into_iter().collect()
    }

    /// Returns the positions of the `most` best, in any order.
    fn best(&self, objective: &Objective, most: usize) -> Vec<usize> {
        let scored = self.values.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?)));
        let mut scored: Vec<(usize, f64)> = scored.collect();
        if scored.len() > most {
            scored.select_nth_unstable_by(most, |a, b| objective.score(a.1).total_cmp(&objective.score(b.1)));
            scored.truncate(most);
        }
        scored.into_iter().map(|(at, _)| at).collect()
    }
}

/// Returns at most `most` of `count` positions, evenly spread, the last one included.
pub(super) fn even(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let kept = count.min(most);
    (1..=kept).map(move |at| at * count / kept - 1)
}

/// A configuration as a file for a build.
#[derive(Clone, Debug)]
pub struct BuildText {
    /// The word of the form, as `export --as` takes it.
    pub form: String,
    /// The text.
    pub text: String,
}

/// Samples of some configurations.
#[derive(Clone, Debug, Default)]
pub struct SampleSet {
    /// True if they are of the final re-measurement, and not of the search.
    pub is_final: bool,
    /// The configurations.
    pub configs: Vec<Samples>,
}

/// Samples of one configuration.
#[derive(Clone, Debug)]
pub struct Samples {
    /// The configuration as text.
    pub config: String,
    /// Its times in milliseconds.
    pub times_ms: Vec<f64>,
}

/// The time of a run by its use.
#[derive(Clone, Debug, Default)]
pub struct Spent {
    /// Wall time in seconds by its result, in the order to show: it adds up to the run.
    pub results: Vec<(String, f64)>,
    /// Seconds of activities within evaluations. They may overlap.
    pub activities: Vec<(String, f64)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::{Direction, Source};

    fn falling(count: usize) -> Evaluations {
        Evaluations { values: (0..count).map(|at| Some((count - at) as f64)).collect(), ..Evaluations::default() }
    }

    #[test]
    fn an_even_sample_ends_with_the_last_and_has_no_repetition() {
        for (count, most) in [(0, 5), (3, 5), (10, 3), (1_000_000, 7)] {
            let sample: Vec<usize> = even(count, most).collect();
            assert_eq!(sample.len(), count.min(most));
            assert!(sample.windows(2).all(|pair| pair[0] < pair[1]), "{sample:?}");
            assert_eq!(sample.last().copied(), count.checked_sub(1));
        }
        assert_eq!(even(10, 0).count(), 0);
    }

    #[test]
    fn few_evaluations_are_all_kept_and_of_many_the_best_steps_and_an_even_sample() {
        assert_eq!(falling(50).thinned(&Objective::time(), 50), (0..50).collect::<Vec<_>>());
        let many = falling(100_000);
        let kept = many.thinned(&Objective::time(), 1000);
        assert!((500..=1000).contains(&kept.len()), "{}", kept.len());
        assert!((99_750..100_000).all(|at| kept.binary_search(&at).is_ok()), "the best are kept");
        let maximise = Objective::new("rate", Direction::Maximise, None, Source::Printed);
        let kept = many.thinned(&maximise, 1000);
        assert!((0..250).all(|at| kept.binary_search(&at).is_ok()), "the greatest are the best");
    }
}
