//! Asks the device for its clocks, and chooses those that are searched.

use crate::{Diagnostic, Error, Level, Problem};
use std::borrow::Cow;
use tunesmith_backend::Target;
use tunesmith_core::{Completion, Direction, Evaluator, Interrupt, Refusal, Request, Target as Objective, statistics};
use tunesmith_device::{LiveEvaluator, LiveOptions, Machine};
use tunesmith_kernel::DeviceError;
use tunesmith_kernel::measure::ENERGY_MJ;
use tunesmith_power::model::{Goal, Picked, Sample, pick};
use tunesmith_power::{Abilities, Clocks};
use tunesmith_space::{Configuration, Space, Value};
use tunesmith_spec::SettingValues;

/// A problem whose settings all have values.
#[derive(Debug)]
pub struct Settled<'a> {
    /// The problem.
    pub problem: Cow<'a, Problem>,
    /// A note on the clocks that were chosen, and on those that were left out.
    pub note: Option<Diagnostic>,
}

/// The number of clocks at which the default configuration is measured for the model: two more than
/// the unknowns of its laws.
const PROBES: usize = 8;

/// The number of clocks that are tried if the model does not describe the device.
const SPREAD: usize = 12;

/// Gives values to the settings of a problem that await the device, and checks the values that the
/// file has. For the model, measures the default configuration at a few clocks.
///
/// # Errors
/// The device does not take the values, the user may not set them, or the device fails.
pub fn settle<'a>(
    problem: &'a Problem,
    target: &Target,
    machine: &Machine,
    objective: &Objective,
    limits: &[(String, Value)],
    interrupt: &Interrupt,
) -> Result<Settled<'a>, Error> {
    if problem.spec.settings().is_empty() {
        return Ok(Settled { problem: Cow::Borrowed(problem), note: None });
    }
    let goal = problem.goal(objective);
    if goal.is_none() && problem.spec.settings().iter().any(|setting| setting.values == SettingValues::Model) {
        let text =
            format!("`clock_mhz = \"model\"` knows the effect of the clock on time and energy, not on {objective}");
        let remedy = "tune for time, energy, edp or gflops_per_w, or write `clock_mhz = { all = 12 }`".to_string();
        return Err(Refusal::new(text, Some(remedy)).into());
    }
    let abilities = target.abilities(&machine.worker, &machine.power, &problem.knobs())?;
    problem.check_settings(&abilities)?;
    let (Some(setting), Some(clocks)) = (problem.awaited(), &abilities.clocks) else {
        return Ok(Settled { problem: Cow::Borrowed(problem), note: None });
    };
    let (chosen, text) = match (setting.values, goal) {
        (SettingValues::Model, Some(goal)) => {
            let subject = Subject { problem, target, machine, limits, goal };
            chosen(clocks, goal, subject.samples(&abilities, interrupt)?)
        }
        (SettingValues::All(Some(most)), _) => (clocks.spread(most), None),
        _ => (clocks.mhz.clone(), None),
    };
    // The first value is the default's. The highest clock is nearest to that of a device left alone.
    let descending: Vec<u32> = chosen.into_iter().rev().collect();
    let note = text.map(|text| problem.message(Level::Warning, &setting.key(), text, None));
    Ok(Settled { problem: Cow::Owned(problem.with_values(&descending)), note })
}

/// Returns the clocks to search, ascending, with a text that says why.
fn chosen(clocks: &Clocks, goal: Goal, samples: Vec<Sample>) -> (Vec<u32>, Option<String>) {
    match pick(&samples, goal, &clocks.mhz) {
        Ok(Picked { clocks_mhz, optimum_mhz, error, .. }) => {
            let left_out = clocks.mhz.len() - clocks_mhz.len();
            let text = format!(
                "the model of the clock expects the optimum at {optimum_mhz} MHz (error {:.1} %); {} are searched, and \
                 {left_out} clocks are left out",
                error * 100.0,
                listed(&clocks_mhz)
            );
            (clocks_mhz, Some(text))
        }
        Err(distrust) => {
            let spread = clocks.spread(SPREAD);
            let text = format!(
                "the model of the clock is not used, because {distrust}; {} of {} clocks all over the range are searched",
                spread.len(),
                clocks.mhz.len()
            );
            (spread, Some(text))
        }
    }
}

fn listed(clocks: &[u32]) -> String {
    let texts: Vec<String> = clocks.iter().map(u32::to_string).collect();
    match texts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last} MHz", rest.join(", ")),
        _ => format!("{} MHz", texts.join("")),
    }
}

impl Problem {
    /// Returns the effect of the clock on an objective. `None` if only the problem knows.
    fn goal(&self, objective: &Objective) -> Option<Goal> {
        let [aim] = objective.parts() else { return None };
        // The file may give the names another meaning.
        let is_own = |name: &str| self.spec.metrics().iter().any(|(known, _)| known == name);
        match (aim.name.as_str(), aim.direction) {
            ("time_ms", Direction::Minimise) => Some(Goal::Time),
            (name, _) if is_own(name) || is_own("energy") => None,
            ("gflops" | "gbytes", _) => Some(Goal::Time),
            ("energy" | "gflops_per_w" | ENERGY_MJ, _) => Some(Goal::Energy),
            ("edp", _) => Some(Goal::EnergyDelay),
            _ => None,
        }
    }
}

/// The default configuration of a problem, which is measured at a few clocks.
struct Subject<'a> {
    problem: &'a Problem,
    target: &'a Target,
    machine: &'a Machine,
    limits: &'a [(String, Value)],
    goal: Goal,
}

impl Subject<'_> {
    /// Measures the default configuration at clocks all over the range. A clock at which it fails, or
    /// which a constraint excludes, is left out.
    fn samples(&self, abilities: &Abilities, interrupt: &Interrupt) -> Result<Vec<Sample>, Error> {
        let Some(clocks) = &abilities.clocks else { return Ok(Vec::new()) };
        let probes = clocks.spread(PROBES);
        let problem = self.problem.with_values(&probes);
        let space = problem.space(self.limits)?.space;
        let Some(default) = problem.default_configuration(&space)? else { return Ok(Vec::new()) };
        let energy = self.goal != Goal::Time;
        let options = LiveOptions { energy, ..problem.live_options(self.target, self.machine)? };
        let mut device = LiveEvaluator::new(&space, options).map_err(|error| problem.located(error))?;
        let mut samples = Vec::new();
        for mhz in probes {
            let failed = |error: tunesmith_core::Error| DeviceError::Machine { problem: error.to_string() };
            let Some(config) = at_clock(&space, &default, mhz).and_then(|config| space.rank(&config)) else { continue };
            device.submit(Request::timed(config)).map_err(failed)?;
            let Some(completion) = device.next(interrupt).map_err(failed)? else {
                return Err(DeviceError::Interrupted.into());
            };
            samples.extend(sample(mhz, &completion));
        }
        Ok(samples)
    }
}

/// Returns the configuration at another clock.
fn at_clock(space: &Space, config: &Configuration, mhz: u32) -> Option<Configuration> {
    let clock = [(tunesmith_power::Knob::Clock.name(), Value::Int(i64::from(mhz)))];
    space.configuration(&clock, Some(config)).ok()
}

/// Returns the measurement at a clock. The clock that the device reported under load counts.
fn sample(mhz: u32, completion: &Completion) -> Option<Sample> {
    if completion.failure.is_some() {
        return None;
    }
    let measurement = &completion.measurement;
    let median = |name: &str| measurement.values.get(name).and_then(|values| statistics::median(values));
    let time_ms = statistics::median(&measurement.times_ms).filter(|time| *time > 0.0)?;
    let mhz = median("clock_mhz").filter(|mhz| *mhz > 0.0).unwrap_or(f64::from(mhz));
    // Millijoules per millisecond are watts.
    Some(Sample { mhz, time_ms, watts: median(ENERGY_MJ).map(|energy| energy / time_ms) })
}
