//! Chooses configurations for devices and inputs that nothing was measured near.

use crate::groups::Group;
use crate::single::sums;
use tunesmith_space::{Parameter, Value};

/// Number of configurations. A user can measure so few on a new device.
pub(crate) const MOST: usize = 8;

/// Number of the best configurations considered.
const CONSIDERED: usize = 600;

/// Cost of a value that is no power of two, where the parameter has others, as a logarithm of time.
/// Such values are best on one device by its peculiarities, and rarely on another.
const ODD: f64 = 0.05;

/// Worth of a configuration that differs in all parameters from those before it, as a logarithm of
/// time: if those are slow on a new device, a similar one is slow as well.
const DIFFERENT: f64 = 0.2;

/// Returns at most [`MOST`] configurations that should be tried where nothing was measured, in this
/// order. The first has about the least geometric mean of times relative to the optima of `groups`,
/// among those that are correct in the most of them. Each further one is nearly as good and differs
/// from those before it. Costs a look at every row, and at 600 configurations for each choice.
pub(crate) fn transferring(parameters: &[Parameter], groups: &[Group]) -> Vec<Vec<Value>> {
    let rows = |group: &Group| -> Vec<(Vec<Value>, f64)> {
        group.rows.iter().filter_map(|(values, ms)| Some((values.clone(), (*ms)?))).collect()
    };
    let recordings: Vec<Vec<(Vec<Value>, f64)>> = groups.iter().map(rows).collect();
    let sums = sums(recordings.iter().map(|rows| rows.iter().map(|(values, ms)| (values.as_slice(), *ms)).collect()));
    let most = sums.values().map(|(count, _)| *count).max().unwrap_or(0);
    let penalised: Vec<bool> = parameters.iter().map(has_odd_values).collect();
    let cost = |values: &[Value], sum: f64| {
        let odd = values.iter().zip(&penalised).filter(|(value, penalised)| **penalised && is_odd(value)).count();
        sum / most as f64 + ODD * odd as f64
    };
    let common = sums.iter().filter(|(_, (count, _))| *count == most);
    let mut considered: Vec<(f64, &[Value])> = common.map(|(values, (_, sum))| (cost(values, *sum), *values)).collect();
    let text = |values: &[Value]| values.iter().map(Value::define).collect::<Vec<_>>();
    // Equally good ones are ordered by their values, so that the choice is always the same.
    considered.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| text(a.1).cmp(&text(b.1))));
    considered.truncate(CONSIDERED);
    let varying = parameters.iter().filter(|parameter| parameter.values().len() > 1).count().max(1) as f64;
    different(&considered, varying)
}

/// Returns the cheapest of `considered`, each worth more the more it differs from those before it.
fn different(considered: &[(f64, &[Value])], varying: f64) -> Vec<Vec<Value>> {
    let mut chosen: Vec<&[Value]> = Vec::new();
    let mut distances = vec![f64::INFINITY; considered.len()];
    while chosen.len() < MOST.min(considered.len()) {
        let worth = |at: &usize| considered[*at].0 - DIFFERENT * distances[*at].min(1.0);
        let left = (0..considered.len()).filter(|at| distances[*at] > 0.0);
        let Some(next) = left.min_by(|a, b| worth(a).total_cmp(&worth(b))) else { break };
        chosen.push(considered[next].1);
        for (distance, (_, values)) in distances.iter_mut().zip(considered) {
            let differing = values.iter().zip(considered[next].1).filter(|(own, other)| own != other).count();
            *distance = distance.min(differing as f64 / varying);
        }
    }
    chosen.into_iter().map(<[Value]>::to_vec).collect()
}

/// Returns true if the values of a parameter are whole numbers, and some but not all of three or
/// more are powers of two.
fn has_odd_values(parameter: &Parameter) -> bool {
    let values = parameter.values();
    let is_whole = values.iter().all(|value| matches!(value, Value::Int(_)));
    is_whole && values.len() > 2 && values.iter().any(is_odd)
}

fn is_odd(value: &Value) -> bool {
    matches!(value, Value::Int(number) if *number > 0 && number & (number - 1) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn group(device: &str, times: &[(i64, i64, f64)]) -> Group {
        Group {
            device: device.to_string(),
            device_features: BTreeMap::new(),
            sizes: Vec::new(),
            reference_ms: 1.0,
            rows: times
                .iter()
                .map(|(x, y, ms)| (vec![Value::Int(*x), Value::Int(*y)], (*ms > 0.0).then_some(*ms)))
                .collect(),
        }
    }

    fn parameters() -> [Parameter; 2] {
        let of = |name, values: &[i64]| {
            Parameter::new(name, values.iter().map(|x| Value::Int(*x)).collect::<Vec<_>>()).unwrap()
        };
        [of("X", &[4, 6, 8]), of("Y", &[0, 3])]
    }

    fn chosen(groups: &[Group]) -> Vec<(i64, i64)> {
        let pair = |values: Vec<Value>| (values[0].as_int().unwrap(), values[1].as_int().unwrap());
        transferring(&parameters(), groups).into_iter().map(pair).collect()
    }

    #[test]
    fn what_is_good_everywhere_comes_first_and_what_failed_somewhere_not_at_all() {
        let a = group("a", &[(4, 0, 1.0), (8, 0, 2.0), (8, 3, 3.0), (4, 3, 0.5)]);
        let b = group("b", &[(4, 0, 4.0), (8, 0, 2.0), (8, 3, 9.0), (4, 3, 0.0)]);
        assert_eq!(chosen(&[a, b]), [(4, 0), (8, 0), (8, 3)], "equal means are ordered by values");
        assert!(transferring(&parameters(), &[]).is_empty());
    }

    #[test]
    fn of_nearly_equal_ones_powers_of_two_are_preferred() {
        let group = group("a", &[(6, 0, 1.0), (8, 0, 1.04), (6, 3, 1.02)]);
        assert_eq!(chosen(&[group])[0], (8, 0), "a parameter of two values has no preferred one");
    }

    #[test]
    fn a_different_one_precedes_a_slightly_faster_one_that_is_alike() {
        let group = group("a", &[(8, 0, 1.0), (4, 0, 1.01), (4, 3, 1.05)]);
        assert_eq!(chosen(&[group]), [(8, 0), (4, 3), (4, 0)]);
    }
}
