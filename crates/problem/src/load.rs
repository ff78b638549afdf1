//! Problem files in every form.

use crate::{Problem, ProblemError, SourceFile, directives, document, t1};
use std::path::Path;
use std::sync::Arc;
use tunesmith_space::Value;

impl Problem {
    /// Reads the problem file at `path`, in TOML, in Kernel Tuner's T1 format (JSON), or a kernel source with ATF's
    /// directives, with the sizes in `sizes` in place of the file's own.
    ///
    /// Reads the file alone: neither kernel nor data files, no space is built. Of a T1 file's kernel it looks whether
    /// it is there.
    ///
    /// # Errors
    /// Everything that is wrong with the file, each message with its place and remedy.
    pub fn load(path: &Path, sizes: &[(String, Value)]) -> Result<Self, ProblemError> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let remedy = "`tunesmith init` makes a problem to start from".to_string();
            ProblemError::unreadable(path, format!("cannot read the problem file: {error}"), Some(remedy))
        })?;
        let source_file = SourceFile { path: path.to_path_buf(), text: Arc::from(text) };
        match path.extension().and_then(|suffix| suffix.to_str()) {
            Some("toml") => document::read(source_file, sizes),
            Some("json") => t1::read(source_file, sizes),
            _ if directives::present(&source_file.text) => directives::read(source_file, sizes),
            _ => {
                let remedy =
                    "problem files are TOML (.toml), Kernel Tuner's T1 (.json), or kernels with ATF's directives"
                        .to_string();
                Err(ProblemError::unreadable(path, "this is not a problem file".to_string(), Some(remedy)))
            }
        }
    }
}
