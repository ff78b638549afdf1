//! What answers the requests of a run: the one place that knows every kind of device.

use crate::devices::DeviceChoice;
use crate::run_one::Plan;
use crate::tune::TuneOptions;
use crate::{Error, Problem};
use serde_json::{Map, Value as Json};
use std::path::Path;
use std::sync::Arc;
use tunesmith_core::counters::Hardware;
use tunesmith_core::{Clock, Evaluator, Interrupt, ManualClock};
use tunesmith_device::{
    CommandEvaluator, CommandOptions, LiveEvaluator, LiveOptions, ReplayEvaluator, SyntheticEvaluator, Target,
};
use tunesmith_space::{ConfigId, Space};

/// A device ready to evaluate the configurations of a problem.
pub(crate) struct Runner<'a> {
    problem: &'a Problem,
    kind: Kind,
}

enum Kind {
    Live(Box<LiveEvaluator>, Hardware),
    Command(Box<CommandEvaluator>),
    Replay { device: Box<ReplayEvaluator>, noise: bool, identity: Map<String, Json>, hardware: Hardware },
    Synthetic(SyntheticEvaluator, String),
}

impl<'a> Runner<'a> {
    /// Opens `device` for `problem`, to measure the energy of every sample where `energy` says so; nothing of the user's is
    /// run yet.
    ///
    /// # Errors
    /// What is wrong with the kernel, its data, the compilers or the device.
    pub(crate) fn open(
        problem: &'a Problem,
        space: &Space,
        device: &DeviceChoice,
        options: &TuneOptions,
        energy: bool,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let target = match device {
            DeviceChoice::Synthetic(expression) => {
                let name = format!("synthetic:{}", expression.text());
                let evaluator = SyntheticEvaluator::with_sizes(space, &problem.sizes, expression)?;
                return Ok(Self { problem, kind: Kind::Synthetic(evaluator, name) });
            }
            DeviceChoice::Command => return Self::command(problem, space, options, clock),
            DeviceChoice::Replay { file, noise } => return Self::replay(problem, space, file, *noise),
            DeviceChoice::C => Target::Processor,
            DeviceChoice::OpenCl(device) => Target::OpenCl(device.clone()),
            DeviceChoice::Cuda(device) => Target::Cuda(device.clone()),
        };
        let hardware = device.counted_hardware().unwrap_or_default();
        let nests = target.language();
        let live = LiveOptions {
            spec: problem.kernel_spec(nests)?,
            target,
            compilers: options.compilers.clone(),
            policy: problem.policy,
            jobs: jobs(options),
            profile: options.profile,
            energy,
            worker: options.worker.clone(),
            clock,
        };
        let live = LiveEvaluator::new(space, live).map_err(|error| problem.located(error))?;
        Ok(Self { problem, kind: Kind::Live(Box::new(live), hardware) })
    }

    /// The problem's command.
    fn command(
        problem: &'a Problem,
        space: &Space,
        options: &TuneOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let Some(spec) = &problem.command else {
            let remedy = "write `[kernel]` with command = [\"./prog\", \"{N}\"]".to_string();
            let text = format!("`{}` has no command", problem.source_file.path.display());
            return Err(Error::request(text, Some(remedy)));
        };
        let options = CommandOptions {
            spec: spec.clone(),
            sizes: problem.sizes.clone(),
            policy: problem.policy,
            jobs: jobs(options),
            worker: options.worker.clone(),
            clock,
        };
        let evaluator = CommandEvaluator::new(space, options).map_err(|error| problem.located(error))?;
        Ok(Self { problem, kind: Kind::Command(Box::new(evaluator)) })
    }

    /// A recording in place of a device. Its configurations are looked up in the problem's space.
    fn replay(problem: &'a Problem, space: &Space, file: &Path, noise: bool) -> Result<Self, Error> {
        let recording = tunesmith_store::import(file)?;
        let recorded = recording.recorded(space);
        if recorded.is_empty() {
            let text = format!("no configuration in `{}` is one of this problem's", file.display());
            let names =
                recording.parameters().iter().map(tunesmith_space::Parameter::name).collect::<Vec<_>>().join(", ");
            let of = recording.kernel.as_deref().map(|kernel| format!("of `{kernel}` ")).unwrap_or_default();
            return Err(Error::request(text, Some(format!("it is a recording {of}with the parameters {names}"))));
        }
        let device = recording.device.as_deref().unwrap_or("an unknown device");
        let with = if noise { " with its noise" } else { "" };
        let name = format!("replay of {}{with} ({device})", file.display());
        let identity = Map::from_iter([("device".to_string(), Json::from(name))]);
        let device = Box::new(ReplayEvaluator::new(recorded));
        Ok(Self { problem, kind: Kind::Replay { device, noise, identity, hardware: recording.hardware } })
    }

    /// Seeds the noise of a recording and gives it a clock that moves by what its evaluations took: the time of the run.
    /// `None` for devices in real time, and where nothing of the recording took any.
    pub(crate) fn simulate(&mut self, seed: u64) -> Option<Arc<dyn Clock>> {
        let Kind::Replay { device, noise, .. } = &mut self.kind else { return None };
        let clock = Arc::new(ManualClock::default());
        let mut simulated = device.as_ref().clone();
        if device.mean_cost_ms() > 0.0 {
            simulated = simulated.with_clock(clock.clone());
        }
        if *noise {
            simulated = simulated.with_noise(seed);
        }
        **device = simulated;
        (device.mean_cost_ms() > 0.0).then_some(clock as Arc<dyn Clock>)
    }

    /// Finds, with one build, what is wrong with every configuration.
    ///
    /// # Errors
    /// The problem and what it tunes do not fit together.
    pub(crate) fn preflight(&mut self, config: ConfigId) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Live(live, _) => live.preflight(config).map_err(|error| self.problem.located(error).into()),
            Kind::Command(command) => command.preflight(config).map_err(|error| self.problem.located(error).into()),
            Kind::Replay { .. } | Kind::Synthetic(..) => Ok(()),
        }
    }

    /// Makes what outputs are compared with. `false` when interrupted.
    ///
    /// # Errors
    /// The reference cannot be run.
    pub(crate) fn prepare(&mut self, interrupt: &Interrupt) -> Result<bool, Error> {
        match &mut self.kind {
            Kind::Live(live, _) => live.prepare(interrupt).map_err(|error| self.problem.located(error).into()),
            Kind::Command(_) | Kind::Replay { .. } | Kind::Synthetic(..) => Ok(true),
        }
    }

    /// What has to be the same when a run is resumed, by name.
    pub(crate) fn identity(&self) -> Map<String, Json> {
        match &self.kind {
            Kind::Live(live, _) => named(live.identity()),
            Kind::Command(command) => named(command.identity()),
            Kind::Replay { identity, .. } => identity.clone(),
            Kind::Synthetic(_, name) => Map::from_iter([("device".to_string(), Json::from(name.as_str()))]),
        }
    }

    /// The device's name.
    pub(crate) fn device(&self) -> String {
        let device = self.identity().get("device").and_then(Json::as_str).unwrap_or_default().to_string();
        if matches!(self.kind, Kind::Command(_)) { format!("command ({device})") } else { device }
    }

    /// The size of the device, as far as it is known.
    pub(crate) fn hardware(&self) -> Hardware {
        match &self.kind {
            Kind::Replay { hardware, .. } => *hardware,
            Kind::Live(_, hardware) => *hardware,
            Kind::Command(_) | Kind::Synthetic(..) => Hardware::default(),
        }
    }

    /// How exactly one configuration is built and run; nothing for a recording and a formula.
    pub(crate) fn plan(&self, config: ConfigId) -> Plan {
        match &self.kind {
            Kind::Live(live, _) => Plan::Kernels(live.plan(config)),
            Kind::Command(command) => Plan::Script(command.script(config)),
            Kind::Replay { .. } | Kind::Synthetic(..) => Plan::Kernels(Vec::new()),
        }
    }

    /// What answers requests.
    pub(crate) fn evaluator(&mut self) -> &mut dyn Evaluator {
        match &mut self.kind {
            Kind::Live(live, _) => live.as_mut(),
            Kind::Command(command) => command.as_mut(),
            Kind::Replay { device, .. } => device.as_mut(),
            Kind::Synthetic(synthetic, _) => synthetic,
        }
    }
}

/// How many builds run at a time: as many as there are processors unless the user says otherwise.
fn jobs(options: &TuneOptions) -> usize {
    options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1)
}

fn named(identity: Vec<(String, String)>) -> Map<String, Json> {
    identity.into_iter().map(|(name, value)| (name, Json::from(value))).collect()
}
