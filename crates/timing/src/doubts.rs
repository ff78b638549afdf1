//! Finds the inputs for which a model of what was measured knows least what to choose.

use crate::Error;
use crate::candidates::candidates;
use crate::frame::frame;
use crate::groups::{self, Group, Groups};
use crate::rows::{known, rows};
use std::collections::BTreeSet;
use std::path::PathBuf;
use tunesmith_choose::timing::Frame;
use tunesmith_model::{BoostedSettings, BoostedTrees, Regressor as _};
use tunesmith_space::Value;

/// Number of models whose disagreement is measured. Each is fitted without a part of the inputs.
const MODELS: usize = 6;

/// The logarithm of the speed that failures count as, as in training.
const ZETA: f64 = 0.5;

/// Returns for each of `inputs` the expected loss of choosing by a model of `files`, as a logarithm
/// of speed.
///
/// Several models are fitted, each without some of the measured inputs. The loss is the mean of what
/// each believes its favourite to gain on the favourite of all. It is 0 where they agree, and large
/// where the choice depends on inputs that only some of them saw. The configurations are the
/// model's candidates, at most 32. Costs six fits of 100 trees.
///
/// # Errors
/// A file cannot be read, or the recordings do not belong together.
pub fn doubts(files: &[PathBuf], inputs: &[Vec<(String, Value)>], seed: u64) -> Result<Vec<f64>, Error> {
    of_groups(&groups::read(files, &[])?, inputs, seed)
}

fn of_groups(groups: &Groups, inputs: &[Vec<(String, Value)>], seed: u64) -> Result<Vec<f64>, Error> {
    let frame = frame(&groups.parameters, &groups.derived, &groups.groups);
    if frame.features.is_empty() {
        return Ok(vec![0.0; inputs.len()]);
    }
    let models = models(&frame, &groups.groups, seed)?;
    let configs = candidates(&groups.groups, &groups.reference);
    let loss = |input: &Vec<(String, Value)>| loss(&frame, &models, &configs, &groups.groups[0], input);
    Ok(inputs.iter().map(loss).collect())
}

/// Fits the models, each without every sixth measured input.
fn models(frame: &Frame, groups: &[Group], seed: u64) -> Result<Vec<BoostedTrees>, Error> {
    let inputs: BTreeSet<String> = groups.iter().map(Group::input).collect();
    let inputs: Vec<String> = inputs.into_iter().collect();
    let model = |out: usize| {
        let is_in =
            |group: &&Group| inputs.iter().position(|input| *input == group.input()).unwrap_or(0) % MODELS != out;
        let train: Vec<Group> = groups.iter().filter(is_in).cloned().collect();
        // With a single input, rows are left out instead.
        let settings = BoostedSettings { subsample: 0.7, ..BoostedSettings::default() };
        let train = if train.is_empty() { groups } else { &train };
        rows(frame, train, ZETA.ln()).fit(&settings, seed + out as u64)
    };
    (0..MODELS).map(model).collect()
}

fn loss(
    frame: &Frame,
    models: &[BoostedTrees],
    configs: &[Vec<Value>],
    like: &Group,
    input: &[(String, Value)],
) -> f64 {
    let group = Group {
        sizes: frame.completed(input),
        rows: configs.iter().map(|values| (values.clone(), None)).collect(),
        ..like.clone()
    };
    debug_assert_eq!(known(&group).name, like.device);
    let table = rows(frame, std::slice::from_ref(&group), 0.0).table;
    let scores: Vec<Vec<f64>> = models.iter().map(|model| model.predict_all(&table)).collect();
    let mean = |config: usize| scores.iter().map(|scores| scores[config]).sum::<f64>() / scores.len() as f64;
    let favourite = (0..configs.len()).map(mean).fold(f64::NEG_INFINITY, f64::max);
    let own = scores.iter().map(|scores| scores.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let gain = own.sum::<f64>() / scores.len() as f64 - favourite;
    if gain.is_finite() { gain.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tunesmith_space::Parameter;

    /// Small inputs want X = 1 and large ones X = 8, as each of several measured ones shows. Only
    /// one input in between was measured.
    fn groups() -> Groups {
        let time = |n: i64, x: i64| if n < 200 { x as f64 } else { 9.0 - x as f64 };
        let group = |n: i64| Group {
            device: "a".to_string(),
            device_features: BTreeMap::new(),
            sizes: vec![("N".to_string(), Value::Int(n))],
            reference_ms: time(n, 4),
            rows: (1..=8).map(|x| (vec![Value::Int(x)], Some(time(n, x)))).collect(),
        };
        Groups {
            problem: "k".to_string(),
            parameters: vec![Parameter::new("X", (1..=8).map(Value::Int).collect::<Vec<_>>()).unwrap()],
            constraints: Vec::new(),
            derived: Vec::new(),
            reference: vec![Value::Int(4)],
            groups: [8, 10, 12, 14, 16, 120, 1000, 1200, 1400, 1600, 2000, 2400].map(group).to_vec(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn the_choice_is_in_doubt_between_inputs_that_want_different_configurations() {
        let inputs = [9, 620, 1300].map(|n| vec![("N".to_string(), Value::Int(n))]);
        let doubts = of_groups(&groups(), &inputs, 1).unwrap();
        assert!(doubts[1] > 0.05 && doubts[0] < doubts[1] / 2.0 && doubts[2] < doubts[1] / 2.0, "{doubts:?}");
    }

    #[test]
    fn nothing_is_in_doubt_where_nothing_differs() {
        let mut groups = groups();
        groups.parameters = vec![Parameter::new("X", vec![Value::Int(4)]).unwrap()];
        groups.groups.truncate(1);
        groups.groups[0].rows = vec![(vec![Value::Int(4)], Some(1.0))];
        assert_eq!(of_groups(&groups, &[Vec::new()], 1).unwrap(), [0.0]);
    }
}
