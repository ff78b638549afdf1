//! One file per command.

mod calibrate;
mod check;
mod compare;
mod convert;
mod count;
mod devices;
mod estimate;
mod explain;
mod export;
#[cfg(feature = "fleet")]
mod fleet;
mod init;
#[cfg(not(all(feature = "fleet", feature = "nest-import", feature = "watch")))]
mod left_out;
#[cfg(feature = "nest-import")]
mod nest;
mod predict;
mod report;
mod run;
mod shell;
mod space;
mod suite;
mod top;
mod train;
mod tune;
mod tune_inputs;
mod verify_winner;
#[cfg(feature = "watch")]
mod watch;
mod workers;

pub(crate) use calibrate::calibrate;
pub(crate) use check::check;
pub(crate) use compare::compare;
pub(crate) use convert::convert;
pub(crate) use count::count;
pub(crate) use devices::devices;
pub(crate) use estimate::estimate;
pub(crate) use explain::explain;
pub(crate) use export::export;
#[cfg(feature = "fleet")]
pub(crate) use fleet::{fleet_status, worker};
pub(crate) use init::init;
#[cfg(not(feature = "fleet"))]
pub(crate) use left_out::fleet::{self, fleet_status, worker};
#[cfg(not(feature = "nest-import"))]
pub(crate) use left_out::nest;
#[cfg(not(feature = "watch"))]
pub(crate) use left_out::watch;
#[cfg(feature = "nest-import")]
pub(crate) use nest::nest;
pub(crate) use predict::predict;
pub(crate) use report::report;
pub(crate) use run::run;
pub(crate) use shell::{completions, man};
pub(crate) use space::space;
pub(crate) use suite::suite;
pub(crate) use top::top;
pub(crate) use train::train;
pub(crate) use tune::tune;
pub(crate) use verify_winner::verify_winner;
#[cfg(feature = "watch")]
pub(crate) use watch::watch;

use crate::args::{Pairs, ProblemArgs, TuneArgs};
use crate::{output, render};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use tunesmith::core::Interrupt;
use tunesmith::device::worker::WorkerCommand;
use tunesmith::device::{Compilers, CudaSetup, HipSetup, PowerSetup, Sandbox};
use tunesmith::space::Value;
use tunesmith::store::{FoundRun, find_run};
use tunesmith::{Error, Machine, Problem};

/// Returns the machine with the device that the user names, if one is named. `interrupt` ends what
/// compilers and drivers are asked before a run.
///
/// # Errors
/// The text does not name a device.
fn interruptible_machine(device: Option<&str>, interrupt: &Interrupt) -> Result<Machine, Error> {
    let machine = machine(device)?;
    Ok(Machine { worker: machine.worker.interrupted_by(interrupt), ..machine })
}

/// Returns the machine with the device that the user names, if one is named: with the compilers and
/// folders that the environment names, and the sandbox of this user. Resets devices that killed runs
/// left with another clock, and says so.
///
/// # Errors
/// The text does not name a device.
pub fn machine(device: Option<&str>) -> Result<Machine, Error> {
    let device = device.map(str::parse).transpose()?;
    let worker = WORKER.get().cloned().unwrap_or_default().keeping_files_in(folder("TMPDIR"));
    let (compilers, sandbox) = (compilers(), Some(sandbox()));
    let (power, environment) = (power(), environment());
    let machine = Machine { device, compilers, sandbox, worker, power, environment, ..Machine::default() };
    for left_over in machine.reset_left_over() {
        output::note(&left_over.to_string());
    }
    Ok(machine)
}

#[allow(clippy::disallowed_methods)] // the command line is where the environment is read
/// Returns the variables whose names and values are text.
fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

#[allow(clippy::disallowed_methods)] // the command line is where the environment is read
/// Returns the folders of notes about clocks and of energy counters that the environment names, or
/// else the system's.
fn power() -> PowerSetup {
    let named = |name: &str, default: PathBuf| std::env::var_os(name).map_or(default, PathBuf::from);
    let PowerSetup { notes, counters } = PowerSetup::default();
    PowerSetup { notes: named("TUNESMITH_LOCKS", notes), counters: named("TUNESMITH_POWERCAP", counters) }
}

/// The command that starts workers, if it is not the program's own file.
static WORKER: OnceLock<WorkerCommand> = OnceLock::new();

/// Starts workers by `worker` from now on. Only the first call counts.
pub(crate) fn start_workers_by(worker: WorkerCommand) {
    let _ = WORKER.set(worker);
}

/// Returns the machine without its sandbox, if the user does not want it.
fn unless(no_sandbox: bool, machine: Machine) -> Machine {
    Machine { sandbox: machine.sandbox.filter(|_| !no_sandbox), ..machine }
}

/// Describes the sandbox in which user code runs, or says why there is none.
fn describe_sandbox(machine: &Machine) -> String {
    let applied = machine.sandbox.as_ref().map_or(Err("switched off".to_owned()), |_| Sandbox::support());
    applied.unwrap_or_else(|reason| format!("none: {reason}"))
}

#[allow(clippy::disallowed_methods)] // the command line is where the environment is read
/// Returns the compilers that `CC` and `CXX` name, or else the system's, with NVIDIA's libraries in
/// the folder that `TUNESMITH_NVIDIA` names, and AMD's in the one that `TUNESMITH_ROCM` names.
fn compilers() -> Compilers {
    let named = |name: &str| std::env::var(name).ok().filter(|text| !text.trim().is_empty());
    let default = Compilers::default();
    let cuda = CudaSetup {
        libraries: named("TUNESMITH_NVIDIA").map(PathBuf::from),
        toolkit: toolkit(),
        cache: cache_folder("cubin"),
        ncu: named("TUNESMITH_NCU").map(PathBuf::from),
        script: named("TUNESMITH_CUDA_SCRIPT").map(PathBuf::from),
    };
    let hip = HipSetup {
        libraries: named("TUNESMITH_ROCM").map(PathBuf::from),
        cache: cache_folder("hsaco"),
        script: named("TUNESMITH_HIP_SCRIPT").map(PathBuf::from),
    };
    Compilers { cc: named("CC").unwrap_or(default.cc), cxx: named("CXX").unwrap_or(default.cxx), cuda, hip }
}

#[allow(clippy::disallowed_methods)] // the command line is where the environment is read
/// Returns the folder of the CUDA toolkit: the one that `CUDA_HOME` or `CUDA_PATH` names, or the
/// one to which the first `nvcc` on the search path belongs.
fn toolkit() -> Option<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH"].into_iter().find_map(folder);
    let toolkit = named.or_else(|| {
        let paths = std::env::var_os("PATH")?;
        let nvcc = std::env::split_paths(&paths).map(|path| path.join("nvcc")).find(|nvcc| nvcc.is_file())?;
        // `/usr/local/cuda/bin/nvcc`, which may be a link to another toolkit.
        Some(nvcc.canonicalize().ok()?.parent()?.parent()?.to_owned())
    });
    // There the loader finds the libraries, and the headers are among those of the system.
    toolkit.filter(|folder| folder != Path::new("/usr"))
}

#[allow(clippy::disallowed_methods)] // the command line is where the environment is read
/// Returns the folder that a variable names, if it is an absolute path.
fn folder(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute())
}

/// Returns the system's folder for caches.
fn caches() -> Option<PathBuf> {
    folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))
}

/// Returns the folder for machine code of a kind.
fn cache_folder(kind: &str) -> Option<PathBuf> {
    caches().map(|caches| caches.join("tunesmith").join(kind))
}

/// Returns the sandbox of this user. Drivers may write the caches that they were given.
fn sandbox() -> Sandbox {
    let mut sandbox = Sandbox::of_user(folder("HOME").as_deref(), caches().as_deref());
    let named = ["POCL_CACHE_DIR", "CUDA_CACHE_PATH", "CCACHE_DIR"].into_iter().filter_map(folder);
    sandbox.caches.extend(named);
    sandbox
}

/// Returns the journal that the user names, by its file or its folder. Says which one it is if the folder
/// has several.
fn journal(path: &Path) -> Result<PathBuf, Error> {
    let FoundRun { path: found, among } = find_run(path)?;
    if among > 1 {
        output::note(&format!("`{}` is the latest of {among} journals in its folder", found.display()));
    }
    Ok(found)
}

/// Returns the journals that the user names.
fn journals(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    paths.iter().map(|path| journal(path)).collect()
}

/// A problem as it was tuned.
struct Tuned<'a> {
    problem: &'a Path,
    /// The sizes, as `--size` takes them.
    sizes: Option<&'a str>,
    /// The device, as `--device` takes it.
    device: Option<&'a str>,
}

impl<'a> Tuned<'a> {
    fn of(args: &'a TuneArgs) -> Self {
        let sizes = args.problem.size.as_ref().map(|pairs| pairs.text.as_str());
        Self { problem: &args.problem.problem, sizes, device: args.device.as_deref() }
    }

    /// Returns the command that runs `subcommand` on the problem, with its sizes and on its device.
    fn again(&self, subcommand: &str, more: &[&str]) -> String {
        let file = self.problem.to_string_lossy();
        let size = self.sizes.map(|sizes| ["--size", sizes]);
        let device = self.device.map(|device| ["--device", device]);
        let options = size.into_iter().chain(device).flatten();
        command(["tunesmith", subcommand, &file].into_iter().chain(options).chain(more.iter().copied()))
    }
}

/// Returns the words as they are written in a shell.
fn command<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    // Only a NUL byte cannot be quoted, and no argument of a process contains one.
    shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "))
}

/// Loads the problem and shows its warnings.
fn load(args: &ProblemArgs) -> Result<Problem, Error> {
    let problem = Problem::load(&args.problem, &sizes(args))?;
    render::messages(problem.warnings(), Some(problem.source_file()));
    Ok(problem)
}

/// Returns the sizes of the command line.
fn sizes(args: &ProblemArgs) -> Vec<(String, Value)> {
    values(&args.size)
}

/// Returns names with values. A text that reads as a number becomes one.
fn values(named: &Option<Pairs>) -> Vec<(String, Value)> {
    let value = |text: &String| {
        let int = text.parse().ok().map(Value::Int);
        let float = || text.parse().ok().filter(|float: &f64| float.is_finite()).map(Value::Float);
        int.or_else(float).unwrap_or_else(|| Value::Str(text.as_str().into()))
    };
    pairs(named).iter().map(|(name, text)| (name.clone(), value(text))).collect()
}

fn pairs(pairs: &Option<Pairs>) -> Vec<(String, String)> {
    pairs.as_ref().map(|pairs| pairs.pairs.clone()).unwrap_or_default()
}

/// Returns true if this process was started with a signal ignored.
fn is_ignored(signal: i32) -> bool {
    let mask = status_field("SigIgn:").and_then(|mask| u64::from_str_radix(&mask, 16).ok());
    mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

/// Returns the text behind `name` in the system's status of this process.
fn status_field(name: &str) -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_string()))
}

/// Returns a flag that Ctrl-C, SIGTERM, SIGHUP and SIGXFSZ raise. The second Ctrl-C ends the process at once.
fn interrupt() -> Interrupt {
    INTERRUPT.get_or_init(register_interrupt).clone()
}

/// Returns true if the user has interrupted the command.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPT.get().is_some_and(Interrupt::is_raised)
}

/// The interrupt of this process, once a command has asked for it.
static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();

fn register_interrupt() -> Interrupt {
    let raised = Arc::new(AtomicBool::new(false));
    // `nohup` has SIGHUP ignored.
    let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
        // If a handler cannot be installed, the signal keeps its default effect. The journal is
        // safe anyway.
        let _ = flag::register_conditional_shutdown(signal, 130, raised.clone());
        let _ = flag::register(signal, raised.clone());
    }
    // Every further write beyond the limit of a file's size sends it again.
    let _ = flag::register(SIGXFSZ, raised.clone());
    Interrupt::from_flag(raised)
}
