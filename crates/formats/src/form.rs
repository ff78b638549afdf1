//! The forms of problem files.

use crate::directives;
use tunesmith_spec::SourceFile;

/// The form of a problem file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// TOML.
    Toml,
    /// Kernel Tuner's T1 format, in JSON.
    T1,
    /// A kernel source with ATF's directives.
    Directives,
}

impl Form {
    /// Returns the form of a file: by its suffix, or by the directives in it.
    pub fn of(source_file: &SourceFile) -> Option<Self> {
        match source_file.path.extension().and_then(|suffix| suffix.to_str()) {
            Some("toml") => Some(Self::Toml),
            Some("json") => Some(Self::T1),
            _ => directives::present(&source_file.text).then_some(Self::Directives),
        }
    }

    /// Returns the form of a text whose file has no name: T1 begins with `{`, and a source with directives has `#atf::`.
    pub fn of_text(text: &str) -> Self {
        match text.trim_start() {
            text if text.starts_with('{') => Self::T1,
            text if directives::present(text) => Self::Directives,
            _ => Self::Toml,
        }
    }
}
