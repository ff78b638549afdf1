//! The samples that judge the configurations of a recorded run.

use crate::judged_run::{JudgedRun, key_of, samples_of};
use std::collections::HashMap;
use tunesmith_core::judge::standing::counted;
use tunesmith_core::{Depth, Role, statistics};
use tunesmith_problem::Metric;
use tunesmith_store::{Again, Entry};

/// The measurements of some configurations of a recorded run, by which they are judged.
pub struct Measurements<'a> {
    entries: HashMap<u128, Entry>,
    again: HashMap<u128, Vec<&'a Again>>,
}

impl<'a> Measurements<'a> {
    /// Reads the measurements of the configurations that are `wanted`.
    pub fn new(judged: &JudgedRun<'a>, wanted: impl Fn(u128) -> bool) -> Self {
        let mut found = Self { entries: HashMap::new(), again: HashMap::new() };
        let entries = &judged.recorded.entries;
        for (at, brief) in entries.briefs().iter().enumerate().filter(|(_, brief)| wanted(brief.index)) {
            // The timed evaluation counts, else the profiled one.
            if (brief.depth == Depth::Timed || !found.entries.contains_key(&brief.index))
                && let Ok(entry) = entries.get(at)
            {
                found.entries.insert(brief.index, entry);
            }
        }
        for again in judged.recorded.current().filter(|again| wanted(key_of(&again.entry))) {
            found.again.entry(key_of(&again.entry)).or_default().push(again);
        }
        found
    }

    /// Returns the entry that counts for a configuration.
    pub fn entry(&self, key: u128) -> Option<&Entry> {
        self.entries.get(&key)
    }

    /// Returns the times that count for a configuration: the medians of its visits in the final, or
    /// else the samples of the search. `None` if it failed, at first or later.
    pub fn counted(&self, key: u128) -> Option<Vec<f64>> {
        let (entry, again) = (self.entries.get(&key)?, self.again(key));
        let mut all = again.iter().map(|line| &line.entry).chain([entry]);
        all.all(|entry| matches!(entry.failure(), Ok(None))).then_some(())?;
        let visits = again.iter().filter_map(|line| Some((line.role()?, line.entry.times_ms.as_slice())));
        let finals = final_medians(visits);
        Some(if finals.is_empty() { entry.times_ms.clone() } else { finals })
    }

    /// Returns the objective's values of a configuration, by the measurements that count for it.
    pub fn values(&self, metric: &Metric, key: u128) -> Option<Vec<f64>> {
        let visits: Vec<(Role, Vec<f64>)> =
            self.again(key).iter().filter_map(|line| Some((line.role()?, samples_of(metric, &line.entry)?))).collect();
        let finals = final_medians(visits.iter().map(|(role, values)| (*role, values.as_slice())));
        if finals.is_empty() { samples_of(metric, self.entries.get(&key)?) } else { Some(finals) }
    }

    fn again(&self, key: u128) -> &[&'a Again] {
        self.again.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// Returns the median of every visit of one configuration that counts ([`counted`]). Empty if the
/// configuration took part in no final.
pub fn final_medians<'a>(visits: impl Iterator<Item = (Role, &'a [f64])>) -> Vec<f64> {
    counted(visits.filter_map(|(role, samples)| Some((role.stage()?, statistics::median(samples)?))))
}
