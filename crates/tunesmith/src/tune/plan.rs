//! What a run is to do: the user's choices, then those of the run that is resumed, then the problem's, then ours.

use super::{Session, TuneOptions};
use crate::devices::DeviceChoice;
use crate::metrics::{Direction, Target};
use crate::{Error, Problem};
use serde_json::Value as Json;
use std::path::PathBuf;
use tunesmith_core::{Objective, Stop};
use tunesmith_device::{Cache, Policy, Sampling};
use tunesmith_space::{Configuration, Space};
use tunesmith_store::{Header, Journal, Resumed};
use tunesmith_study::ModelChoice;
use tunesmith_study::{Fitting, LeftOut, Past};

/// The strategy unless the user or the problem names one.
const DEFAULT_STRATEGY: &str = "default";

/// Evaluations unless the user or the problem says otherwise.
const DEFAULT_STOP: u64 = 200;

/// Requests in flight unless told otherwise: enough for a few compilations at once, few enough that a sequential
/// strategy hardly notices. Never derived from the number of cores, so that a run can be repeated elsewhere.
const DEFAULT_ROOM: usize = 4;

/// The same for OpenCL and CUDA, where compilations take longer and differ more: with more of them at once the cores wait less for
/// the last.
const DRIVER_ROOM: usize = 8;

/// The choices of a run, defaults filled in.
pub(crate) struct Plan {
    pub(crate) strategy: String,
    pub(super) model: Option<ModelChoice>,
    pub(super) stop: Stop,
    /// The history, and what of it is no longer there.
    pub(super) past: (Past, Vec<LeftOut>),
    /// What is optimised instead of time.
    pub(crate) target: Option<Target>,
    pub(super) seed: u64,
    pub(super) room: usize,
    pub(super) journal: PathBuf,
    pub(super) resume: bool,
}

impl Plan {
    pub(super) fn new(problem: &Problem, options: &TuneOptions, device: &DeviceChoice) -> Result<Self, Error> {
        let journal = journal_path(problem, options);
        // A resumed run goes on as it began unless told otherwise.
        let earlier =
            if options.resume && journal.exists() { Some(tunesmith_store::read(&journal)?.header) } else { None };
        let tuning = &problem.tuning;
        let strategy = options.strategy.clone().or(earlier.as_ref().map(|header| header.strategy.clone()));
        let strategy = strategy.or(tuning.strategy.clone()).unwrap_or_else(|| DEFAULT_STRATEGY.to_string());
        let stop = match options.stop.as_ref().or(tuning.stop.as_ref()) {
            Some(text) => Stop::parse(text)?,
            // They run to their end.
            None if ["exhaustive", "grid"].iter().any(|name| strategy.starts_with(name)) => Stop::evaluations(u64::MAX),
            None => Stop::evaluations(DEFAULT_STOP),
        };
        let before = earlier.as_ref().and_then(Target::of).map(|target| target.text());
        let objective = options.objective.clone().or(before).or(tuning.objective.clone());
        let target = objective.as_deref().map_or(Ok(None), |text| Target::parse(text, problem))?;
        check_cost(&stop, target.as_ref())?;
        let room = match device {
            // With a number for a time there is nothing to compile ahead of.
            DeviceChoice::Replay { .. } | DeviceChoice::Synthetic(_) => 1,
            DeviceChoice::C | DeviceChoice::Command => DEFAULT_ROOM,
            DeviceChoice::OpenCl(_) | DeviceChoice::Cuda(_) => DRIVER_ROOM,
        };
        // A wrong name or option is found before the device is opened.
        tunesmith_search::build(&strategy)?;
        let past = match &earlier {
            Some(header) if options.history.is_empty() => Past::read_again(&header.history),
            _ => (Past::read(&options.history)?, Vec::new()),
        };
        let before = earlier.as_ref().and_then(|header| header.model.as_deref()).map(ModelChoice::from_text);
        Ok(Self {
            past,
            model: options.model.clone().or(before),
            strategy,
            stop,
            target,
            seed: options.seed.or(earlier.as_ref().map(|header| header.seed)).or(tuning.seed).unwrap_or(0),
            room: options.room.or(earlier.as_ref().map(|header| header.room)).or(tuning.room).unwrap_or(room).max(1),
            journal,
            resume: options.resume,
        })
    }

    /// What of the history says something of `space`; never the recording that is replayed.
    pub(super) fn history(
        &self,
        space: &Space,
        objective: &dyn Objective,
        device: &DeviceChoice,
    ) -> Result<Fitting, Error> {
        let (past, gone) = &self.past;
        let replayed = match device {
            // Read only to be told apart from the history, when there is one.
            DeviceChoice::Replay { file, .. } if !past.is_empty() => Some((file, tunesmith_store::import(file)?)),
            _ => None,
        };
        let judged = replayed.as_ref().map(|(file, recording)| (file.as_path(), recording));
        let mut fitting = past.required(space, objective, judged)?;
        fitting.left_out.extend(gone.iter().cloned());
        Ok(fitting)
    }

    pub(super) fn header(
        &self,
        problem: &Problem,
        space: &Space,
        default: Option<&Configuration>,
        session: &Session<'_>,
    ) -> Header {
        let mut header = Journal::header(space);
        header.identity.insert("problem".to_string(), Json::from(problem.digest()));
        header.identity.insert("measurement policy".to_string(), Json::from(policy_text(&problem.policy)));
        if let Some(target) = &self.target {
            // Named only where it is not time, which journals without it mean.
            let definition = target.metrics.iter().find(|(name, _)| *name == target.metric);
            let text = definition.map_or_else(|| target.text(), |(_, text)| format!("{} = {text}", target.text()));
            header.identity.insert("objective".to_string(), Json::from(text));
        }
        Header {
            objective: self.target.as_ref().and_then(|target| serde_json::to_value(target).ok()),
            problem: problem.name.clone(),
            sizes: problem.sizes.iter().map(|(name, value)| (name.clone(), Journal::value(value))).collect(),
            features: problem.input_features(),
            constraints: problem.named_constraints(),
            default: default.map(|configuration| Journal::config(space, configuration)),
            strategy: self.strategy.clone(),
            model: self.model.as_ref().map(ModelChoice::text),
            seed: self.seed,
            room: self.room,
            started: session.clock.unix().as_secs_f64(),
            ..header
        }
    }

    pub(super) fn open_journal(&self, header: &Header, space: &Space) -> Result<(Journal, Resumed), Error> {
        if self.resume && self.journal.exists() {
            return Ok(Journal::resume(&self.journal, header, space)?);
        }
        Ok((Journal::create(&self.journal, header, space)?, Resumed::default()))
    }
}

/// `cost` compares what is minimised; of something that is maximised it would say the opposite of what it reads like.
fn check_cost(stop: &Stop, target: Option<&Target>) -> Result<(), Error> {
    match target {
        Some(target) if target.direction == Direction::Maximise && stop.has_cost() => {
            let text =
                format!("the stop condition `cost` needs an objective that is minimised, not `{}`", target.text());
            Err(Error::request(text, Some("leave `cost` out, or minimise a metric".to_string())))
        }
        _ => Ok(()),
    }
}

/// `limit` compares times with what a model holds possible.
pub(super) fn check_limit(stop: &Stop, limit_ms: Option<f64>, target: Option<&Target>) -> Result<(), Error> {
    if !stop.has_limit() {
        return Ok(());
    }
    let refuse = |text: &str, remedy: &str| Err(Error::request(text, Some(remedy.to_string())));
    match (limit_ms, target) {
        (_, Some(_)) => refuse(
            "the stop condition `limit` is about times, and the objective is another",
            "leave `limit` out, or minimise time",
        ),
        (None, _) => refuse(
            "the stop condition `limit` needs a model of the kernel's limit, and there is none",
            "tune a loop nest with the device file of its device (`--model FILE`, which `tunesmith calibrate` writes), or name the time to \
             reach: `cost 1.5ms`",
        ),
        _ => Ok(()),
    }
}

/// What decides how often a configuration is measured, as journals write it. What it is raced against belongs to one
/// configuration.
fn policy_text(policy: &Policy) -> String {
    let Sampling { min_samples, max_samples, stable, time_cap, bar_ms: _ } = policy.sampling;
    let cache = if policy.cache == Cache::Cold { ", cold caches" } else { "" };
    format!(
        "Sampling {{ min_samples: {min_samples}, max_samples: {max_samples}, stable: {stable:?}, time_cap: {time_cap:?} \
         }}{cache}"
    )
}

/// The journal of a run: the one named; else beside the problem, the latest of them when resuming.
fn journal_path(problem: &Problem, options: &TuneOptions) -> PathBuf {
    if let Some(out) = &options.out {
        return out.clone();
    }
    let path = problem.source_file.path.with_extension("jsonl");
    if options.resume { Journal::latest(&path) } else { path }
}
