//! Options of the commands about recorded runs.

use clap::{ArgGroup, Args};
use std::path::PathBuf;
use tunesmith::core::Target;

pub(super) const COMPARE_HELP: &str = "Examples:
  tunesmith compare recordings/*.csv.gz --strategy random --strategy default --repeats 100
  tunesmith compare run.jsonl --strategy \"annealing(temperature=0.5)\" --budget 100 --json
  tunesmith compare cache.json.gz --strategy random --strategy swarm --noise --plots plots
  tunesmith compare counters.csv.gz --strategy profile_guided --model trees --repeats 1000 --json
  tunesmith compare recordings/*.csv.gz --strategy default --history recordings/*.csv.gz
  tunesmith compare run.jsonl --strategy default --strategy random --seconds --cores 4
  tunesmith compare recordings/*.csv.gz --strategy default --strategy genetic --in-flight 8
  tunesmith compare cache.json --strategy default --objective \"minimise energy\" --limit \"time_ms < 5\"

Recordings are journals, CSV with or without a JSON file beside it, Kernel Tuner caches, T4
results and KTT results, plain or compressed. `random` is simulated only with --noise or --in-flight:
otherwise its numbers are exact expectations.";

pub(super) const CONVERT_HELP: &str = "Examples:
  tunesmith convert run.jsonl run.2.jsonl -o run.csv.gz
  tunesmith convert cache.json.gz -o results.json --to t4
  tunesmith convert cache.json -o run.csv --objective \"maximise occupancy\"
  tunesmith convert caches/*.json -o all.csv --keep-apart

Suffixes: .csv (with a .json file beside it), .json (T4), .cache.json (Kernel Tuner); add .gz to
compress.";

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// The journal of the run, or its folder
    pub(crate) run: PathBuf,
    /// Number of configurations to show
    #[arg(short, value_name = "N", default_value_t = 10)]
    pub(crate) n: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const WATCH_HELP: &str = "Examples:
  tunesmith watch examples/gemm/gemm.jsonl
  tunesmith watch my-kernel --page leaders
  tunesmith watch run.jsonl --once | head

Keys: q quits, the arrows and Tab turn pages and scroll, t draws curves over time, ? lists all.";

#[cfg(feature = "watch")]
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The journal of the run, or its folder
    pub(crate) run: PathBuf,
    /// The first page
    #[arg(long, value_name = "PAGE", default_value = "overview", value_parser = pages())]
    pub(crate) page: tunesmith::watch::Page,
    /// Print the page once as text instead of following the run
    #[arg(long)]
    pub(crate) once: bool,
}

/// The arguments of a command that this program was built without.
#[cfg(not(feature = "watch"))]
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

#[cfg(feature = "watch")]
fn pages() -> impl clap::builder::TypedValueParser<Value = tunesmith::watch::Page> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    use tunesmith::watch::Page;

    // The parser lets the words of pages through alone.
    let page = |word: String| Page::ALL.into_iter().find(|page| page.word() == word).unwrap_or_default();
    PossibleValuesParser::new(Page::ALL.map(Page::word)).map(page)
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The journals of the runs, or their folders
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// The page [default: named after the first run, beside it]; an earlier page is replaced
    #[arg(short, long, value_name = "FILE.html")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The recordings
    #[arg(required = true, value_name = "RECORDING")]
    pub(crate) recordings: Vec<PathBuf>,
    /// A strategy: NAME or NAME(option=value, ...); repeat the option for more strategies
    #[arg(long, required = true, value_name = "STRATEGY")]
    pub(crate) strategy: Vec<String>,
    /// Number of searches of each recording by each strategy
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) repeats: usize,
    /// Number of evaluations of each search [default: 400; none with --seconds]
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<u64>,
    /// The seed that the seeds of all searches are derived from
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Let searches see samples drawn from the recorded noise; they are judged by the recorded
    /// times
    #[arg(long)]
    pub(crate) noise: bool,
    /// Write a plot (SVG) of every recording, and one over all, to this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) plots: Option<PathBuf>,
    /// Draw plots over simulated seconds instead of evaluations; `random` is then simulated as well
    #[arg(long, requires = "plots")]
    pub(crate) over_time: bool,
    /// Number of launches that reading the counters of a configuration takes in simulated time, at
    /// least 1; recordings do not contain it
    #[arg(long, value_name = "N", value_parser = passes)]
    pub(crate) profile_passes: Option<f64>,
    /// The counter model of profile_guided: `exact` or `trees` of each recording's own counters, or
    /// a file (a counter model, or a recording of another device to fit trees to)
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Recordings as history for the strategies: for each recording those of the same kernel, never
    /// itself
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) history: Vec<PathBuf>,
    /// Shuffle the times of the history among its configurations, to measure the cost of a history
    /// that misleads
    #[arg(long, requires = "history")]
    pub(crate) shuffle_history: bool,
    /// Number of requests in flight: so many workers evaluate at once, each for the recorded time,
    /// and answers come in the order in which they end; with --seconds, the cores take them
    /// [default: 1; with --seconds as many as `tune` for N jobs]
    #[arg(long, value_name = "N", value_parser = workers)]
    pub(crate) in_flight: Option<usize>,
    /// Judge by simulated seconds, too, from recorded times of compilation and measurement: each
    /// search takes 80 median durations of an evaluation; `random` is then simulated as well
    #[arg(long)]
    pub(crate) seconds: bool,
    /// Number of processor cores that compile and measure in simulated seconds [default: 1]
    #[arg(long, value_name = "N", requires = "seconds", value_parser = workers)]
    pub(crate) cores: Option<usize>,
    /// Leave out the configurations that failed, as papers do that count only configurations that
    /// ran
    #[arg(long)]
    pub(crate) without_failures: bool,
    /// The recorded number or metric that ranks configurations: `minimise NAME` or `maximise NAME`
    /// [default: the objective of each recording]
    #[arg(long, value_name = "OBJECTIVE")]
    pub(crate) objective: Option<Target>,
    /// A metric over recorded numbers and parameters; repeat the option for more metrics
    #[arg(long = "metric", value_name = "NAME=EXPR", value_parser = metric)]
    pub(crate) metrics: Vec<(String, String)>,
    /// A condition over recorded numbers and metrics; a configuration that breaks it counts as failed
    #[arg(long = "limit", value_name = "EXPR")]
    pub(crate) limits: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads `NAME=EXPR`.
fn metric(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(name, expr)| !name.trim().is_empty() && !expr.trim().is_empty());
    let (name, expr) = parts.ok_or("write NAME=EXPR, such as --metric \"edp=energy * time_ms\"")?;
    Ok((name.trim().to_string(), expr.trim().to_string()))
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The recordings; all must have the same parameters, kernel, device, sizes and objective
    #[arg(required = true, value_name = "IN")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The file to write
    #[arg(short, long, value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// The format: csv, t4, kernel-tuner [default: the format for the suffix of OUT]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<String>,
    /// The recorded number that ranks configurations: `minimise NAME` or `maximise NAME` [default:
    /// the objective of the recordings]
    #[arg(long, value_name = "OBJECTIVE")]
    pub(crate) objective: Option<Target>,
    /// Write each recording to a file of its own, OUT with the recording's name before the suffix
    #[arg(long)]
    pub(crate) keep_apart: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const EXPORT_HELP: &str = "Examples:
  tunesmith export gemm.jsonl --as flags && cc -O3 @gemm.flags gemm.c
  tunesmith export small.jsonl large.jsonl --as wisdom
  tunesmith export runs/*.jsonl --as c-header --most 4 -o kernel_tuned.h
  tunesmith export runs/*.jsonl --as kernel-launcher --problem-size M,N,K
  tunesmith export gemm.jsonl gemm.2.jsonl --as wisdom --guard
  tunesmith export gemm.inputs/*=*.jsonl --as c-header --judge
  tunesmith export gemm.jsonl --as source -o gemm_tuned.c

At most --most of the measured configurations are chosen. A rule over the sizes tells which of them
serves an input: the one that does best on inputs held out, which may be one configuration for all.
The printed regret is the slowdown relative to the best known configuration of each input. The C
header and the Rust module compile on their own, and say which inputs they cover. Their functions take
the sizes as a structure, by name. x-macro is the C header with macros that instantiate code for each
configuration.

flags, defines, cmake, make and env hold the one configuration that is best over all runs, with each
parameter as a macro. Sizes are not part of it. source is the kernel's source with these macros and
the sizes in front of it.";

pub(super) const VERIFY_WINNER_HELP: &str = "Examples:
  tunesmith verify-winner gemm.jsonl
  tunesmith verify-winner gemm.jsonl --tolerance 10 --json

Measures for at most a minute, in turns, and writes no journal. Exits with 1 if the winner fails, if it
is worse than in the run, if another configuration is better, if its gain over the default has shrunk,
each beyond doubt and by the objective of the run, or if the environment has changed: device, driver, compiler, sources, data.";

#[derive(Debug, Args)]
pub(crate) struct VerifyWinnerArgs {
    /// The journal of the run, or its folder
    pub(crate) run: PathBuf,
    /// The problem that the run tuned [default: the .toml beside the journal with its name]
    #[arg(long, value_name = "PROBLEM")]
    pub(crate) problem: Option<PathBuf>,
    /// The device [default: the best one present]
    #[arg(long)]
    pub(crate) device: Option<String>,
    /// Number of runners-up to measure beside the winner
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) rivals: usize,
    /// The change of a time between two runs, beyond both 95 % intervals, that is no regression, and
    /// the lead of another configuration that is none
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = percent)]
    pub(crate) tolerance: f64,
    /// Report another environment, and do not fail for it
    #[arg(long)]
    pub(crate) any_environment: bool,
    /// Run the user's code without the sandbox (docs/trust.md)
    #[arg(long)]
    pub(crate) no_sandbox: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses a share in per cent.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse().ok();
    let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| format!("`{text}` is no number of per cent from 0"))
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("measuring").args(["guard", "judge"]).multiple(true))]
pub(crate) struct ExportArgs {
    /// Journals of one or more inputs and devices, or a folder for its latest; wisdom (ours or Kernel
    /// Launcher's), recordings
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// The format: wisdom, json, c-header, x-macro, rust, kernel-launcher; or of one configuration,
    /// for a build: flags, defines, cmake, make, env, source
    #[arg(long = "as", value_name = "FORM")]
    pub(crate) form: String,
    /// Maximum number of configurations to choose among
    #[arg(long, value_name = "K", default_value_t = 8)]
    pub(crate) most: usize,
    /// Number of the fastest configurations of every input that wisdom keeps
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) keep: usize,
    /// For kernel-launcher: the sizes, at most three, that make the problem size
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) problem_size: Vec<String>,
    /// The file to write [default: named after the kernel, beside the first run]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    /// First measure every choice in turn with the default; if it is not significantly faster, the
    /// default ships
    #[arg(long)]
    pub(crate) guard: bool,
    /// First measure the choices in turn with the default at 20 sizes that nobody measured; if they are
    /// not faster on average, the default ships for all sizes
    #[arg(long)]
    pub(crate) judge: bool,
    /// The seed of the draw of these sizes
    #[arg(long, value_name = "S", default_value_t = 0, requires = "judge")]
    pub(crate) seed: u64,
    /// Choose by the size of the input even if, on inputs held out, one configuration for all inputs
    /// does better
    #[arg(long, conflicts_with = "guard")]
    pub(crate) force: bool,
    /// The problem that the runs tuned, for --guard, --judge and source [default: the .toml beside the
    /// first run]
    #[arg(long, value_name = "PROBLEM")]
    pub(crate) problem: Option<PathBuf>,
    /// The device to guard or judge on [default: the best one present]
    #[arg(long, requires = "measuring")]
    pub(crate) device: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses a number of workers.
fn workers(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number: &usize| (1..=1024).contains(number));
    number.ok_or_else(|| format!("`{text}` is no whole number from 1 to 1024"))
}

/// Parses a number of launches.
fn passes(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 1.0);
    number.ok_or_else(|| format!("`{text}` is no number from 1"))
}
