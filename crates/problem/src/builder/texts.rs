//! Files of a problem built in code: the sources and data that the user gave as values.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// A temporary folder that is removed with the last problem that uses it.
#[derive(Debug)]
pub(crate) struct Texts {
    folder: Arc<TempDir>,
}

impl Texts {
    /// Creates the folder.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { folder: Arc::new(tempfile::Builder::new().prefix("tunesmith-").tempdir()?) })
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> Arc<TempDir> {
        Arc::clone(&self.folder)
    }

    /// Writes a file called `stem`, with a number if that name is taken, and returns its path.
    pub(crate) fn write(&self, stem: &str, suffix: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let stem: String = stem.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let name = |number: usize| if number == 1 { stem.clone() } else { format!("{stem}-{number}") };
        let folder: &Path = self.folder.path();
        let mut paths = (1..).map(|number| folder.join(format!("{}.{suffix}", name(number))));
        let path = paths.find(|path| !path.exists()).unwrap_or_default();
        tunesmith_files::write(&path, bytes)?;
        Ok(path)
    }
}
