//! Counters that the worker cannot read. The configuration is launched once more under the device's
//! outside profiler.

use crate::live::LiveEvaluator;
use crate::live::examination::Examination;
use crate::live::station::{MeasuredJob, Station};
use crate::worker::protocol::{Job, Purpose};
use std::path::Path;
use std::time::Duration;
use tunesmith_backend::OutsideProfiler;
use tunesmith_core::Interrupt;
use tunesmith_core::counters::PROFILING_MS;
use tunesmith_kernel::DeviceError;
use tunesmith_kernel::measure::limits::{Limit, Reason};

/// Time limit of a launch under a profiler. Nsight Compute starts slowly, and saves and restores
/// memory around every pass.
const LIMIT: Duration = Duration::from_secs(120);

impl LiveEvaluator {
    /// Uses the device's outside profiler, if installed, to add the counters that the worker could
    /// not read for the reason in `measured`. Appends any failure to that reason.
    pub(super) fn profile_beside(
        &self,
        job: &Job,
        measured: &mut MeasuredJob,
        interrupt: &Interrupt,
    ) -> Result<(), DeviceError> {
        let Some(reason) = measured.unprofiled.clone() else { return Ok(()) };
        let profiler = self.outside.get_or_init(|| self.options.target.outside_profiler());
        let Some(profiler) = profiler.as_deref() else { return Ok(()) };
        let log = self.data.folder().join("counters.csv");
        let start = self.now();
        match self.log_of(profiler, job, &log, interrupt)?.and_then(|text| profiler.read(&text)) {
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
        profiler: &dyn OutsideProfiler,
        job: &Job,
        log: &Path,
        interrupt: &Interrupt,
    ) -> Result<Result<String, String>, DeviceError> {
        // Removes the log of an earlier configuration, so that it is not taken for this one's.
        let _ = std::fs::remove_file(log);
        let command = self.options.worker.under(profiler.command(log));
        let mut station = Station { command, ..self.new_station() };
        let job = Job { purpose: Purpose::Launch, ..job.clone() };
        let limit = Limit { duration: LIMIT, reason: Reason::Fixed };
        let ran = station.run(&job, &mut Examination::Nothing, &limit, interrupt);
        // The profiler writes its log when the worker ends.
        if let Some(worker) = station.worker.take() {
            worker.finish(LIMIT);
        }
        Ok(match ran? {
            None => Err("interrupted".to_owned()),
            Some(MeasuredJob { failure: Some(failure), .. }) => {
                Err(format!("under {} it fails: {}", profiler.name(), failure.message))
            }
            Some(_) => tunesmith_files::read_text(log, tunesmith_files::TEXT)
                .map_err(|error| format!("{} left no log: {error}", profiler.name())),
        })
    }
}
