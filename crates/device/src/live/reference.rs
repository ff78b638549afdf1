//! Knows the correct outputs: as the problem states them, or by running the reference function once
//! for each set of values that it gets.

use crate::data::{DataSet, Expected};
use crate::live::examination::Examination;
use crate::live::open::WithReference;
use crate::live::programs::explained;
use crate::live::station::Station;
use crate::worker::protocol::{Job, KernelStep, Purpose, Setup};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tunesmith_backend::{BuildError, Built, KernelSource, reference_arguments};
use tunesmith_core::Interrupt;
use tunesmith_kernel::data::{Passed, pass};
use tunesmith_kernel::measure::limits::{Limit, Reason};
use tunesmith_kernel::{DeviceError, Grid, KernelSpec, Reference, Scope};

/// The most memory in bytes for correct outputs, beyond those that were asked for last. Others are
/// computed again when they are needed.
const KEPT: usize = 256 << 20;

/// The correct outputs of a problem.
pub(super) struct Oracle {
    reference: Option<WithReference>,
    /// The reference's program and its work-items, once it is compiled.
    built: Mutex<Option<(Built, Option<Grid>)>>,
    /// The known outputs, those asked for last at the end.
    known: Vec<(Question, Arc<Expected>)>,
    /// The running time of the reference's first run.
    pub(super) time: Option<Duration>,
}

/// The inputs that the correct outputs depend on: a set of data, and the values passed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    pub(super) set: usize,
    pub(super) values: Vec<Passed>,
}

/// The problem whose correct outputs are asked for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) spec: &'a KernelSpec,
    pub(super) data: &'a DataSet,
    pub(super) interrupt: &'a Interrupt,
}

impl Oracle {
    pub(super) fn new(reference: Option<WithReference>) -> Self {
        Self { reference, built: Mutex::default(), known: Vec::new(), time: None }
    }

    /// Refuses to go on if a file of the reference has changed.
    ///
    /// # Errors
    /// A file has changed, which the error names.
    pub(super) fn require_unchanged(&self) -> Result<(), DeviceError> {
        self.reference.as_ref().map_or(Ok(()), |(_, backend)| backend.require_unchanged())
    }

    /// Returns the digest of the reference's source, if there is one.
    pub(super) fn digest(&self, spec: &KernelSpec) -> Result<Option<String>, DeviceError> {
        let digest = |(_, backend): &WithReference| backend.digest(&sizes(spec));
        self.reference.as_ref().map(digest).transpose()
    }

    /// Returns the values in the configuration of `scope` that the correct outputs depend on.
    ///
    /// # Errors
    /// A value cannot be computed in `scope`.
    pub(super) fn values(&self, spec: &KernelSpec, scope: &Scope) -> Result<Vec<Passed>, DeviceError> {
        let reference = self.reference.as_ref().map(|(reference, _)| reference);
        let counts = |position| reference.is_some_and(|own| own.takes(position)) || spec.compares(position);
        let arguments = reference_arguments(spec);
        let arguments = arguments.iter().enumerate();
        arguments.map(|(at, argument)| if counts(at) { pass(argument, scope) } else { Ok(Passed::Buffer) }).collect()
    }

    /// Returns the values that the correct outputs depend on, if they are the same in every
    /// configuration.
    pub(super) fn constant_values(&self, spec: &KernelSpec) -> Option<Vec<Passed>> {
        self.values(spec, &sizes(spec)).ok()
    }

    /// Takes the correct outputs that the problem states, if their extents do not depend on the
    /// parameters.
    ///
    /// # Errors
    /// A file is missing or not as declared, or the type cannot hold a number.
    pub(super) fn take_stated(&mut self, spec: &KernelSpec) -> Result<(), DeviceError> {
        let Some(values) = self.constant_values(spec).filter(|_| !spec.verify.expected.is_empty()) else {
            return Ok(());
        };
        let mut expected = Expected::outline(spec, &values, |position| spec.compares(position))?;
        expected.take_stated(spec)?;
        if expected.missing().is_empty() {
            self.keep(Question { set: 0, values }, &Arc::new(expected));
        }
        Ok(())
    }

    /// Returns the correct outputs. Returns `None` if interrupted. `station` describes how to start
    /// workers; the reference gets a worker of its own.
    ///
    /// # Errors
    /// Contents are not as declared, or the reference does not compile, crashes, or takes too long.
    pub(super) fn expected(
        &mut self,
        asked: Asked<'_>,
        question: &Question,
        station: Station,
    ) -> Result<Option<Arc<Expected>>, DeviceError> {
        if let Some(at) = self.known.iter().position(|(known, _)| known == question) {
            let known = self.known.remove(at);
            let expected = Arc::clone(&known.1);
            self.known.push(known);
            return Ok(Some(expected));
        }
        let spec = asked.spec;
        let mut expected = Expected::outline(spec, &question.values, |position| spec.compares(position))?;
        if question.set == 0 {
            expected.take_stated(spec)?;
        }
        if !expected.missing().is_empty() && !self.compute(asked, question, &mut expected, station)? {
            return Ok(None);
        }
        let expected = Arc::new(expected);
        self.keep(question.clone(), &expected);
        Ok(Some(expected))
    }

    fn keep(&mut self, question: Question, expected: &Arc<Expected>) {
        let mut total: usize = self.known.iter().map(|(_, expected)| expected.bytes()).sum();
        while total > KEPT && !self.known.is_empty() {
            total -= self.known.remove(0).1.bytes();
        }
        self.known.push((question, Arc::clone(expected)));
    }

    /// Runs the reference for the outputs that are missing. Returns `false` if interrupted.
    fn compute(
        &mut self,
        asked: Asked<'_>,
        question: &Question,
        expected: &mut Expected,
        mut station: Station,
    ) -> Result<bool, DeviceError> {
        let Some(step) = self.step(asked)? else { return Ok(false) };
        let Some((reference, backend)) = &self.reference else { return Ok(true) };
        let missing = expected.missing();
        let arguments = asked.data.layout(asked.spec, &[question.set], |position| missing.contains(&position));
        station.setup = Setup { session: backend.session(), arguments, results: None, energy: None };
        let job = Job { steps: vec![step], passed: question.values.clone(), purpose: Purpose::Record };
        let limit = Limit { duration: station.policy.limits.reference, reason: Reason::Fixed };
        let examination = &mut Examination::Keep(expected);
        let Some(measured) = station.run(&job, examination, &limit, asked.interrupt)? else { return Ok(false) };
        if let Some(failure) = measured.failure {
            return Err(wrong(reference, failure.message));
        }
        let time = Duration::from_secs_f64(measured.measurement.warmup_ms.unwrap_or_default() / 1e3);
        self.time.get_or_insert(time);
        Ok(true)
    }

    /// Compiles the reference, if there is one.
    pub(super) fn compile(&self, asked: Asked<'_>) -> Result<(), DeviceError> {
        self.step(asked).map(drop)
    }

    /// Returns the reference as a step of a job. Compiles it on the first call. Returns `None` if
    /// interrupted, or if there is no reference.
    fn step(&self, asked: Asked<'_>) -> Result<Option<KernelStep>, DeviceError> {
        let Some((reference, backend)) = &self.reference else { return Ok(None) };
        let kernel = KernelSource::reference(asked.spec, reference).kernel;
        let mut known = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            let scope = sizes(asked.spec);
            let built = match backend.build(&scope, asked.interrupt) {
                Ok(built) => built,
                Err(BuildError::Cancelled) => return Ok(None),
                Err(error) => return Err(unbuilt(reference, explained(error, &kernel, &scope))),
            };
            let grid = kernel.grid(&scope).map_err(|error| wrong(reference, error.to_string()))?;
            *known = Some((built, grid));
        }
        let step = |(built, grid): &(Built, Option<Grid>)| KernelStep {
            name: kernel.name,
            program: built.program.clone(),
            arguments: kernel.arguments,
            grid: grid.clone(),
            launches: 1,
        };
        Ok(known.as_ref().map(step))
    }
}

/// Returns the names that a reference knows.
fn sizes(spec: &KernelSpec) -> Scope {
    Scope::new(spec.sizes.iter().cloned())
}

fn wrong(reference: &Reference, message: String) -> DeviceError {
    DeviceError::Reference { file: reference.file.clone(), function: reference.function.clone(), message }
}

fn unbuilt(reference: &Reference, error: BuildError) -> DeviceError {
    match error {
        BuildError::Broken(error) => error,
        BuildError::Failed(log) => wrong(reference, format!("it does not compile: {log}")),
        BuildError::Refused(why) => wrong(reference, why),
        BuildError::Signature(mismatch) => {
            wrong(reference, format!("{}; {}\n{}", mismatch.message, mismatch.remedy, mismatch.log))
        }
        BuildError::Cancelled => wrong(reference, "its compilation was interrupted".to_owned()),
    }
}
