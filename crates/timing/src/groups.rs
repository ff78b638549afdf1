//! Converts recordings to training data: configurations of one input on one device, with times
//! relative to the reference configuration's.

use crate::Error;
use crate::single::best_single;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use tunesmith_core::Recording;
use tunesmith_space::{Expr, Parameter, Value};

/// The rows of one recording.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) device: String,
    pub(crate) device_features: BTreeMap<String, f64>,
    pub(crate) sizes: Vec<(String, Value)>,
    /// The time of the reference configuration in milliseconds.
    pub(crate) reference_ms: f64,
    /// The values of every configuration with its time; `None` if it failed.
    pub(crate) rows: Vec<(Vec<Value>, Option<f64>)>,
}

/// Recordings of one problem.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    pub(crate) problem: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) constraints: Vec<(String, String)>,
    pub(crate) derived: Vec<(String, Expr)>,
    pub(crate) reference: Vec<Value>,
    pub(crate) groups: Vec<Group>,
    pub(crate) notes: Vec<String>,
}

impl Group {
    pub(crate) fn size(&self, name: &str) -> Option<&Value> {
        self.sizes.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Returns the target of a row: the logarithm of its speed relative to the reference's (Eq. 1),
    /// or `zeta` if it failed.
    pub(crate) fn target(&self, time_ms: Option<f64>, zeta: f64) -> f64 {
        time_ms.map_or(zeta, |ms| (self.reference_ms / ms).ln())
    }

    pub(crate) fn best_ms(&self) -> Option<f64> {
        self.rows.iter().filter_map(|(_, ms)| *ms).min_by(f64::total_cmp)
    }

    /// Returns a key of the input.
    pub(crate) fn input(&self) -> String {
        let pairs = self.sizes.iter().map(|(name, value)| format!("{name}={}", value.define()));
        pairs.collect::<Vec<_>>().join(",")
    }
}

/// Reads `files`. Speed-ups refer to the configuration that `reference` names in part. Without one,
/// they refer to the default that journals name, or else to the configuration that is best over all
/// recordings.
///
/// # Errors
/// A file cannot be read or has other parameters than the first, or the reference is correct in no
/// recording.
pub(crate) fn read(files: &[PathBuf], reference: &[(String, String)]) -> Result<Groups, Error> {
    let recordings: Vec<(PathBuf, Recording)> =
        files.iter().map(|path| Ok((path.clone(), tunesmith_store::import(path)?))).collect::<Result<_, Error>>()?;
    let Some((_, first)) = recordings.first() else {
        let remedy = Some("name journals of `tune --inputs`, or recordings".to_string());
        return Err(Error::request("there is nothing to train from", remedy));
    };
    let parameters = parameters(&recordings)?;
    let mut notes = Vec::new();
    let reference = find_reference(&parameters, &recordings, reference, &mut notes)?;
    let mut groups = Vec::new();
    for (path, recording) in &recordings {
        match group(recording, &reference) {
            Some(group) => groups.push(group),
            None => notes.push(format!("`{}` is left out: the reference is not correct in it", path.display())),
        }
    }
    if groups.is_empty() {
        let remedy = "name another with --reference NAME=VALUE,...".to_string();
        return Err(Error::request("no recording has a correct reference configuration", Some(remedy)));
    }
    one_device_has_one_set_of_numbers(&mut groups);
    let context = &first.context;
    let parse = |(name, text): &(String, String)| Some((name.clone(), Expr::parse(text).ok()?));
    let unnamed = first.constraints.iter().map(|text| (text.clone(), text.clone()));
    let named = context.constraints.iter().cloned();
    Ok(Groups {
        problem: first.kernel.clone().unwrap_or_else(|| first.name.clone()),
        parameters,
        constraints: named.chain(unnamed).collect(),
        derived: context.features.iter().filter_map(parse).collect(),
        reference,
        groups,
        notes,
    })
}

/// Gives all groups of one device the numbers of the first recording. Measured numbers, such as the
/// bandwidth and on some devices the clock, differ a little from run to run, which does not make
/// them different devices.
fn one_device_has_one_set_of_numbers(groups: &mut [Group]) {
    let mut known: HashMap<String, BTreeMap<String, f64>> = HashMap::new();
    for group in groups {
        let features = known.entry(group.device.clone()).or_insert_with(|| group.device_features.clone());
        group.device_features.clone_from(features);
    }
}

/// Returns the parameters with all values that any recording has, in the order of the first
/// recording.
fn parameters(recordings: &[(PathBuf, Recording)]) -> Result<Vec<Parameter>, Error> {
    let (_, first) = &recordings[0];
    let mut all: Vec<(String, Vec<Value>)> =
        first.parameters().iter().map(|own| (own.name().to_string(), own.values().to_vec())).collect();
    for (path, recording) in recordings {
        let names = |recording: &Recording| -> Vec<String> {
            recording.parameters().iter().map(|parameter| parameter.name().to_string()).collect()
        };
        if names(recording) != names(first) {
            let (own, expected) = (names(recording).join(", "), names(first).join(", "));
            let text =
                format!("`{}` has the parameters {own}, but the recordings before it have {expected}", path.display());
            return Err(Error::request(text, Some("train a model of each problem".to_string())));
        }
        for ((_, values), parameter) in all.iter_mut().zip(recording.parameters()) {
            let new = parameter.values().iter().filter(|value| !values.contains(value)).cloned().collect::<Vec<_>>();
            values.extend(new);
        }
    }
    let sorted = |(name, mut values): (String, Vec<Value>)| {
        if values.iter().all(|value| value.as_float().is_some()) {
            values.sort_by(|a, b| a.as_float().unwrap_or(0.0).total_cmp(&b.as_float().unwrap_or(0.0)));
        }
        Parameter::new(name, values).map_err(|error| Error::request(error.to_string(), None))
    };
    all.into_iter().map(sorted).collect()
}

fn find_reference(
    parameters: &[Parameter],
    recordings: &[(PathBuf, Recording)],
    wanted: &[(String, String)],
    notes: &mut Vec<String>,
) -> Result<Vec<Value>, Error> {
    let default = recordings.iter().find_map(|(_, recording)| recording.context.reference.clone());
    if wanted.is_empty() {
        return default.map_or_else(|| overall_best(recordings, notes), Ok);
    }
    if let Some((name, _)) = wanted.iter().find(|(name, _)| parameters.iter().all(|known| known.name() != name)) {
        let names: Vec<&str> = parameters.iter().map(Parameter::name).collect();
        let remedy = Some(format!("parameters are {}", names.join(", ")));
        return Err(Error::request(format!("there is no parameter `{name}`"), remedy));
    }
    let base = default.unwrap_or_else(|| parameters.iter().map(|known| known.values()[0].clone()).collect());
    let value = |(parameter, own): (&Parameter, Value)| {
        let Some((_, text)) = wanted.iter().find(|(name, _)| name == parameter.name()) else { return Ok(own) };
        let parsed = Value::parse_as(text, parameter.values()).filter(|value| parameter.index_of(value).is_some());
        let refuse = || Error::request(format!("`{}` never has the value {text}", parameter.name()), None);
        parsed.ok_or_else(refuse)
    };
    parameters.iter().zip(base).map(value).collect()
}

fn overall_best(recordings: &[(PathBuf, Recording)], notes: &mut Vec<String>) -> Result<Vec<Value>, Error> {
    let correct = |(_, recording): &(PathBuf, Recording)| -> Vec<(Vec<Value>, f64)> {
        recording.rows().iter().filter_map(|row| Some((row.values.clone(), row.time_ms()?))).collect()
    };
    let correct: Vec<_> = recordings.iter().map(correct).collect();
    let correct = correct.iter().map(|rows| rows.iter().map(|(values, ms)| (values.as_slice(), *ms)).collect());
    let best =
        best_single(correct).ok_or_else(|| Error::request("no configuration is correct in any recording", None))?;
    notes.push(
        "the recordings have no default configuration: speed-ups refer to the configuration that is best over all"
            .to_string(),
    );
    Ok(best)
}

/// Returns the rows of a recording, if its reference is correct.
fn group(recording: &Recording, reference: &[Value]) -> Option<Group> {
    let rows: Vec<(Vec<Value>, Option<f64>)> =
        recording.rows().iter().map(|row| (row.values.clone(), row.time_ms().filter(|ms| *ms > 0.0))).collect();
    let reference_ms = rows.iter().find(|(values, _)| values == reference)?.1?;
    Some(Group {
        device: recording.device.clone().unwrap_or_else(|| "unknown".to_string()),
        device_features: recording.context.device.clone(),
        sizes: recording.context.sizes.clone(),
        reference_ms,
        rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_twice_of_a_device_makes_no_two_devices() {
        let group = |device: &str, clock: f64| Group {
            device: device.to_string(),
            device_features: BTreeMap::from([("clock_mhz".to_string(), clock)]),
            sizes: Vec::new(),
            reference_ms: 1.0,
            rows: Vec::new(),
        };
        let mut groups = [group("a", 2600.0), group("b", 3000.0), group("a", 2500.0)];
        one_device_has_one_set_of_numbers(&mut groups);
        let clocks: Vec<f64> = groups.iter().map(|group| group.device_features["clock_mhz"]).collect();
        assert_eq!(clocks, [2600.0, 3000.0, 2600.0]);
    }
}
