//! Checks a problem without running it.

use crate::devices::device_for;
use crate::space_info::{SpaceInfo, SpaceQuery};
use crate::tune::{Rehearsal, TuningTask, rehearse};
use crate::{Error, Problem, problem::ConstraintReport};
use std::path::Path;
use tunesmith_device::{Doubt, Machine};
use tunesmith_problem::{Diagnostic, Key, Level, ProblemError};
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
/// effect of each constraint and value; and everything that [`tune`](crate::tune()) does before it
/// runs anything, by the same code. Also compiles the default configuration and the reference, and
/// looks for parameters without effect.
///
/// # Errors
/// The check itself cannot be done, for example without a compiler.
pub fn check(path: &Path, sizes: &[(String, Value)], machine: &Machine) -> Result<Check, Error> {
    let problem = match Problem::load(path, sizes) {
        Ok(problem) => problem,
        Err(error) => return Ok(Check { messages: error.messages, space: None, constraints: None }),
    };
    let mut messages = [problem.warnings(), problem.command_warnings()].concat();
    // Without the device, its constraints are left out with a warning each. The missing device is
    // an error of its own.
    let limits = device_for(&problem, machine).map(|device| device.limits(machine)).unwrap_or_default();
    let mut found = None;
    let task = TuningTask::new(&problem).machine(machine.clone());
    let steps = [
        SpaceInfo::new(&problem, &limits, &SpaceQuery::Summary).map(|info| found = Some(info)),
        rehearse(&task).map(|rehearsal| messages.extend(remarks(&problem, &rehearsal))),
    ];
    for error in steps.into_iter().filter_map(Result::err) {
        let new = as_messages(&problem, error)?;
        messages.extend(new.into_iter().filter(|message| !messages.contains(message)).collect::<Vec<_>>());
    }
    messages.extend(found.iter().flat_map(|info| info.warnings.clone()));
    let mut constraints = None;
    if found.is_some() {
        let space = problem.space_until(&limits, machine.interrupt())?.space;
        let analysis = space.analyse();
        messages.extend(problem.warn_of(&space, &analysis));
        constraints = Some(ConstraintReport::new(&space, &analysis));
    }
    Ok(Check { messages, space: found, constraints })
}

/// Returns the messages about what the rehearsal of a run found.
fn remarks(problem: &Problem, rehearsal: &Rehearsal) -> Vec<Diagnostic> {
    let at = |key: &Key, level, text, remedy: &str| problem.message(level, key, text, Some(remedy.into()));
    let message = |level, text: String, remedy: &str| at(&Key::default(), level, text, remedy);
    let mut messages = Vec::new();
    if let Some(uncompiled) = &rehearsal.uncompiled {
        let (level, others) = match uncompiled.others {
            0 => (Level::Error, "no configuration that was tried compiles"),
            _ if uncompiled.alternative.is_none() => (Level::Warning, "the default configuration does not compile"),
            _ => (Level::Warning, "an alternative does not compile"),
        };
        // The doubt says more than pages of errors in headers.
        let is_explained = rehearsal.doubts.iter().any(Doubt::explains_failure);
        let lines = if is_explained { 1 } else { usize::MAX };
        let message = uncompiled.message.lines().take(lines).collect::<Vec<_>>().join("\n");
        let text = format!("{others}; {}: {message}", uncompiled.config);
        let key = uncompiled.alternative.clone().unwrap_or_default();
        messages.push(at(&key, level, text, "`tunesmith run PROBLEM --show-command` shows how it is compiled"));
    }
    if rehearsal.verified == Some(false) {
        let text = "unverified: no output will be compared with a correct result".to_string();
        messages.push(message(Level::Warning, text, &problem.verification_remedy()));
    }
    if let Some(text) = problem.partly_verified(rehearsal.verified) {
        messages.push(message(Level::Warning, text, &problem.verification_remedy()));
    }
    let key = |doubt: &Doubt| problem.parameter_key(doubt.name());
    let is_true = |doubt: &&Doubt| !matches!(doubt, Doubt::Unused { name, .. } if problem.spec().computes_with(name));
    let doubts = rehearsal.doubts.iter().filter(is_true);
    messages.extend(doubts.map(|doubt| at(&key(doubt), Level::Warning, doubt.to_string(), &doubt.remedy())));
    messages
}

/// Returns an error as messages about the file, or the error itself if it is not about the file.
fn as_messages(problem: &Problem, error: Error) -> Result<Vec<Diagnostic>, Error> {
    if let Some(error) = error.downcast_ref::<ProblemError>() {
        return Ok(error.messages.clone());
    }
    match error {
        error if error.is_request() => {
            let remedy = error.remedy().map(str::to_string);
            Ok(problem.error(&Key::default(), error.to_string(), remedy).messages)
        }
        other => Err(other),
    }
}
