//! Answers the requests of a run. This is the one place that knows every kind of device.

mod remote;

pub use remote::{FoundRemote, RemoteDevice};

use crate::devices::recording;
use crate::{Error, Problem};
use serde_json::{Map, Value as Json};
use std::sync::Arc;
use tunesmith_backend::Target;
use tunesmith_backend::command::{CommandEvaluator, CommandOptions};
use tunesmith_core::counters::Hardware;
use tunesmith_core::{Clock, Evaluator, Failure, Interrupt, ManualClock, SecondAnswers};
use tunesmith_device::{
    Device, Doubt, FunctionEvaluator, KernelPlan, LiveEvaluator, LiveOptions, Machine, Replay, ReplayEvaluator,
    SyntheticEvaluator,
};
use tunesmith_space::{ConfigId, Space};

/// A device ready to evaluate the configurations of a problem, for programs that need neither a
/// search nor a journal.
pub struct Runner<'a> {
    problem: &'a Problem,
    kind: Kind,
    /// The machine and the device, whose surroundings change times. `None` for a device of another process.
    surroundings: Option<(Machine, Device)>,
}

enum Kind {
    Live(Box<LiveEvaluator>, Hardware),
    Command(Box<CommandEvaluator>),
    Replay { device: Box<ReplayEvaluator>, noise: bool, identity: Map<String, Json>, hardware: Hardware },
    Synthetic(SyntheticEvaluator, String),
    Function(FunctionEvaluator, String),
    Remote(Box<dyn RemoteDevice>, Map<String, Json>),
}

/// The exact way in which one configuration is built and run.
#[derive(Clone, Debug)]
pub enum OnePlan {
    /// The compilation of each kernel.
    Kernels(Vec<KernelPlan>),
    /// A shell script that builds, runs and checks a command as an evaluation does.
    Script(String),
}

/// Measurements of every configuration besides its time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras {
    /// True to read the hardware counters.
    pub counters: bool,
    /// True to measure the energy of every sample.
    pub energy: bool,
}

impl<'a> Runner<'a> {
    /// Opens `device` for `problem`. Runs nothing of the user's yet.
    ///
    /// # Errors
    /// The kernel, its data, the compilers or the device are faulty.
    pub fn open(
        problem: &'a Problem,
        space: &Space,
        device: &Device,
        machine: &Machine,
        extras: Extras,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let kind = match device {
            Device::Kernels(target) => {
                let hardware = device.counted_hardware().unwrap_or_default();
                let live = Self::live(problem, space, target, machine, extras, clock)?;
                Kind::Live(Box::new(live), hardware)
            }
            Device::Command => Kind::Command(Box::new(Self::command(problem, space, machine, extras.energy, clock)?)),
            Device::Replay(replay) => Self::replay(space, replay)?,
            Device::Synthetic(expression) => {
                let name = format!("synthetic:{}", expression.text());
                Kind::Synthetic(SyntheticEvaluator::with_sizes(space, problem.spec().sizes(), expression)?, name)
            }
            Device::Function(function) => {
                Kind::Function(FunctionEvaluator::new(space, function, clock), format!("function {}", function.name()))
            }
        };
        Ok(Self { problem, kind, surroundings: Some((machine.clone(), device.clone())) })
    }

    /// Opens a device that another part of the program drives.
    pub(crate) fn remote(
        problem: &'a Problem,
        space: &Space,
        mut device: Box<dyn RemoteDevice>,
        extras: Extras,
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let identity = device.open(problem, space, extras, interrupt)?;
        Ok(Self { problem, kind: Kind::Remote(device, identity), surroundings: None })
    }

    /// Opens a device that runs the problem's kernels.
    fn live(
        problem: &Problem,
        space: &Space,
        target: &Target,
        machine: &Machine,
        extras: Extras,
        clock: Arc<dyn Clock>,
    ) -> Result<LiveEvaluator, Error> {
        let Extras { counters: profile, energy } = extras;
        let live = LiveOptions { profile, energy, clock, ..problem.live_options(target, machine)? };
        LiveEvaluator::new(space, live).map_err(|error| problem.located(error))
    }

    /// Prepares to run the problem's command.
    fn command(
        problem: &Problem,
        space: &Space,
        machine: &Machine,
        energy: bool,
        clock: Arc<dyn Clock>,
    ) -> Result<CommandEvaluator, Error> {
        let Some(options) = problem.command_options(machine, energy) else {
            let remedy = "write `[kernel]` with command = [\"./prog\", \"{N}\"]".to_string();
            let text = format!("`{}` has no command", problem.source_file().path.display());
            return Err(Error::request(text, Some(remedy)));
        };
        let options = CommandOptions { clock, ..options };
        CommandEvaluator::new(space, options).map_err(|error| problem.located(error))
    }

    /// Opens a recording in place of a device. Looks its configurations up in the problem's space.
    fn replay(space: &Space, replay: &Replay) -> Result<Kind, Error> {
        let (recording, noise, file) = (recording(replay)?, replay.noise, replay.file.display());
        let recorded = recording.recorded(space);
        if recorded.is_empty() {
            let text = format!("no configuration in `{file}` is in this problem's space");
            return Err(Error::request(text, Some(recording.mismatch(space))));
        }
        let device = recording.device.as_deref().unwrap_or("an unknown device");
        let with = if noise { " with its noise" } else { "" };
        let name = format!("replay of {file}{with} ({device})");
        let identity = Map::from_iter([("device".to_string(), Json::from(name))]);
        let device = Box::new(ReplayEvaluator::new(recorded));
        Ok(Kind::Replay { device, noise, identity, hardware: recording.hardware })
    }

    /// Seeds the noise of a recording. Returns a clock that advances by the recorded cost of each
    /// evaluation. Returns `None` for devices in real time, and for recordings without such costs.
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

    /// Finds faults that concern every configuration, with one build. Returns the message if the
    /// configuration itself cannot be built.
    ///
    /// # Errors
    /// The problem and its kernel do not fit together.
    pub(crate) fn preflight(&mut self, config: ConfigId) -> Result<Option<String>, Error> {
        match &mut self.kind {
            Kind::Live(live, _) => live.uncompiled(config).map_err(|error| self.problem.located(error)),
            Kind::Command(command) => command.unbuilt(config).map_err(|error| self.problem.located(error)),
            Kind::Replay { .. } | Kind::Synthetic(..) | Kind::Function(..) | Kind::Remote(..) => Ok(None),
        }
    }

    /// Compiles `configs` as [`preflight`](Self::preflight) does, and the reference beside them where
    /// several compilations may run at once.
    ///
    /// # Errors
    /// The problem and its kernel do not fit together, or the reference does not compile.
    pub(crate) fn preflight_all(&mut self, configs: &[ConfigId]) -> Result<(), Error> {
        match &self.kind {
            Kind::Live(live, _) => live.preflight_all(configs).map_err(|error| self.problem.located(error)),
            _ => configs.iter().try_for_each(|config| self.preflight(*config).map(drop)),
        }
    }

    /// Compiles the reference, if there is one, and runs nothing.
    ///
    /// # Errors
    /// It does not compile, or does not fit the problem.
    pub(crate) fn compile_reference(&mut self) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Live(live, _) => live.compile_reference().map_err(|error| self.problem.located(error)),
            _ => Ok(()),
        }
    }

    /// Compiles one configuration and runs nothing. Returns the failure if it does not compile, or
    /// if the device refuses it.
    ///
    /// # Errors
    /// The problem and its kernel do not fit together, or the device runs no kernels.
    pub fn compile(&mut self, config: ConfigId) -> Result<Option<Failure>, Error> {
        match &mut self.kind {
            Kind::Live(live, _) => live.compile(config).map_err(|error| self.problem.located(error)),
            _ => Err(Error::request("only kernels can be compiled without being run", None)),
        }
    }

    /// Returns doubts about parameters, with `config` as an example: those without effect, and those
    /// whose name means something else. `log` tells why `config` does not compile.
    pub(crate) fn doubts(&self, config: ConfigId, log: Option<&str>) -> Vec<Doubt> {
        let Kind::Live(live, _) = &self.kind else { return Vec::new() };
        let mut doubts = live.clashes(config, log);
        let new =
            live.ineffective(config).into_iter().filter(|doubt| doubts.iter().all(|it| it.name() != doubt.name()));
        doubts.extend(new.collect::<Vec<_>>());
        doubts
    }

    /// Computes the results that outputs are compared with. Returns `false` when interrupted.
    ///
    /// # Errors
    /// The reference cannot be run.
    pub fn prepare(&mut self, interrupt: &Interrupt) -> Result<bool, Error> {
        match &mut self.kind {
            Kind::Live(live, _) => live.prepare(interrupt).map_err(|error| self.problem.located(error)),
            _ => Ok(true),
        }
    }

    /// Returns the properties, by name, that a resumed run must share.
    pub fn identity(&self) -> Map<String, Json> {
        let mut identity = self.own_identity();
        if let Some((machine, device)) = &self.surroundings {
            let variables = self.problem.spec().command().into_iter().flat_map(|command| &command.environment);
            let own: Vec<&str> = variables.map(|(name, _)| name.as_str()).collect();
            identity.extend(named(machine.setting(device, &own)));
        }
        identity
    }

    /// Returns the identity of the device alone.
    fn own_identity(&self) -> Map<String, Json> {
        match &self.kind {
            Kind::Live(live, _) => named(live.identity()),
            Kind::Command(command) => named(command.identity()),
            Kind::Replay { identity, .. } | Kind::Remote(_, identity) => identity.clone(),
            Kind::Synthetic(_, name) | Kind::Function(_, name) => {
                Map::from_iter([("device".to_string(), Json::from(name.as_str()))])
            }
        }
    }

    /// Returns the device's name.
    pub(crate) fn device(&self) -> String {
        let device = self.own_identity().get("device").and_then(Json::as_str).unwrap_or_default().to_string();
        if matches!(self.kind, Kind::Command(_)) { format!("command ({device})") } else { device }
    }

    /// Returns the size of the device, as far as it is known.
    pub(crate) fn hardware(&self) -> Hardware {
        match &self.kind {
            Kind::Replay { hardware, .. } => *hardware,
            Kind::Live(_, hardware) => *hardware,
            _ => Hardware::default(),
        }
    }

    /// Returns the exact way in which one configuration is built and run. Empty for a recording and
    /// a formula.
    pub(crate) fn plan(&self, config: ConfigId) -> OnePlan {
        match &self.kind {
            Kind::Live(live, _) => OnePlan::Kernels(live.plan(config)),
            Kind::Command(command) => OnePlan::Script(command.script(config)),
            _ => OnePlan::Kernels(Vec::new()),
        }
    }

    /// Returns the second answers of a device of several workers. Other devices add none.
    pub(crate) fn second_answers(&self) -> SecondAnswers {
        if let Kind::Remote(device, _) = &self.kind { device.second_answers() } else { SecondAnswers::default() }
    }

    /// Returns the evaluator that answers requests.
    pub fn evaluator(&mut self) -> &mut dyn Evaluator {
        match &mut self.kind {
            Kind::Live(live, _) => live.as_mut(),
            Kind::Command(command) => command.as_mut(),
            Kind::Replay { device, .. } => device.as_mut(),
            Kind::Synthetic(synthetic, _) => synthetic,
            Kind::Function(function, _) => function,
            Kind::Remote(device, _) => device.evaluator(),
        }
    }
}

fn named(identity: Vec<(String, String)>) -> Map<String, Json> {
    identity.into_iter().map(|(name, value)| (name, Json::from(value))).collect()
}
