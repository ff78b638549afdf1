//! The rows of a suite's table, kept on disk so that no complete one is made again.

use crate::SuiteEntry;
use crate::refusal::refused;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tunesmith::Error;
use tunesmith_files::LineFile;

/// A tuned problem on one device: a line of `rows.jsonl`, and an element of `suite tune --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteRow {
    /// The name of the problem.
    pub name: String,
    /// The device as the user writes it.
    pub device: String,
    /// The sizes as text, if the table has a row for each of the problem's inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Its maker's name.
    pub device_name: String,
    /// The problem file.
    pub file: String,
    /// The sizes.
    pub sizes: Map<String, Json>,
    /// The time of the naive loop in milliseconds, timed in turns with the tuned kernel.
    pub naive_ms: Option<f64>,
    /// The time of the default configuration in milliseconds.
    pub default_ms: Option<f64>,
    /// The time of the tuned kernel in milliseconds, timed in turns with the others.
    pub tuned_ms: Option<f64>,
    /// 10^9 floating-point operations per second of the tuned kernel.
    pub gflops: Option<f64>,
    /// The naive time over the tuned one.
    pub speedup: Option<f64>,
    /// The number of evaluations.
    pub evaluations: u64,
    /// The number of configurations on this device, in decimal.
    pub configurations: String,
    /// The tuned configuration.
    pub config: Option<Map<String, Json>>,
    /// The times of libraries in milliseconds, timed in turns with the tuned kernel.
    pub against_ms: BTreeMap<String, f64>,
    /// The kernels that could not be timed, with reasons.
    pub notes: Vec<String>,
    /// The journal, in the folder of the table.
    pub journal: String,
    /// The settings that the row was made with. Others make it anew.
    pub made_with: MadeWith,
}

/// The settings of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeWith {
    /// A digest of the problem's files.
    pub files: String,
    /// The strategy, if it was named.
    pub strategy: Option<String>,
    /// The stop condition, if it was named.
    pub stop: Option<String>,
    /// The seed, if it was named.
    pub seed: Option<u64>,
    /// The libraries to compare with.
    pub against: Vec<String>,
}

/// The complete rows of a table.
pub(super) struct Rows {
    file: LineFile,
    rows: Vec<SuiteRow>,
}

const NAME: &str = "rows.jsonl";

impl Rows {
    /// Opens the table in `folder`, or begins one.
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(NAME);
        let write = Error::write(&path);
        fs::create_dir_all(folder).map_err(write)?;
        // The row of a line that was cut short is made again.
        let (file, text) = LineFile::open(&path, tunesmith_files::DATA).map_err(write)?;
        let parse = |(index, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| {
                let text = format!("`{}`, line {}: {error}", path.display(), index + 1);
                refused(text, Some("remove that line; its row is made again".to_string()))
            })
        };
        let rows = text.lines().enumerate().map(parse).collect::<Result<_, _>>()?;
        Ok(Self { file, rows })
    }

    /// Returns the complete row of a problem for an input on a device, if it was made with these
    /// settings. The latest counts.
    pub(super) fn complete(
        &self,
        name: &str,
        device: &str,
        input: Option<&str>,
        made_with: &MadeWith,
    ) -> Option<&SuiteRow> {
        let is_it = |row: &&SuiteRow| row.name == name && row.device == device && row.input.as_deref() == input;
        self.rows.iter().rev().find(is_it).filter(|row| row.made_with == *made_with)
    }

    /// Adds a row.
    pub(super) fn append(&mut self, row: SuiteRow) -> Result<(), Error> {
        let line = serde_json::to_string(&row).unwrap_or_default();
        let path = self.file.path().to_owned();
        self.file.append(&line).map_err(Error::write(&path))?;
        self.rows.push(row);
        Ok(())
    }

    /// Returns the name of the journal of a problem for an input on a device.
    pub(super) fn journal(name: &str, device: &str, input: Option<&str>) -> String {
        let input = input.map(|input| format!("-{input}")).unwrap_or_default();
        tunesmith_files::plain_name(&format!("{name}-{device}{input}.jsonl"))
    }
}

/// The suffixes of files that decide nothing: documentation and results.
const APART: [&str; 4] = ["md", "jsonl", "svg", "html"];

/// Returns a digest of the problem's files, and of those that all problems share.
pub(super) fn digest(suite: &Path, entry: &SuiteEntry) -> String {
    let mut files = Vec::new();
    for folder in [&entry.folder, &suite.join("common")] {
        let inside = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        files.extend(inside.filter(|path| path.is_file() && !is_apart(path)));
    }
    files.sort();
    let mut hash = Sha256::new();
    for path in files {
        let bytes = tunesmith_files::read(&path, tunesmith_files::TEXT).unwrap_or_default();
        hash.update(path.file_name().unwrap_or_default().as_encoded_bytes());
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    tunesmith_space::hex(&hash.finalize())
}

fn is_apart(path: &Path) -> bool {
    path.extension().and_then(|suffix| suffix.to_str()).is_some_and(|suffix| APART.contains(&suffix))
}
