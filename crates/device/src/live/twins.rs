//! Configurations whose machine code is that of an earlier one: they are timed once.

use crate::backends::BuildError;
use crate::data::passed;
use crate::live::programs::{BuiltKernels, Likeness};
use crate::problem::{Argument, Scope};
use std::collections::HashMap;
use tunesmith_core::{CompileData, Completion, Measurement};

/// What correct configurations gave, by what decides it.
#[derive(Debug, Default)]
pub(super) struct Twins(HashMap<Likeness, Measurement>);

/// Returns what decides how long a configuration takes; none where it was not built, or its machine
/// code is not known.
pub(super) fn likeness(
    arguments: &[Argument],
    scope: &Scope,
    result: &Result<BuiltKernels, BuildError>,
) -> Option<Likeness> {
    result.as_ref().ok()?.likeness(&passed(arguments, scope).ok()?)
}

impl Twins {
    /// Returns the completion of a configuration like an earlier one: its samples, and what
    /// compiling this one took.
    pub(super) fn completion(&self, likeness: Option<&Likeness>, prepared: &BuiltKernels) -> Option<Completion> {
        let mut measurement = self.0.get(likeness?)?.clone();
        let resources = measurement.compile.map(|compile| compile.resources).unwrap_or_default();
        measurement.compile = Some(CompileData { resources, same_binary: true, ..prepared.compile_data() });
        Some(Completion { measurement, ..Completion::default() })
    }

    /// Keeps what a configuration gave. One that failed is tried again under another name: the
    /// device may have been at fault.
    pub(super) fn keep(&mut self, likeness: Option<Likeness>, completion: &Completion) {
        if let (Some(likeness), None) = (likeness, &completion.failure) {
            self.0.insert(likeness, completion.measurement.clone());
        }
    }
}
