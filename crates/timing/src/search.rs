//! Searches for the best configuration on a model.

use crate::scorer::Scorer;
use rand::SeedableRng as _;
use std::collections::HashMap;
use std::str::FromStr;
use tunesmith_core::Rng;
use tunesmith_search::climb;
use tunesmith_space::{ConfigId, Space};

/// The search for the best configuration on a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelSearch {
    /// Exhaustive if the space is small enough, else climbs of 75 steps.
    #[default]
    Auto,
    /// Every configuration.
    Exhaustive,
    /// Climbs with this number of steps (the paper's HC25, HC50 and HC75, section 2.4).
    Climb(usize),
    /// The problem's grid.
    Grid,
}

/// Number of the trees' questions answered in 50 ms, which an application would wait, at some 1 ns
/// each. It is a number rather than a measured time, so that the same question has the same answer
/// everywhere.
const AFFORDABLE: u128 = 50_000_000;

/// The cost of making the row of a configuration, in such questions.
const ROW: u128 = 600;

/// Default number of steps of a climb, as in the paper's experiments (section 6).
const STEPS: usize = 75;

/// Probability with which a climb draws each parameter anew (section 2.4).
const RESAMPLED: f64 = 0.25;

/// A configuration with its predicted logarithm of the speed relative to the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ranked {
    /// The configuration.
    pub(crate) config: ConfigId,
    /// The prediction.
    pub(crate) log_speedup: f64,
}

impl FromStr for ModelSearch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "exhaustive" => Ok(Self::Exhaustive),
            "grid" => Ok(Self::Grid),
            _ => {
                let steps = text.strip_prefix("hc").and_then(|steps| steps.parse().ok()).filter(|steps| *steps > 0);
                let known =
                    || format!("there is no search `{text}`; searches are auto, exhaustive, grid, hc25, hc50 and hc75");
                steps.map(Self::Climb).ok_or_else(known)
            }
        }
    }
}

/// The space of a search, with the starts of its climbs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) space: &'a Space,
    /// The start of the first climb; a random configuration without it.
    pub(crate) start: Option<ConfigId>,
    pub(crate) grid: Option<&'a [ConfigId]>,
    /// Number of climbs. The second and later ones start from random configurations.
    pub(crate) restarts: usize,
    pub(crate) seed: u64,
}

/// Returns the `count` configurations that the model predicts best, the best first, with the name
/// of the search that found them.
pub(crate) fn ranked(
    search: ModelSearch,
    scorer: &Scorer<'_>,
    field: &Field<'_>,
    count: usize,
) -> (Vec<Ranked>, String) {
    let small = field.space.len().is_some_and(|len| len <= exhaustive(scorer.questions()));
    let (found, source) = match search {
        ModelSearch::Exhaustive => (all(scorer, field.space), "exhaustive".to_string()),
        ModelSearch::Auto if small => (all(scorer, field.space), "exhaustive".to_string()),
        ModelSearch::Auto => (climbs(STEPS, scorer, field), format!("hc{STEPS}")),
        ModelSearch::Climb(steps) => (climbs(steps, scorer, field), format!("hc{steps}")),
        ModelSearch::Grid => (scored(scorer, field.grid.unwrap_or_default()), "grid".to_string()),
    };
    (best(found, count), source)
}

/// Returns the maximum number of configurations for an exhaustive search, when each asks the trees
/// `questions`.
fn exhaustive(questions: u128) -> u128 {
    AFFORDABLE / (ROW + questions)
}

/// Number of configurations scored at a time, so that a space of millions needs no table of
/// millions.
const PART: usize = 16_384;

/// Maximum number of configurations kept of each part. No caller asks for more.
const KEPT: usize = 1000;

fn all(scorer: &Scorer<'_>, space: &Space) -> Vec<Ranked> {
    let mut kept = Vec::new();
    let mut part = Vec::with_capacity(PART);
    for config in space.iter() {
        part.push(config);
        if part.len() == PART {
            kept.extend(best(scored(scorer, &part), KEPT));
            part.clear();
        }
    }
    kept.extend(scored(scorer, &part));
    kept
}

fn scored(scorer: &Scorer<'_>, configs: &[ConfigId]) -> Vec<Ranked> {
    let scores = scorer.all(configs);
    configs.iter().zip(scores).map(|(config, log_speedup)| Ranked { config: *config, log_speedup }).collect()
}

/// Returns all configurations that the climbs visited.
fn climbs(steps: usize, scorer: &Scorer<'_>, field: &Field<'_>) -> Vec<Ranked> {
    let mut seen: HashMap<ConfigId, f64> = HashMap::new();
    let mut rng = Rng::seed_from_u64(field.seed);
    for restart in 0..field.restarts.max(1) {
        let start = field.start.filter(|_| restart == 0).unwrap_or_else(|| field.space.sample(&mut rng));
        climb(field.space, start, steps, RESAMPLED, &mut rng, |config| {
            *seen.entry(config).or_insert_with(|| scorer.one(config))
        });
    }
    seen.into_iter().map(|(config, log_speedup)| Ranked { config, log_speedup }).collect()
}

/// Returns the best `count`. Of equally good ones, those of lower rank.
fn best(mut found: Vec<Ranked>, count: usize) -> Vec<Ranked> {
    found.sort_by(|a, b| b.log_speedup.total_cmp(&a.log_speedup).then(a.config.cmp(&b.config)));
    found.truncate(count);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_and_deeper_trees_leave_time_for_fewer_configurations() {
        // 100 and 1600 trees of depth 4, and none.
        assert_eq!([400, 6400, 0].map(exhaustive), [50_000, 7_142, 83_333]);
        assert_eq!(exhaustive(u128::from(u64::MAX)), 0);
    }
}
