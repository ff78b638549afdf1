//! Checks a problem without running it.

use crate::devices::device_for;
use crate::metrics::Metric;
use crate::runner::{Extras, Runner};
use crate::space_info::{SpaceInfo, SpaceQuery};
use crate::{ConstraintReport, Error, Problem};
use std::path::Path;
use std::sync::Arc;
use tunesmith_core::SystemClock;
use tunesmith_device::{Device, Machine};
use tunesmith_problem::{Diagnostic, Level};
use tunesmith_space::Value;

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Check {
    /// The messages. Without an error among them, the problem can be tuned.
    pub messages: Vec<Diagnostic>,
    /// The space, if it could be built.
    pub space: Option<SpaceInfo>,
    /// The effect of the constraints on the space.
    pub constraints: Option<ConstraintReport>,
}

impl Check {
    /// Returns true if the problem can be tuned.
    pub fn is_ok(&self) -> bool {
        self.messages.iter().all(|message| message.level != Level::Error)
    }
}

/// Checks the problem file at `path`: names, types, expressions and files; the space with the
/// effect of each constraint and value; the strategy and the stop condition. Also compiles the
/// kernel with the declared arguments in its default configuration.
///
/// # Errors
/// The check itself cannot be done, for example without a compiler.
pub fn check(path: &Path, sizes: &[(String, Value)], machine: &Machine) -> Result<Check, Error> {
    let problem = match Problem::load(path, sizes) {
        Ok(problem) => problem,
        Err(error) => return Ok(Check { messages: error.messages, space: None, constraints: None }),
    };
    let mut messages = problem.warnings.clone();
    let device = device_for(&problem, machine);
    // Without the device, its constraints are left out with a warning each. The missing device is
    // an error of its own.
    let limits = device.as_ref().map(|device| device.limits(&machine.compilers)).unwrap_or_default();
    let mut found = None;
    let steps = [
        SpaceInfo::new(&problem, &limits, &SpaceQuery::Summary).map(|info| found = Some(info)),
        check_objective(&problem),
        device.and_then(|device| check_kernel(&problem, &device, machine, &limits)),
    ];
    for error in steps.into_iter().filter_map(Result::err) {
        let new = as_messages(&problem, error)?;
        messages.extend(new.into_iter().filter(|message| !messages.contains(message)).collect::<Vec<_>>());
    }
    messages.extend(found.iter().flat_map(|info| info.warnings.clone()));
    let mut constraints = None;
    if found.is_some() {
        let space = problem.space(&limits)?.space;
        let analysis = space.analyse();
        messages.extend(problem.warn_of(&space, &analysis));
        constraints = Some(ConstraintReport::new(&space, &analysis));
    }
    Ok(Check { messages, space: found, constraints })
}

/// Checks that the optimised metric is one of the problem.
fn check_objective(problem: &Problem) -> Result<(), Error> {
    match &problem.tuning.objective {
        Some(target) => Metric::new(target, problem).map(|_| ()),
        None => Ok(()),
    }
}

fn check_kernel(
    problem: &Problem,
    device: &Device,
    machine: &Machine,
    limits: &[(String, Value)],
) -> Result<(), Error> {
    if problem.kernels.is_empty() && problem.command.is_none() {
        return Ok(());
    }
    let space = problem.space(limits)?.space;
    let default = problem.default_configuration(&space)?;
    let probe = default.and_then(|configuration| space.rank(&configuration)).or_else(|| space.id(0));
    let mut runner = Runner::open(problem, &space, device, machine, Extras::default(), Arc::new(SystemClock::new()))?;
    probe.map_or(Ok(()), |probe| runner.preflight(probe))
}

/// Returns an error as messages about the file, or the error itself if it is not about the file.
fn as_messages(problem: &Problem, error: Error) -> Result<Vec<Diagnostic>, Error> {
    if let Some(error) = error.problem() {
        return Ok(error.messages.clone());
    }
    match error {
        error if error.is_request() => {
            let remedy = error.remedy().map(str::to_string);
            Ok(problem.error(0..0, error.to_string(), remedy).messages)
        }
        other => Err(other),
    }
}
