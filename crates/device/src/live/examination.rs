//! The tuner's side of verification: it compares what a worker hands over with what it alone knows.

use crate::data::{Compared, Expected};
use crate::worker::protocol::{Ending, Job, JobReport, Purpose};
use crate::worker::sequence::changed_later;
use std::fs::File;
use std::io;
use std::sync::Arc;
use tunesmith_core::{Failure, FailureKind};
use tunesmith_kernel::DeviceError;
use tunesmith_kernel::measure::Sampling;

/// The treatment of the outputs that a worker hands over.
pub(super) enum Examination<'a> {
    /// There are none.
    Nothing,
    /// They are correct, and kept.
    Keep(&'a mut Expected),
    /// They are compared with the correct ones of each set of data.
    Compare(&'a [Arc<Expected>]),
}

/// The findings about one job. No message of the worker changes them.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The number of launches whose outputs were handed over.
    pub(super) launches: u64,
    /// The largest relative error of the outputs compared, or `None` if none was compared.
    pub(super) error: Option<f64>,
    /// The first fault.
    pub(super) failure: Option<Failure>,
}

impl Examination<'_> {
    /// Examines the outputs of a launch in the file of results, and empties the file, so that no
    /// later kernel finds them there. Returns true if nothing was wrong so far.
    pub(super) fn examine(
        &mut self,
        job: &Job,
        launch: usize,
        results: &File,
        findings: &mut Findings,
    ) -> Result<bool, DeviceError> {
        findings.launches += 1;
        let fault = match self.compared(job, launch, results) {
            Ok(Compared::Right { error }) => {
                findings.error = [findings.error, error].into_iter().flatten().reduce(f64::max);
                None
            }
            Ok(Compared::Wrong(fault)) => Some(Failure::new(FailureKind::Correctness, at_launch(&fault, job, launch))),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Some(incomplete()),
            Err(error) => return Err(unreadable(&error)),
        };
        if findings.failure.is_none() {
            findings.failure = fault;
        }
        results.set_len(0).map_err(|error| unreadable(&error))?;
        Ok(findings.failure.is_none())
    }

    fn compared(&mut self, job: &Job, launch: usize, results: &File) -> io::Result<Compared> {
        match self {
            Self::Nothing => Ok(Compared::Right { error: None }),
            Self::Keep(expected) => expected.take(results).map(|()| Compared::Right { error: None }),
            Self::Compare(sets) => match set_of(job, launch).and_then(|set| sets.get(set)) {
                Some(expected) => expected.compare(results),
                None => Err(io::ErrorKind::UnexpectedEof.into()),
            },
        }
    }

    /// Returns the failure of a job after its last message. The worker's report counts only if
    /// enough outputs were handed over and nothing was wrong with them.
    pub(super) fn conclude(&self, job: &Job, findings: &Findings, report: &JobReport) -> Option<Failure> {
        if findings.failure.is_some() {
            return findings.failure.clone();
        }
        let needed = match (self, &job.purpose) {
            (Self::Nothing, _) | (_, Purpose::Launch) => 0,
            // A slow configuration cannot win, whatever it claims.
            (_, Purpose::Measure { sampling, .. }) if is_slow(sampling, report) => 1,
            (_, Purpose::Measure { .. }) => 2,
            (_, Purpose::Record) => 1,
            (_, Purpose::Verify(series)) => series.fewest as u64,
        };
        let is_claimed = matches!(report.ending, Ending::Correct | Ending::Judged);
        (is_claimed && (findings.launches < needed || report.ending == Ending::Judged)).then(incomplete)
    }
}

/// Returns true if every launch of `report` was far above the bar.
fn is_slow(sampling: &Sampling, report: &JobReport) -> bool {
    let mut times = report.times_ms.iter().chain(&report.warmup_ms);
    !report.times_ms.is_empty() && times.all(|time| sampling.is_far(*time))
}

/// Returns the set of data of a launch.
fn set_of(job: &Job, launch: usize) -> Option<usize> {
    match &job.purpose {
        Purpose::Verify(series) => series.launches.get(launch.checked_sub(1)?).map(|launch| launch.set),
        Purpose::Measure { .. } | Purpose::Record | Purpose::Launch => Some(0),
    }
}

/// Adds the launch to the description of a fault.
fn at_launch(fault: &str, job: &Job, launch: usize) -> String {
    match &job.purpose {
        Purpose::Verify(series) if series.has_other_data() => format!(
            "{fault}; wrong in launch {launch} of a verification whose data change from launch to launch: it keeps \
             something, is made for certain data, reads local memory that it did not write, or its threads race"
        ),
        _ if launch > 1 => changed_later(fault, launch),
        _ => fault.to_owned(),
    }
}

fn incomplete() -> Failure {
    Failure::new(FailureKind::Runtime, "the kernel's outputs did not arrive: it disturbed the worker that sends them")
}

fn unreadable(error: &io::Error) -> DeviceError {
    DeviceError::Machine { problem: format!("the outputs of a kernel cannot be read: {error}") }
}
