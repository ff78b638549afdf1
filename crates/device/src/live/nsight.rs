//! Counters that the worker cannot read. The configuration is launched once more under Nsight
//! Compute.

use crate::backends::Target;
use crate::backends::cuda::ncu;
use crate::error::DeviceError;
use crate::host::WorkerCommand;
use crate::live::LiveEvaluator;
use crate::live::station::{MeasuredJob, Station};
use crate::measure::limits::{Limit, Reason};
use crate::worker::protocol::{Job, Purpose};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tunesmith_core::Interrupt;
use tunesmith_core::counters::PROFILING_MS;

/// Time limit of a launch under Nsight Compute. It starts slowly, and saves and restores memory
/// around every pass.
const LIMIT: Duration = Duration::from_secs(120);

/// Nsight Compute, once it was searched for.
#[derive(Debug, Default)]
pub(super) enum Nsight {
    #[default]
    NotLookedFor,
    Missing,
    Found(PathBuf),
}

impl Nsight {
    fn program(&mut self, named: Option<&Path>) -> Option<&Path> {
        if matches!(self, Self::NotLookedFor) {
            *self = named.map(Path::to_owned).or_else(ncu::find).map_or(Self::Missing, Self::Found);
        }
        match self {
            Self::Found(program) => Some(program),
            Self::NotLookedFor | Self::Missing => None,
        }
    }
}

impl LiveEvaluator {
    /// Uses Nsight Compute, if installed, to add the counters that the worker could not read for
    /// the reason in `measured`. Appends any failure to that reason.
    pub(super) fn profile_beside(
        &mut self,
        job: &Job,
        measured: &mut MeasuredJob,
        interrupt: &Interrupt,
    ) -> Result<(), DeviceError> {
        let (Target::Cuda(device), Some(reason)) = (&self.options.target, measured.unprofiled.clone()) else {
            return Ok(());
        };
        let metrics = ncu::metrics(device.compute_capability());
        let Some(program) = self.nsight.program(device.setup.ncu.as_deref()) else { return Ok(()) };
        let log = self.data.folder().join("counters.csv");
        let line = ncu::command(program, &log, &metrics);
        let command = self.options.worker.under(line);
        let start = self.now();
        match self.log_of(command, job, &log, interrupt)?.and_then(|text| ncu::read(&text)) {
            Ok(counters) => {
                measured.unprofiled = None;
                measured.measurement.counters = counters;
                let took = (self.now() - start).as_secs_f64() * 1e3;
                measured.measurement.values.insert(PROFILING_MS.to_owned(), vec![took]);
            }
            Err(more) => measured.unprofiled = Some(format!("{reason}; {more}")),
        }
        Ok(())
    }

    /// Returns the profiler's log of one launch of the job.
    fn log_of(
        &self,
        command: WorkerCommand,
        job: &Job,
        log: &Path,
        interrupt: &Interrupt,
    ) -> Result<Result<String, String>, DeviceError> {
        // Removes the log of an earlier configuration, so that it is not taken for this one's.
        let _ = std::fs::remove_file(log);
        let mut station = Station { command, ..self.new_station() };
        let job = Job { purpose: Purpose::Record(Vec::new()), ..job.clone() };
        let limit = Limit { duration: LIMIT, reason: Reason::Fixed };
        let ran = station.run(&job, &limit, interrupt);
        // Nsight Compute writes its log when the worker ends.
        if let Some(worker) = station.worker.take() {
            worker.finish(LIMIT);
        }
        Ok(match ran? {
            None => Err("interrupted".to_owned()),
            Some(MeasuredJob { failure: Some(failure), .. }) => {
                Err(format!("under Nsight Compute it fails: {}", failure.message))
            }
            Some(_) => std::fs::read_to_string(log).map_err(|error| format!("Nsight Compute left no log: {error}")),
        })
    }
}
