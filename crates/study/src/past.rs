//! Prepares recordings of the same kernel on other devices, or for other sizes, as history for
//! strategies.

use crate::{Error, read_recording};
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};
use tunesmith_core::{ObjectiveFunction, Recording};
use tunesmith_search::{Misfit, PastTimes};
use tunesmith_space::Space;
use tunesmith_store::HistoryFile;

/// The recordings that the user named as history.
#[derive(Debug, Default)]
pub struct Past(Vec<(PathBuf, Recording)>);

/// A recording that was left out of a history, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The recording.
    pub file: PathBuf,
    /// The reason.
    pub reason: WhyLeftOut,
}

/// The reason for leaving a recording out of a history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WhyLeftOut {
    /// It does not fit the space.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// A resumed run used it, but it has changed since.
    #[error("it has changed or is gone since the run began: the run continues without it")]
    Changed,
}

impl LeftOut {
    /// Returns the advice for the user.
    pub fn remedy(&self) -> String {
        match &self.reason {
            WhyLeftOut::Misfit(Misfit::Missing { name, .. }) => {
                format!("leave it out, or record the same kernel with the values of `{name}` in a column of that name")
            }
            WhyLeftOut::Misfit(Misfit::Extra { name }) => {
                format!("leave it out, or keep only its rows with one value of `{name}`")
            }
            WhyLeftOut::Misfit(Misfit::Kind { name, .. }) => {
                format!("leave it out, or write the values of `{name}` as the problem has them")
            }
            WhyLeftOut::Changed => "name the history again with --history".to_string(),
            _ => "leave it out, or name a recording of the same kernel".to_string(),
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the history `{}` is left out: {}", self.file.display(), self.reason)
    }
}

/// The recording that is searched, if there is one: its path and its content.
pub type JudgedRecording<'a> = Option<(&'a Path, &'a Recording)>;

/// The part of a history that fits a space.
#[derive(Debug, Default)]
pub struct Fitting {
    /// The recordings used.
    pub files: Vec<PathBuf>,
    /// The recordings left out.
    pub left_out: Vec<LeftOut>,
    /// The times of the recordings used.
    pub times: Option<PastTimes>,
}

impl Fitting {
    /// Returns the recordings used, as a journal names them.
    pub fn named(&self) -> Vec<HistoryFile> {
        let named = |file: &PathBuf| HistoryFile { file: file.clone(), digest: digest(file).unwrap_or_default() };
        self.files.iter().map(named).collect()
    }
}

impl Past {
    /// Reads `files`, in any format that can be read.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read(files: &[PathBuf]) -> Result<Self, Error> {
        let read = |path: &PathBuf| Ok((path.clone(), read_recording(path)?));
        files.iter().map(read).collect::<Result<_, Error>>().map(Self)
    }

    /// Reads the history of an earlier part of a run. Leaves out files that have changed.
    pub fn read_again(files: &[HistoryFile]) -> (Self, Vec<LeftOut>) {
        let (mut past, mut left_out) = (Self::default(), Vec::new());
        for HistoryFile { file, digest: before } in files {
            let same = digest(file).is_some_and(|now| now == *before);
            match read_recording(file) {
                Ok(recording) if same => past.0.push((file.clone(), recording)),
                _ => left_out.push(LeftOut { file: file.clone(), reason: WhyLeftOut::Changed }),
            }
        }
        (past, left_out)
    }

    /// Returns true if there is no recording.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the part that fits `space`, for a run whose user asked for a history.
    ///
    /// # Errors
    /// There are recordings, but none fits.
    pub fn required(
        &self,
        space: &Space,
        objective: &dyn ObjectiveFunction,
        judged: JudgedRecording<'_>,
    ) -> Result<Fitting, Error> {
        let fitting = self.fitting(space, objective, judged);
        match (fitting.files.is_empty(), self.is_empty(), fitting.left_out.first()) {
            (true, false, Some(first)) => Err(Error::request(first.to_string(), Some(first.remedy()))),
            (true, false, None) => {
                let text = "the only history is the recording that is replayed";
                Err(Error::request(text, Some("name recordings of other devices or sizes".to_string())))
            }
            _ => Ok(fitting),
        }
    }

    /// Returns the part that fits `space`. Leaves out `judged` (the recording read from that path)
    /// and copies of it.
    pub fn fitting(&self, space: &Space, objective: &dyn ObjectiveFunction, judged: JudgedRecording<'_>) -> Fitting {
        let is_judged = |path: &Path, recording: &Recording| {
            judged.is_some_and(|(own, judged)| is_same_file(own, path) || judged.rows() == recording.rows())
        };
        let mut fitting = Fitting::default();
        let mut times = Vec::new();
        for (file, recording) in self.0.iter().filter(|(file, recording)| !is_judged(file, recording)) {
            match PastTimes::of(recording, space, objective) {
                Ok(past) => {
                    fitting.files.push(file.clone());
                    times.push(past);
                }
                Err(misfit) => fitting.left_out.push(LeftOut { file: file.clone(), reason: misfit.into() }),
            }
        }
        fitting.times = PastTimes::all(&times);
        fitting
    }
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    let canonical = |path: &Path| path.canonicalize().ok();
    a == b || canonical(a).is_some_and(|a| Some(a) == canonical(b))
}

/// Returns the digest of a file's bytes. A journal uses it to notice that its history has changed.
fn digest(path: &Path) -> Option<String> {
    let bytes = tunesmith_files::read(path, tunesmith_files::RECORD).ok()?;
    Some(tunesmith_space::hex(&Sha256::digest(bytes)))
}
