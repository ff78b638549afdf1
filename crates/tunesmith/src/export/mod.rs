//! Exports results for an application: wisdom, or code that chooses among a few configurations.

mod judge;
mod source;
mod turns;

use crate::Error;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tunesmith_choose::wisdom::{Config, Measured, Portfolio, PortfolioOptions, Rules, Tried, Wisdom};
use tunesmith_choose::{Best, WisdomFormat};
use tunesmith_core::output::{is_marked, refuse_overwriting};
use tunesmith_export::{BuildForm, MeasuringOption, summary};
use tunesmith_study::gathered::{Gathered, KernelOnDevice};
use tunesmith_study::guard::{Guard, Remaining};
use tunesmith_study::recorded::beside;
use turns::Duels;

pub use judge::{JudgeModelOptions, judge_model};
pub use tunesmith_export::{ExportFormat, ExportedPortfolio, Guarded, TriedRule};
pub use turns::GuardOptions;

/// Returns the mark of a former export of this kind, which a new one may replace. A kernel may ask for the
/// macro of a tuned build, so that the macro alone is no mark of code.
fn mark(format: ExportFormat) -> String {
    match format {
        ExportFormat::Wisdom | ExportFormat::Json => "\"tunesmith wisdom\"".to_string(),
        ExportFormat::KernelLauncher => "\"tunable_parameters\"".to_string(),
        ExportFormat::Build(BuildForm::Flags) => format!("-D{}=1", tunesmith_export::TUNED),
        _ => "Written by tunesmith".to_string(),
    }
}

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
    /// The problem that the runs tuned, for a guard, a judgement and the source. By default the `.toml`
    /// beside the first run with its name.
    pub problem: Option<PathBuf>,
    /// Ships only configurations that are shown to be faster than the default.
    pub guard: Option<GuardOptions>,
    /// Measures the choices at fresh sizes. If they are not faster than the default there, it ships.
    pub judge: Option<GuardOptions>,
    /// The seed of the draw of these sizes.
    pub seed: u64,
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
/// beside the file. With a judgement, the choices are measured at sizes that nobody measured, and the default alone
/// ships where they are not faster. Returns `None` when interrupted.
///
/// # Errors
/// The format does not exist, a run cannot be read, runs differ in their objective, nothing was correct, the format
/// cannot hold the content of the runs, such as another objective than time, or the disk is full.
pub fn export(options: &ExportOptions) -> Result<Option<Exported>, Error> {
    let format = options.format.parse::<ExportFormat>()?;
    let gathered = Gathered::read(&options.runs)?;
    format.check(&gathered.objective(), &measuring(options))?;
    let out = options.out.clone().unwrap_or_else(|| out(&options.runs, &gathered.wisdom, format));
    // Wisdom may be read and replaced by what it becomes.
    refuse_overwriting(&out, [], |file| is_marked(file, &[&mark(format)]))?;
    let how = (how(format, options), format.is_single());
    let Some((wisdom, portfolios)) = wisdom(&gathered, options, how, &out)? else {
        return Ok(None);
    };
    let (out, further) = write((&gathered, &wisdom), format, options, out)?;
    let doubts = wisdom.portfolios.iter().flat_map(|own| tunesmith_export::doubts(own, format.is_single()));
    Ok(Some(Exported {
        format: format.word(),
        entries: if format.is_code() { 0 } else { wisdom.entries.len() },
        portfolios,
        notes: gathered.notes.into_iter().chain(doubts).chain(further).collect(),
        out,
    }))
}

/// Returns the options that measure times.
fn measuring(options: &ExportOptions) -> Vec<MeasuringOption> {
    let guard = options.guard.iter().map(|_| MeasuringOption::Guard);
    guard.chain(options.judge.iter().map(|_| MeasuringOption::Judge)).collect()
}

/// Returns the options of the portfolios that a format holds.
fn how(format: ExportFormat, options: &ExportOptions) -> PortfolioOptions {
    // A guarded portfolio always has the default, too.
    let most = match format.is_single() {
        true => options.most.min(if options.guard.is_some() { 2 } else { 1 }),
        false => options.most,
    };
    let rules = if options.force { Rules::Apart } else { Rules::Judged };
    PortfolioOptions { most, rules, only_chosen: format.is_code(), ..PortfolioOptions::default() }
}

/// Returns all entries of the runs, with a portfolio for each kernel and device, or `None` when the
/// guard was interrupted.
fn wisdom(
    gathered: &Gathered,
    options: &ExportOptions,
    (how, is_single): (PortfolioOptions, bool),
    out: &Path,
) -> Result<Option<(Wisdom, Vec<ExportedPortfolio>)>, Error> {
    let mut wisdom = gathered.wisdom.clone();
    let mut exported = Vec::new();
    for (KernelOnDevice { kernel, device }, measured) in gathered.measured() {
        let candidates = measured.configs.len();
        let default = || gathered.wisdom.defaults.get(&kernel).ok_or_else(|| no_default(&kernel, options));
        let (mut portfolio, tried, guarded): (Portfolio, Vec<Tried>, _) = match &options.guard {
            None => {
                let (portfolio, tried) = Portfolio::judged(&kernel, &device, &measured, how)
                    .map_err(|error| Error::request(format!("`{kernel}` on `{device}`: {error}"), None))?;
                (portfolio, tried, None)
            }
            Some(guard) => {
                let guard = duels(guard, options, out, "guard.jsonl");
                let Some(remaining) = guarded((&kernel, &device), measured.clone(), (default()?, how), &guard)? else {
                    return Ok(None);
                };
                wisdom.entries.retain(|entry| (&entry.kernel, &entry.device) != (&kernel, &device));
                wisdom.entries.extend(remaining.entries);
                (remaining.portfolio, Vec::new(), Some(remaining.guarded))
            }
        };
        if let Some(judging) = &options.judge {
            let duels = duels(judging, options, out, "judge.jsonl");
            let Some(judged) = judge::judged(portfolio, (measured, default()?), is_single, &duels, options.seed)?
            else {
                return Ok(None);
            };
            portfolio = judged;
        }
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

fn no_default(kernel: &str, options: &ExportOptions) -> Error {
    let text = format!("`{kernel}` has no default configuration to compare with");
    let named: Vec<String> = measuring(options).iter().map(|option| format!("--{}", option.word())).collect();
    let remedy =
        format!("add `default` to [tuning] of the problem and tune again, or leave {} out", named.join(" and "));
    Error::request(text, Some(remedy))
}

/// Returns the configurations of a kernel on a device after every choice was guarded.
fn guarded(
    (kernel, device): (&str, &str),
    measured: Measured,
    (default, how): (&Config, PortfolioOptions),
    duels: &Duels<'_>,
) -> Result<Option<Remaining>, Error> {
    let guard = Guard::new((kernel, device), measured, default);
    guard.run(how, &mut |input, config| duels.measure(input, config))
}

/// Returns what measures choices, with journals of this suffix beside the exported file.
fn duels<'a>(measuring: &'a GuardOptions, options: &ExportOptions, out: &Path, suffix: &str) -> Duels<'a> {
    Duels { problem: problem(options), options: measuring, journal: out.with_extension(suffix) }
}

/// Returns the file of the problem that the runs tuned.
fn problem(options: &ExportOptions) -> PathBuf {
    options.problem.clone().or_else(|| options.runs.first().map(|run| beside(run))).unwrap_or_default()
}

/// Returns a file named after the kernel beside the first run.
fn out(runs: &[PathBuf], wisdom: &Wisdom, format: ExportFormat) -> PathBuf {
    let kernel = wisdom.entries.first().map_or("tuned", |entry| entry.kernel.as_str());
    let folder = runs.first().and_then(|run| run.parent()).unwrap_or(Path::new(""));
    folder.join(format!("{}.{}", tunesmith_export::file_name(kernel), format.suffix()))
}

/// Writes the file. Returns its name, and notes about its use.
fn write(
    (gathered, wisdom): (&Gathered, &Wisdom),
    format: ExportFormat,
    options: &ExportOptions,
    mut out: PathBuf,
) -> Result<(PathBuf, Vec<String>), Error> {
    let (portfolios, mut notes) = (&wisdom.portfolios, Vec::new());
    let code = match format {
        ExportFormat::CHeader => tunesmith_export::c_header(portfolios)?,
        ExportFormat::XMacro => tunesmith_export::x_macro(portfolios)?,
        ExportFormat::Rust => tunesmith_export::rust(portfolios)?,
        ExportFormat::Build(form) => tunesmith_export::for_build(form, portfolios)?,
        ExportFormat::Source => {
            let source = source::tuned(portfolios, &options.runs, &problem(options))?;
            if options.out.is_none() {
                out = with_suffix(&out, &source.suffix);
                refuse_overwriting(&out, [], |file| is_marked(file, &[&mark(format)]))?;
            }
            notes = source.notes;
            source.text
        }
        ExportFormat::Wisdom | ExportFormat::Json | ExportFormat::KernelLauncher => {
            let sizes = options.problem_size.clone();
            let form = match format {
                ExportFormat::Json => WisdomFormat::Json { best: best(gathered, wisdom, options) },
                ExportFormat::KernelLauncher => WisdomFormat::KernelLauncher { sizes },
                _ => WisdomFormat::Lines,
            };
            tunesmith_choose::write_wisdom(wisdom, &form, &out)?;
            return Ok((out, notes));
        }
    };
    tunesmith_files::replace(&out, code).map_err(Error::write(&out))?;
    Ok((out, notes))
}

/// Returns the configuration that a build takes. Returns `None` if the runs are of several kernels
/// or devices.
fn best(gathered: &Gathered, wisdom: &Wisdom, options: &ExportOptions) -> Option<Best> {
    let mut all = gathered.measured().into_iter();
    let (Some((KernelOnDevice { kernel, device }, measured)), None) = (all.next(), all.next()) else { return None };
    let how = how(ExportFormat::Build(BuildForm::Flags), options);
    // A guard's portfolio was chosen among those that a measurement confirmed, and the default may have replaced one.
    let first = wisdom.portfolios.first()?;
    let is_refused = first.judgement.as_ref().is_some_and(|judged| !judged.is_faster());
    let portfolio = match options.guard {
        Some(_) => first.clone(),
        None if is_refused => first.clone(),
        None => Portfolio::judged(&kernel, &device, &measured, how).ok()?.0,
    };
    tunesmith_export::best(&portfolio, wisdom, &gathered.winners)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(format!(".{suffix}"));
    name.into()
}
