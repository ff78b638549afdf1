//! Judges a model on data that it was not fitted to.

use crate::groups::Group;
use tunesmith_choose::timing::HeldOut;

/// Judges a model on the held-out `groups`. `predictions` has the prediction for each of their
/// rows.
pub(crate) fn held_out(inputs: Vec<String>, groups: &[Group], predictions: &[Vec<f64>], zeta: f64) -> HeldOut {
    let rows = groups.iter().map(|group| group.rows.len()).sum();
    let pairs = || groups.iter().zip(predictions);
    let square = |(group, predicted): (&Group, &Vec<f64>)| {
        let errors = group.rows.iter().zip(predicted).map(|((_, ms), found)| found - group.target(*ms, zeta));
        errors.map(|error| error * error).sum::<f64>()
    };
    let chosen: Vec<(f64, f64)> = pairs().filter_map(|(group, predicted)| chosen(group, predicted)).collect();
    let mean = |number: fn(&(f64, f64)) -> f64| {
        (!chosen.is_empty()).then(|| chosen.iter().map(number).sum::<f64>() / chosen.len() as f64)
    };
    HeldOut {
        inputs,
        rows,
        log_speedup: (rows > 0).then(|| (pairs().map(square).sum::<f64>() / rows as f64).sqrt()),
        chosen_over_best: mean(|(best, _)| *best),
        chosen_over_reference: mean(|(_, reference)| *reference),
    }
}

/// Returns the speed of the first correct configuration in the order of the predictions, relative
/// to the best and to the reference.
pub(crate) fn chosen(group: &Group, predictions: &[f64]) -> Option<(f64, f64)> {
    let correct = group.rows.iter().zip(predictions).filter_map(|((_, ms), predicted)| Some((*predicted, (*ms)?)));
    // Takes the first of equally good ones: `max_by` would take the last.
    let (_, ms) = correct.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    Some((group.best_ms()? / ms, group.reference_ms / ms))
}
