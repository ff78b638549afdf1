//! Compiles the configurations of one kernel for one device.

use crate::backends::BuildError;
use crate::backends::KernelSource;
use crate::backends::compiling::{CompileOutcome, CompileService};
use crate::backends::{BackendMessage, Opening};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tunesmith_core::{Clock, Interrupt};
use tunesmith_kernel::data::{Passed, passed};
use tunesmith_kernel::{Grid, Scope};

/// The workers that compile one kernel, and the folder for its files.
pub(crate) struct Workshop {
    service: Arc<dyn CompileService>,
    folder: PathBuf,
    /// A name that keeps the files of one kernel apart from those of another.
    name: String,
    /// The time limit of a compilation.
    pub(crate) limit: Duration,
    clock: Arc<dyn Clock>,
    built: AtomicU64,
}

impl Workshop {
    /// Creates a workshop. Writes nothing yet.
    pub(crate) fn new(opening: Opening<'_>) -> Self {
        let Opening { folder, name, limit, clock, service, .. } = opening;
        Self { service, folder: folder.to_owned(), name: name.to_owned(), limit, clock, built: AtomicU64::new(0) }
    }

    /// Returns the folder for the kernel's files, and the beginning of their names.
    pub(crate) fn place(&self) -> (&Path, &str) {
        (&self.folder, &self.name)
    }

    /// Returns the path of the kernel's file with this suffix.
    pub(crate) fn file(&self, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}.{suffix}", self.name))
    }

    /// Returns a new path with this suffix, unique to one configuration.
    pub(crate) fn fresh_file(&self, suffix: &str) -> PathBuf {
        let number = self.built.fetch_add(1, Ordering::Relaxed);
        self.file(&format!("{number}.{suffix}"))
    }

    /// Compiles in a worker. Called from several threads at once.
    pub(crate) fn compile(&self, task: &BackendMessage, cancel: &Interrupt) -> Result<CompileOutcome, BuildError> {
        self.service.compile(task, self.limit, cancel).map_err(BuildError::Broken)
    }

    /// Returns the current time.
    pub(crate) fn now(&self) -> Duration {
        self.clock.now()
    }
}

/// Returns the work-items of a configuration and the values passed for its arguments, if the device
/// called `name` accepts them.
pub(crate) fn launchable(
    source: &KernelSource,
    scope: &Scope,
    limits: &BTreeMap<String, f64>,
    name: &str,
) -> Result<(Grid, Vec<Passed>), BuildError> {
    let refused = |error: &dyn std::error::Error| BuildError::Refused(error.to_string());
    let grid = source.kernel.grid(scope).map_err(|error| refused(&error))?;
    let grid = grid.ok_or_else(|| BuildError::Refused("it has no work-items".to_owned()))?;
    let passed = passed(&source.arguments, scope).map_err(|error| refused(&error))?;
    match refusal(limits, name, &grid, &passed) {
        Some(reason) => Err(BuildError::Refused(reason)),
        None => Ok((grid, passed)),
    }
}

/// Returns the first limit that the work-groups or the local memory exceed. Skips limits that the
/// device does not report.
fn refusal(limits: &BTreeMap<String, f64>, name: &str, grid: &Grid, passed: &[Passed]) -> Option<String> {
    let local_memory: usize =
        passed.iter().map(|passed| if let Passed::Local(bytes) = passed { *bytes } else { 0 }).sum();
    let exceeds = |what: &str, used: usize, limit: &str| {
        let most = *limits.get(limit)? as usize;
        (used > most).then(|| format!("{what} is {used}, but {name} has {limit} = {most}"))
    };
    let sizes = grid.local.iter().flatten().enumerate().find_map(|(dimension, items)| {
        let what = format!("the work-group's size in dimension {dimension}");
        exceeds(&what, *items, &format!("max_work_item_size_{dimension}"))
    });
    let items = grid.local.iter().flatten().fold(1, |product: usize, items| product.saturating_mul(*items));
    sizes
        .or_else(|| exceeds("the work-group's size", items, "max_work_group_size"))
        .or_else(|| exceeds("local memory in bytes", local_memory, "local_memory"))
}
