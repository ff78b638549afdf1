//! Configurations with the machine code of an earlier one. They are timed once.

use crate::live::programs::{BuiltKernels, Likeness};
use std::collections::HashMap;
use std::sync::Arc;
use tunesmith_backend::BuildError;
use tunesmith_core::{CompileData, Completion, Measurement};
use tunesmith_kernel::data::passed;
use tunesmith_kernel::{Argument, Scope};
use tunesmith_power::Setting;

/// The measurements of correct configurations, by likeness.
#[derive(Debug, Default)]
pub(super) struct Twins(HashMap<Likeness, Measurement>);

/// Returns the likeness of the configuration, which determines its time in a `setting` of the device.
/// Returns `None` if it was not built or if its machine code is not known.
pub(super) fn likeness(
    arguments: &[Argument],
    scope: &Scope,
    result: &Result<Arc<BuiltKernels>, BuildError>,
    setting: Setting,
) -> Option<Likeness> {
    result.as_ref().ok()?.likeness(&passed(arguments, scope).ok()?, setting)
}

impl Twins {
    /// Returns the completion of a configuration from the samples of an earlier one with the same
    /// likeness. The compile time is that of the new one.
    pub(super) fn completion(&self, likeness: Option<&Likeness>, prepared: &BuiltKernels) -> Option<Completion> {
        let mut measurement = self.0.get(likeness?)?.clone();
        let CompileData { resources, code, .. } = measurement.compile.unwrap_or_default();
        measurement.compile = Some(CompileData { resources, code, same_binary: true, ..prepared.compile_data() });
        Some(Completion { measurement, ..Completion::default() })
    }

    /// Keeps the measurement of a correct configuration. A failed one is not kept, so another
    /// configuration with the same machine code is tried again: the device may have been at fault.
    pub(super) fn keep(&mut self, likeness: Option<Likeness>, completion: &Completion) {
        if let (Some(likeness), None) = (likeness, &completion.failure) {
            // The note says what happened while the earlier one was measured.
            self.0.insert(likeness, Measurement { note: None, ..completion.measurement.clone() });
        }
    }
}
