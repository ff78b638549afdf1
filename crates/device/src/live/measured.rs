//! Measures one configuration: from its built programs to its completion.

use crate::data::Expected;
use crate::live::examination::Examination;
use crate::live::programs::{BuiltKernels, Programs};
use crate::live::reference::Question;
use crate::live::sampling_depth::SamplingDepth;
use crate::live::station::MeasuredJob;
use crate::live::{LiveEvaluator, steered};
use crate::worker::protocol::{Job, Purpose};
use std::iter;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_backend::BuildError;
use tunesmith_backend::ahead::BuildResult;
use tunesmith_core::{Completion, Failure, FailureKind, Interrupt, Spent, statistics};
use tunesmith_kernel::data::{Passed, passed};
use tunesmith_kernel::measure::Policy;
use tunesmith_kernel::measure::limits::Limit;
use tunesmith_kernel::{DeviceError, Scope};

impl LiveEvaluator {
    /// Returns the correct outputs on each of `sets` in the configuration of `scope`, in which
    /// `passed` is passed. Returns `None` if interrupted.
    pub(super) fn expected_of(
        &mut self,
        scope: &Scope,
        passed: &[Passed],
        sets: &[usize],
        interrupt: &Interrupt,
    ) -> Result<Option<Vec<Arc<Expected>>>, DeviceError> {
        self.data.grow(&self.options.spec, passed)?;
        let values = self.oracle.values(&self.options.spec, scope)?;
        let mut all = Vec::with_capacity(sets.len());
        for set in sets {
            let question = Question { set: *set, values: values.clone() };
            let Some(expected) = self.expected(question, interrupt)? else { return Ok(None) };
            all.push(expected);
        }
        Ok(Some(all))
    }

    pub(super) fn examination<'a>(&self, expected: &'a [Arc<Expected>]) -> Examination<'a> {
        if self.options.spec.is_verified() { Examination::Compare(expected) } else { Examination::Nothing }
    }

    pub(super) fn launch_limit(&self) -> Limit {
        self.pace.limit(&self.options.policy.limits, self.oracle.time)
    }
    /// Runs built programs. Returns `None` if interrupted.
    fn measure(
        &mut self,
        scope: &Scope,
        prepared: &BuiltKernels,
        how: SamplingDepth,
        interrupt: &Interrupt,
    ) -> Result<Option<MeasuredJob>, DeviceError> {
        let passed = match passed(&self.options.spec.arguments, scope) {
            Ok(passed) => passed,
            Err(error) => return Ok(Some(refused(&error))),
        };
        let start = self.now();
        let expected = match self.expected_of(scope, &passed, &[0], interrupt) {
            Err(error @ DeviceError::Ranges { .. }) => return Ok(Some(refused(&error))),
            expected => expected?,
        };
        let Some(expected) = expected else { return Ok(None) };
        let asking = self.now() - start;
        let policy = self.options.policy;
        let SamplingDepth { sampling, profile, setting } = how;
        self.jobs += 1;
        let Policy { cache, launches, .. } = policy;
        let purpose = Purpose::Measure { sampling, cache, launches, profile, seed: self.jobs, setting };
        let job = Job { steps: self.programs.steps(prepared), passed, purpose };
        let limit = self.launch_limit();
        let mut examination = self.examination(&expected);
        let setting_since = self.now();
        let applied = self.steered.apply(setting)?;
        let settled = self.now() - setting_since;
        let Some((station, loaded_ahead)) = self.lanes.lane_of(prepared) else { return Ok(None) };
        let Some(mut measured) = station.run(&job, &mut examination, &limit, interrupt)? else { return Ok(None) };
        measured.loaded_ahead = loaded_ahead;
        measured.verify += asking;
        measured.run += settled;
        measured.measurement.note = steered::missed(setting, applied, &measured.measurement);
        self.remark(&mut measured);
        if measured.unprofiled.is_some() && measured.failure.is_none() {
            self.profile_beside(&job, &mut measured, interrupt)?;
        }
        let median = statistics::median(&measured.measurement.times_ms).filter(|_| measured.failure.is_none());
        if let Some(median) = median.map(|median| Duration::from_secs_f64(median / 1e3)) {
            self.pace.add(median);
        }
        Ok(Some(measured))
    }

    /// Passes the device's troubles on to users, and keeps them with the measurement.
    fn remark(&mut self, measured: &mut MeasuredJob) {
        let device = self.device_name();
        let lines: Vec<String> = measured.troubles.iter().map(|trouble| trouble.line(&device)).collect();
        if !lines.is_empty() {
            let note = measured.measurement.note.take().into_iter().chain(lines.iter().cloned());
            measured.measurement.note = Some(note.collect::<Vec<_>>().join("; "));
        }
        lines.into_iter().for_each(|line| self.remarks.add(line));
    }

    /// Loads a build that was left to the measuring worker, and those that follow it, in all lanes at
    /// once.
    pub(super) fn load_ahead(&mut self, built: &Arc<BuiltKernels>, interrupt: &Interrupt) -> Result<(), DeviceError> {
        if !built.is_postponed() || self.lanes.has_loaded(built) {
            return Ok(());
        }
        let following = self.builds.built().filter(|next| next.is_postponed());
        let builds: Vec<_> = iter::once(built).chain(following).take(self.lanes.most()).cloned().collect();
        // A single one is loaded by its job.
        if builds.len() < 2 {
            return Ok(());
        }
        while self.lanes.count() < builds.len() {
            self.lanes.add(self.new_station());
        }
        let limit = self.launch_limit();
        self.lanes.load(builds, &limit, interrupt)
    }

    /// Returns the completion of a configuration, whether it was built or not.
    pub(super) fn complete(
        &mut self,
        scope: &Scope,
        result: BuildResult<Programs>,
        how: SamplingDepth,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, DeviceError> {
        let failed = |failure| Completion { failure: Some(failure), ..Completion::default() };
        let prepared = match result {
            Ok(prepared) => prepared,
            Err(BuildError::Cancelled) => return Ok(None),
            Err(BuildError::Broken(error)) => return Err(error),
            Err(BuildError::Failed(log)) => return Ok(Some(failed(Failure::new(FailureKind::Compile, log)))),
            Err(BuildError::Signature(mismatch)) => return Ok(Some(failed(mismatch.into_failure()))),
            Err(BuildError::Refused(why)) => return Ok(Some(failed(Failure::new(FailureKind::Constraints, why)))),
        };
        let Some(mut measured) = self.measure(scope, &prepared, how, interrupt)? else { return Ok(None) };
        let mut compile = prepared.compile_data();
        if prepared.is_foreign() && measured.failure.is_some() {
            // A program from elsewhere may be at fault. Only one of this machine's own says more.
            let apart = self.programs.build_apart(scope, interrupt).map(Arc::new);
            return self.complete(scope, apart, how, interrupt);
        }
        if prepared.is_postponed() {
            let load = measured.load + measured.loaded_ahead;
            self.programs.loaded_in(load);
            if measured.failure.is_some() && !measured.began {
                // The compiler or the driver may be at fault. A build of its own tells them apart.
                let apart = self.programs.build_apart(scope, interrupt).map(Arc::new);
                return self.complete(scope, apart, how, interrupt);
            }
            compile.time_ms = load.as_secs_f64() * 1e3;
        }
        // The driver's numbers replace those of the compiler, which knows nothing of the launch.
        compile.resources.append(&mut measured.resources);
        if let (Ok(passed), None) = (passed(&self.options.spec.arguments, scope), &measured.failure) {
            compile.code = prepared.code(&measured.codes, &passed, how.setting);
        }
        measured.measurement.compile = Some(compile);
        let spent = Spent { compile: measured.load, run: measured.run, verify: measured.verify };
        let MeasuredJob { failure, measurement, unprofiled, .. } = measured;
        Ok(Some(Completion { request: None, failure, measurement, spent, unprofiled }))
    }
}

/// Returns the failure of a configuration with a scalar argument that has no value. It cannot be
/// launched.
fn refused(error: &DeviceError) -> MeasuredJob {
    MeasuredJob { failure: Some(Failure::new(FailureKind::Constraints, error.to_string())), ..MeasuredJob::default() }
}
