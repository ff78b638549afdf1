//! The first stage: the device and the space.

use super::session::Session;
use super::task::TuningTask;
use crate::devices::{device_for, recording};
use crate::{Diagnostic, Error, Problem, problem::ProblemSpace};
use std::time::Duration;
use tunesmith_core::recording::Ranking;
use tunesmith_core::{Recording, RecordingError, Target};
use tunesmith_device::{Device, Machine};
use tunesmith_kernel::command::CommandSpec;
use tunesmith_problem::configuration;
use tunesmith_space::{ConfigId, Configuration, Space, Value};

/// A device, and the space that its limits leave.
pub(super) struct Ground<'a> {
    pub(super) problem: &'a Problem,
    pub(super) machine: &'a Machine,
    pub(super) device: Device,
    /// The device's limits, by name.
    pub(super) limits: Vec<(String, Value)>,
    pub(super) space: Space,
    /// The number of configurations.
    pub(super) size: u128,
    /// A warning for every constraint left out.
    pub(super) warnings: Vec<Diagnostic>,
    /// The configuration that speed-ups refer to.
    pub(super) default: Option<Configuration>,
    /// The configurations to evaluate before the search: the default and the start.
    pub(super) first: Vec<ConfigId>,
    /// Time of building the space.
    pub(super) building: Duration,
    /// The number of requests in flight with which the run of a remote device begins.
    pub(super) remote_room: Option<usize>,
}

impl<'a> Ground<'a> {
    /// Finds the device and builds the space.
    pub(super) fn open(task: &'a TuningTask<'_>, session: &mut Session<'_>) -> Result<Self, Error> {
        let TuningTask { problem, machine, search, .. } = task;
        let Session { remote, interrupt, clock, .. } = session;
        let found = remote.as_mut().map(|remote| remote.find(interrupt)).transpose()?;
        let (device, limits) = match found {
            Some((Some(target), limits)) => (Device::Kernels(target), limits),
            Some((None, limits)) => (device_for(problem, machine)?, limits),
            None => {
                let device = device_for(problem, machine)?;
                let limits = device.limits(machine);
                (device, limits)
            }
        };
        if let Device::Replay(replay) = &device {
            recording(replay)?;
        }
        let remote_room = remote.as_ref().map(|remote| remote.first_room());
        let began = clock.now();
        let ProblemSpace { space, warnings } = problem.space_until(&limits, interrupt)?;
        let building = clock.now() - began;
        let size = size(&space)?;
        let default = problem.default_configuration(&space)?;
        let is_named = !search.start.is_empty();
        let start = is_named.then(|| configuration(&space, default.as_ref(), &search.start)).transpose()?;
        let first = [&default, &start].into_iter().flatten().filter_map(|config| space.rank(config)).collect();
        Ok(Self { problem, machine, device, limits, space, size, warnings, default, first, building, remote_room })
    }

    /// Returns true if outputs are compared with correct results. `None` if there are no outputs:
    /// on a recording, for a formula, or for a function.
    pub(super) fn verified(&self) -> Option<bool> {
        match &self.device {
            Device::Kernels(target) => {
                Some(self.problem.kernel_spec(target.language()).is_ok_and(|spec| spec.is_verified()))
            }
            Device::Command => Some(self.problem.spec().command().is_some_and(CommandSpec::is_verified)),
            Device::Replay(_) | Device::Synthetic(_) | Device::Function(_) => None,
        }
    }

    /// Returns the configurations that are compiled before the first evaluation: one of each
    /// alternative.
    pub(super) fn probes(&self) -> Vec<ConfigId> {
        let first = self.first.first().copied().or_else(|| self.space.id(0));
        first.map_or_else(Vec::new, |first| self.problem.one_of_each_alternative(&self.space, first))
    }

    /// Returns the recording, if it stands for the device.
    pub(super) fn recording(&self) -> Option<&Recording> {
        let Device::Replay(replay) = &self.device else { return None };
        recording(replay).ok()
    }

    /// Returns what was assumed about the recording that stands for the device.
    pub(super) fn assumptions(&self) -> &[String] {
        self.recording().map_or(&[], |recording| &recording.assumptions)
    }

    /// Returns the objective of the recording that stands for the device.
    ///
    /// # Errors
    /// The recording does not state its direction.
    pub(super) fn recorded_target(&self) -> Result<Option<Target>, Error> {
        match self.recording().map(Recording::ranking) {
            Some(Ranking::Known(objective)) => Ok(Some(Target::from(objective))),
            Some(Ranking::Undirected { name, .. }) => {
                let error = RecordingError::Undirected { name: name.clone() };
                Err(Error::request(format!("the recording cannot rank configurations: {error}"), Some(error.remedy())))
            }
            None => Ok(None),
        }
    }

    /// Returns the rank of the default configuration.
    pub(super) fn default_id(&self) -> Option<ConfigId> {
        self.space.rank(self.default.as_ref()?)
    }
}

/// Returns the size of the space. Fails beyond 128 bits, since a run cannot distinguish such ranks.
fn size(space: &Space) -> Result<u128, Error> {
    space.len().ok_or_else(|| {
        let text = format!("the space has {} configurations, more than 2^128", space.size());
        Error::request(text, Some("add constraints or shorten the parameters' values".to_string()))
    })
}
