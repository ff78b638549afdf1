//! A recording that stands for a device.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tunesmith_core::Recording;

/// A recording in place of a device. It is read once, whatever asks for it.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The recorded file.
    pub file: PathBuf,
    /// True if samples are redrawn from the recorded noise.
    pub noise: bool,
    recording: Arc<OnceLock<Recording>>,
}

impl Replay {
    /// Creates the device of a file, which is not read yet.
    pub fn new(file: PathBuf, noise: bool) -> Self {
        Self { file, noise, recording: Arc::default() }
    }

    /// Returns the recording. The first call has `read` read it.
    ///
    /// # Errors
    /// `read` failed.
    pub fn recording<E>(&self, read: impl FnOnce(&Path) -> Result<Recording, E>) -> Result<&Recording, E> {
        if let Some(recording) = self.recording.get() {
            return Ok(recording);
        }
        let recording = read(&self.file)?;
        Ok(self.recording.get_or_init(|| recording))
    }
}
