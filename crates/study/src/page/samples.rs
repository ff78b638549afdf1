//! The samples of a run's leaders.

use std::collections::BTreeMap;
use tunesmith_core::{Role, statistics};
use tunesmith_report::{SampleSet, Samples};
use tunesmith_store::{Outline, StoreError, arguments};

/// Maximum number of finalists.
const FINALISTS: usize = 12;
/// Returns the samples of the final re-measurement, the fastest first, or those of the `leaders` of
/// the search if there was none.
pub(super) fn of(outline: &Outline, leaders: &[u128]) -> Result<SampleSet, StoreError> {
    let finalists = finalists(outline);
    if !finalists.is_empty() {
        return Ok(SampleSet { is_final: true, configs: finalists });
    }
    let briefs = outline.entries.briefs();
    let is_leader = |leader: &u128| briefs.iter().position(|brief| brief.index == *leader && brief.times.is_some());
    let of = |at: usize| {
        let entry = outline.entries.get(at)?;
        Ok(Samples { config: arguments(&entry.config), times_ms: entry.times_ms })
    };
    let configs = leaders.iter().filter_map(is_leader).map(of).collect::<Result<_, StoreError>>()?;
    Ok(SampleSet { is_final: false, configs })
}

fn finalists(outline: &Outline) -> Vec<Samples> {
    let mut found: BTreeMap<usize, Samples> = BTreeMap::new();
    for again in outline.current() {
        let is_final = matches!(again.role(), Some(Role::Selection | Role::Confirmation | Role::Baseline));
        if is_final && !again.entry.times_ms.is_empty() {
            let new = || Samples { config: arguments(&again.entry.config), times_ms: Vec::new() };
            found.entry(again.evaluation).or_insert_with(new).times_ms.extend(&again.entry.times_ms);
        }
    }
    let mut finalists: Vec<Samples> = found.into_values().collect();
    let median = |samples: &Samples| statistics::median(&samples.times_ms).unwrap_or(f64::INFINITY);
    finalists.sort_by(|a, b| median(a).total_cmp(&median(b)));
    finalists.truncate(FINALISTS);
    finalists
}
