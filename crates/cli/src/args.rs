//! The command line.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// Finds the fastest correct configuration of a compute kernel on the device in front of you.
#[derive(Debug, Parser)]
#[command(name = "tunesmith", version, propagate_version = true, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Start with:\n  tunesmith init && tunesmith tune problem.toml\n\n\
    Exit codes: 0 done; 1 no configuration was correct; 2 the request is wrong; 3 a device or the disk failed; \
    130 interrupted.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the devices that can be used, and what is missing for others
    #[command(after_help = DEVICES_HELP)]
    Devices(DevicesArgs),
    /// Write a commented problem with kernel and reference that tunes at once
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
    Tune(TuneArgs),
    /// Run one configuration: compile, run, verify, time
    #[command(after_help = "Examples:\n  tunesmith run examples/gemm/gemm.toml --config MC=64,NC=256\n  \
        tunesmith run examples/gemm/gemm.toml --show-command\n  \
        tunesmith run problem.toml --device replay:counters.csv.gz --profile --model kernel.counters.json")]
    Run(RunArgs),
    /// Show the best configurations of a recorded run
    #[command(after_help = "Example:\n  tunesmith top examples/gemm/gemm.jsonl -n 5")]
    Top(TopArgs),
    /// Write one HTML page of recorded runs: progress, the best configurations, parameters, failures
    #[command(after_help = "Example:\n  tunesmith report gemm.jsonl gemm.2.jsonl -o gemm.html")]
    Report(ReportArgs),
    /// Compare strategies on recordings: how near the optimum, after how many evaluations
    #[command(after_help = COMPARE_HELP)]
    Compare(CompareArgs),
    /// Explain a recorded configuration by its counters: bottlenecks, and which parameters would relieve them
    #[command(after_help = EXPLAIN_HELP)]
    Explain(ExplainArgs),
    /// Train a model from recordings or runs
    #[command(subcommand)]
    Train(TrainCommand),
    /// Predict the best configuration for an input by a timing model, without running anything
    #[command(after_help = PREDICT_HELP)]
    Predict(PredictArgs),
    /// Fit the cost models of a device: what each operation of a kernel costs there
    #[command(after_help = CALIBRATE_HELP)]
    Calibrate(CalibrateArgs),
    /// Estimate the time of a loop nest on a calibrated device without running it
    #[command(after_help = ESTIMATE_HELP)]
    Estimate(EstimateArgs),
    /// Convert recordings between formats; several of one space become one
    #[command(after_help = CONVERT_HELP)]
    Convert(ConvertArgs),
    /// Count what a loop nest does at given sizes, without running it: operations, accesses, footprints
    #[command(after_help = COUNT_HELP)]
    Count(CountArgs),
    /// Write what an application ships: wisdom, or code that chooses among few configurations
    #[command(after_help = EXPORT_HELP)]
    Export(ExportArgs),
}

const DEVICES_HELP: &str = "Examples:
  tunesmith devices --json
  tunesmith devices --counters --chip GH100,AD102

NVIDIA's libraries (CUPTI, NVRTC) are looked for in the folder that TUNESMITH_NVIDIA names, where the system looks, and in
/usr/local/cuda.";

const CALIBRATE_HELP: &str = "Examples:
  tunesmith calibrate -o processor.device.json
  tunesmith calibrate --device opencl -o pocl.device.json --minutes 5
  tunesmith calibrate -o processor.device.json --judge

Measures some hundred small kernels, thirty runs each, on a machine on which nothing else should run. Interrupted, the same
command goes on where it ended. See docs/costmodel.md.";

const ESTIMATE_HELP: &str = "Examples:
  tunesmith estimate matmul.nest --on processor.device.json --size n=1024,m=1024,l=1024
  tunesmith estimate matmul.nest --on pocl.device.json --size n=512,m=512,l=512,rows=8 --json

--size also takes the parameters of the nest's transformations.";

const EXPLAIN_HELP: &str = "Examples:
  tunesmith explain counters.csv.gz --model kernel.counters.json
  tunesmith explain run.jsonl --config TILE=16,UNROLL=4 --json

Counters come with recordings (KTT with profiling, CSV); the fastest configuration that has them is explained unless
--config names another.";

#[derive(Debug, Subcommand)]
pub(crate) enum TrainCommand {
    /// A model of how tuning parameters move hardware counters, for `tune --model`
    #[command(after_help = TRAIN_HELP)]
    Counters(TrainCountersArgs),
    /// A model of how fast configurations are for an input, for `predict` and `tune --model`
    #[command(after_help = TRAIN_TIMING_HELP)]
    Timing(TrainTimingArgs),
}

const TRAIN_TIMING_HELP: &str = "Examples:
  tunesmith tune problem.toml --inputs
  tunesmith train timing problem.inputs/*=*.jsonl -o timing.json
  tunesmith predict timing.json --input M=640,N=64

Boosted trees learn the logarithm of the speed relative to the default configuration. Whole inputs are held out; how good the
model is on them is printed and kept in the file.";

const PREDICT_HELP: &str = "Examples:
  tunesmith predict timing.json --input M=640,N=64
  tunesmith predict timing.json --input M=640,N=64 --problem problem.toml --search hc75 --json
  tunesmith tune problem.toml --size M=640,N=64 --model timing.json

Other sizes are as in the training set. The candidates are in the order in which to try them; what lies outside of the
training set is said with its distance.";

const TRAIN_HELP: &str = "Examples:
  tunesmith train counters ktt-results.json -o kernel.counters.json
  tunesmith train counters run.jsonl run.2.jsonl -o kernel.counters.json --method tree --json
  tunesmith tune problem.toml --device replay:other-gpu.csv.gz --model kernel.counters.json

A model holds no times, so that it can guide a search on another device. The error of every counter on configurations that
the model was not fitted to is printed and kept in the file.";

const COMPARE_HELP: &str = "Examples:
  tunesmith compare recordings/*.csv.gz --strategy random --strategy default --repeats 100
  tunesmith compare run.jsonl --strategy \"annealing(temperature=0.5)\" --budget 100 --json
  tunesmith compare cache.json.gz --strategy random --strategy swarm --noise --plots plots
  tunesmith compare counters.csv.gz --strategy profile_guided --model trees --repeats 1000 --json
  tunesmith compare recordings/*.csv.gz --strategy default --history recordings/*.csv.gz

Recordings are journals, CSV with or without a JSON file beside it, Kernel Tuner caches, T4 results and KTT results, as
they are or compressed. `random` is not simulated unless with --noise: its numbers are exact expectations.";

const CONVERT_HELP: &str = "Examples:
  tunesmith convert run.jsonl run.2.jsonl -o run.csv.gz
  tunesmith convert cache.json.gz -o results.json --to t4

Suffixes: .csv (with a .json file beside it), .json (T4), .cache.json (Kernel Tuner); add .gz to compress.";

const COUNT_HELP: &str = "Examples:
  tunesmith count examples/nests/matmul.nest --size n=1024,m=1024,l=1024
  tunesmith count examples/nests/matmul.nest --size n=1024,m=512,l=64 --config rows=32,depth=8 --json

Counts are exact, over all work-items, and those that are zero are left out; docs/loopnests.md says what each property
is. What cannot be counted exactly is refused by name.";

const TUNE_HELP: &str = "Examples:
  tunesmith tune examples/gemm/gemm.toml
  tunesmith tune examples/gemm/gemm.toml --stop \"time 60s or cost 2ms\" --seed 7
  tunesmith tune examples/gemm/gemm.toml --resume
  tunesmith tune examples/gemm/gemm.toml --history other-device.jsonl
  tunesmith tune problem.toml --device replay:counters.csv.gz --model kernel.counters.json
  tunesmith tune problem.toml --inputs
  tunesmith tune problem.toml --device \"synthetic:1 + abs(TILE - 32)\"

Stop conditions, joined by `and`, `or` and parentheses:
  evaluations 200, time 60s, fraction 0.1, cost 1.5ms,
  speedup 1.01 in 50 evaluations, speedup 1.01 in 30s

Ctrl-C ends the run with the best so far; --resume goes on.";

/// A problem file and its sizes.
#[derive(Debug, Args)]
pub(crate) struct ProblemArgs {
    /// The problem: TOML, or Kernel Tuner's T1 JSON
    pub(crate) problem: PathBuf,
    /// Sizes in place of the problem's own
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) size: Option<Pairs>,
}

#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    /// Show the hardware counters of this machine's NVIDIA GPUs instead, and how many launches reading them takes
    #[arg(long)]
    pub(crate) counters: bool,
    /// Chips by NVIDIA's names, GH100 for instance, in place of this machine's; no GPU is needed for them
    #[arg(long, value_name = "CHIP", requires = "counters", value_delimiter = ',')]
    pub(crate) chip: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// What the kernel is written for: c, command, cuda, opencl
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
    /// The device whose limits constraints may use; by default the one it would be tuned on
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
    /// The device whose limits constraints may use; by default the one it would be tuned on
    #[arg(long)]
    pub(crate) device: Option<String>,
    /// Print so many distinct configurations, drawn uniformly
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
    /// What to tune on: c, command, replay:FILE (a recording), replay:FILE?noise (the same, with samples drawn from its
    /// noise), or synthetic:EXPR (an expression over parameters and sizes that gives milliseconds)
    /// [default: what the problem's kernel is for]
    #[arg(long)]
    pub(crate) device: Option<String>,
    /// The strategy: NAME or NAME(option=value, ...); a wrong name lists all of them
    #[arg(long)]
    pub(crate) strategy: Option<String>,
    /// When to end: evaluations 200, time 60s, fraction 0.1, cost 1.5ms, speedup 1.01 in 50 evaluations, regret 2% at 95%
    /// (the best is within 2 % of the optimum with a probability of 95 %), joined by and, or, parentheses
    /// [default: evaluations 200; exhaustive runs to its end]
    #[arg(long, value_name = "CONDITION")]
    pub(crate) stop: Option<String>,
    /// Read the hardware counters of every configuration, to train a counter model from the journal (CUDA devices)
    #[arg(long)]
    pub(crate) profile: bool,
    /// What to optimise: time, energy (of a run, in millijoules), edp (energy times time), minimise NAME or maximise NAME, a metric of the problem or a value the run yields
    #[arg(long, value_name = "OBJECTIVE")]
    pub(crate) objective: Option<String>,
    /// The seed of all randomness [default: 0]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// A configuration to evaluate first; unnamed parameters as in the default configuration
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) start: Option<Pairs>,
    /// Recordings of the same kernel on other devices or for other sizes, in any format that is read: the strategy is told
    /// of them
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) history: Vec<PathBuf>,
    /// A counter model (`train counters`), or `exact` or `trees` of a replayed recording's own counters: `default` and
    /// `profile_guided` are guided by it. Or a timing model (`train timing`): the strategy begins with its best candidates
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The journal [default: beside the problem, numbered when there is one already]
    #[arg(long, value_name = "RUN.jsonl")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with the journal of an earlier run: nothing is measured twice
    #[arg(long)]
    pub(crate) resume: bool,
    /// Compilations at once [default: the number of processors]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Requests the strategy may have in flight [default: 4]
    #[arg(long, value_name = "N")]
    pub(crate) room: Option<usize>,
    /// Tune for every input of `[inputs]`, by the strategies that it names; --out is the folder of the journals
    /// [default: NAME.inputs beside the problem]
    #[arg(long, conflicts_with_all = ["size", "strategy", "history", "model", "start"])]
    pub(crate) inputs: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    /// The configuration; unnamed parameters as in the default configuration
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) config: Option<Pairs>,
    /// What to run on: c, command, or synthetic:EXPR [default: what the problem's kernel is for]
    #[arg(long)]
    pub(crate) device: Option<String>,
    /// Read counters as well, and show what they say: bottlenecks and what would relieve them
    #[arg(long, conflicts_with_all = ["show_source", "show_command"])]
    pub(crate) profile: bool,
    /// The counter model of --profile, which says what tuning parameters do
    #[arg(long, value_name = "MODEL", requires = "profile")]
    pub(crate) model: Option<String>,
    /// Print what exactly is compiled, and do not run it
    #[arg(long)]
    pub(crate) show_source: bool,
    /// Print the compiler's command line, or a command problem as a shell script, and do not run it
    #[arg(long)]
    pub(crate) show_command: bool,
    /// Print one JSON document
    #[arg(long, conflicts_with_all = ["show_source", "show_command"])]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// The journal of the run
    pub(crate) run: PathBuf,
    /// How many configurations to show
    #[arg(short, value_name = "N", default_value_t = 10)]
    pub(crate) n: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The journals of the runs
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// The page; one that is there is written anew
    #[arg(short, long, value_name = "FILE.html")]
    pub(crate) out: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The recordings
    #[arg(required = true, value_name = "RECORDING")]
    pub(crate) recordings: Vec<PathBuf>,
    /// A strategy: NAME or NAME(option=value, ...); give it again for more
    #[arg(long, required = true, value_name = "STRATEGY")]
    pub(crate) strategy: Vec<String>,
    /// Searches of each recording by each strategy
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) repeats: usize,
    /// Evaluations of each search
    #[arg(long, value_name = "N", default_value_t = 400)]
    pub(crate) budget: u64,
    /// What the seeds of all searches are derived from
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Let searches see samples drawn from the recorded noise; they are judged by the recorded times
    #[arg(long)]
    pub(crate) noise: bool,
    /// Write a plot (SVG) of every recording, and one over all, to this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) plots: Option<PathBuf>,
    /// Draw plots over simulated seconds instead of evaluations; `random` is then simulated as well
    #[arg(long, requires = "plots")]
    pub(crate) over_time: bool,
    /// Launches that reading the counters of a configuration takes in simulated time; recordings do not say, and 1 is the least
    #[arg(long, value_name = "N", value_parser = passes)]
    pub(crate) profile_passes: Option<f64>,
    /// The counter model of profile_guided: `exact` or `trees` of each recording's own counters, or a file (a counter model, or
    /// a recording of another device that trees are fitted to)
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Recordings of which strategies are told the times: for each recording those of the same kernel, never itself
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) history: Vec<PathBuf>,
    /// Deal the times of the history out anew among its configurations: what would a history cost that misleads?
    #[arg(long, requires = "history")]
    pub(crate) shuffle_history: bool,
    /// Leave the configurations that failed out, as papers do that count those that ran
    #[arg(long)]
    pub(crate) without_failures: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The journal or recording
    pub(crate) run: PathBuf,
    /// The configuration; unnamed parameters as in the fastest that has counters
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) config: Option<Pairs>,
    /// The counter model (`train counters`) that says what tuning parameters do
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TrainCountersArgs {
    /// Recordings and journals with counters; several must have the same parameters and values
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The file to write
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) out: PathBuf,
    /// trees (ten randomised ones), tree (one, chosen among candidates), least_squares or exact
    #[arg(long, value_name = "METHOD", default_value = "trees")]
    pub(crate) method: String,
    /// The seed of what is drawn
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TrainTimingArgs {
    /// Journals of `tune --inputs`, or recordings of the same kernel on several devices
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The file to write
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) out: PathBuf,
    /// The speed relative to the reference that failed configurations count as (its logarithm is the paper's zeta)
    #[arg(long, value_name = "SPEEDUP", default_value_t = 0.5)]
    pub(crate) zeta: f64,
    /// The share of the inputs that is held out to judge the model
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    pub(crate) hold_out: f64,
    /// The configuration that speed-ups refer to [default: that of the journals; of recordings that name none, the best over all]
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) reference: Option<Pairs>,
    /// Trees that are boosted
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) rounds: usize,
    /// The seed of what is drawn
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// The timing model
    pub(crate) model: PathBuf,
    /// The sizes of the input; others as in the training set
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) input: Option<Pairs>,
    /// The device, by a part of the name of one that the model knows
    #[arg(long, value_name = "NAME")]
    pub(crate) device: Option<String>,
    /// The problem, whose values, constraints and grid are then searched in place of those that the model knows
    #[arg(long, value_name = "PROBLEM")]
    pub(crate) problem: Option<PathBuf>,
    /// How: auto (exhaustive up to 40,000 configurations, else hc75), exhaustive, hc25, hc50, hc75 (climbs of so many steps), grid
    #[arg(long, value_name = "SEARCH", default_value = "auto")]
    pub(crate) search: String,
    /// Climbs, the first from the reference configuration, the others from random ones
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) restarts: usize,
    /// The seed of the climbs
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// How many candidates to show
    #[arg(short, value_name = "N", default_value_t = 10)]
    pub(crate) n: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CountArgs {
    /// The loop nest with its transformations
    #[arg(value_name = "KERNEL.nest")]
    pub(crate) kernel: PathBuf,
    /// A value for each of its sizes
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) size: Option<Pairs>,
    /// Parameters of its transformations in place of their defaults
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) config: Option<Pairs>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The recordings; several must have the same parameters and values
    #[arg(required = true, value_name = "IN")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The file to write
    #[arg(short, long, value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// The format: csv, t4, kernel-tuner [default: what the suffix of OUT means]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

const EXPORT_HELP: &str = "Examples:
  tunesmith export small.jsonl large.jsonl --as wisdom
  tunesmith export runs/*.jsonl --as c-header --most 4 -o kernel_tuned.h
  tunesmith export runs/*.jsonl --as kernel-launcher --problem-size M,N,K
  tunesmith export gemm.jsonl gemm.2.jsonl --as wisdom --guard

Of everything measured at most --most configurations are chosen, and a small decision tree over the sizes tells which of them
serves an input. Printed is the regret: how much slower than the best known configuration of each input that is. The C header
and the Rust module compile on their own.";

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Journals of one or more inputs and devices, wisdom (ours or Kernel Launcher's), recordings
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// What to write: wisdom, json, c-header, rust, kernel-launcher
    #[arg(long = "as", value_name = "FORM")]
    pub(crate) form: String,
    /// The most configurations to choose among
    #[arg(long, value_name = "K", default_value_t = 8)]
    pub(crate) most: usize,
    /// How many of the fastest configurations of every input wisdom keeps
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) keep: usize,
    /// For kernel-launcher: the sizes, three at most, that make its problem size
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) problem_size: Vec<String>,
    /// The file to write [default: named after the kernel, beside the first run]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    /// Measure every choice in turn with the default first; where it is not significantly faster, the default ships
    #[arg(long)]
    pub(crate) guard: bool,
    /// The problem that the runs tuned [default: the .toml beside the first run]
    #[arg(long, value_name = "PROBLEM", requires = "guard")]
    pub(crate) problem: Option<PathBuf>,
    /// The device to guard on [default: the best one present]
    #[arg(long, requires = "guard")]
    pub(crate) device: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// The device: c, opencl[:N or a part of its name] or cuda[:N]
    #[arg(long, value_name = "DEVICE", default_value = "c")]
    pub(crate) device: String,
    /// The device file to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Minutes after which no more kernels are measured
    #[arg(long, value_name = "N", default_value = "10", value_parser = minutes)]
    pub(crate) minutes: Duration,
    /// Then measure the test kernels, which no model is fitted to, and show how far the models are off
    #[arg(long)]
    pub(crate) judge: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EstimateArgs {
    /// The loop nest
    #[arg(value_name = "KERNEL")]
    pub(crate) kernel: PathBuf,
    /// The device file, made by `tunesmith calibrate`
    #[arg(long, value_name = "FILE")]
    pub(crate) on: PathBuf,
    /// The nest's sizes, and parameters of its transformations
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) size: Option<Pairs>,
    /// The form of the model: paper, nnls or overlap
    #[arg(long, value_name = "FORM")]
    pub(crate) form: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Names with the text of their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs(pub(crate) Vec<(String, String)>);

/// A number of launches.
fn passes(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 1.0);
    number.ok_or_else(|| format!("`{text}` is no number from 1"))
}

fn minutes(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().map(|minutes| 60.0 * minutes);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| format!("`{text}` is no number of minutes"))
}

fn pairs(text: &str) -> Result<Pairs, String> {
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').ok_or_else(|| format!("`{part}` is not of the form NAME=VALUE"))?;
        Ok((name.trim().to_string(), value.trim().to_string()))
    };
    text.split(',').map(pair).collect::<Result<_, String>>().map(Pairs)
}
