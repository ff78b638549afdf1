//! Tuning runs.

use crate::error::{bug, entry, raised, request, without_panic};
use crate::function::{Ended, PythonFunction};
use crate::observed::Observed;
use crate::options::Options;
use crate::problem;
use crate::run::{Kept, Recorded};
use crate::space::Space;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tunesmith::core::{Aim, Interrupt, Judging};
use tunesmith::device::{DeviceChoice, OwnFunction};
use tunesmith::{
    Error, JournalOptions, Machine, Outcome, Problem, Search, Session, Starting, Target, TuningTask, UNVERIFIED,
};

/// A finished run, and the exception that ended it, if one did.
type Finished = (Recorded, Option<PyErr>);

/// The time between two looks for Ctrl-C while kernels run.
const LOOK: Duration = Duration::from_millis(30);

/// Tunes a problem in a thread of its own. The calling thread looks for Ctrl-C and shows the progress.
#[pyfunction]
pub(crate) fn tune_problem(
    py: Python<'_>,
    problem: &Bound<'_, problem::Problem>,
    options: Options,
    display: Option<Py<PyAny>>,
) -> PyResult<Finished> {
    entry(|| {
        let (problem, observed, interrupt) = (problem.get(), Observed::new(display), Interrupt::default());
        let kept = if problem.in_code { Kept::Problem(Box::new(problem.read.clone())) } else { Kept::Nothing };
        let run = Run {
            search: options.search().map_err(|error| raised(&error))?,
            journal: options.journal(None).map_err(|error| raised(&error))?,
            machine: options.machine(&interrupt).map_err(|error| raised(&error))?,
            problem: problem.read.clone(),
            interrupt: interrupt.clone(),
            observed: observed.clone(),
        };
        let (outcome, end) = watched(py, &interrupt, &observed, || run.tune())?;
        observed.show_last(py)?;
        finished(outcome, end.or_else(|| problem.raised.take()), &observed, kept)
    })
}

/// Does `work` in a thread of its own, without the interpreter's lock. Meanwhile Python handles its
/// signals, and sees the progress. An exception of either raises the interrupt, and is returned with
/// the result.
fn watched<T: Send>(
    py: Python<'_>,
    interrupt: &Interrupt,
    observed: &Observed,
    work: impl FnOnce() -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let watch = || {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let working = scope.spawn(move || {
                let done = work();
                // The receiver lives as long as this thread.
                let _ = sender.send(());
                done
            });
            let mut end = None;
            while receiver.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                let looked = Python::attach(|py| py.check_signals().and_then(|()| observed.show(py)));
                if let Err(error) = looked {
                    interrupt.raise();
                    end.get_or_insert(error);
                }
            }
            (working.join(), end)
        })
    };
    let (done, end) = py.detach(watch);
    Ok((done.map_err(|panic| bug(panic.as_ref()))?, end))
}

/// Tunes a function of Python over `space`. Calls it in the calling thread. `judged` is false for
/// functions that give the same answer each time: nothing is then called again.
#[pyfunction]
pub(crate) fn tune_function(
    py: Python<'_>,
    function: Py<PyAny>,
    name: String,
    space: &Bound<'_, Space>,
    options: Options,
    judged: bool,
    display: Option<Py<PyAny>>,
) -> PyResult<Finished> {
    entry(|| {
        let (ended, observed, interrupt) = (Ended::default(), Observed::new(display), Interrupt::default());
        let problem = Problem::of_space(&name, &space.get().built, space.get().sizes.clone());
        // A function may take a microsecond: probes for drift would be half of all calls.
        let finals = Judging::default().finals.filter(|_| judged);
        let problem = problem.with_judging(Judging { finals, ..Judging::nothing() });
        let kept = Kept::in_temporary_folder()?;
        let run = Run {
            search: options.search().map_err(|error| raised(&error))?,
            journal: options.journal(Some(kept.path(&name))).map_err(|error| raised(&error))?,
            machine: options.machine(&interrupt).map_err(|error| raised(&error))?,
            problem,
            interrupt,
            observed: observed.clone(),
        };
        let function = PythonFunction::new(function, name, ended.clone(), observed.clone())
            .with_objective(quantity(run.search.objective.as_ref())?);
        let device = DeviceChoice::Function(OwnFunction::new(function));
        let run = Run { machine: Machine { device: Some(device), ..run.machine }, ..run };
        let outcome = py.detach(|| without_panic(|| run.tune()))?;
        let end = ended.take();
        observed.show_last(py)?;
        finished(outcome, end, &observed, kept)
    })
}

/// Returns the name of the number that a function returns for this objective, or `None` for a time.
fn quantity(target: Option<&Target>) -> PyResult<Option<String>> {
    match target.map(Target::parts) {
        Some([aim]) if *aim != Aim::default() => Ok(Some(aim.name.clone())),
        None | Some([_]) => Ok(None),
        Some(_) => {
            let front = target.map(ToString::to_string).unwrap_or_default();
            Err(request(format!("a function returns one number, but the objective is {front}; name one, or join them")))
        }
    }
}

/// Everything that a run needs.
struct Run {
    problem: Problem,
    machine: Machine,
    search: Search,
    journal: JournalOptions,
    interrupt: Interrupt,
    observed: Observed,
}

impl Run {
    fn tune(mut self) -> Result<(Outcome, Vec<String>), Error> {
        let mut warnings = Vec::new();
        let mut on_start = |starting: &Starting<'_>| {
            warnings.extend(starting.warnings.iter().map(ToString::to_string));
            let unverified = starting.verified == Some(false);
            warnings.extend(unverified.then(|| format!("{UNVERIFIED}; {}", self.problem.verification_remedy())));
        };
        let mut session = Session {
            observers: vec![&mut self.observed],
            interrupt: self.interrupt,
            on_start: Some(&mut on_start),
            ..Session::default()
        };
        let task = TuningTask::new(&self.problem).machine(self.machine).search(self.search).journal(self.journal);
        let outcome = tunesmith::tune(&task, &mut session)?;
        drop(session);
        Ok((outcome, warnings))
    }
}

/// Returns the run of an outcome. An exception without an outcome is raised at once.
fn finished(
    outcome: Result<(Outcome, Vec<String>), Error>,
    end: Option<PyErr>,
    observed: &Observed,
    kept: Kept,
) -> PyResult<Finished> {
    match (outcome, end) {
        (Ok((outcome, warnings)), end) => {
            let notes = [warnings, observed.notes(), outcome.notes.clone()].concat();
            Ok((Recorded::of(&outcome, notes, kept), end))
        }
        (Err(_), Some(end)) => Err(end),
        (Err(error), None) => Err(raised(&error)),
    }
}
