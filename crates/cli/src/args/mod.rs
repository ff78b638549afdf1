//! The command line.

mod models;
mod nest;
mod pairs;
mod runs;
mod suite;

pub(crate) use models::*;
pub(crate) use nest::*;
pub(crate) use pairs::Pairs;
pub(crate) use runs::*;
pub(crate) use suite::*;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand};
use pairs::pairs;
use std::ffi::OsString;
use std::path::PathBuf;
use tunesmith::core::{LONGEST, stated_seconds};

/// Finds the fastest correct configuration of a compute kernel on the device in front of you.
#[derive(Debug, Parser)]
#[command(name = "tunesmith", version, propagate_version = true, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Start with:\n  tunesmith init && tunesmith tune problem.toml\n\n\
    Exit codes: 0 done; 1 no configuration was correct, or a winner was not confirmed; 2 the request is wrong; 3 a device or the disk failed; \
    130 interrupted.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the usable devices, and what the others lack
    #[command(after_help = DEVICES_HELP)]
    Devices(DevicesArgs),
    /// Write a commented problem, with kernel and reference, that can be tuned at once
    #[command(after_help = "Example:\n  tunesmith init --out my-kernel && tunesmith tune my-kernel/problem.toml")]
    Init(InitArgs),
    /// Check a problem: names, types, expressions, files, space, and that the kernel compiles
    #[command(after_help = "Example:\n  tunesmith check examples/gemm/gemm.toml")]
    Check(CheckArgs),
    /// Show the search space of a problem: size, groups, diagram, configurations
    #[command(after_help = "Example:\n  tunesmith space examples/gemm/gemm.toml --sample 3 --seed 1")]
    Space(SpaceArgs),
    /// Tune a problem: the main job
    #[command(after_help = TUNE_HELP)]
    Tune(Box<TuneArgs>),
    /// Measure for a tuning run on another host: a worker of a fleet
    #[command(after_help = "Example:\n  tunesmith worker --connect head-node:7000 --token-file token")]
    Worker(WorkerArgs),
    /// Show the workers of a run on many devices: leases, failures, losses
    #[command(subcommand)]
    Fleet(FleetCommand),
    /// Run one configuration: compile, run, verify, time
    #[command(after_help = "Examples:\n  tunesmith run examples/gemm/gemm.toml --config MC=64,NC=256\n  \
        tunesmith run examples/gemm/gemm.toml --show-command\n  \
        tunesmith run problem.toml --device replay:counters.csv.gz --profile --model kernel.counters.json")]
    Run(RunArgs),
    /// Show the best configurations of a recorded run
    #[command(after_help = "Example:\n  tunesmith top examples/gemm/gemm.jsonl -n 5")]
    Top(TopArgs),
    /// Watch a running or finished run in the terminal: curve, leaders, failures, noise
    #[command(after_help = WATCH_HELP)]
    Watch(WatchArgs),
    /// Write one interactive HTML page of recorded runs: progress, the best configurations,
    /// parameters, every evaluation, failures
    #[command(after_help = "Example:\n  tunesmith report gemm.jsonl gemm.2.jsonl -o gemm.html")]
    Report(ReportArgs),
    /// Compare strategies on recordings: the nearness to the optimum after a number of evaluations
    #[command(after_help = COMPARE_HELP)]
    Compare(CompareArgs),
    /// Explain a run: the parameters that matter, the values of the best, the causes of failures,
    /// what is left, and what to try next
    #[command(after_help = EXPLAIN_HELP)]
    Explain(ExplainArgs),
    /// Train a model from recordings or runs
    #[command(subcommand)]
    Train(TrainCommand),
    /// Predict the best configuration for an input by a timing model, without running anything
    #[command(after_help = PREDICT_HELP)]
    Predict(PredictArgs),
    /// Fit the cost models of a device: the cost of each operation of a kernel
    #[command(after_help = CALIBRATE_HELP)]
    Calibrate(CalibrateArgs),
    /// Estimate the time of a loop nest on a calibrated device without running it
    #[command(after_help = ESTIMATE_HELP)]
    Estimate(EstimateArgs),
    /// List, check, verify or tune the problems of a suite
    #[command(subcommand, after_help = SUITE_HELP)]
    Suite(SuiteCommand),
    /// Convert recordings between formats, and join several of one space
    #[command(after_help = CONVERT_HELP)]
    Convert(ConvertArgs),
    /// Count the operations, accesses and footprints of a loop nest at given sizes, without running
    /// it
    #[command(after_help = COUNT_HELP)]
    Count(CountArgs),
    /// Import loop nests
    #[command(subcommand)]
    Nest(NestCommand),
    /// Write a file for an application: wisdom, or code that chooses among a few configurations
    #[command(after_help = EXPORT_HELP)]
    Export(ExportArgs),
    /// Measure the winner of a run again, beside its runners-up and the default, for continuous
    /// integration
    #[command(after_help = VERIFY_WINNER_HELP)]
    VerifyWinner(VerifyWinnerArgs),
    /// Print the script that completes commands and options in a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(CompletionsArgs),
    /// Write the manual pages, one for each command
    #[command(after_help = "Example:\n  tunesmith man ~/.local/share/man/man1 && man tunesmith-tune")]
    Man(ManArgs),
}

const DEVICES_HELP: &str = "Examples:
  tunesmith devices --json
  tunesmith devices --counters --chip GH100,AD102

NVIDIA's libraries (CUPTI, NVRTC) are searched for in the folder that TUNESMITH_NVIDIA names, in the
system's folders, and in /usr/local/cuda; AMD's (hiprtc, the HIP runtime) in the folder that
TUNESMITH_ROCM names, in the system's folders, and in /opt/rocm.";

const TUNE_HELP: &str = "Examples:
  tunesmith tune examples/gemm/gemm.toml
  tunesmith tune examples/gemm/gemm.toml --stop \"time 60s or cost 2ms\" --seed 7
  tunesmith tune examples/gemm/gemm.toml --resume
  tunesmith tune examples/gemm/gemm.toml --history other-device.jsonl
  tunesmith tune problem.toml --device replay:counters.csv.gz --model kernel.counters.json
  tunesmith tune problem.toml --inputs
  tunesmith tune problem.toml --live 8000
  tunesmith tune problem.toml --propose \"python3 propose.py\"
  tunesmith tune problem.toml --device \"synthetic:1 + abs(TILE - 32)\"
  tunesmith tune problem.toml --fleet local:4

Stop conditions, joined by `and`, `or` and parentheses:
  evaluations 200, time 60s, fraction 0.1, cost 1.5ms (900: a value of the objective),
  speedup 1.01 in 50 evaluations, speedup 1.01 in 30s,
  regret 2% at 95%, limit 90%

Ctrl-C ends the run with the best so far; --resume continues it.";

const COMPLETIONS_HELP: &str = "Examples:
  tunesmith completions bash > ~/.local/share/bash-completion/completions/tunesmith
  tunesmith completions fish > ~/.config/fish/completions/tunesmith.fish
  tunesmith completions zsh > FOLDER/_tunesmith        (a folder of $fpath)";

/// A problem file and its sizes.
#[derive(Debug, Args)]
pub(crate) struct ProblemArgs {
    /// The problem: TOML, Kernel Tuner's T1 JSON, or a kernel with ATF's directives
    pub(crate) problem: PathBuf,
    /// Sizes that replace the problem's own
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) size: Option<Pairs>,
}

#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    /// Show the hardware counters of this machine's NVIDIA GPUs instead, and the launches needed to
    /// read them
    #[arg(long)]
    pub(crate) counters: bool,
    /// Chips instead of this machine's, by NVIDIA's names, for example GH100; needs no GPU
    #[arg(long, value_name = "CHIP", requires = "counters", value_delimiter = ',')]
    pub(crate) chip: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder to write to
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The backend of the kernel: c, command, cuda, hip, opencl
    #[arg(long, default_value = "c")]
    pub(crate) backend: String,
    /// The folder to write to
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// The device whose limits constraints may use [default: the device it would be tuned on]
    #[arg(long)]
    pub(crate) device: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SpaceArgs {
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// The device whose limits constraints may use [default: the device it would be tuned on]
    #[arg(long)]
    pub(crate) device: Option<String>,
    /// Print this many distinct configurations, drawn uniformly
    #[arg(long, value_name = "N", group = "query")]
    pub(crate) sample: Option<usize>,
    /// The seed of --sample
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Print the configuration with this index
    #[arg(long, value_name = "I", group = "query")]
    pub(crate) index: Option<u128>,
    /// Print the configurations that differ in one parameter from the one with this index
    #[arg(long, value_name = "I", group = "query")]
    pub(crate) neighbours: Option<u128>,
    /// Print every configuration
    #[arg(long, group = "query")]
    pub(crate) list: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// The device: c, opencl, opencl:N, opencl:NAME, cuda, cuda:N, hip, hip:N, command,
    /// replay:FILE (a recording), replay:FILE?noise (the same, with samples drawn from its noise),
    /// or synthetic:EXPR (an expression over parameters and sizes that gives milliseconds)
    /// [default: the best device for the problem's kernel]
    #[arg(long)]
    pub(crate) device: Option<String>,
    /// The strategy: NAME or NAME(option=value, ...); a wrong name lists all of them
    #[arg(long)]
    pub(crate) strategy: Option<String>,
    /// The stop condition: evaluations 200, time 60s, fraction 0.1, cost 1.5ms, speedup 1.01 in 50
    /// evaluations, regret 2% at 95% (the best is within 2 % of the optimum with a probability of
    /// 95 %), limit 90% (of the limit by a device file), joined by and, or, parentheses [default:
    /// evaluations 200; exhaustive runs to its end]
    #[arg(long, value_name = "CONDITION")]
    pub(crate) stop: Option<String>,
    /// Go on if the first ten configurations fail in the same way, or if the first correct one has
    /// no value of the objective; otherwise such a run ends and shows the message
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Read the hardware counters of every configuration, so that the journal can train a counter
    /// model (CUDA devices)
    #[arg(long)]
    pub(crate) profile: bool,
    /// The objective: time, energy (of a run, in millijoules), edp (energy times time), gflops_per_w
    /// (work for each unit of energy), minimise NAME or maximise NAME (a metric of the problem or a
    /// value that the run yields, such as error); two or three, as in time,error or in several
    /// options, search for their Pareto front
    #[arg(long, value_name = "OBJECTIVE")]
    pub(crate) objective: Vec<String>,
    /// The seed of all randomness [default: 0]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// A configuration to evaluate first; unnamed parameters are as in the default configuration
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) start: Option<Pairs>,
    /// Recordings of the same kernel on other devices or for other sizes, in any known format, as
    /// history for the strategy
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) history: Vec<PathBuf>,
    /// A counter model (`train counters`), or `exact` or `trees` of a replayed recording's own
    /// counters, which guides `default` and `profile_guided`. Or a timing model (`train timing`):
    /// the search begins with its best candidates. Or a device file (`calibrate`), for loop nests:
    /// the search begins with the best estimates, and `limit 90%` may end it
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The journal [default: beside the problem, numbered if there is one already]
    #[arg(long, value_name = "RUN.jsonl")]
    pub(crate) out: Option<PathBuf>,
    /// Continue the journal of an earlier run: nothing is measured twice
    #[arg(long)]
    pub(crate) resume: bool,
    /// Number of compilations at once [default: the number of processors]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Maximum number of requests of the strategy in flight [default: 4; on OpenCL, CUDA and HIP 8,
    /// on recordings and synthetic devices 1; on the processors that compile one more than --jobs,
    /// at most 17, and 1 with --jobs 1]
    #[arg(long, value_name = "N")]
    pub(crate) room: Option<usize>,
    /// A program that proposes configurations in competition with the strategy: it reads and writes
    /// JSON lines (docs/proposals.md)
    #[arg(long, value_name = "COMMAND")]
    pub(crate) propose: Option<String>,
    /// Maximum number of seconds to wait for a proposal before the strategy goes on
    #[arg(long, value_name = "SECONDS", requires = "propose", value_parser = seconds)]
    pub(crate) propose_wait: Option<std::time::Duration>,
    /// Measure on many devices at once: local:N (workers on this host), listen:PORT (workers that
    /// connect), ssh:HOSTS.txt, slurm:"OPTIONS OF SRUN", hq:"OPTIONS OF HQ SUBMIT" (docs/fleet.md)
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["inputs"])]
    pub(crate) fleet: Option<String>,
    /// The file with the fleet's token, which only you may read [default: the variable
    /// TUNESMITH_FLEET_TOKEN, or a new token for workers that this command starts]
    #[arg(long, value_name = "FILE", requires = "fleet")]
    pub(crate) token_file: Option<PathBuf>,
    /// Maximum number of seconds that a fleet waits while it has no worker, and for that of one host
    #[arg(long, value_name = "SECONDS", requires = "fleet", value_parser = seconds)]
    pub(crate) fleet_wait: Option<std::time::Duration>,
    /// Search for each kind of device that joins, one after the other. Each search has the journals of
    /// those before it as history
    #[arg(long, requires = "fleet", conflicts_with_all = ["resume", "json"])]
    pub(crate) pools: bool,
    /// The name or address by which other hosts reach this one [default: its name; for ssh the
    /// address that it comes from]
    #[arg(long, value_name = "HOST", requires = "fleet")]
    pub(crate) fleet_address: Option<String>,
    /// The least time that a worker gets to answer
    #[arg(long, value_name = "SECONDS", hide = true, requires = "fleet", value_parser = seconds)]
    pub(crate) fleet_lease: Option<std::time::Duration>,
    /// A pause of each local worker before it answers, to try a fleet out
    #[arg(long, value_name = "SECONDS", hide = true, requires = "fleet", value_parser = seconds)]
    pub(crate) fleet_pause: Option<std::time::Duration>,
    /// Tune for every input of `[inputs]`, by the strategies named there; --out is the folder of
    /// the journals [default: NAME.inputs beside the problem]
    #[arg(long, conflicts_with_all = ["size", "strategy", "history", "model", "start", "propose"])]
    pub(crate) inputs: bool,
    /// With --inputs: tune only N of them, each chosen by what a model of the earlier ones does not
    /// know, with 20 evaluations unless --stop says otherwise; then measure the best configurations
    /// for all of them
    #[arg(long, value_name = "N", requires = "inputs")]
    pub(crate) learn: Option<usize>,
    /// Serve the report of the run while it lasts, to browsers on this machine alone; 0 chooses a port
    #[arg(long, value_name = "PORT", conflicts_with = "inputs")]
    pub(crate) live: Option<u16>,
    /// Run the user's code without the sandbox (docs/trust.md)
    #[arg(long)]
    pub(crate) no_sandbox: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Show each worker of a run: measurements, leases, losses, and whether its times are like the
    /// others'
    #[command(after_help = "Example:\n  tunesmith fleet status gemm.jsonl")]
    Status(FleetStatusArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FleetStatusArgs {
    /// The journal of the run, or its folder
    pub(crate) run: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// The coordinator
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) connect: String,
    /// The file with the token, which only you may read [default: the variable
    /// TUNESMITH_FLEET_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The device, as of `tune` [default: the coordinator's --device, or the best device for the
    /// problem's kernel]
    #[arg(long)]
    pub(crate) device: Option<String>,
    /// Compile for the workers that measure, and open no device. C needs the same processor and compiler as
    /// theirs, CUDA and HIP the same compiler alone, OpenCL the same driver and device
    #[arg(long, conflicts_with = "device")]
    pub(crate) compile_only: bool,
    /// The processors to run on, for example 0,1 [default: all]
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub(crate) cpus: Vec<usize>,
    /// Number of compilations at once [default: the number of processors]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Run the user's code without the sandbox (docs/trust.md)
    #[arg(long)]
    pub(crate) no_sandbox: bool,
    /// A pause before each answer, to try a fleet out without a device that takes time
    #[arg(long, value_name = "SECONDS", hide = true, value_parser = seconds)]
    pub(crate) pause: Option<std::time::Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// The configuration; unnamed parameters are as in the default configuration
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) config: Option<Pairs>,
    /// The best configuration of this journal in place of the default one
    #[arg(long, value_name = "RUN")]
    pub(crate) best: Option<PathBuf>,
    /// The device: c, opencl, opencl:N, opencl:NAME, cuda, cuda:N, hip, hip:N, command, replay:FILE
    /// or synthetic:EXPR [default: the best device for the problem's kernel]
    #[arg(long)]
    pub(crate) device: Option<String>,
    /// Also read counters and explain them: bottlenecks, and the changes that would relieve them
    #[arg(long, conflicts_with_all = ["show_source", "show_command"])]
    pub(crate) profile: bool,
    /// The counter model of --profile, which predicts the effect of tuning parameters
    #[arg(long, value_name = "MODEL", requires = "profile")]
    pub(crate) model: Option<String>,
    /// Run the user's code without the sandbox (docs/trust.md)
    #[arg(long)]
    pub(crate) no_sandbox: bool,
    /// Print the exact source that is compiled, and do not run it
    #[arg(long)]
    pub(crate) show_source: bool,
    /// Print the compiler's command line, or a command problem as a shell script, and do not run it
    #[arg(long)]
    pub(crate) show_command: bool,
    /// Print one JSON document
    #[arg(long, conflicts_with_all = ["show_source", "show_command"])]
    pub(crate) json: bool,
}

/// Parses a number of seconds.
fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let seconds = text.parse().ok().and_then(stated_seconds);
    seconds.ok_or_else(|| format!("`{text}` is no number of seconds up to {}", LONGEST.as_secs()))
}

/// Adds what to write in place of `--resume FILE`: the option takes no file.
#[allow(clippy::disallowed_methods)] // the command line is where the environment is read
pub(crate) fn explained(mut error: clap::Error) -> clap::Error {
    let kind = match error.kind() {
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        ErrorKind::TooManyValues => ContextKind::InvalidValue,
        _ => return error,
    };
    let Some(ContextValue::String(value)) = error.get(kind) else { return error };
    let value = value.trim_start_matches('=').to_string();
    let is_resume = |argument: OsString| argument.to_string_lossy().split('=').next() == Some("--resume");
    let is_resumed = std::env::args_os().any(is_resume);
    if is_resumed && !value.starts_with('-') && !value.is_empty() {
        let tip = format!("--resume takes no file; to continue the journal `{value}`, write `--resume --out {value}`");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}
