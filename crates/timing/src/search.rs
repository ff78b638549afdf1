//! Looking for the best configuration on a model.

use crate::scorer::Scorer;
use rand::SeedableRng as _;
use std::collections::HashMap;
use std::str::FromStr;
use tunesmith_core::Rng;
use tunesmith_search::climb;
use tunesmith_space::{ConfigId, Space};

/// How the best configuration is looked for on a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelSearch {
    /// Exhaustive where the space is small enough for it, else climbs of 75 steps.
    #[default]
    Auto,
    /// Every configuration.
    Exhaustive,
    /// Climbs of so many steps (the paper's HC25, HC50 and HC75, section 2.4).
    Climb(usize),
    /// The problem's grid.
    Grid,
}

/// Questions of trees that are answered in 50 ms, which an application would wait, at some 1 ns each.
/// A number, not a measured time, so that the same question has the same answer everywhere.
const AFFORDABLE: u128 = 50_000_000;

/// What making the row of a configuration costs, in such questions.
const ROW: u128 = 600;

/// The steps of a climb unless told otherwise; the paper's experiments take them (section 6).
const STEPS: usize = 75;

/// With which probability a climb draws each parameter anew (section 2.4).
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
                let known = || format!("there is no search `{text}`: auto, exhaustive, grid, hc25, hc50, hc75 are");
                steps.map(Self::Climb).ok_or_else(known)
            }
        }
    }
}

/// Where a search looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) space: &'a Space,
    /// Where climbs start; a random configuration where there is none.
    pub(crate) start: Option<ConfigId>,
    pub(crate) grid: Option<&'a [ConfigId]>,
    /// Climbs, from the second on from random configurations.
    pub(crate) restarts: usize,
    pub(crate) seed: u64,
}

/// The `count` configurations that the model predicts best, the best first, with the name of the search that found them.
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

/// The most configurations that are all scored where each asks the trees `questions`.
fn exhaustive(questions: u128) -> u128 {
    AFFORDABLE / (ROW + questions)
}

/// So many at a time, that a space of millions needs no table of millions.
const PART: usize = 16_384;

/// No more of a part can be among the best that anyone asks for.
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

/// Everything that the climbs came by.
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

/// The best `count`; of equally good ones those of lower rank.
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
