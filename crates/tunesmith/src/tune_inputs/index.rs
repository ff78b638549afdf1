//! Records the finished runs of a tuning over inputs.

use crate::{Error, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::fs;
use std::path::{Path, PathBuf};
use tunesmith_core::Stop;
use tunesmith_files::LineFile;
use tunesmith_problem::{Input, InputRun};
use tunesmith_store::Journal;

/// One finished run of one input: a line of `runs.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinishedRun {
    /// A name that distinguishes the input from the others.
    pub input: String,
    /// All its sizes.
    pub sizes: Map<String, Json>,
    /// The strategy, as the user wrote it.
    pub strategy: String,
    /// Its own stop condition.
    pub stop: Option<String>,
    /// The journal, in the same folder.
    pub journal: String,
    /// Number of evaluations.
    pub evaluations: u64,
    /// The reason why the run ended.
    pub stop_reason: String,
    /// The time of the default configuration in milliseconds; `None` if it failed.
    pub default_ms: Option<f64>,
    /// True if the best is better than the default beyond doubt.
    #[serde(default)]
    pub better_than_default: bool,
    /// The time of the best configuration in milliseconds.
    pub best_ms: Option<f64>,
    /// The best configuration.
    pub best: Option<Map<String, Json>>,
}

impl FinishedRun {
    pub(super) fn new(input: &str, sizes: &Input, run: &InputRun, outcome: &Outcome) -> Self {
        let best = outcome.best.as_ref();
        Self {
            input: input.to_string(),
            sizes: sizes.iter().map(|(name, value)| (name.clone(), Journal::value(value))).collect(),
            strategy: run.strategy.to_string(),
            stop: run.stop.as_ref().map(Stop::to_string),
            journal: file_name(input, run),
            evaluations: outcome.evaluations,
            stop_reason: outcome.stop_reason.to_string(),
            default_ms: outcome.default.as_ref().and_then(|default| default.time_ms),
            better_than_default: outcome.better_than_default(),
            best_ms: best.and_then(|best| best.time_ms),
            best: best.map(|best| best.config.clone()),
        }
    }

    /// Returns the speed-up of the best configuration over the default one.
    pub fn speedup(&self) -> Option<f64> {
        Some(self.default_ms? / self.best_ms?)
    }
}

/// The folder of a tuning over inputs with its list of finished runs.
pub(super) struct Index {
    folder: PathBuf,
    file: LineFile,
    runs: Vec<FinishedRun>,
}

const NAME: &str = "runs.jsonl";

impl Index {
    /// Opens the index in `folder` to continue it when `resume`. Otherwise creates a new folder,
    /// numbered if `folder` already has one.
    pub(super) fn open(folder: &Path, resume: bool) -> Result<Self, Error> {
        let mut number = 1;
        let folder = loop {
            let candidate = if number == 1 { folder.to_path_buf() } else { numbered(folder, number) };
            match resume || !candidate.join(NAME).exists() {
                true => break candidate,
                false => number += 1,
            }
        };
        let path = folder.join(NAME);
        let write = Error::write(&path);
        fs::create_dir_all(&folder).map_err(write)?;
        // The run of a line that was cut short continues from its journal, and is finished at once.
        let (file, text) = LineFile::open(&path, tunesmith_files::DATA).map_err(write)?;
        let runs = read(&path, &text)?;
        Ok(Self { folder, file, runs })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn runs(&self) -> &[FinishedRun] {
        &self.runs
    }

    pub(super) fn into_runs(self) -> Vec<FinishedRun> {
        self.runs
    }

    pub(super) fn has(&self, input: &str, run: &InputRun) -> bool {
        let stop = |known: &FinishedRun| known.stop.as_deref().map(str::parse::<Stop>).transpose();
        let same = |known: &FinishedRun| {
            let is_run = known.input == input && known.strategy == run.strategy.to_string();
            is_run && stop(known).as_ref() == Ok(&run.stop)
        };
        self.runs.iter().any(same)
    }

    pub(super) fn journal(&self, input: &str, run: &InputRun) -> PathBuf {
        self.folder.join(file_name(input, run))
    }

    pub(super) fn append(&mut self, run: FinishedRun) -> Result<(), Error> {
        let line = serde_json::to_string(&run).unwrap_or_default();
        let path = self.file.path().to_owned();
        self.file.append(&line).map_err(Error::write(&path))?;
        self.runs.push(run);
        Ok(())
    }
}

fn read(path: &Path, text: &str) -> Result<Vec<FinishedRun>, Error> {
    let parse = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            let text = format!("`{}`, line {}: {error}", path.display(), index + 1);
            Error::request(text, Some("remove that line; its run is made again".to_string()))
        })
    };
    text.lines().enumerate().map(parse).collect()
}

/// Returns `M=64,N=64.grid.jsonl`, with `_` for characters that a file name cannot have. The name
/// contains the strategy's options and the stop condition, so that no two runs share a journal.
fn file_name(input: &str, run: &InputRun) -> String {
    let stop = run.stop.iter().map(|stop| format!(".{stop}")).collect::<String>();
    let text = format!("{input}.{}{stop}", run.strategy.to_string().replace(' ', ""));
    format!("{}.jsonl", tunesmith_files::plain_name(&text.replace(' ', "-")))
}

fn numbered(folder: &Path, number: usize) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{number}"));
    folder.with_file_name(name)
}
