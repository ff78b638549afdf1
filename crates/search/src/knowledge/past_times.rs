//! Times of the same kernel on other devices, or for other sizes.

use rand::seq::SliceRandom as _;
use std::collections::HashMap;
use std::sync::Arc;
use tunesmith_core::{ObjectiveFunction, Recording, Rng, Scale};
use tunesmith_space::{ConfigId, Parameter, Space, Value, ValueKind, closest};

/// The scores of a space's configurations on other devices or for other sizes. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PastTimes(Arc<[Past]>);

/// The scores of one recording. `None` is a failure.
pub(crate) type Past = Vec<(ConfigId, Option<f64>)>;

/// The reason why a recording does not fit a space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// A parameter of the space is missing in the recording.
    #[error("it has no parameter `{name}`{}", suggestion.as_ref().map(|own| format!(" (it has `{own}`)")).unwrap_or_default())]
    Missing {
        /// The parameter of the space.
        name: String,
        /// A parameter of the recording with a similar name.
        suggestion: Option<String>,
    },
    /// A parameter varies in the recording, but the space has none of that name.
    #[error("its parameter `{name}` has several values, but the problem has no such parameter")]
    Extra {
        /// The parameter of the recording.
        name: String,
    },
    /// The values of a parameter have different types.
    #[error("the values of its parameter `{name}` are {recorded}, not {wanted}")]
    Kind {
        /// The parameter.
        name: String,
        /// The type in the recording.
        recorded: &'static str,
        /// The type in the space.
        wanted: &'static str,
    },
    /// No configuration is in both.
    #[error("none of its {rows} configurations is in the problem's space")]
    Apart {
        /// Number of configurations in the recording.
        rows: usize,
    },
    /// No configuration of the space was correct in the recording.
    #[error("none of its configurations that are in the problem's space was correct")]
    NothingCorrect,
}

impl PastTimes {
    /// Returns the scores by `objective` that `recording` has for the configurations of `space`.
    /// Configurations are matched by the values of their parameters. A parameter that one side
    /// lacks does not matter if the other has one value for it. Rows of configurations outside of
    /// the space are left out.
    ///
    /// Costs a rank per row.
    ///
    /// # Errors
    /// The parameters show that the recording is of another kernel, or the recording has no correct
    /// configuration of the space.
    pub fn of(recording: &Recording, space: &Space, objective: &dyn ObjectiveFunction) -> Result<Self, Misfit> {
        compare_parameters(recording.parameters(), space)?;
        let evaluations = recording.evaluations(space);
        let score = |evaluation| objective.score(evaluation).filter(|score| score.is_finite());
        let past: Past = evaluations.iter().map(|known| (known.request.config, score(known))).collect();
        if past.is_empty() {
            return Err(Misfit::Apart { rows: recording.rows().len() });
        }
        if past.iter().all(|(_, score)| score.is_none()) {
            return Err(Misfit::NothingCorrect);
        }
        Ok(Self(Arc::new([past])))
    }

    /// Joins the scores of `several`. Returns `None` if there are none.
    pub fn all(several: &[Self]) -> Option<Self> {
        let pasts: Arc<[Past]> = several.iter().flat_map(|past| past.0.iter().cloned()).collect();
        (!pasts.is_empty()).then_some(Self(pasts))
    }

    /// Returns the same scores, shuffled among the configurations of each recording. The result is
    /// a misleading history, to measure the cost of trusting one.
    #[must_use]
    pub fn shuffled(&self, rng: &mut Rng) -> Self {
        let deal = |past: &Past| {
            let mut scores: Vec<Option<f64>> = past.iter().map(|(_, score)| *score).collect();
            scores.shuffle(rng);
            past.iter().map(|(config, _)| *config).zip(scores).collect()
        };
        Self(self.0.iter().map(deal).collect())
    }

    /// Returns past times from scores, `None` for a failure. Each list comes from one recording or
    /// another source of times.
    pub fn from_scores(pasts: Vec<Vec<(ConfigId, Option<f64>)>>) -> Self {
        Self(pasts.into())
    }

    /// Returns up to `count` configurations by ascending mean slowdown. A slowdown is relative to
    /// the best of its list, and the mean is over the lists that contain the configuration.
    /// Configurations that failed in one list come last.
    pub fn best(&self, count: usize) -> Vec<ConfigId> {
        let mut slowdowns: HashMap<ConfigId, Vec<f64>> = HashMap::new();
        for past in self.each() {
            let scores = Scale::all(&past.iter().map(|(_, score)| *score).collect::<Vec<_>>());
            let least = scores.iter().copied().flatten().fold(f64::INFINITY, f64::min);
            for ((config, _), score) in past.iter().zip(scores) {
                let slowdown = score.map_or(f64::INFINITY, |score| score / least);
                slowdowns.entry(*config).or_default().push(slowdown);
            }
        }
        let mean = |slowdowns: Vec<f64>| slowdowns.iter().sum::<f64>() / slowdowns.len() as f64;
        let mut means: Vec<(f64, ConfigId)> =
            slowdowns.into_iter().map(|(config, slowdowns)| (mean(slowdowns), config)).collect();
        means.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        means.into_iter().take(count).map(|(_, config)| config).collect()
    }

    /// Returns the scores of each recording.
    pub(crate) fn each(&self) -> &[Past] {
        &self.0
    }
}

/// Checks that the parameters with several values are the same.
fn compare_parameters(recorded: &[Parameter], space: &Space) -> Result<(), Misfit> {
    let varies = |parameter: &&Parameter| parameter.values().len() > 1;
    let name = |parameter: &Parameter| parameter.name().to_string();
    for wanted in space.parameters().iter().filter(varies) {
        let Some(own) = recorded.iter().find(|own| own.name() == wanted.name()) else {
            let suggestion = closest(wanted.name(), recorded.iter().map(Parameter::name)).map(str::to_string);
            return Err(Misfit::Missing { name: name(wanted), suggestion });
        };
        if !is_compatible(own, wanted) {
            let (recorded, wanted_kind) = (words(own.kind()), words(wanted.kind()));
            return Err(Misfit::Kind { name: name(wanted), recorded, wanted: wanted_kind });
        }
    }
    let is_extra = |own: &&Parameter| space.parameter_index(own.name()).is_none();
    recorded.iter().filter(varies).find(is_extra).map_or(Ok(()), |own| Err(Misfit::Extra { name: name(own) }))
}

/// Returns true if values of the two parameters can be equal. Files write truth values as 0 and 1,
/// and whole floats as integers.
fn is_compatible(own: &Parameter, wanted: &Parameter) -> bool {
    let is_number = |kind| matches!(kind, ValueKind::Int | ValueKind::Float);
    let is_truth = |value: &Value| matches!(value, Value::Int(0 | 1) | Value::Bool(_));
    own.kind() == wanted.kind()
        || (is_number(own.kind()) && is_number(wanted.kind()))
        || own.values().iter().chain(wanted.values().iter()).all(is_truth)
}

fn words(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Bool => "truth values",
        ValueKind::Int => "integers",
        ValueKind::Float => "floating-point numbers",
        ValueKind::Str => "texts",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_those_of_the_least_mean_slowdown_and_failures_come_last() {
        let parameter = Parameter::new("A", (0..5).map(Value::Int)).unwrap();
        let space = Space::builder().parameter(parameter).build().unwrap();
        let past = |scores: &[(u128, Option<f64>)]| {
            scores.iter().map(|(rank, score)| (space.id(*rank).unwrap(), *score)).collect::<Vec<_>>()
        };
        let times = PastTimes::from_scores(vec![
            past(&[(0, Some(2.0)), (1, Some(1.0)), (2, None), (3, Some(1.5))]),
            past(&[(0, Some(10.0)), (1, Some(40.0)), (2, Some(10.0))]),
        ]);
        let ranks: Vec<u128> = times.best(9).iter().map(|config| config.rank()).collect();
        assert_eq!(ranks, [0, 3, 1, 2], "1.5 of 2 and 1; 1.5 of one; 2.5; one that failed");
        assert_eq!(times.best(1).len(), 1);
    }
}
