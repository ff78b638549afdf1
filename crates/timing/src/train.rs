//! Fits timing models.

use crate::Error;
use crate::candidates::candidates;
use crate::covers::{Covers, covers};
use crate::folds::{self, FoldBy};
use crate::frame::frame;
use crate::groups::{self, Group, Groups};
use crate::held_out::held_out as judge;
use crate::reference_time::reference_time as fit_reference_time;
use crate::rounds::{self, RoundsChoice};
use crate::rows::{known, rows};
use crate::settings::TimingSettings;
use crate::transfer::transferring;
use crate::unseen::{note, note_of_inputs};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use tunesmith_choose::Judgement;
use tunesmith_choose::timing::{
    Feature, Frame, HeldOut, KnownDevice, Origin, ReferenceTime, TimingModel, TimingParts, Unseen,
};
use tunesmith_choose::wisdom::Input;
use tunesmith_core::output::{is_marked, refuse_overwriting};
use tunesmith_core::{Clock, Rng};
use tunesmith_model::{BoostedSettings, Loss, Regressor as _, Shortlist};
use tunesmith_space::Value;

/// The data and settings for training a timing model.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainTimingOptions {
    /// Journals of `tune --inputs`, or recordings of one kernel on several devices.
    pub inputs: Vec<PathBuf>,
    /// The file to write.
    pub out: PathBuf,
    /// The configuration that speed-ups refer to. Parameters without a value are as in the default
    /// of the journals.
    pub reference: Vec<(String, String)>,
    /// The settings of the fit.
    pub settings: TimingSettings,
}

/// A trained timing model. Its JSON form is a contract: see `train --json` in the interface.
#[derive(Clone, Debug, Serialize)]
pub struct TrainedTiming {
    /// `timing`.
    pub kind: &'static str,
    /// Number of rows that it was fitted to.
    pub rows: usize,
    /// Number of features that it needs.
    pub features: usize,
    /// Number of inputs that it was fitted to.
    pub inputs: usize,
    /// The devices.
    pub devices: Vec<String>,
    /// The inputs and devices that it was fitted to.
    pub covers: Covers,
    /// Time of the fit.
    pub fit_seconds: f64,
    /// The quality of the model on inputs held out of training.
    pub held_out: HeldOut,
    /// The choice of the number of trees.
    pub rounds: RoundsChoice,
    /// The quality of the choice for a device left out, if there were several devices.
    pub unseen_device: Option<Unseen>,
    /// The same for an input left out, if there was one device and several inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unseen_input: Option<Unseen>,
    /// Each feature with its share of the gain of all splits, the largest first.
    pub importance: Vec<(String, f64)>,
    /// The judgement of the choices at fresh sizes; `None` if nobody measured any.
    pub judgement: Option<Judgement>,
    /// The file.
    pub out: PathBuf,
    /// Notes for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The inputs that it was fitted to, by those of their sizes that are numbers.
    #[serde(skip)]
    pub made_from: Vec<Input>,
    /// The inputs that were held out.
    #[serde(skip)]
    pub left_out: Vec<Input>,
}

/// Trains a timing model and writes it as JSON.
///
/// Each row is a configuration of an input on a device. Its target is `log(t_reference / t)` (the
/// paper's Eq. 1), or zeta if it failed. Whole inputs are held out, on all devices, so that no
/// input is on both sides. If there is just one input, a share of its configurations is held out
/// instead.
///
/// # Errors
/// A recording cannot be read, recordings do not belong together, a setting is out of range, or a
/// file cannot be written.
pub fn train_timing(options: &TrainTimingOptions, clock: &dyn Clock) -> Result<TrainedTiming, Error> {
    options.settings.check()?;
    refuse_overwriting(&options.out, options.inputs.iter().map(PathBuf::as_path), |file| {
        is_marked(file, &["\"kind\": \"timing\""])
    })?;
    let groups = groups::read(&options.inputs, &options.reference)?;
    let mut notes = groups.notes.clone();
    let began = clock.now();
    let Fitted { model, rows, covers, rounds, unseen_input, made_from, left_out } =
        fit(groups, &options.settings, &mut notes)?;
    let fit_seconds = (clock.now() - began).as_secs_f64();
    tunesmith_files::replace(&options.out, model.to_json()).map_err(Error::write(&options.out))?;
    let mut importance = model.importance();
    importance.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(TrainedTiming {
        kind: "timing",
        rows,
        features: model.parts().frame.features.len(),
        inputs: covers.inputs,
        devices: model.devices().iter().map(|device| device.name.clone()).collect(),
        covers,
        fit_seconds,
        held_out: model.held_out().clone(),
        rounds,
        unseen_device: model.unseen_device().cloned(),
        unseen_input,
        importance,
        judgement: None,
        out: options.out.clone(),
        notes,
        made_from,
        left_out,
    })
}

/// A model, with the size of its training set.
struct Fitted {
    model: TimingModel,
    rows: usize,
    covers: Covers,
    rounds: RoundsChoice,
    unseen_input: Option<Unseen>,
    made_from: Vec<Input>,
    left_out: Vec<Input>,
}

fn fit(groups: Groups, settings: &TimingSettings, notes: &mut Vec<String>) -> Result<Fitted, Error> {
    let Split { train, test, held_out } = split(groups.groups, settings, notes);
    let zeta = settings.zeta_speedup.ln();
    let frame = frame(&groups.parameters, &groups.derived, &train);
    look_at(&frame, notes)?;
    let (rounds, unseen) = rounds::choose(&frame, &train, settings)?;
    let (unseen, unseen_input) = match unseen {
        Some((FoldBy::Devices, unseen)) => (Some(unseen), None),
        other => (None, other.map(|(_, unseen)| unseen)),
    };
    let worse = unseen.as_ref().filter(|unseen| unseen.prefers_single());
    notes.extend(worse.map(note));
    notes.extend(unseen_input.as_ref().and_then(note_of_inputs));
    let robust = transferring(&groups.parameters, &train);
    // A model that was judged on neither devices nor inputs knows less than the times that were
    // measured.
    let judged = unseen.as_ref().or(unseen_input.as_ref());
    let best_single = judged.is_none_or(Unseen::prefers_single).then(|| robust.first().cloned()).flatten();
    let rows = rows(&frame, &train, zeta);
    let trees =
        |loss| rows.fit(&BoostedSettings { loss, rounds: rounds.rounds, ..settings.trees.clone() }, settings.seed);
    let own: Vec<Vec<f64>> = train.iter().map(|group| frame.row(&group.sizes, Some(&known(group)))).collect();
    let covers = covers(&train);
    let mean = trees(Loss::Squared)?;
    let predict = |group: &Group| mean.predict_all(&crate::rows::rows(&frame, std::slice::from_ref(group), zeta).table);
    let predictions: Vec<Vec<f64>> = test.iter().map(predict).collect();
    let model = TimingModel::new(TimingParts {
        problem: groups.problem,
        constraints: groups.constraints,
        candidates: with_robust(candidates(&train, &groups.reference), &groups.reference, robust.first()),
        devices: devices(&train),
        ranges: ranges(&frame.features, &own),
        reference_time: reference_time(&frame.features, &own, &train),
        low: trees(Loss::Quantile(0.1))?,
        high: trees(Loss::Quantile(0.9))?,
        held_out: judge(held_out, &test, &predictions, zeta),
        reference: groups.reference,
        unseen,
        best_single,
        robust,
        judgement: None,
        zeta,
        mean,
        frame,
    });
    let model = model.map_err(|error| Error::request(error.to_string(), None))?;
    let (made_from, left_out) = (inputs(&train), inputs(&test));
    Ok(Fitted { model, rows: rows.targets.len(), covers, rounds, unseen_input, made_from, left_out })
}

/// Adds notes about the columns for the user. Fails without columns, since nothing can be learned.
fn look_at(frame: &Frame, notes: &mut Vec<String>) -> Result<(), Error> {
    if frame.features.is_empty() {
        return Err(Error::request("nothing differs between the configurations that were measured", None));
    }
    if frame.features.iter().any(|feature| feature.origin == Origin::DeviceName) {
        notes.push(
            "nothing is known of the devices but their names: the model cannot predict other devices".to_string(),
        );
    }
    Ok(())
}

/// The groups that a model is fitted to, the groups that it is judged by, and the inputs of the
/// latter.
struct Split {
    train: Vec<Group>,
    test: Vec<Group>,
    held_out: Vec<String>,
}

fn split(groups: Vec<Group>, settings: &TimingSettings, notes: &mut Vec<String>) -> Split {
    let mut rng = Rng::seed_from_u64(settings.seed);
    let inputs: BTreeSet<String> = groups.iter().map(Group::input).collect();
    let mut inputs: Vec<String> = inputs.into_iter().collect();
    if settings.hold_out == 0.0 {
        notes.push("nothing was held out: the error of the model is not known".to_string());
        return Split { train: groups, test: Vec::new(), held_out: Vec::new() };
    }
    if inputs.len() == 1 {
        notes.push("there is one input: configurations were held out, not inputs".to_string());
        let mut all = folds::configurations(&groups);
        all.shuffle(&mut rng);
        all.truncate((all.len() as f64 * settings.hold_out).round() as usize);
        let (train, test) = folds::part(&groups, FoldBy::Configurations, &all.into_iter().collect());
        return Split { train, test, held_out: Vec::new() };
    }
    inputs.shuffle(&mut rng);
    let count = (inputs.len() as f64 * settings.hold_out).round() as usize;
    inputs.truncate(count.clamp(1, inputs.len() - 1));
    inputs.sort();
    let (test, train) = groups.into_iter().partition(|group| inputs.contains(&group.input()));
    Split { train, test, held_out: inputs }
}

/// Returns the candidates with the most robust configuration among them. It takes the place of
/// another one, but not of the reference, if there are too many.
fn with_robust(mut candidates: Vec<Vec<Value>>, reference: &[Value], robust: Option<&Vec<Value>>) -> Vec<Vec<Value>> {
    if let Some(robust) = robust.filter(|robust| !candidates.contains(*robust)) {
        if candidates.len() == Shortlist::MOST_ROWS
            && let Some(at) = candidates.iter().rposition(|values| values != reference)
        {
            candidates.remove(at);
        }
        candidates.push(robust.clone());
    }
    candidates
}

/// Returns the inputs of `groups`, each once, by those of their sizes that are numbers.
fn inputs(groups: &[Group]) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    for group in groups {
        let number = |(name, value): &(String, Value)| Some((name.clone(), value.as_float()?));
        let input = group.sizes.iter().filter_map(number).collect();
        if !inputs.contains(&input) {
            inputs.push(input);
        }
    }
    inputs
}

fn devices(groups: &[Group]) -> Vec<KnownDevice> {
    let mut devices: Vec<KnownDevice> = Vec::new();
    for device in groups.iter().map(known) {
        if devices.iter().all(|other| other.name != device.name) {
            devices.push(device);
        }
    }
    devices
}

/// Returns the smallest and largest number of each ordered feature of inputs and devices.
fn ranges(features: &[Feature], rows: &[Vec<f64>]) -> BTreeMap<String, (f64, f64)> {
    let range = |(column, feature): (usize, &Feature)| {
        if feature.origin == Origin::Parameter || feature.column.kind != tunesmith_model::Kind::Ordinal {
            return None;
        }
        let numbers = rows.iter().map(|row| row[column]).filter(|number| !number.is_nan());
        let ends = numbers.fold(None, |ends: Option<(f64, f64)>, number| {
            Some(ends.map_or((number, number), |(low, high)| (low.min(number), high.max(number))))
        });
        Some((feature.column.name.clone(), ends?))
    };
    features.iter().enumerate().filter_map(range).collect()
}

fn reference_time(features: &[Feature], rows: &[Vec<f64>], groups: &[Group]) -> Option<ReferenceTime> {
    let of_input = |(_, feature): &(usize, &Feature)| feature.origin != Origin::Parameter;
    let columns: Vec<usize> = features.iter().enumerate().filter(of_input).map(|(column, _)| column).collect();
    let times: Vec<f64> = groups.iter().map(|group| group.reference_ms).collect();
    fit_reference_time(rows, &columns, &times)
}
