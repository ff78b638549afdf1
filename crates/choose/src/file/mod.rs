//! Reads and writes files of [`Wisdom`], in our own format and Kernel Launcher's.
//!
//! Ours is JSON lines: it can be appended to, and a damaged line damages no other. It has a header
//! `{"format": "tunesmith wisdom", "version": 1}`, then a line for every entry, portfolio,
//! default configuration and attempt.

mod append;
mod error;
mod header;
mod launcher;
mod line;
mod portfolio;
mod shared;
mod tree;

pub use append::append_wisdom;
pub use error::{Flawed, WisdomError};
pub use header::WISDOM_VERSION;
pub(crate) use shared::SharedFile;

use crate::wisdom::{Config, Wisdom};
use header::{FORMAT, header};
use serde_json::{Map, Value as Json, json};
use std::path::Path;

/// The wisdom of a file, with the lines that could not be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WisdomFile {
    /// The wisdom that could be read.
    pub wisdom: Wisdom,
    /// The lines left out, each with the reason.
    pub flawed: Vec<Flawed>,
}

/// A configuration that serves all inputs of a kernel on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The configuration.
    pub config: Config,
    /// Its time in milliseconds, if it was measured for one input alone.
    pub time_ms: Option<f64>,
    /// Its speed-up over the default configuration, if that is known.
    pub speedup: Option<f64>,
}

/// A format that wisdom is written in.
#[derive(Clone, Debug, PartialEq)]
pub enum WisdomFormat {
    /// Our JSON lines.
    Lines,
    /// One JSON document with `entries`, `portfolios` and `defaults`.
    Json {
        /// The configuration for those who take one alone, if there is one.
        best: Option<Best>,
    },
    /// Kernel Launcher's format 1.0, which holds no portfolios.
    KernelLauncher {
        /// Names of the sizes that make the problem size, at most three, its x first. If empty, all
        /// sizes in the order of their names.
        sizes: Vec<String>,
    },
}

/// Reads the wisdom at `path`. The content decides between our format and Kernel Launcher's.
///
/// A line that is damaged, cut short or of a later format is left out and listed. The other lines
/// are read.
///
/// # Errors
/// The file cannot be read, is empty, is in another format, or was written by a later version.
pub fn read_wisdom(path: &Path) -> Result<WisdomFile, WisdomError> {
    let io = |source| WisdomError::Io { path: path.to_path_buf(), source };
    parse(path, &tunesmith_files::read(path, tunesmith_files::DATA).map_err(io)?)
}

/// Reads the wisdom in `bytes`, the content of `path`.
fn parse(path: &Path, bytes: &[u8]) -> Result<WisdomFile, WisdomError> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let mut lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty()).map(|(at, line)| (at + 1, line));
    let (_, header) = lines.next().ok_or_else(|| WisdomError::foreign(path, "it is empty"))?;
    let header: Json = tunesmith_files::json::parse(header)
        .map_err(|error| WisdomError::foreign(path, format!("its first line is not a header: {error}")))?;
    if header.get("tunable_parameters").is_some() {
        return launcher::read(path, &header, lines);
    }
    if header.get("format").and_then(Json::as_str) != Some(FORMAT) {
        return Err(WisdomError::foreign(path, "its first line is not the header of a file of wisdom"));
    }
    match header.get("version").and_then(Json::as_u64) {
        Some(version) if version <= WISDOM_VERSION => {}
        found => return Err(WisdomError::version(path, found.unwrap_or(0))),
    }
    let mut file = WisdomFile::default();
    for (number, text) in lines {
        if let Err(reason) = line::read(text, &mut file.wisdom) {
            file.flawed.push(Flawed { line: number, reason });
        }
    }
    Ok(file)
}

/// Returns the text of `wisdom` in `format`.
///
/// # Errors
/// Kernel Launcher's format cannot hold the wisdom: it has entries of several kernels, or inputs of
/// more than three sizes.
pub fn wisdom_text(wisdom: &Wisdom, format: &WisdomFormat) -> Result<String, WisdomError> {
    match format {
        WisdomFormat::Lines => Ok(lines(wisdom)),
        WisdomFormat::Json { best } => Ok(document(wisdom, best.as_ref())),
        WisdomFormat::KernelLauncher { sizes } => launcher::text(wisdom, sizes),
    }
}

/// Writes `wisdom` to `path`. The file is replaced in one step: a process that reads it meanwhile
/// gets either the whole old file or the whole new one.
///
/// # Errors
/// The disk refused, or the format cannot hold the wisdom.
pub fn write_wisdom(wisdom: &Wisdom, format: &WisdomFormat, path: &Path) -> Result<(), WisdomError> {
    let io = |source| WisdomError::Io { path: path.to_path_buf(), source };
    let text = wisdom_text(wisdom, format)?;
    tunesmith_files::replace(path, text).map_err(io)
}

fn lines(wisdom: &Wisdom) -> String {
    let defaults = wisdom.defaults.iter().map(|(kernel, config)| line::default(kernel, config));
    let portfolios = wisdom.portfolios.iter().map(line::portfolio);
    let entries = wisdom.entries.iter().map(line::entry);
    let attempts = wisdom.attempts.iter().map(line::attempt);
    let all = std::iter::once(header()).chain(defaults).chain(portfolios).chain(entries).chain(attempts);
    all.map(|line| format!("{line}\n")).collect()
}

fn document(wisdom: &Wisdom, best: Option<&Best>) -> String {
    let mut document = header();
    if let Some(Best { config, time_ms, speedup }) = best {
        document["best"] = json!({ "config": line::config_json(config), "time_ms": time_ms, "speedup": speedup });
    }
    document["defaults"] = wisdom
        .defaults
        .iter()
        .map(|(kernel, config)| (kernel.clone(), Json::Object(line::config_json(config))))
        .collect::<Map<_, _>>()
        .into();
    document["portfolios"] =
        wisdom.portfolios.iter().map(|portfolio| line::portfolio(portfolio)["portfolio"].take()).collect();
    document["entries"] = wisdom.entries.iter().map(line::entry).collect();
    if !wisdom.attempts.is_empty() {
        document["attempts"] = wisdom.attempts.iter().map(line::attempt).collect();
    }
    format!("{document:#}\n")
}
