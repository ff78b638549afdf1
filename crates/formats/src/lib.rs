//! Reads problem files: TOML, Kernel Tuner's T1 format, and kernel sources with ATF's directives.
//!
//! [`read`] returns what a file states ([`ProblemFile`]). A format is a module with a function `read` of its own.

mod directives;
mod document;
mod element_type;
mod form;
mod problem_file;
mod t1;

pub use form::Form;
pub use problem_file::ProblemFile;

use tunesmith_space::Value;
use tunesmith_spec::{ProblemError, SourceFile};

/// Reads a problem in the form of its file. `sizes` replace the file's own sizes.
///
/// # Errors
/// The text cannot be read at all. Other faults are among the messages of the file.
pub fn read(source_file: SourceFile, sizes: &[(String, Value)]) -> Result<ProblemFile, ProblemError> {
    match Form::of(&source_file) {
        Some(Form::Toml) => document::read(source_file, sizes),
        Some(Form::T1) => t1::read(source_file, sizes),
        Some(Form::Directives) => directives::read(source_file, sizes),
        None => {
            let remedy = "problem files are TOML (.toml), Kernel Tuner's T1 (.json), or sources with ATF's directives"
                .to_string();
            Err(ProblemError::unreadable(&source_file.path, "this is not a problem file".to_string(), Some(remedy)))
        }
    }
}
