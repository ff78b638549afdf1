//! Keeps impossible times out of recordings.

use super::row::{Costs, Row};
use crate::objective::TIME_MS;
use crate::{Failure, FailureKind};

/// Longest time in milliseconds. Sums of such times stay finite.
const MOST_MS: f64 = 1e100;

/// Returns the row without numbers that no clock shows, and without values that are no numbers. If that
/// leaves a correct configuration without one of the `quantities` that rank it, it becomes a failure. So
/// does one with a time of 0: files that round their times cannot hold shorter ones.
pub(super) fn row(mut row: Row, quantities: &[&str]) -> Row {
    let is_time = |time: &f64| (0.0..=MOST_MS).contains(time);
    let measurement = &mut row.measurement;
    measurement.times_ms.retain(is_time);
    measurement.warmup_ms = measurement.warmup_ms.filter(is_time);
    measurement.compile = measurement.compile.take().filter(|compile| is_time(&compile.time_ms));
    measurement.values.retain(|_, samples| !samples.is_empty() && samples.iter().all(|sample| sample.is_finite()));
    row.stated_ms = row.stated_ms.filter(is_time);
    row.rel_std = row.rel_std.filter(is_time);
    let Costs { benchmark_ms, verification_ms, framework_ms, search_ms } = &mut row.costs;
    for cost in [benchmark_ms, verification_ms, framework_ms, search_ms] {
        *cost = cost.filter(is_time);
    }
    let missing = |quantity: &&str| match row.value(quantity) {
        Some(time) if *quantity == TIME_MS => time <= 0.0,
        Some(_) => false,
        None => true,
    };
    if let (None, Some(quantity)) = (&row.failure, quantities.iter().copied().find(missing)) {
        let reason = match row.value(quantity) {
            Some(_) => "a time of 0 ms: the file cannot hold shorter times".to_string(),
            None if quantity == TIME_MS => "the file has no time that a clock could show".to_string(),
            None => format!("the file has no `{quantity}` that is a number"),
        };
        row.failure = Some(Failure::new(FailureKind::Runtime, reason));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measurement;
    use crate::recording::{Column, Recording};
    use tunesmith_space::Value;

    #[test]
    fn a_time_of_zero_or_without_end_never_wins() {
        let measured = |value: i64, time: f64| Row {
            values: vec![Value::Int(value)],
            measurement: Measurement { times_ms: vec![time], ..Measurement::default() },
            ..Row::default()
        };
        let times = [0.0, f64::INFINITY, -1.0, f64::NAN, 2.5];
        let rows = (0..).zip(times).map(|(value, time)| measured(value, time)).collect();
        let recording = Recording::new("odd", vec![Column::of_rows("A")], rows).unwrap();
        assert_eq!((recording.correct(), recording.optimum_ms()), (1, Some(2.5)));
        let kinds = recording.rows().iter().map(|row| row.failure.as_ref().map(|failure| failure.kind));
        assert_eq!(kinds.flatten().collect::<Vec<_>>(), [FailureKind::Runtime; 4]);
    }
}
