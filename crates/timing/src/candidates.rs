//! Chooses the candidates of a timing model: a few configurations that an application may choose
//! among if nothing else names any.

use crate::groups::Group;
use std::collections::BTreeMap;
use tunesmith_choose::wisdom::{Costs, choose_members};
use tunesmith_model::Shortlist;
use tunesmith_space::Value;

/// Number of the fastest configurations of each input on each device that are considered. It bounds
/// the time for whole recorded spaces: slower configurations are hardly ever worth a place.
const EACH: usize = 16;

/// The correct configurations of one input on one device, with their times.
type Times<'a> = BTreeMap<&'a [Value], f64>;

/// Returns at most 32 configurations, `reference` among them, that serve the inputs of `groups`
/// well. They are chosen as those of a portfolio are, by times relative to the best of each input.
/// Costs as much as [`choose_members`] with 16 columns for each input.
pub(crate) fn candidates(groups: &[Group], reference: &[Value]) -> Vec<Vec<Value>> {
    let inputs = by_input(groups);
    let mut columns = vec![reference];
    for config in inputs.iter().flat_map(fastest) {
        if !columns.contains(&config) {
            columns.push(config);
        }
    }
    let times = |input: &Times<'_>| columns.iter().map(|config| input.get(config).copied()).collect();
    let (costs, _) = Costs::new(&inputs.iter().map(times).collect::<Vec<_>>());
    let members = choose_members(&costs, Shortlist::MOST_ROWS, Some(0));
    members.into_iter().map(|member| columns[member].to_vec()).collect()
}

/// Joins the recordings of the same input on the same device. Of two times, the shorter one counts.
fn by_input(groups: &[Group]) -> Vec<Times<'_>> {
    let mut inputs: BTreeMap<(&str, String), Times<'_>> = BTreeMap::new();
    for group in groups {
        let times = inputs.entry((&group.device, group.input())).or_default();
        for (values, ms) in group.rows.iter().filter_map(|(values, ms)| Some((values.as_slice(), (*ms)?))) {
            times.entry(values).and_modify(|known| *known = known.min(ms)).or_insert(ms);
        }
    }
    inputs.into_values().collect()
}

fn fastest<'a>(times: &Times<'a>) -> Vec<&'a [Value]> {
    let mut sorted: Vec<(&'a [Value], f64)> = times.iter().map(|(values, ms)| (*values, *ms)).collect();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
    sorted.into_iter().take(EACH).map(|(values, _)| values).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(rows: &[(i64, Option<f64>)]) -> Group {
        Group {
            device: "d".to_string(),
            device_features: BTreeMap::new(),
            sizes: Vec::new(),
            reference_ms: 1.0,
            rows: rows.iter().map(|(tile, ms)| (vec![Value::Int(*tile)], *ms)).collect(),
        }
    }

    #[test]
    fn the_best_of_every_input_are_candidates_with_the_reference_and_nothing_that_never_wins() {
        let groups = [
            group(&[(1, Some(8.0)), (2, Some(1.0)), (4, Some(2.0)), (8, None)]),
            Group { device: "e".to_string(), ..group(&[(1, Some(8.0)), (2, Some(4.0)), (4, Some(3.0))]) },
            // Another recording of the same input.
            Group { device: "e".to_string(), ..group(&[(1, Some(8.0)), (8, Some(1.0))]) },
        ];
        let tiles = |reference| -> Vec<i64> {
            let mut chosen: Vec<i64> =
                candidates(&groups, &[Value::Int(reference)]).iter().filter_map(|values| values[0].as_int()).collect();
            chosen.sort_unstable();
            chosen
        };
        assert_eq!(tiles(1), [1, 2, 8]);
        assert_eq!(tiles(2), [2, 8]);
        let many: Vec<Group> =
            (0..50).map(|at| Group { device: at.to_string(), ..group(&[(at, Some(1.0)), (99, Some(3.0))]) }).collect();
        assert_eq!(candidates(&many, &[Value::Int(99)]).len(), 32);
    }
}
