//! The user's choices for a tuning run, besides the machine.

use crate::Error;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tunesmith_core::{Stop, Target};
use tunesmith_propose::ProposeCommand;
use tunesmith_search::StrategySpec;
use tunesmith_space::closest;
use tunesmith_study::ModelChoice;

/// The settings of a search. A setting that is `None` comes from the run that is resumed, then from
/// the problem file, then from our defaults.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The strategy.
    pub strategy: Option<StrategySpec>,
    /// The stop condition.
    pub stop: Option<Stop>,
    /// The objective.
    pub objective: Option<Target>,
    /// The seed.
    pub seed: Option<u64>,
    /// Maximum number of requests that the strategy may have in flight.
    pub room: Option<usize>,
    /// A configuration to evaluate before the search begins: parameters and values. Unnamed
    /// parameters are as in the default.
    pub start: Vec<(String, String)>,
    /// Recordings of the same kernel on other devices, or for other sizes, as history for the
    /// strategy. A resumed run takes those it began with.
    pub history: Vec<PathBuf>,
    /// The counter model that guides `default` and `profile_guided`, or a timing model or a device
    /// file, whose best candidates any strategy begins with. A resumed run takes the one it began
    /// with.
    pub model: Option<ModelChoice>,
    /// True to go on if the first ten configurations fail in the same way, or if the first correct
    /// one lacks what the objective needs.
    pub keep_going: bool,
    /// True to read the counters of every configuration.
    pub profile: bool,
    /// A program whose proposals compete with the strategy. It is not kept for a resumed run.
    pub propose: Option<ProposeCommand>,
}

/// The journal of a run.
#[derive(Clone, Debug, Default)]
pub struct JournalOptions {
    /// The file. By default beside the problem.
    pub out: Option<PathBuf>,
    /// True to continue an existing journal.
    pub resume: bool,
    /// Measured properties of the device besides its limits, by name. Journals keep them for models
    /// of several devices.
    pub device_features: BTreeMap<String, f64>,
}

impl JournalOptions {
    /// Checks that a journal (or the folder of `tune_inputs`) that the user names exists if it is to
    /// be resumed. A wrong name would begin the run anew.
    ///
    /// # Errors
    /// It does not exist. The error names the most similar file beside it.
    pub fn check_resumed(&self) -> Result<(), Error> {
        let Some(out) = self.out.as_deref().filter(|out| self.resume && !out.exists()) else { return Ok(()) };
        let text = format!("there is no journal `{}` to resume", out.display());
        let begin = "leave out --resume to begin it".to_string();
        let remedy =
            similar_file(out).map_or(begin.clone(), |file| format!("did you mean `{}`? Or {begin}", file.display()));
        Err(Error::request(text, Some(remedy)))
    }
}

/// Returns the file in the same folder with the most similar name.
fn similar_file(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = std::fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // Other kinds of files are no journals.
    let alike: Vec<String> = names.filter(|name| Path::new(name).extension() == path.extension()).collect();
    let closest = closest(path.file_name()?.to_str()?, alike.iter().map(String::as_str))?;
    Some(path.with_file_name(closest))
}
