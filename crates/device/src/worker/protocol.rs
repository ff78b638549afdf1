//! The protocol between tuner and worker: one JSON document per line.

use crate::backends::compiling::Compiled;
use crate::backends::{CompileTask, DriverAnswer, DriverQuestion, Program, Resources, SessionKind};
use crate::data::layout::{Layout, Passed};
use crate::measure::{Cache, Sampling};
use crate::problem::Grid;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What the tuner asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Open the device and fill the buffers. Answered by [`Message::Ready`] or
    /// [`Message::Unusable`].
    Prepare(Setup),
    /// Ask a driver. Answered by [`Message::Answer`].
    Ask(DriverQuestion),
    /// Compile. Answered by [`Message::Phase`]s and one [`Message::Compiled`].
    Compile(CompileTask),
    /// Run a configuration. Answered by [`Message::Phase`]s and one [`Message::Finished`].
    Run(Job),
}

/// What stays the same for all jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) session: SessionKind,
    pub(crate) arguments: Vec<Layout>,
    /// Tells whether the energy of every sample is measured.
    pub(crate) energy: bool,
}

/// One configuration to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// The kernels, in the order in which they run.
    pub(crate) steps: Vec<KernelStep>,
    /// What the arguments of the problem are passed.
    pub(crate) passed: Vec<Passed>,
    pub(crate) purpose: Purpose,
}

/// One kernel of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KernelStep {
    /// The kernel's name.
    pub(crate) name: String,
    pub(crate) program: Program,
    /// Its arguments in the order of its signature, by their positions among the problem's.
    pub(crate) arguments: Vec<usize>,
    pub(crate) grid: Option<Grid>,
    /// The number of launches in a row.
    pub(crate) launches: usize,
}

/// What a program is run for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// Its time, and whether its result is right.
    Measure {
        /// The number of samples.
        sampling: Sampling,
        /// The contents of the caches before a sample.
        cache: Cache,
        /// Tells whether counters are read afterwards.
        profile: bool,
    },
    /// Its result: each output, by its position among the arguments, is written to a file.
    Record(Vec<(usize, PathBuf)>),
}

/// What the worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Message {
    /// The buffers are filled.
    Ready,
    /// The device cannot be used, for a reason that continues "the worker process".
    Unusable(String),
    /// What the worker does from now on, so that the tuner knows how long it may take and what a
    /// crash is due to.
    Phase(Phase),
    /// The job is done.
    Finished(Box<JobReport>),
    /// What a driver answers.
    Answer(DriverAnswer),
    /// The compilation is done.
    Compiled(Compiled),
}

/// The steps of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// Loading the programs, restoring the buffers.
    Preparing,
    /// The driver has been told to run a kernel for the first time, which may compile it again.
    Starting,
    /// A kernel runs for the first time, which does not count.
    Launching,
    /// Looking at what was written.
    Checking,
    /// The launches that count; the first one took so long.
    Sampling { warmup_ms: f64 },
    /// A pass in which counters are read begins.
    Profiling,
}

/// What came out of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobReport {
    pub(crate) ending: Ending,
    pub(crate) warmup_ms: Option<f64>,
    pub(crate) times_ms: Vec<f64>,
    /// The samples of each kernel by its name, where there are several.
    pub(crate) parts_ms: BTreeMap<String, Vec<f64>>,
    /// What the kernels use of the device.
    pub(crate) resources: Resources,
    /// What the device said of each sample, by name.
    pub(crate) values: BTreeMap<String, Vec<f64>>,
    /// What was counted, where that was asked for.
    pub(crate) profile: Option<Profile>,
    /// Time spent in loading programs and in what the driver does before it runs a kernel for the
    /// first time.
    pub(crate) load: Duration,
    /// Time spent in launches and in restoring buffers for them.
    pub(crate) run: Duration,
    /// Time spent in looking at what was written.
    pub(crate) verify: Duration,
}

/// What counting gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Profile {
    /// By the names of [`tunesmith_core::counters`].
    pub(crate) counters: BTreeMap<String, f64>,
    /// Sizes of launches and what profiling cost, by the names of the same module.
    pub(crate) values: Vec<(String, f64)>,
    /// Why there are no counters.
    pub(crate) unprofiled: Option<String>,
}

/// How a job ended that did not end its worker. Each failure carries its message for users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Ending {
    /// Everything checked was right.
    Correct,
    /// The device refused the launch.
    Refused(String),
    /// The launch failed, or wrote outside of its buffers: the worker cannot be trusted any more.
    Broken(String),
    /// The result is wrong.
    Wrong(String),
}
