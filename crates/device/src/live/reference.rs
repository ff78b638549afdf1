//! Runs the reference function once, to get the expected outputs.

use crate::backends::KernelSource;
use crate::backends::{Backend, BuildError};
use crate::data::{DataSet, passed};
use crate::error::DeviceError;
use crate::live::station::Station;
use crate::measure::limits::{Limit, Reason};
use crate::problem::{KernelSpec, Reference, Scope};
use crate::worker::protocol::{Job, KernelStep, Purpose, Setup};
use std::time::Duration;
use tunesmith_core::Interrupt;

/// Writes the expected outputs that are missing from `data`. Returns the reference's running time,
/// or `None` if interrupted. `station` describes how to start workers; the reference gets a worker
/// of its own.
pub(super) fn run_reference(
    backend: &dyn Backend,
    spec: &KernelSpec,
    reference: &Reference,
    data: &DataSet,
    mut station: Station,
    interrupt: &Interrupt,
) -> Result<Option<Duration>, DeviceError> {
    let wrong = |message: String| DeviceError::Reference {
        file: reference.file.clone(),
        function: reference.function.clone(),
        message,
    };
    let scope = Scope::new(spec.sizes.iter().cloned());
    let passed = passed(&KernelSource::reference(spec, reference).arguments, &scope)
        .map_err(|error| wrong(format!("it gets the sizes but not the parameters: {error}")))?;
    let built = match backend.build(&scope, interrupt) {
        Ok(built) => built,
        Err(BuildError::Cancelled) => return Ok(None),
        Err(BuildError::Broken(error)) => return Err(error),
        Err(BuildError::Failed(log)) => return Err(wrong(format!("it does not compile: {log}"))),
        Err(BuildError::Refused(why)) => return Err(wrong(why)),
        Err(BuildError::Signature(mismatch)) => {
            return Err(wrong(format!("{}; {}\n{}", mismatch.message, mismatch.remedy, mismatch.log)));
        }
    };
    station.setup = Setup { session: backend.session(), arguments: data.layout().to_vec(), energy: false };
    let grid = KernelSource::reference(spec, reference).kernel.grid(&scope);
    let step = KernelStep {
        name: reference.function.clone(),
        program: built.program.clone(),
        arguments: (0..spec.arguments.len()).collect(),
        grid: grid.map_err(|error| wrong(error.to_string()))?,
        launches: 1,
    };
    let job = Job { steps: vec![step], passed, purpose: Purpose::Record(data.missing()) };
    let limit = Limit { duration: station.policy.limits.reference, reason: Reason::Fixed };
    let Some(measured) = station.run(&job, &limit, interrupt)? else { return Ok(None) };
    match measured.failure {
        Some(failure) => Err(wrong(failure.message)),
        None => Ok(Some(Duration::from_secs_f64(measured.measurement.warmup_ms.unwrap_or_default() / 1e3))),
    }
}
