//! Judges a model on devices left out: its choice beside the single configuration that is best over
//! the other devices.

use crate::folds::Fold;
use crate::groups::Group;
use crate::held_out::chosen;
use crate::single::best_single;
use std::collections::BTreeMap;
use tunesmith_choose::timing::{Unseen, UnseenDevice};
use tunesmith_space::Value;

/// Returns a note for the user about a model that does not help on other devices.
pub(crate) fn note(unseen: &Unseen) -> String {
    format!(
        "on devices left out of training, the best single configuration of the others ran at {:.1} % of the best, \
             the model's choice at {:.1} %: `predict` for an unknown device falls back to the single one",
        unseen.best_single * 100.0,
        unseen.model * 100.0
    )
}

/// Judges folds by device. `predictions` has the prediction for each row of their tests. Recordings
/// without the single configuration are skipped. Returns `None` if no recording has it.
pub(crate) fn unseen(folds: &[Fold], predictions: &[Vec<Vec<f64>>]) -> Option<Unseen> {
    let mut of_devices: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for (fold, predictions) in folds.iter().zip(predictions) {
        let Some(single) = best_single_of(&fold.train) else { continue };
        for (group, predicted) in fold.test.iter().zip(predictions) {
            let Some(pair) = pair(group, predicted, &single) else { continue };
            of_devices.entry(&group.device).or_default().push(pair);
        }
    }
    let device = |(name, pairs): (&str, Vec<(f64, f64)>)| {
        let (model, best_single) = means(&pairs);
        UnseenDevice { name: name.to_string(), model, best_single }
    };
    let devices: Vec<UnseenDevice> = of_devices.into_iter().map(device).collect();
    let pairs: Vec<(f64, f64)> = devices.iter().map(|device| (device.model, device.best_single)).collect();
    let (model, best_single) = (!pairs.is_empty()).then(|| means(&pairs))?;
    Some(Unseen { model, best_single, devices })
}

fn means(pairs: &[(f64, f64)]) -> (f64, f64) {
    let count = pairs.len() as f64;
    (pairs.iter().map(|pair| pair.0).sum::<f64>() / count, pairs.iter().map(|pair| pair.1).sum::<f64>() / count)
}

/// Returns the relative speeds of the model's choice and of `single`.
fn pair(group: &Group, predicted: &[f64], single: &[Value]) -> Option<(f64, f64)> {
    let (model, _) = chosen(group, predicted)?;
    let (_, ms) = group.rows.iter().find(|(values, _)| values == single)?;
    Some((model, ms.map_or(0.0, |ms| group.best_ms().unwrap_or(ms) / ms)))
}

/// Returns the single configuration that is best over `groups`.
pub(crate) fn best_single_of(groups: &[Group]) -> Option<Vec<Value>> {
    best_single(
        groups
            .iter()
            .map(|group| group.rows.iter().filter_map(|(values, ms)| Some((values.as_slice(), (*ms)?))).collect()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recording of one device: times of configurations by their number, 0 for a failure.
    fn group(device: &str, times: &[(i64, f64)]) -> Group {
        Group {
            device: device.to_string(),
            device_features: BTreeMap::new(),
            sizes: Vec::new(),
            reference_ms: 1.0,
            rows: times.iter().map(|(x, ms)| (vec![Value::Int(*x)], (*ms > 0.0).then_some(*ms))).collect(),
        }
    }

    #[test]
    fn the_single_best_ran_on_all_devices_and_has_the_least_geometric_mean_of_relative_times() {
        // Relative times of 1: 1 and 4; of 2: 2 and 1.5. 3 is the best of the second device and
        // failed on the first.
        let groups = [group("a", &[(1, 10.0), (2, 20.0), (3, 0.0)]), group("b", &[(1, 4.0), (2, 1.5), (3, 1.0)])];
        assert_eq!(best_single_of(&groups), Some(vec![Value::Int(2)]));
        assert_eq!(best_single_of(&[group("a", &[(1, 0.0)])]), None);
    }

    /// Judges predictions for two devices, each left out once. Their best configurations are 1 and
    /// 2.
    fn judged(of_a: [f64; 2], of_b: [f64; 2]) -> Unseen {
        let (a, b) = (group("a", &[(1, 1.0), (2, 4.0)]), group("b", &[(1, 2.0), (2, 1.0)]));
        let fold = |test: &Group, train: &Group| Fold { train: vec![train.clone()], test: vec![test.clone()] };
        let folds = [fold(&b, &a), fold(&a, &b)];
        super::unseen(&folds, &[vec![of_b.to_vec()], vec![of_a.to_vec()]]).unwrap()
    }

    #[test]
    fn the_choices_of_both_are_judged_on_the_device_that_neither_saw() {
        let mixed = judged([0.0, 1.0], [0.0, 1.0]);
        let device = |name: &str, model, best_single| UnseenDevice { name: name.to_string(), model, best_single };
        // The answer for each device is the best configuration of the other.
        assert_eq!(mixed.devices, [device("a", 0.25, 0.25), device("b", 1.0, 0.5)]);
        assert_eq!((mixed.model, mixed.best_single, mixed.prefers_single()), (0.625, 0.375, false));
        assert!(!judged([0.0, 1.0], [1.0, 0.0]).prefers_single(), "as good is good enough");
    }

    #[test]
    fn a_device_without_the_single_configuration_tells_nothing_and_one_where_it_failed_counts_0() {
        let train = || vec![group("a", &[(1, 1.0), (2, 2.0)])];
        let fold = |times: &[(i64, f64)]| Fold { train: train(), test: vec![group("b", times)] };
        assert_eq!(super::unseen(&[fold(&[(2, 1.0)])], &[vec![vec![0.0]]]), None);
        let failed = super::unseen(&[fold(&[(1, 0.0), (2, 1.0)])], &[vec![vec![1.0, 0.0]]]).unwrap();
        assert_eq!((failed.model, failed.best_single), (1.0, 0.0));
    }
}
