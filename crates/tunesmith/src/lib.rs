//! Tunesmith finds the fastest correct configuration of a compute kernel on the device in front of
//! it.
//!
//! This crate is the library behind the command-line tool. A [`Problem`] defines the kernel to
//! tune, a [`Machine`] the device that runs it, and a [`Search`] the strategy. [`tune`] returns the
//! outcome. This program tunes a C kernel:
//!
//! ```no_run
#![doc = include_str!("../tests/front_page.rs")]
//! ```
//!
//! Kernels run in a worker process, so that a crash or a hang does not end the program. The worker
//! is the same executable: [`enter_if_worker`], the first call of `main`, turns it into one.
//! [`Machine::worker`] names another executable.
//!
//! [`Problem::load`] reads problem files. [`Problem::parse`] reads a text in the same forms. On a
//! synthetic device, an expression over the parameters gives the time of a configuration. A space
//! and a strategy can thus be tried without a kernel:
//!
//! ```
//! use tunesmith::{JournalOptions, Machine, Problem, Search, Session, tune};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let text = "[parameters]
//!     X = { range = '0..=20' }
//!     Y = [1, 2, 4, 8, 16]
//!     [constraints]
//!     'X is a multiple of Y' = 'X % Y == 0'";
//! let problem = Problem::parse(text, folder)?;
//! let machine = Machine { device: Some("synthetic:1 + abs(X - 12) + 8 / Y".parse()?), ..Machine::default() };
//! let search = Search { stop: Some("evaluations 30".parse()?), ..Search::default() };
//! let outcome = tune(&problem, &machine, &search, &JournalOptions::default(), &mut Session::default())?;
//! assert!(outcome.best.and_then(|best| best.time_ms).is_some_and(|time| time < 4.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod devices;
mod error;
mod explain;
mod export;
mod guided;
mod outcome;
mod page;
mod prior;
mod probe;
mod recorded;
mod run_one;
mod runner;
mod space_info;
mod starter;
mod top;
mod tune;
mod tune_inputs;

pub use check::{Check, check};
pub use devices::{device_for, devices, limits};
pub use error::Error;
pub use explain::{ExplainOptions, Explained, Explanation, MeasureOptions, explain};
pub use export::{ExportOptions, Exported, GuardOptions, export};
pub use outcome::{
    Candidate, CandidateDocument, CommonFailure, DefaultComparison, ModelledLimit, Outcome, OutcomeDocument, Rates,
    RegretClaim, SecondsOfRun, Unscored,
};
pub use page::{interactive_page, page, write_page};
pub use recorded::beside;
pub use run_one::{OneRun, OneRunDocument, RunOptions, plan_one, run_one};
pub use runner::{Extras, FoundRemote, OnePlan, RemoteDevice, Runner};
pub use space_info::{Configs, IndexedConfig, SpaceInfo, SpaceQuery};
pub use starter::{Starter, starter};
pub use top::{Top, TopConfig, UNVERIFIED, top};
pub use tune::{JournalOptions, Search, Session, Starting, VerifyOptions, tune, verify_winner};
pub use tune_inputs::{FinishedRun, InputsOutcome, SkippedInput, tune_inputs};
pub use tunesmith_problem::{
    Alternative, Arg, Code, ConstraintReport, Contents, Diagnostic, GridTable, Input, InputRun, Inputs, Level, Metric,
    Problem, ProblemBuilder, ProblemError, ProblemSpace, SourceFile, Tuning,
};
pub use tunesmith_timing::{
    CoveredSize, Covers, FoldBy, ModelSearch, Outside, PredictOptions, Predicted, Prediction, RoundsChoice, Rung,
    TimingSettings, TrainTimingOptions, TrainedTiming, named_device, predict, train_timing,
};

pub use tunesmith_choose::timing::{HeldOut, KnownDevice, TimingModel, Unseen, UnseenDevice};
pub use tunesmith_choose::{Choice, Online, OnlineOptions, Selector, Source};
pub use tunesmith_core::{Basis, Direction, Stop, StopReason, Target};
pub use tunesmith_device::{ChoiceError, DeviceChoice, DeviceKind, Machine, WhichDevice};
pub use tunesmith_model::BoostedSettings;
pub use tunesmith_propose::{ProposalReport, ProposeCommand};
pub use tunesmith_search::StrategySpec;

pub use tunesmith_choose as choose;
pub use tunesmith_core as core;
pub use tunesmith_cost as cost;
pub use tunesmith_cost::{
    ArrayFootprint, CalibrateOptions, Calibration, CalibrationStep, CountOptions, EstimateOptions,
    EstimateSpaceOptions, EstimatedConfig, EstimatedInterval, EstimatedNest, EstimatedSpace, EstimatedTerm, Judged,
    Judgement, ModernCount, NestCount, PropertyCount, calibrate, count, estimate, estimate_space,
};
pub use tunesmith_device as device;
pub use tunesmith_device::worker::enter_if_worker;
pub use tunesmith_explain as why;
pub use tunesmith_explore::SpaceExploration;
pub use tunesmith_export::{ExportFormat, ExportedPortfolio, Guarded, TriedRule};
pub use tunesmith_loopnest as loopnest;
pub use tunesmith_report as report;
pub use tunesmith_search as search;
pub use tunesmith_space as space;
pub use tunesmith_store as store;
pub use tunesmith_study::{
    Baseline, BottleneckShare, CompareOptions, Comparison, ConvertOptions, Converted, CounterExplanation, Effect,
    Estimate, FrontMember, Left, LeftOut, METHODS, Measures, ModelChoice, Overall, Place, Regression, Remeasured,
    Score, TimeTransfer, TrainOptions, Trained, Wanted, WhyLeftOut, WinnerCheck, Within, compare, convert,
    convert_apart, train_counters,
};
#[cfg(feature = "watch")]
pub use tunesmith_watch as watch;
