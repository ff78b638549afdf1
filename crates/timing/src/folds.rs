//! Parts of the training set that are left out of a fit, in order to judge it.

use crate::groups::Group;
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use serde::Serialize;
use std::collections::BTreeSet;
use tunesmith_core::Rng;
use tunesmith_space::Value;

/// The unit that is left out as a whole, so that no part of it is on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FoldBy {
    /// Devices.
    Devices,
    /// Inputs, on all devices.
    Inputs,
    /// Configurations, in all recordings.
    Configurations,
}

/// Maximum number of folds: each costs a fit.
const FOLDS: usize = 4;

/// Minimum number of configurations. With fewer, a fold tells nothing.
const FEWEST_CONFIGURATIONS: usize = 40;

/// A part of the training set to fit to, and the part left out.
pub(crate) struct Fold {
    pub(crate) train: Vec<Group>,
    pub(crate) test: Vec<Group>,
}

/// Returns at most four folds of `groups`: by devices if there are several, else by inputs, else by
/// configurations. Returns `None` if there are too few of each.
pub(crate) fn folds(groups: &[Group], seed: u64) -> Option<(FoldBy, Vec<Fold>)> {
    let all = |by| match by {
        FoldBy::Devices => groups.iter().map(|group| group.device.clone()).collect::<BTreeSet<_>>(),
        FoldBy::Inputs => groups.iter().map(Group::input).collect(),
        FoldBy::Configurations => configurations(groups).into_iter().collect(),
    };
    let order = [(FoldBy::Devices, 2), (FoldBy::Inputs, 2), (FoldBy::Configurations, FEWEST_CONFIGURATIONS)];
    let (by, keys) = order.into_iter().find_map(|(by, fewest)| {
        let keys = all(by);
        (keys.len() >= fewest).then_some((by, keys))
    })?;
    let mut keys: Vec<String> = keys.into_iter().collect();
    keys.shuffle(&mut Rng::seed_from_u64(seed));
    let fold = |at: usize| {
        let left_out = keys.iter().skip(at).step_by(FOLDS).cloned().collect();
        let (train, test) = part(groups, by, &left_out);
        Fold { train, test }
    };
    Some((by, (0..FOLDS.min(keys.len())).map(fold).collect()))
}

/// Returns all configurations of `groups` as texts, in order.
pub(crate) fn configurations(groups: &[Group]) -> Vec<String> {
    let all: BTreeSet<String> =
        groups.iter().flat_map(|group| group.rows.iter().map(|(values, _)| key(values))).collect();
    all.into_iter().collect()
}

fn key(values: &[Value]) -> String {
    values.iter().map(Value::define).collect::<Vec<_>>().join(",")
}

/// Returns the groups without `left_out`, and those of `left_out` alone.
pub(crate) fn part(groups: &[Group], by: FoldBy, left_out: &BTreeSet<String>) -> (Vec<Group>, Vec<Group>) {
    let whole =
        |is_out: fn(&Group) -> String| groups.iter().cloned().partition(|group| !left_out.contains(&is_out(group)));
    let of_rows = |group: &Group| {
        let (test, train) = group.rows.iter().cloned().partition(|(values, _)| left_out.contains(&key(values)));
        (Group { rows: train, ..group.clone() }, Group { rows: test, ..group.clone() })
    };
    match by {
        FoldBy::Devices => whole(|group| group.device.clone()),
        FoldBy::Inputs => whole(Group::input),
        FoldBy::Configurations => groups.iter().map(of_rows).unzip(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn group(device: &str, input: i64, configurations: i64) -> Group {
        Group {
            device: device.to_string(),
            device_features: BTreeMap::new(),
            sizes: vec![("N".to_string(), Value::Int(input))],
            reference_ms: 1.0,
            rows: (0..configurations).map(|value| (vec![Value::Int(value)], Some(1.0))).collect(),
        }
    }

    fn cells(groups: &[Group]) -> BTreeSet<(String, String, String)> {
        let rows = |group: &Group| {
            let row = |(values, _): &(Vec<Value>, Option<f64>)| (group.device.clone(), group.input(), key(values));
            group.rows.iter().map(row).collect::<Vec<_>>()
        };
        groups.iter().flat_map(rows).collect()
    }

    #[test]
    fn devices_go_before_inputs_and_these_before_configurations_and_every_row_is_left_out_once() {
        let several = [group("a", 1, 5), group("a", 2, 5), group("b", 1, 5)];
        let cases: [(&[Group], FoldBy, usize); 3] = [
            (&several, FoldBy::Devices, 2),
            (&several[..2], FoldBy::Inputs, 2),
            (&[group("a", 1, 50)], FoldBy::Configurations, 4),
        ];
        for (groups, expected, count) in cases {
            let (by, folds) = folds(groups, 1).unwrap();
            assert_eq!((by, folds.len()), (expected, count));
            let mut left_out = BTreeSet::new();
            for fold in &folds {
                let (train, test) = (cells(&fold.train), cells(&fold.test));
                assert!(!train.is_empty() && train.is_disjoint(&test) && left_out.is_disjoint(&test));
                assert_eq!(train.len() + test.len(), cells(groups).len());
                let keys = |cells: &BTreeSet<(String, String, String)>| -> BTreeSet<String> {
                    let key = |(device, input, configuration): &(String, String, String)| match by {
                        FoldBy::Devices => device.clone(),
                        FoldBy::Inputs => input.clone(),
                        FoldBy::Configurations => configuration.clone(),
                    };
                    cells.iter().map(key).collect()
                };
                assert!(keys(&train).is_disjoint(&keys(&test)));
                left_out.extend(test);
            }
            assert_eq!(left_out, cells(groups));
        }
        assert!(folds(&[group("a", 1, 39)], 1).is_none());
    }
}
