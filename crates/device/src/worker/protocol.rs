//! The protocol between tuner and worker: JSON documents in [envelopes](crate::worker::envelope).

use crate::data::layout::Layout;
use crate::energy::EnergySource;
use crate::measure::series::Series;
use crate::worker::bounds;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use tunesmith_backend::compiling::Compiled;
use tunesmith_backend::energy::Trouble;
use tunesmith_backend::sandbox::Confinement;
use tunesmith_backend::{BackendMessage, Program, Resources, SessionKind};
use tunesmith_kernel::Grid;
use tunesmith_kernel::data::Passed;
use tunesmith_kernel::measure::{Cache, Launches, Sampling};
use tunesmith_power::Setting;

/// A request of the tuner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Puts all user code into a sandbox from now on. Comes before any other request, and is not
    /// answered.
    Confine(Confinement),
    /// Opens the device and fills the buffers. Answered by [`Message::Ready`] or
    /// [`Message::Unusable`].
    Prepare(Setup),
    /// Asks a driver. Answered by [`Message::Answer`].
    Ask(BackendMessage),
    /// Compiles a task. Answered by [`Message::Phase`]s and one [`Message::Compiled`].
    Compile(BackendMessage),
    /// Loads programs ahead of the job that runs them. Answered by [`Message::Loaded`] or
    /// [`Message::NotLoaded`].
    Load(Vec<Program>),
    /// Runs a configuration. Answered by [`Message::Phase`]s and one [`Message::Finished`].
    Run(Job),
    /// The answer to [`Message::Outputs`] of the same launch.
    Verdict { launch: usize, is_right: bool },
}

/// The settings common to all jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) session: SessionKind,
    pub(crate) arguments: Vec<Layout>,
    /// The file to which the worker writes outputs. It loses its name once the worker has opened
    /// it.
    pub(crate) results: Option<PathBuf>,
    /// The meter of the energy of every sample, if it is measured.
    pub(crate) energy: Option<EnergySource>,
}

/// One configuration to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// The kernels, in the order in which they run.
    pub(crate) steps: Vec<KernelStep>,
    /// The values passed for the problem's arguments.
    pub(crate) passed: Vec<Passed>,
    pub(crate) purpose: Purpose,
}

/// One kernel of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KernelStep {
    /// The kernel's name.
    pub(crate) name: String,
    pub(crate) program: Program,
    /// The arguments in the order of the signature, as positions among the problem's arguments.
    pub(crate) arguments: Vec<usize>,
    pub(crate) grid: Option<Grid>,
    /// The number of consecutive launches.
    pub(crate) launches: usize,
}

/// The purpose of running a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// Measures the time and checks the result.
    Measure {
        /// The rule for the number of samples.
        sampling: Sampling,
        /// The contents of the caches before each sample.
        cache: Cache,
        /// The way to launch short kernels.
        launches: Launches,
        /// True if counters are read afterwards.
        profile: bool,
        /// The seed that chooses the launches whose outputs are compared although they are those
        /// of an earlier launch.
        seed: u64,
        /// The clock and power limit that the device was set to. Samples are compared with earlier
        /// ones in the same setting.
        setting: Setting,
    },
    /// Launches once, and hands the outputs to the tuner.
    Record,
    /// Launches once. The outputs do not matter.
    Launch,
    /// Launches again and again, on changing data, and looks at the outputs of every launch.
    Verify(Series),
}

/// A message of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Message {
    /// The buffers are filled.
    Ready,
    /// The programs are loaded.
    Loaded {
        /// The time that it took.
        #[serde(deserialize_with = "bounds::duration")]
        took: Duration,
    },
    /// The programs are not loaded. The job that runs them will find the reason.
    NotLoaded,
    /// The device cannot be used. The reason continues a sentence that begins "the worker process".
    Unusable(String),
    /// The worker forked this process for the job. The process's connection and a handle on it come
    /// with the message. Further messages about the job come from the process.
    Forked(u32),
    /// The process that was forked for the job has ended, with this status of `wait`. Everything
    /// that it left behind has ended too.
    JobEnded(i32),
    /// The machine has no process, descriptor or memory left for the job. The text gives the
    /// reason. Believed only before the user's code runs.
    Machine(String),
    /// The job left these parts of the worker's process changed.
    Changed(Vec<String>),
    /// The next step of the worker. From it, the tuner knows the time limit and the cause of a
    /// crash.
    Phase(Phase),
    /// The outputs of a launch, counted from 1, are in the file of results. Answered by
    /// [`Request::Verdict`].
    Outputs { launch: usize },
    /// The job is done.
    Finished(Box<JobReport>),
    /// The answer of a driver.
    Answer(Value),
    /// The compilation is done.
    Compiled(Compiled),
}

impl Message {
    /// Returns the name of the message's kind.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::Loaded { .. } => "Loaded",
            Self::NotLoaded => "NotLoaded",
            Self::Unusable(_) => "Unusable",
            Self::Forked(_) => "Forked",
            Self::JobEnded(_) => "JobEnded",
            Self::Machine(_) => "Machine",
            Self::Changed(_) => "Changed",
            Self::Phase(_) => "Phase",
            Self::Outputs { .. } => "Outputs",
            Self::Finished(_) => "Finished",
            Self::Answer(_) => "Answer",
            Self::Compiled(_) => "Compiled",
        }
    }
}

/// A step of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// Loads the programs and restores the buffers.
    Preparing,
    /// The driver has been told to run a kernel for the first time. It may compile the kernel
    /// again.
    Starting,
    /// A kernel runs for the first time. This launch does not count.
    Launching,
    /// Checks the memory after a launch.
    Checking,
    /// Takes samples. `warmup_ms` is the time of the first launch in milliseconds.
    Sampling {
        #[serde(deserialize_with = "bounds::time")]
        warmup_ms: f64,
    },
    /// Begins a pass in which counters are read.
    Profiling,
}

/// The result of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobReport {
    pub(crate) ending: Ending,
    #[serde(deserialize_with = "bounds::optional_time")]
    pub(crate) warmup_ms: Option<f64>,
    #[serde(deserialize_with = "bounds::times")]
    pub(crate) times_ms: Vec<f64>,
    /// The samples of each kernel by its name, if there are several kernels.
    #[serde(deserialize_with = "bounds::named_times")]
    pub(crate) parts_ms: BTreeMap<String, Vec<f64>>,
    /// The kernels' use of the device's resources.
    pub(crate) resources: Resources,
    /// The digest of the machine code of each kernel, as far as only the driver knows it.
    pub(crate) codes: Vec<Option<String>>,
    /// The device's values for each sample, by name.
    pub(crate) values: BTreeMap<String, Vec<f64>>,
    /// The counters, if they were asked for.
    pub(crate) profile: Option<Profile>,
    /// The device's troubles that users should know of.
    pub(crate) troubles: Vec<Trouble>,
    /// The reason why local memory was not filled before the launches of a last verification.
    pub(crate) unfilled: Option<String>,
    /// Time spent in loading programs, and in the driver before it runs a kernel for the first
    /// time.
    #[serde(deserialize_with = "bounds::duration")]
    pub(crate) load: Duration,
    /// Time spent in launches and in restoring buffers for them.
    #[serde(deserialize_with = "bounds::duration")]
    pub(crate) run: Duration,
    /// Time spent in checking memory.
    #[serde(deserialize_with = "bounds::duration")]
    pub(crate) verify: Duration,
}

impl JobReport {
    /// Returns the report of a job that found nothing wrong, and measured nothing yet.
    pub(crate) fn new() -> Self {
        Self {
            ending: Ending::Correct,
            warmup_ms: None,
            times_ms: Vec::new(),
            parts_ms: BTreeMap::new(),
            resources: BTreeMap::new(),
            codes: Vec::new(),
            values: BTreeMap::new(),
            profile: None,
            troubles: Vec::new(),
            unfilled: None,
            load: Duration::ZERO,
            run: Duration::ZERO,
            verify: Duration::ZERO,
        }
    }
}

/// The result of reading counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Profile {
    /// The counters, by the names of [`tunesmith_core::counters`].
    pub(crate) counters: BTreeMap<String, f64>,
    /// The sizes of launches and the cost of profiling, by the names of the same module.
    pub(crate) values: Vec<(String, f64)>,
    /// The reason why there are no counters.
    pub(crate) unprofiled: Option<String>,
}

/// The end of a job that did not end its worker. Each failure carries its message for users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Ending {
    /// All checks passed.
    Correct,
    /// The device refused the launch.
    Refused(String),
    /// The launch failed, or wrote outside of its buffers. The worker can no longer be trusted.
    Broken(String),
    /// The result is wrong.
    Wrong(String),
    /// The tuner found the outputs wrong.
    Judged,
    /// The worker cannot go on, and says that the kernel is not to blame. Believed only if the tuner
    /// finds the machine at fault too.
    Unfit(String),
    /// The device failed, and the kernel is not to blame. Nothing measured counts. Only a worker of
    /// a GPU can tell.
    Troubled(Trouble),
}
