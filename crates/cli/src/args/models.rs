//! Options of the commands that train, ask and explain models.

use super::pairs::{Pairs, pairs};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;
use tunesmith::core::stated_seconds;

pub(super) const CALIBRATE_HELP: &str = "Examples:
  tunesmith calibrate -o processor.device.json
  tunesmith calibrate --device opencl -o pocl.device.json --minutes 5
  tunesmith calibrate -o processor.device.json --judge
  tunesmith calibrate own.toml -o processor.device.json

FILE has a section [calibrate], with kernels and properties of your own beside those of Tunesmith.

Measures some hundred small kernels, thirty runs each. Nothing else should run on the machine. If
it is interrupted, the same command continues where it ended. See docs/costmodel.md.";

pub(super) const ESTIMATE_HELP: &str = "Examples:
  tunesmith estimate matmul.nest --on processor.device.json --size n=1024,m=1024,l=1024
  tunesmith estimate matmul.nest --on pocl.device.json --size n=512,m=512,l=512,rows=8 --json
  tunesmith estimate matmul.toml --on processor.device.json -o estimated.csv
  tunesmith estimate matmul.toml --on processor.device.json --measured matmul.jsonl

--size also takes the parameters of the nest's transformations.";

pub(super) const EXPLAIN_HELP: &str = "Examples:
  tunesmith explain run.jsonl
  tunesmith explain run.jsonl --measure
  tunesmith explain matmul.jsonl --on processor.device.json
  tunesmith explain recording.csv.gz --json
  tunesmith explain counters.csv.gz --model kernel.counters.json
  tunesmith explain counters.csv.gz --config TILE=16,UNROLL=4

Any journal or recording will do. --config and --model show the counters of one configuration in
full: recordings of KTT with profiling and CSV files have counters, and so have journals of
`tune --profile`. Of a loop nest, --on says which resource bounds the best configuration, and how far
it is from the modelled limit. See docs/explain.md.";

#[derive(Debug, Subcommand)]
pub(crate) enum TrainCommand {
    /// Train a model of the effect of tuning parameters on hardware counters, for `tune --model`
    #[command(after_help = TRAIN_HELP)]
    Counters(TrainCountersArgs),
    /// Train a model of the speed of configurations for an input, for `predict` and `tune --model`
    #[command(after_help = TRAIN_TIMING_HELP)]
    Timing(TrainTimingArgs),
}

pub(super) const TRAIN_TIMING_HELP: &str = "Examples:
  tunesmith tune problem.toml --inputs
  tunesmith train timing problem.inputs/*=*.jsonl -o timing.json
  tunesmith train timing problem.inputs/*=*.jsonl -o timing.json --judge
  tunesmith predict timing.json --input M=640,N=64

Boosted trees learn the logarithm of the speed relative to the default configuration. Whole inputs
are held out; the error of the model on them is printed and kept in the file. Without --judge, nobody
measured the model's choices against the reference, which the file says, too.";

pub(super) const PREDICT_HELP: &str = "Examples:
  tunesmith predict timing.json --input M=640,N=64
  tunesmith predict timing.json --input M=640,N=64 --problem problem.toml --search hc75 --json
  tunesmith tune problem.toml --size M=640,N=64 --model timing.json

Other sizes are as in the training set. Try the candidates in their order. A warning names what
lies outside of the training set, with its distance.";

pub(super) const TRAIN_HELP: &str = "Examples:
  tunesmith train counters ktt-results.json -o kernel.counters.json
  tunesmith train counters run.jsonl run.2.jsonl -o kernel.counters.json --method tree --json
  tunesmith tune problem.toml --device replay:other-gpu.csv.gz --model kernel.counters.json

A model holds no times, so that it can guide a search on another device. The error of every
counter on configurations that the model was not fitted to is printed and kept in the file.";

pub(super) const COUNT_HELP: &str = "Examples:
  tunesmith count examples/nests/matmul.nest --size n=1024,m=1024,l=1024
  tunesmith count examples/nests/matmul.nest --size n=1024,m=512,l=64 --config rows=32,depth=8 --json

Counts are exact, over all work-items, and those that are zero are left out; docs/loopnests.md
says what each property is. A property that cannot be counted exactly is an error.";

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The journal or recording, or a folder for the latest journal in it
    pub(crate) run: PathBuf,
    /// The configuration; unnamed parameters are as in the fastest configuration with counters
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) config: Option<Pairs>,
    /// The counter model (`train counters`), which predicts the effect of tuning parameters
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<PathBuf>,
    /// Measure what each change from the default brings, alone and in the winner: runs the kernel
    #[arg(long)]
    pub(crate) measure: bool,
    /// The device file (`calibrate`) that says which resource bounds the best configuration of a loop
    /// nest; by default the one that the run was given
    #[arg(long, value_name = "FILE")]
    pub(crate) on: Option<PathBuf>,
    /// The problem of the run, for --measure and loop nests; by default the .toml beside the journal
    /// with its name
    #[arg(long, value_name = "FILE")]
    pub(crate) problem: Option<PathBuf>,
    /// With --measure: the device, as for `tune`
    #[arg(long, value_name = "DEVICE", requires = "measure")]
    pub(crate) device: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TrainCountersArgs {
    /// Recordings and journals with counters; all must have the same parameters and values
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The file to write
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) out: PathBuf,
    /// trees (ten randomised ones), tree (one, chosen among candidates), least_squares or exact
    #[arg(long, value_name = "METHOD", default_value = "trees")]
    pub(crate) method: String,
    /// The seed of random draws
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
    /// The speed relative to the reference that failed configurations count as (its logarithm is
    /// the paper's zeta)
    #[arg(long, value_name = "SPEEDUP", default_value_t = 0.5)]
    pub(crate) zeta: f64,
    /// The share of the inputs held out to judge the model
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    pub(crate) hold_out: f64,
    /// The configuration that speed-ups refer to [default: that of the journals; for recordings
    /// without one, the best over all]
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) reference: Option<Pairs>,
    /// Number of boosted trees [default: the best in cross-validation, 100 to 1600; 100 if nothing
    /// can be left out]
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<usize>,
    /// The part of each tree that is added: 1 adds it as a whole, as in the paper
    #[arg(long, value_name = "R", default_value_t = 0.1)]
    pub(crate) learning_rate: f64,
    /// Then measure the model's choices in turn with the reference at 20 sizes that nobody measured; if
    /// they are not faster on average, the model answers with the reference
    #[arg(long)]
    pub(crate) judge: bool,
    /// The problem of the journals, for --judge [default: the .toml beside the first one or its folder]
    #[arg(long, value_name = "PROBLEM", requires = "judge")]
    pub(crate) problem: Option<PathBuf>,
    /// The device to judge on [default: the best one present]
    #[arg(long, requires = "judge")]
    pub(crate) device: Option<String>,
    /// The seed of random draws
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
    /// The sizes of the input; others are as in the training set
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) input: Option<Pairs>,
    /// The device, by a part of the name of a device that the model knows; for another one, the most
    /// robust configurations answer
    #[arg(long, value_name = "NAME")]
    pub(crate) device: Option<String>,
    /// The problem whose values, constraints and grid replace those that the model knows
    #[arg(long, value_name = "PROBLEM")]
    pub(crate) problem: Option<PathBuf>,
    /// The search: auto (exhaustive if that takes an estimated 50 ms, else hc75), exhaustive, hc25,
    /// hc50, hc75 (climbs with this number of steps), grid
    #[arg(long, value_name = "SEARCH", default_value = "auto")]
    pub(crate) search: String,
    /// Number of climbs; the first starts from the reference configuration, the others from random
    /// ones
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) restarts: usize,
    /// The seed of the climbs
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Number of candidates to show
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
    /// Also count what the paper leaves out: bank conflicts, sub-groups, the longest chain of
    /// dependent arithmetic
    #[arg(long)]
    pub(crate) modern: bool,
    /// A value for each of its sizes
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) size: Option<Pairs>,
    /// Parameters of its transformations that replace their defaults
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = pairs)]
    pub(crate) config: Option<Pairs>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// A file with a section `[calibrate]`: kernels and properties of your own
    #[arg(value_name = "FILE")]
    pub(crate) own: Option<PathBuf>,
    /// The device: c, opencl, opencl:N, opencl:NAME, cuda, cuda:N, hip or hip:N
    #[arg(long, value_name = "DEVICE", default_value = "c")]
    pub(crate) device: String,
    /// The device file to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Minutes after which no more kernels are measured
    #[arg(long, value_name = "N", default_value = "10", value_parser = minutes)]
    pub(crate) minutes: Duration,
    /// Then measure the test kernels, which no model is fitted to, and show the errors of the
    /// models
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
    /// The loop nest (`.nest`), or a problem whose kernel is one, to rank its configurations
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
    /// A recording of the same kernel, whose measurements correct the estimates
    #[arg(long, value_name = "FILE")]
    pub(crate) measured: Vec<PathBuf>,
    /// For a problem: number of the fastest configurations to list
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,
    /// For a problem: a recording of all estimates, in the format for its suffix
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn minutes(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().map(|minutes| 60.0 * minutes);
    let time = seconds.and_then(stated_seconds);
    time.ok_or_else(|| format!("`{text}` is not a number of minutes"))
}
