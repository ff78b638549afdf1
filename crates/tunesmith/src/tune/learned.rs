//! The second stage: knowledge about the kernel before its first trial.

use super::ground::Ground;
use super::settings::Settings;
use crate::Error;
use crate::devices::{check_counted, recording};
use crate::prior::{Prior, PriorEstimates};
use std::sync::Arc;
use tunesmith_choose::timing::KnownDevice;
use tunesmith_core::{DeviceClass, Launch, Objective, Recording, Searcher, Stop};
use tunesmith_cost::NestEstimates;
use tunesmith_device::Device;
use tunesmith_search::{Knowledge, PastTimes};
use tunesmith_study::Fitting;
use tunesmith_study::guided::{Guided, guided};
use tunesmith_timing::primed;

/// The knowledge from history, model and prior.
pub(super) struct Learned<'a> {
    /// The part of the history that fits the space.
    pub(super) history: Fitting,
    /// The guide by counters, with notes for the user.
    pub(super) guided: Guided,
    /// The estimates of the prior.
    pub(super) estimates: PriorEstimates,
    prior: Option<Prior<'a>>,
    /// The class of the device, if it is known.
    pub(super) device_class: Option<DeviceClass>,
    /// The work-items of the launches, if kernels have work-groups and they are known.
    pub(super) launch: Option<Launch>,
    grid: Option<Arc<[tunesmith_space::ConfigId]>>,
    /// True if the device counts while kernels run.
    has_counters: bool,
}

impl<'a> Learned<'a> {
    /// Learns before the device is opened, so that a wrong model is found at once.
    pub(super) fn new(ground: &Ground<'a>, settings: &Settings) -> Result<Self, Error> {
        let Ground { problem, machine, device, space, .. } = ground;
        let history = history(ground, settings)?;
        let grid = problem.grid(space, ground.default.as_ref())?.map(Arc::from);
        let prior = Prior::chosen(settings.model.as_ref(), problem, || device.of_kernels(machine))?;
        let (estimates, guided) = match &prior {
            Some(prior) => prior.estimates(space, settings.metric().objective(), &settings.strategy),
            None => {
                let guided = guided(settings.model.as_ref(), space, device, &settings.strategy)?;
                (PriorEstimates::default(), guided)
            }
        };
        check_limit(&settings.stop, &estimates, settings.metric().objective())?;
        check_counted(device, problem, machine, (settings.profile, settings.needs_energy()))?;
        let has_counters = device.counted_hardware().is_some();
        let launch = match device {
            Device::Kernels(target) => problem.launch(target.language(), &ground.limits),
            Device::Command => Launch::by_names(problem.spec().parameters()),
            _ => ground.recording().and_then(Recording::launch),
        };
        let device_class = device.class().or_else(|| ground.recording()?.device_class());
        Ok(Self { history, guided, estimates, prior, device_class, launch, grid, has_counters })
    }

    /// Creates the strategy with the knowledge about the kernel, for `device`.
    pub(super) fn searcher(
        &self,
        ground: &Ground<'_>,
        settings: &Settings,
        device: &KnownDevice,
    ) -> Result<Box<dyn Searcher>, Error> {
        let told: Vec<PastTimes> = self.history.times.iter().chain(&self.estimates.times).cloned().collect();
        let knowledge = Knowledge {
            history: PastTimes::all(&told),
            device: self.device_class,
            launch: self.launch.clone(),
            grid: self.grid.clone(),
            guide: self.guided.guide.clone(),
        };
        let searcher = settings.strategy.build(&knowledge)?;
        let searcher = self.estimates.primed(&settings.strategy, searcher);
        match &self.prior {
            Some(Prior::Timing(model)) => Ok(primed(model, ground.problem, &ground.space, device, searcher)?),
            _ => Ok(searcher),
        }
    }

    /// Returns the estimates whose counts replace counters, if a guide needs them and the device
    /// has none.
    pub(super) fn counts(&self) -> Option<&NestEstimates<'a>> {
        match &self.prior {
            Some(Prior::Estimates { estimates, .. }) if self.guided.guide.is_some() && !self.has_counters => {
                Some(estimates)
            }
            _ => None,
        }
    }
}

/// Returns the part of the history that fits the space. Leaves out the recording that is replayed.
fn history(ground: &Ground<'_>, settings: &Settings) -> Result<Fitting, Error> {
    let (past, gone) = &settings.past;
    let judged = match &ground.device {
        Device::Replay(replay) => Some((replay.file.as_path(), recording(replay)?)),
        _ => None,
    };
    let mut fitting = past.required(&ground.space, settings.objective(), judged)?;
    fitting.left_out.extend(gone.iter().cloned());
    Ok(fitting)
}

/// Checks that the condition `limit` can be used: it compares times with a model's limit.
fn check_limit(stop: &Stop, estimates: &PriorEstimates, objective: &Objective) -> Result<(), Error> {
    if !stop.has_limit() {
        return Ok(());
    }
    let refuse = |text: &str, remedy: &str| Err(Error::request(text, Some(remedy.to_string())));
    if !objective.is_time() {
        return refuse(
            "the stop condition `limit` is about times, and the objective is another",
            "leave `limit` out, or minimise time",
        );
    }
    match (&estimates.limit, &estimates.no_limit) {
        (Some(_), _) => Ok(()),
        (None, Some(reason)) => refuse(
            &format!("the stop condition `limit` cannot be used: {reason}"),
            "calibrate the device again, or name the time to reach: `cost 1.5ms`",
        ),
        (None, None) => refuse(
            "the stop condition `limit` needs a model of the kernel's limit, but there is none",
            "tune a loop nest with the device file of its device (`--model FILE`, which `tunesmith calibrate` writes), or name the time to \
             reach: `cost 1.5ms`",
        ),
    }
}
