//! What answers the requests of a run: the one place that knows every kind of device.

use crate::devices::DeviceChoice;
use crate::tune::TuneOptions;
use crate::{Error, Problem};
use serde_json::{Map, Value as Json};
use std::sync::Arc;
use tunesmith_core::{Clock, Evaluator, Interrupt};
use tunesmith_device::{KernelPlan, LiveEvaluator, LiveOptions, SyntheticEvaluator, Target};
use tunesmith_space::{ConfigId, Space};

/// A device ready to evaluate the configurations of a problem.
pub(crate) struct Runner<'a> {
    problem: &'a Problem,
    kind: Kind,
}

enum Kind {
    Live(Box<LiveEvaluator>),
    Synthetic(SyntheticEvaluator, String),
}

impl<'a> Runner<'a> {
    /// Opens `device` for `problem`; nothing of the user's is run yet.
    ///
    /// # Errors
    /// What is wrong with the kernel, its data, the compilers or the device.
    pub(crate) fn open(
        problem: &'a Problem,
        space: &Space,
        device: &DeviceChoice,
        options: &TuneOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let target = match device {
            DeviceChoice::Synthetic(expression) => {
                let name = format!("synthetic:{}", expression.text());
                let evaluator = SyntheticEvaluator::new(space, expression)?;
                return Ok(Self { problem, kind: Kind::Synthetic(evaluator, name) });
            }
            DeviceChoice::C => Target::Processor,
            DeviceChoice::OpenCl(device) => Target::OpenCl(device.clone()),
        };
        let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let live = LiveOptions {
            spec: problem.kernel_spec()?,
            target,
            compilers: options.compilers.clone(),
            policy: problem.policy,
            jobs: jobs.max(1),
            worker: options.worker.clone(),
            clock,
        };
        let live = LiveEvaluator::new(space, live).map_err(|error| problem.located(error))?;
        Ok(Self { problem, kind: Kind::Live(Box::new(live)) })
    }

    /// Finds, with one build, what is wrong with every configuration.
    ///
    /// # Errors
    /// The problem and what it tunes do not fit together.
    pub(crate) fn preflight(&mut self, config: ConfigId) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Live(live) => live.preflight(config).map_err(|error| self.problem.located(error)),
            Kind::Synthetic(..) => Ok(()),
        }
    }

    /// Makes what outputs are compared with. `false` when interrupted.
    ///
    /// # Errors
    /// The reference cannot be run.
    pub(crate) fn prepare(&mut self, interrupt: &Interrupt) -> Result<bool, Error> {
        match &mut self.kind {
            Kind::Live(live) => live.prepare(interrupt).map_err(|error| self.problem.located(error)),
            Kind::Synthetic(..) => Ok(true),
        }
    }

    /// What has to be the same when a run is resumed, by name.
    pub(crate) fn identity(&self) -> Map<String, Json> {
        match &self.kind {
            Kind::Live(live) => live.identity().into_iter().map(|(name, value)| (name, Json::from(value))).collect(),
            Kind::Synthetic(_, name) => Map::from_iter([("device".to_string(), Json::from(name.as_str()))]),
        }
    }

    /// The device's name.
    pub(crate) fn device(&self) -> String {
        self.identity().get("device").and_then(Json::as_str).unwrap_or_default().to_string()
    }

    /// What exactly is built for one configuration, and how; nothing for a formula.
    pub(crate) fn plan(&self, config: ConfigId) -> Vec<KernelPlan> {
        match &self.kind {
            Kind::Live(live) => live.plan(config),
            Kind::Synthetic(..) => Vec::new(),
        }
    }

    /// What answers requests.
    pub(crate) fn evaluator(&mut self) -> &mut dyn Evaluator {
        match &mut self.kind {
            Kind::Live(live) => live.as_mut(),
            Kind::Synthetic(synthetic, _) => synthetic,
        }
    }
}
