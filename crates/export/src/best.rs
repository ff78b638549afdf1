//! Chooses the configuration of wisdom that a build takes.

use crate::for_all_inputs;
use tunesmith_choose::Best;
use tunesmith_choose::wisdom::{Config, Portfolio, Wisdom};

/// Returns the configuration of `portfolio` that is to serve all inputs, with its time and speed-up as
/// far as `wisdom` tells them. `winners` has, for each run, its best configuration and the speed-up of
/// that, if the default was correct.
pub fn best(portfolio: &Portfolio, wisdom: &Wisdom, winners: &[(Config, Option<f64>)]) -> Option<Best> {
    let (_, config) = for_all_inputs(std::slice::from_ref(portfolio)).ok()?;
    let input = wisdom.entries.first().map(|entry| &entry.input);
    let is_one = wisdom.entries.iter().all(|entry| Some(&entry.input) == input);
    // A time belongs to an input, and so does a speed-up.
    let entry = wisdom.entries.iter().find(|entry| is_one && entry.config == *config);
    let of_run = match winners {
        [(winner, speedup)] if winner == config => *speedup,
        _ => None,
    };
    Some(Best {
        config: config.clone(),
        time_ms: entry.map(|entry| entry.time_ms),
        speedup: entry.and_then(|entry| entry.provenance.guarded_speedup.or(of_run)),
    })
}
