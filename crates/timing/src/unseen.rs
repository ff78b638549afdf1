//! Judges a model on devices or inputs left out: its choice beside the single configuration that is
//! best over the others, and beside the configurations that transfer.

use crate::folds::Fold;
use crate::groups::Group;
use crate::held_out::chosen;
use crate::single::best_single;
use crate::transfer::transferring;
use std::collections::BTreeMap;
use tunesmith_choose::timing::{Unseen, UnseenDevice};
use tunesmith_space::{Parameter, Value};

/// Returns a note for the user about a model that does not help on other devices.
pub(crate) fn note(unseen: &Unseen) -> String {
    format!(
        "on devices left out of training, the most robust configuration of the others ran at {:.1} % of the best, \
             the model's choice at {:.1} %: `predict` for an unknown device falls back to the robust one",
        unseen.robust.unwrap_or(unseen.best_single) * 100.0,
        unseen.model * 100.0
    )
}

/// Returns a note for the user about a model that does not help on other inputs.
pub(crate) fn note_of_inputs(unseen: &Unseen) -> Option<String> {
    let text = || {
        format!(
            "warning: on inputs left out of training, the best single configuration of the others ran at {:.1} % of the \
             best, the model's choice at {:.1} %: train on more inputs",
            unseen.best_single * 100.0,
            unseen.model * 100.0
        )
    };
    (unseen.best_single > unseen.model).then(text)
}

/// The speeds of the choices for one recording, relative to its best configuration.
#[derive(Clone, Copy, Default)]
struct Speeds {
    model: f64,
    single: f64,
    /// The best of the first one, three and five robust configurations.
    robust: [f64; 3],
}

/// Numbers of robust configurations that are judged.
const TRIED: [usize; 3] = [1, 3, 5];

/// Judges folds by device or input. `predictions` has the prediction for each row of their tests. Recordings
/// without the single configuration are skipped. Returns `None` if no recording has it.
pub(crate) fn unseen(parameters: &[Parameter], folds: &[Fold], predictions: &[Vec<Vec<f64>>]) -> Option<Unseen> {
    let mut of_devices: BTreeMap<&str, Vec<Speeds>> = BTreeMap::new();
    for (fold, predictions) in folds.iter().zip(predictions) {
        let Some(single) = best_single_of(&fold.train) else { continue };
        let robust = transferring(parameters, &fold.train);
        for (group, predicted) in fold.test.iter().zip(predictions) {
            let Some(speeds) = speeds(group, predicted, &single, &robust) else { continue };
            of_devices.entry(&group.device).or_default().push(speeds);
        }
    }
    let means: Vec<(String, Speeds)> =
        of_devices.into_iter().map(|(name, speeds)| (name.to_string(), mean(&speeds))).collect();
    let of_all = mean(&means.iter().map(|(_, speeds)| *speeds).collect::<Vec<_>>());
    let device =
        |(name, speeds): (String, Speeds)| UnseenDevice { name, model: speeds.model, best_single: speeds.single };
    let [robust, robust_of_3, robust_of_5] = of_all.robust.map(Some);
    (!means.is_empty()).then(|| Unseen {
        model: of_all.model,
        best_single: of_all.single,
        robust,
        robust_of_3,
        robust_of_5,
        devices: means.into_iter().map(device).collect(),
    })
}

fn mean(speeds: &[Speeds]) -> Speeds {
    let mean = |number: &dyn Fn(&Speeds) -> f64| speeds.iter().map(number).sum::<f64>() / speeds.len().max(1) as f64;
    Speeds {
        model: mean(&|speeds| speeds.model),
        single: mean(&|speeds| speeds.single),
        robust: [0, 1, 2].map(|at| mean(&|speeds| speeds.robust[at])),
    }
}

/// Returns the relative speeds of the model's choice, of `single`, and of the first of `robust`.
/// Returns `None` if `single` was not recorded.
fn speeds(group: &Group, predicted: &[f64], single: &[Value], robust: &[Vec<Value>]) -> Option<Speeds> {
    let (model, _) = chosen(group, predicted)?;
    let speed = |wanted: &[Value]| {
        let (_, ms) = group.rows.iter().find(|(values, _)| values == wanted)?;
        Some(ms.map_or(0.0, |ms| group.best_ms().unwrap_or(ms) / ms))
    };
    let of: Vec<f64> = robust.iter().map(|values| speed(values).unwrap_or(0.0)).collect();
    let best_of = |count: usize| of.iter().take(count).copied().fold(0.0, f64::max);
    Some(Speeds { model, single: speed(single)?, robust: TRIED.map(best_of) })
}

/// Returns the single configuration that is best over `groups`.
fn best_single_of(groups: &[Group]) -> Option<Vec<Value>> {
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
        super::unseen(&parameters(), &folds, &[vec![of_b.to_vec()], vec![of_a.to_vec()]]).unwrap()
    }

    fn parameters() -> [Parameter; 1] {
        [Parameter::new("X", vec![Value::Int(1), Value::Int(2)]).unwrap()]
    }

    #[test]
    fn the_choices_of_both_are_judged_on_the_device_that_neither_saw() {
        let mixed = judged([0.0, 1.0], [0.0, 1.0]);
        let device = |name: &str, model, best_single| UnseenDevice { name: name.to_string(), model, best_single };
        // The answer for each device is the best configuration of the other.
        assert_eq!(mixed.devices, [device("a", 0.25, 0.25), device("b", 1.0, 0.5)]);
        assert_eq!((mixed.model, mixed.best_single, mixed.prefers_single()), (0.625, 0.375, false));
        // Each device offers two configurations: the second is the best of the other.
        assert_eq!((mixed.robust, mixed.robust_of_3), (Some(0.375), Some(1.0)));
        assert!(!judged([0.0, 1.0], [1.0, 0.0]).prefers_single(), "as good is good enough");
    }

    #[test]
    fn a_device_without_the_single_configuration_tells_nothing_and_one_where_it_failed_counts_0() {
        let train = || vec![group("a", &[(1, 1.0), (2, 2.0)])];
        let fold = |times: &[(i64, f64)]| Fold { train: train(), test: vec![group("b", times)] };
        assert_eq!(super::unseen(&parameters(), &[fold(&[(2, 1.0)])], &[vec![vec![0.0]]]), None);
        let failed = super::unseen(&parameters(), &[fold(&[(1, 0.0), (2, 1.0)])], &[vec![vec![1.0, 0.0]]]).unwrap();
        assert_eq!((failed.model, failed.best_single), (1.0, 0.0));
    }
}
