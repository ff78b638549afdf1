//! Devices by name: the edge where `--device` becomes a typed choice.

use crate::{Error, Problem};
use std::path::{Path, PathBuf};
use tunesmith_core::counters::Hardware;
use tunesmith_device::worker::WorkerCommand;
use tunesmith_device::{
    Compilers, CudaDevice, DeviceInfo, Language, Missing, OpenClDevice, cuda_devices, opencl_devices,
};
use tunesmith_space::did_you_mean;
use tunesmith_space::{Expr, Value};

/// What a problem is tuned on.
#[derive(Clone, Debug)]
pub enum DeviceChoice {
    /// The processor of this machine, through its C or C++ compiler.
    C,
    /// An OpenCL device.
    OpenCl(Box<OpenClDevice>),
    /// A CUDA device.
    Cuda(Box<CudaDevice>),
    /// Any program, for problems whose kernel is a command.
    Command,
    /// A recording: the journal of an earlier run, or measurements of another tool.
    Replay {
        /// The recording.
        file: PathBuf,
        /// Whether samples are drawn anew from the noise that was recorded.
        noise: bool,
    },
    /// An expression over the parameters that gives the time in milliseconds.
    Synthetic(Expr),
}

/// The forms of `--device`, as users write them.
const FORMS: [&str; 6] =
    ["c", "opencl[:N or a part of its name]", "cuda[:N]", "command", "replay:FILE[?noise]", "synthetic:EXPR"];

/// The names that the forms begin with.
const NAMES: [&str; 6] = ["c", "opencl", "cuda", "command", "replay", "synthetic"];

impl DeviceChoice {
    /// The device that `text` names, or where it is none the best one for the language of the problem's kernels. Asks
    /// the drivers in a worker where it takes OpenCL or CUDA; `compilers` says where CUDA's compiler is.
    ///
    /// # Errors
    /// An unknown device, an expression that is none, OpenCL without a device, a device that cannot run the problem's kernel.
    pub fn for_problem(
        problem: &Problem,
        text: Option<&str>,
        compilers: &Compilers,
        worker: &WorkerCommand,
    ) -> Result<Self, Error> {
        let is_command = problem.command.is_some();
        let own = match problem.kernels.first().map(|kernel| kernel.language) {
            _ if is_command => "command",
            Some(Language::OpenCl) => "opencl",
            Some(Language::Cuda) => "cuda",
            _ => "c",
        };
        let device = Self::parse(text.unwrap_or(own), compilers, worker)?;
        let file = problem.source_file.path.display();
        match device {
            Self::Command if !is_command => Err(Error::request(
                format!("`{file}` has no command"),
                Some("write `[kernel]` with command = [\"./prog\", \"{N}\"], or leave out --device".to_string()),
            )),
            Self::C | Self::OpenCl(_) | Self::Cuda(_) if is_command => Err(Error::request(
                format!("the kernel of `{file}` is a command, which the device `{}` does not run", text.unwrap_or(own)),
                Some("leave out --device, or write --device command".to_string()),
            )),
            device => Ok(device),
        }
    }

    pub(crate) fn parse(text: &str, compilers: &Compilers, worker: &WorkerCommand) -> Result<Self, Error> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        match (name, rest) {
            ("c", None) => Ok(Self::C),
            ("opencl", which) => opencl(which, worker).map(|device| Self::OpenCl(Box::new(device))),
            ("cuda", which) => cuda(which, compilers, worker).map(|device| Self::Cuda(Box::new(device))),
            ("command", None) => Ok(Self::Command),
            ("replay", Some(file)) => replay(file),
            ("synthetic", Some(expression)) => Expr::parse(expression)
                .map(Self::Synthetic)
                .map_err(|error| Error::request(format!("in `{expression}`: {error}"), error.remedy)),
            _ => {
                let known = format!("devices are {}", FORMS.join(", "));
                let remedy = did_you_mean(name, NAMES).filter(|_| !NAMES.contains(&name)).unwrap_or(known);
                Err(Error::request(format!("there is no device `{text}`"), Some(remedy)))
            }
        }
    }

    /// The language that kernels are compiled from here, and the device's name; `None` where none are, or no compiler can be used.
    pub(crate) fn of_kernels(&self, compilers: &Compilers) -> Option<(Language, String)> {
        match self {
            Self::C => Some((Language::C, tunesmith_device::processor(compilers)?.name)),
            Self::OpenCl(device) => Some((Language::OpenCl, device.name.clone())),
            Self::Cuda(device) => Some((Language::Cuda, device.name.clone())),
            Self::Command | Self::Replay { .. } | Self::Synthetic(_) => None,
        }
    }

    /// Refuses to tune kernels on a device that has no counters or does not tell its energy, where they are wanted. What runs
    /// no kernels may have either recorded, or print it.
    pub(crate) fn check_counted(&self, counters: bool, energy: bool) -> Result<(), Error> {
        let is_processor_or_opencl = matches!(self, Self::C | Self::OpenCl(_));
        let text = match (counters, energy) {
            (true, _) if !matches!(self, Self::Cuda(_)) => "this device has no counters to read (--profile)",
            (_, true) if is_processor_or_opencl => "this device does not tell its energy",
            _ => return Ok(()),
        };
        Err(Error::request(text, Some("CUDA devices do (--device cuda, for problems in CUDA)".to_string())))
    }

    /// The size of a device that counts what kernels do as they run; `None` of others.
    pub(crate) fn counted_hardware(&self) -> Option<Hardware> {
        let device = match self {
            Self::Cuda(device) => device,
            // Of the processor no bottleneck needs the size.
            Self::C => return tunesmith_device::missing_counters().is_none().then(Hardware::default),
            _ => return None,
        };
        let limit = |name: &str| device.limits.get(name).copied();
        Some(Hardware {
            compute_capability: limit("compute_capability"),
            multiprocessors: limit("compute_units"),
            ..Hardware::default()
        })
    }

    /// The limits that constraints know as `device.NAME`.
    pub(crate) fn limits(&self, compilers: &Compilers) -> Vec<(String, Value)> {
        match self {
            Self::Synthetic(_) | Self::Replay { .. } => Vec::new(),
            Self::Command => values(&tunesmith_device::command_device().limits),
            Self::C => values(&tunesmith_device::processor(compilers).map(|device| device.limits).unwrap_or_default()),
            Self::OpenCl(device) => values(&device.limits),
            Self::Cuda(device) => values(&device.limits),
        }
    }
}

/// The recording of `FILE` or `FILE?noise`. A file that has the whole text as its name is meant by it.
fn replay(text: &str) -> Result<DeviceChoice, Error> {
    match text.rsplit_once('?') {
        Some((file, option)) if !Path::new(text).exists() => {
            if option != "noise" {
                let remedy =
                    did_you_mean(option, ["noise"]).unwrap_or_else(|| "the only option is `?noise`".to_string());
                return Err(Error::request(format!("a replay has no option `{option}`"), Some(remedy)));
            }
            Ok(DeviceChoice::Replay { file: PathBuf::from(file), noise: true })
        }
        _ => Ok(DeviceChoice::Replay { file: PathBuf::from(text), noise: false }),
    }
}

/// The OpenCL device of a number or with a part of its name; without either the fastest kind, of these the one with the
/// most compute units, of these the first.
fn opencl(which: Option<&str>, worker: &WorkerCommand) -> Result<OpenClDevice, Error> {
    let devices = opencl_devices(worker)?;
    let listed = || {
        let names = devices.iter().map(|device| format!("opencl:{} ({})", device.index, device.name));
        format!("there are {}", names.collect::<Vec<_>>().join(", "))
    };
    let units = |device: &OpenClDevice| device.limits.get("compute_units").map_or(0, |units| *units as u64);
    let found = match which {
        None => devices.iter().min_by_key(|device| (device.kind, std::cmp::Reverse(units(device)), device.index)),
        Some(number) if number.parse::<usize>().is_ok() => {
            devices.iter().find(|device| number.parse() == Ok(device.index))
        }
        Some(part) => {
            let part = part.to_lowercase();
            devices.iter().find(|device| !part.is_empty() && device.name.to_lowercase().contains(&part))
        }
    };
    let text = || format!("there is no OpenCL device `{}`", which.unwrap_or_default());
    found.cloned().ok_or_else(|| Error::request(text(), Some(listed())))
}

/// The CUDA device of a number; the first without one.
fn cuda(which: Option<&str>, compilers: &Compilers, worker: &WorkerCommand) -> Result<CudaDevice, Error> {
    let devices = cuda_devices(&compilers.cuda, worker)?;
    let number = which.map_or(Ok(0), str::parse::<usize>).ok();
    let found = number.and_then(|number| devices.iter().find(|device| device.index == number));
    let listed = || {
        let names = devices.iter().map(|device| format!("cuda:{} ({})", device.index, device.name));
        format!("there are {}", names.collect::<Vec<_>>().join(", "))
    };
    let text = || format!("there is no CUDA device `{}`", which.unwrap_or_default());
    found.cloned().ok_or_else(|| Error::request(text(), Some(listed())))
}

/// Every device this machine offers, and why others are missing. Asks the drivers in a worker.
pub fn devices(compilers: &Compilers, worker: &WorkerCommand) -> (Vec<DeviceInfo>, Vec<Missing>) {
    tunesmith_device::devices(compilers, worker)
}

/// The limits that the constraints of `problem` know as `device.NAME`, of the device that `device` names or else of the
/// one it would be tuned on. Nothing is asked where no constraint uses any.
///
/// # Errors
/// As [`DeviceChoice::for_problem`].
pub fn limits(
    problem: &Problem,
    device: Option<&str>,
    compilers: &Compilers,
    worker: &WorkerCommand,
) -> Result<Vec<(String, Value)>, Error> {
    let mut names = problem.constraints.iter().flat_map(|constraint| constraint.expr().names());
    if !names.any(|name| name.text.starts_with("device.")) {
        return Ok(Vec::new());
    }
    Ok(DeviceChoice::for_problem(problem, device, compilers, worker)?.limits(compilers))
}

fn values<'a>(limits: impl IntoIterator<Item = (&'a String, &'a f64)>) -> Vec<(String, Value)> {
    limits.into_iter().map(|(name, limit)| (name.clone(), number(*limit))).collect()
}

/// An integer where the number is one: sizes and counts divide as integers do.
fn number(limit: f64) -> Value {
    if limit.fract() == 0.0 && limit.abs() < 2f64.powi(53) { Value::Int(limit as i64) } else { Value::Float(limit) }
}
