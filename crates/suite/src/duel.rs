//! Times several kernels in turns: each round measures every one, so that a drift of the machine's
//! speed meets all of them.

use crate::library::Library;
use crate::refusal::refused;
use crate::verify::with_remedy;
use std::fmt;
use std::sync::Arc;
use tunesmith::{
    Error, Problem,
    runner::{Extras, Runner},
};
use tunesmith_core::{Interrupt, SystemClock, statistics};
use tunesmith_device::{Device, Machine};
use tunesmith_space::{ConfigId, Space};

/// The number of rounds. Seven medians are the fewest of which one has a 95 % interval inside the
/// extremes.
const ROUNDS: usize = 7;

/// The number of samples of one kernel in a round, after one launch that is not timed.
const SAMPLES: usize = 3;

/// The origin of a kernel that takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The winner of the search.
    Tuned,
    /// The default configuration, if it is another.
    Default,
    /// The naive loop.
    Naive,
    /// A library.
    Library(Library),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tuned => f.write_str("tuned"),
            Self::Default => f.write_str("default"),
            Self::Naive => f.write_str("naive"),
            Self::Library(library) => library.fmt(f),
        }
    }
}

/// A kernel that takes part.
pub(super) struct Party<'a> {
    pub(super) origin: Origin,
    pub(super) problem: &'a Problem,
    pub(super) device: &'a Device,
    pub(super) machine: &'a Machine,
    /// The configuration; `None` for the only one of a problem without parameters.
    pub(super) config: Option<ConfigId>,
    /// The kernel whose time counts, if the problem has others that prepare and finish.
    pub(super) counted: Option<&'static str>,
}

/// The result of one kernel.
pub(super) struct Score {
    pub(super) origin: Origin,
    /// The median of the rounds' medians in milliseconds, or the reason why there is none.
    pub(super) time_ms: Result<f64, String>,
}

/// A party that is ready to be timed.
struct Ready<'a> {
    origin: Origin,
    counted: Option<&'static str>,
    opened: Result<(Runner<'a>, ConfigId), String>,
    medians: Vec<f64>,
}

/// Times the parties in turns. Returns `None` if `interrupt` was raised.
///
/// # Errors
/// The run was interrupted while a party was opened. A party that cannot be timed has the reason as
/// its score.
pub(super) fn duel(parties: Vec<Party<'_>>, interrupt: &Interrupt) -> Result<Option<Vec<Score>>, Error> {
    let mut all = Vec::new();
    for party in parties {
        let opened = match open(&party, interrupt) {
            Ok(Some(opened)) => Ok(opened),
            Ok(None) => return Ok(None),
            Err(error) if error.is_interruption() => return Err(error),
            Err(error) => Err(with_remedy(&error)),
        };
        all.push(Ready { origin: party.origin, counted: party.counted, opened, medians: Vec::new() });
    }
    for _ in 0..ROUNDS {
        for ready in &mut all {
            if !visit(ready, interrupt)? {
                return Ok(None);
            }
        }
    }
    Ok(Some(all.into_iter().map(Ready::score).collect()))
}

/// Opens a party's device and computes its correct results. Returns `None` if interrupted.
fn open<'a>(party: &Party<'a>, interrupt: &Interrupt) -> Result<Option<(Runner<'a>, ConfigId)>, Error> {
    let Party { problem, device, machine, .. } = party;
    let space: Space = problem.space_until(&device.limits(machine), interrupt)?.space;
    let only = || space.id(0).filter(|_| space.len() == Some(1));
    let Some(config) = party.config.or_else(only) else {
        let text = format!("`{}` has parameters, but must be one kernel", problem.source_file().path.display());
        return Err(refused(text, Some("remove its [parameters]".to_string())));
    };
    let clock = Arc::new(SystemClock::new());
    let mut runner = Runner::open(problem, &space, device, machine, Extras::default(), clock)?;
    Ok(runner.prepare(interrupt)?.then_some((runner, config)))
}

/// Measures one party once. Returns false if interrupted.
fn visit(ready: &mut Ready<'_>, interrupt: &Interrupt) -> Result<bool, Error> {
    let Ok((runner, config)) = &mut ready.opened else { return Ok(true) };
    let Some(completion) = runner.evaluator().resample(*config, SAMPLES, interrupt)? else { return Ok(false) };
    let measured = &completion.measurement;
    let times = match ready.counted {
        Some(kernel) => measured.parts_ms.get(kernel).map_or(&[][..], Vec::as_slice),
        None => &measured.times_ms,
    };
    match (completion.failure, statistics::median(times)) {
        (None, Some(median)) => ready.medians.push(median),
        (Some(failure), _) => ready.opened = Err(failure.message),
        (None, None) => ready.opened = Err("the device gave no times".to_string()),
    }
    Ok(true)
}

impl Ready<'_> {
    fn score(self) -> Score {
        let Self { origin, opened, medians, .. } = self;
        let time_ms = opened.and_then(|_| statistics::median(&medians).ok_or("it was not measured".to_string()));
        Score { origin, time_ms }
    }
}
