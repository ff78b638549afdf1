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
        if failure.kind != FailureKind::Correctness || self.places.are_calls() {
            return None;
        }
        // An element of an array is named as `array`[3].
        let named = self.spec.arguments().iter().filter_map(|argument| {
            let at = failure.message.find(&format!("`{}`[", argument.name))?;
            Some((at, argument))
        });
        let (_, argument) = named.min_by_key(|(at, _)| *at)?;
        let is_input = failure.message.contains("access = \"inout\"");
        let remedy = (!is_input).then(|| REMEDY.to_string());
        let text = format!("argument `{}`", argument.name);
        let key = self.spec.keys().arguments.get(&argument.name).cloned().unwrap_or_default();
        Some(self.message(Level::Error, &key, text, remedy))
    }
}
