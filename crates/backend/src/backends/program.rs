//! Programs that sessions load.

use crate::backends::message::{decoded, encoded};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A program that the sessions of one backend load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    backend: Cow<'static, str>,
    binary: PathBuf,
    source: Option<PathBuf>,
    function: String,
    details: Value,
}

impl Program {
    /// Creates a program of a backend from the path of its binary.
    pub fn new(backend: &'static str, binary: PathBuf) -> Self {
        Self { backend: backend.into(), binary, source: None, function: String::new(), details: Value::Null }
    }

    /// Returns the program with the function that is launched, of several that the binary may hold.
    pub fn launching(self, function: String) -> Self {
        Self { function, ..self }
    }

    /// Returns the program with the source that the session reads if there is no binary.
    pub(crate) fn made_from(self, source: PathBuf) -> Self {
        Self { source: Some(source), ..self }
    }

    /// Returns the program with what its backend alone reads.
    pub(crate) fn with_details(self, details: &impl Serialize) -> Self {
        Self { details: encoded(details), ..self }
    }

    /// Returns true if the program belongs to the backend of this name.
    pub(crate) fn is_of(&self, backend: &str) -> bool {
        self.backend == backend
    }

    /// Returns the path of the binary.
    pub fn path(&self) -> &Path {
        &self.binary
    }

    /// Returns the source that the session reads if there is no binary.
    pub(crate) fn source(&self) -> Option<&Path> {
        self.source.as_deref()
    }

    /// Returns the function that is launched. Empty for a library, which calls it.
    pub fn function(&self) -> &str {
        &self.function
    }

    /// Returns what the backend alone reads. Returns `None` if it has another type.
    pub(crate) fn details<T: DeserializeOwned>(&self) -> Option<T> {
        decoded(&self.details)
    }
}
