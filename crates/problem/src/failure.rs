//! Tells what the failure of a configuration is about in the problem file.

use crate::{Diagnostic, Level, Problem};
use tunesmith_core::{Failure, FailureKind};

/// The advice for an output that differs from the reference's.
const REMEDY: &str = "mend the kernel or the reference; if they round differently, write a larger `relative` or \
                      `absolute` in [verify] or at the argument";

impl Problem {
    /// Returns a message at the argument that a failed verification names. Returns `None` for other
    /// failures, and for problems made in code, which have no file.
    pub fn about_failure(&self, failure: &Failure) -> Option<Diagnostic> {
        if failure.kind != FailureKind::Correctness || self.source_file.calls.is_some() {
            return None;
        }
        let places = self.arguments.iter().zip(&self.places.arguments);
        // An element of an array is named as `array`[3].
        let named = places.filter_map(|(argument, place)| {
            let at = failure.message.find(&format!("`{}`[", argument.name))?;
            Some((at, argument, place))
        });
        let (_, argument, place) = named.min_by_key(|(at, ..)| *at)?;
        let is_input = failure.message.contains("access = \"inout\"");
        let remedy = (!is_input).then(|| REMEDY.to_string());
        let text = format!("argument `{}`", argument.name);
        Some(self.source_file.diagnostic(Level::Error, place.clone(), text, remedy))
    }
}
