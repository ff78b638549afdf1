//! Exports results for an application: wisdom, or code that chooses among a few configurations.

mod gather;
mod guard;
mod summary;

use crate::Error;
use gather::Gathered;
pub(crate) use gather::config;
use guard::{Guard, Remaining, with_default};
pub use guard::{GuardOptions, Guarded};
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use summary::summary;
pub use summary::{ExportedPortfolio, TriedRule};
use tunesmith_choose::WisdomFormat;
use tunesmith_choose::wisdom::{Config, Measured, Portfolio, PortfolioOptions, Rules, Tried, Wisdom};
use tunesmith_core::output::{is_marked, refuse_overwriting};
use tunesmith_export::BuildForm;

/// A format of exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Entries, portfolios and defaults, for [`Selector`](crate::Selector).
    Wisdom,
    /// Entries, portfolios and defaults as one JSON document.
    Json,
    /// A C header that chooses among the portfolio's configurations.
    CHeader,
    /// A Rust module that does the same.
    Rust,
    /// Entries as Kernel Launcher's wisdom.
    KernelLauncher,
    /// One configuration, for a build.
    Build(BuildForm),
}

impl ExportFormat {
    /// Every format.
    pub const ALL: [Self; 10] = [
        Self::Wisdom,
        Self::Json,
        Self::CHeader,
        Self::Rust,
        Self::KernelLauncher,
        Self::Build(BuildForm::Flags),
        Self::Build(BuildForm::Defines),
        Self::Build(BuildForm::CMake),
        Self::Build(BuildForm::Make),
        Self::Build(BuildForm::Env),
    ];

    /// Returns the name by which users call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Wisdom => "wisdom",
            Self::Json => "json",
            Self::CHeader => "c-header",
            Self::Rust => "rust",
            Self::KernelLauncher => "kernel-launcher",
            Self::Build(form) => form.word(),
        }
    }

    /// Returns the suffix of its files.
    fn suffix(self) -> &'static str {
        match self {
            Self::Wisdom | Self::KernelLauncher => "wisdom",
            Self::Json => "wisdom.json",
            Self::CHeader => "h",
            Self::Rust => "rs",
            Self::Build(form) => form.suffix(),
        }
    }

    fn from_word(word: &str) -> Result<Self, Error> {
        let known = Self::ALL.map(Self::word).join(", ");
        let found = Self::ALL.into_iter().find(|format| format.word() == word);
        found.ok_or_else(|| Error::request(format!("there is no form `{word}`"), Some(format!("forms are {known}"))))
    }
}

/// The marks of files that an export may replace: code, wisdom in both forms, Kernel Launcher's.
const MARKS: [&str; 4] =
    ["Written by tunesmith", "\"tunesmith wisdom\"", "\"tunable_parameters\"", tunesmith_export::TUNED];

/// The runs to export, and the options.
#[derive(Clone, Debug)]
pub struct ExportOptions {
    /// Journals, wisdom and recordings.
    pub runs: Vec<PathBuf>,
    /// The word of an [`ExportFormat`].
    pub format: String,
    /// Maximum number of configurations of a portfolio.
    pub most: usize,
    /// Number of the fastest configurations of every input that wisdom keeps. The second serves if
    /// the first is refused.
    pub keep: usize,
    /// For Kernel Launcher: the sizes that make the problem size.
    pub problem_size: Vec<String>,
    /// The file. By default named after the kernel, beside the first run.
    pub out: Option<PathBuf>,
    /// Ships only configurations that are shown to be faster than the default.
    pub guard: Option<GuardOptions>,
    /// Ships a rule that tells inputs apart even if one configuration for all inputs does better on
    /// inputs held out.
    pub force: bool,
}

/// The result of an export.
#[derive(Clone, Debug, Serialize)]
pub struct Exported {
    /// The word of the format.
    pub format: &'static str,
    /// Number of entries in the file; 0 for code.
    pub entries: usize,
    /// The portfolios.
    pub portfolios: Vec<ExportedPortfolio>,
    /// Notes on what was left out, and on parts of the runs that an application should not rely on.
    pub notes: Vec<String>,
    /// The file written.
    pub out: PathBuf,
}

/// Reads runs and writes a file for an application.
///
/// Entries are the [`keep`](ExportOptions::keep) fastest configurations of every kernel, device and
/// input. A portfolio is made for every kernel and device from all measurements.
///
/// With a guard, every choice is first measured in turn with the default. Choices that are not
/// significantly faster are replaced by the default. The journals of these measurements are kept
/// beside the file. Returns `None` when interrupted.
///
/// # Errors
/// The format does not exist, a run cannot be read or does not optimise time, nothing was correct,
/// the format cannot hold the content of the runs, or the disk is full.
pub fn export(options: &ExportOptions) -> Result<Option<Exported>, Error> {
    let format = ExportFormat::from_word(&options.format)?;
    let gathered = Gathered::read(&options.runs)?;
    let out = options.out.clone().unwrap_or_else(|| out(&options.runs, &gathered.wisdom, format));
    // Wisdom may be read and replaced by what it becomes.
    refuse_overwriting(&out, [], |file| is_marked(file, &MARKS))?;
    // A guarded portfolio always has the default, too.
    let most = match format {
        ExportFormat::Build(_) => options.most.min(if options.guard.is_some() { 2 } else { 1 }),
        _ => options.most,
    };
    let Some((wisdom, portfolios)) = wisdom(&gathered, &ExportOptions { most, ..options.clone() }, &out)? else {
        return Ok(None);
    };
    write(&wisdom, format, options, &out)?;
    let doubts = wisdom.portfolios.iter().flat_map(summary::doubts);
    let is_code = matches!(format, ExportFormat::CHeader | ExportFormat::Rust | ExportFormat::Build(_));
    Ok(Some(Exported {
        format: format.word(),
        entries: if is_code { 0 } else { wisdom.entries.len() },
        portfolios,
        notes: gathered.notes.into_iter().chain(doubts).collect(),
        out,
    }))
}

/// Returns all entries of the runs, with a portfolio for each kernel and device, or `None` when the
/// guard was interrupted.
fn wisdom(
    gathered: &Gathered,
    options: &ExportOptions,
    out: &Path,
) -> Result<Option<(Wisdom, Vec<ExportedPortfolio>)>, Error> {
    let mut wisdom = gathered.wisdom.clone();
    let rules = if options.force { Rules::Apart } else { Rules::Judged };
    let how = PortfolioOptions { most: options.most, rules, ..PortfolioOptions::default() };
    let mut exported = Vec::new();
    for ((kernel, device), measured) in gathered.measured() {
        let candidates = measured.configs.len();
        let (portfolio, tried, guarded): (Portfolio, Vec<Tried>, _) = match &options.guard {
            None => {
                let (portfolio, tried) = Portfolio::judged(&kernel, &device, &measured, how)
                    .map_err(|error| Error::request(format!("`{kernel}` on `{device}`: {error}"), None))?;
                (portfolio, tried, None)
            }
            Some(guard) => {
                let default = gathered.wisdom.defaults.get(&kernel).ok_or_else(|| no_default(&kernel))?;
                let Some(remaining) = guarded((&kernel, &device), measured, default, guard, options, out)? else {
                    return Ok(None);
                };
                wisdom.entries.retain(|entry| (&entry.kernel, &entry.device) != (&kernel, &device));
                wisdom.entries.extend(remaining.entries);
                (remaining.portfolio, Vec::new(), Some(remaining.guarded))
            }
        };
        exported.push(ExportedPortfolio { guarded, ..summary(&portfolio, candidates, &tried) });
        wisdom.merge(Wisdom { portfolios: vec![portfolio], ..Wisdom::default() });
    }
    if exported.is_empty() {
        let remedy = "name journals of `tunesmith tune` with a correct configuration";
        return Err(Error::request("the runs have no correct configuration", Some(remedy.to_string())));
    }
    wisdom.keep_fastest(options.keep.max(1));
    Ok(Some((wisdom, exported)))
}

fn no_default(kernel: &str) -> Error {
    let text = format!("`{kernel}` has no default configuration to compare with");
    Error::request(
        text,
        Some("add `default` to [tuning] of the problem and tune again, or leave --guard out".to_string()),
    )
}

/// Returns the configurations of a kernel on a device after every choice was guarded.
fn guarded(
    (kernel, device): (&str, &str),
    mut measured: Measured,
    default: &Config,
    guard: &GuardOptions,
    options: &ExportOptions,
    out: &Path,
) -> Result<Option<Remaining>, Error> {
    let problem = guard.problem.clone().or_else(|| options.runs.first().map(|run| beside(run)));
    let default = with_default(&mut measured, default);
    measured.default = Some(default);
    let problem = problem.unwrap_or_default();
    Guard { kernel, device, options: guard, problem: &problem, out, measured, default, verdicts: HashMap::new() }
        .run(options.most)
}

/// Returns the problem that `tune` wrote the journal `run` beside: `gemm.toml` for `gemm.jsonl` and
/// `gemm.2.jsonl`.
pub fn beside(run: &Path) -> PathBuf {
    let stem = run.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = match stem.rsplit_once('.') {
        Some((name, number)) if number.parse::<u32>().is_ok() => name,
        _ => stem.as_str(),
    };
    run.with_file_name(format!("{name}.toml"))
}

/// Returns a file named after the kernel beside the first run.
fn out(runs: &[PathBuf], wisdom: &Wisdom, format: ExportFormat) -> PathBuf {
    let kernel = wisdom.entries.first().map_or("tuned", |entry| entry.kernel.as_str());
    let folder = runs.first().and_then(|run| run.parent()).unwrap_or(Path::new(""));
    folder.join(format!("{}.{}", tunesmith_export::file_name(kernel), format.suffix()))
}

fn write(wisdom: &Wisdom, format: ExportFormat, options: &ExportOptions, out: &Path) -> Result<(), Error> {
    let sizes = options.problem_size.clone();
    let code =
        |text: String| std::fs::write(out, text).map_err(|source| Error::Write { path: out.to_path_buf(), source });
    match format {
        ExportFormat::CHeader => code(tunesmith_export::c_header(&wisdom.portfolios)?),
        ExportFormat::Rust => code(tunesmith_export::rust(&wisdom.portfolios)?),
        ExportFormat::Build(form) => code(tunesmith_export::for_build(form, &wisdom.portfolios)?),
        ExportFormat::Wisdom => Ok(tunesmith_choose::write_wisdom(wisdom, &WisdomFormat::Lines, out)?),
        ExportFormat::Json => Ok(tunesmith_choose::write_wisdom(wisdom, &WisdomFormat::Json, out)?),
        ExportFormat::KernelLauncher => {
            Ok(tunesmith_choose::write_wisdom(wisdom, &WisdomFormat::KernelLauncher { sizes }, out)?)
        }
    }
}
