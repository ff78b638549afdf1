//! Finds the single configuration that does best over several recordings.

use std::cmp::Reverse;
use std::collections::HashMap;
use tunesmith_space::Value;

/// Returns, among the configurations that are correct in the most recordings, the one with the
/// least geometric mean of times relative to each optimum. Each recording is its correct
/// configurations with their times. Returns `None` if there are none.
pub(crate) fn best_single<'a>(recordings: impl Iterator<Item = Vec<(&'a [Value], f64)>>) -> Option<Vec<Value>> {
    let sums = sums(recordings);
    let text = |values: &[Value]| values.iter().map(Value::define).collect::<Vec<_>>();
    let best = sums.iter().min_by(|(a_values, (a_count, a_sum)), (b_values, (b_count, b_sum))| {
        // Equally good ones are ordered by their values, so that the choice is always the same.
        let by_time = Reverse(a_count).cmp(&Reverse(b_count)).then(a_sum.total_cmp(b_sum));
        by_time.then_with(|| text(a_values).cmp(&text(b_values)))
    });
    best.map(|(values, _)| values.to_vec())
}

/// Returns, for each configuration, the number of recordings in which it is correct, and the sum of
/// the logarithms of its times relative to their optima.
pub(crate) fn sums<'a>(
    recordings: impl Iterator<Item = Vec<(&'a [Value], f64)>>,
) -> HashMap<&'a [Value], (usize, f64)> {
    let mut sums: HashMap<&[Value], (usize, f64)> = HashMap::new();
    for rows in recordings {
        let Some(optimum) = rows.iter().map(|(_, ms)| *ms).min_by(f64::total_cmp) else { continue };
        for (values, ms) in rows {
            let sum = sums.entry(values).or_default();
            *sum = (sum.0 + 1, sum.1 + (ms / optimum).ln());
        }
    }
    sums
}
