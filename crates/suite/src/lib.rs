//! Suites. A suite is a folder of problems that are checked, verified and tuned as a whole.
//!
//! Each problem is a folder with an `about.toml`, which names its problem files, one for each
//! backend. Nothing here is special to the kernels in this repository.

mod about;
mod against;
mod check;
mod duel;
mod library;
mod list;
mod operation;
mod refusal;
mod rows;
mod tune;
mod verify;

pub use about::{About, Count, Number};
pub use check::{CheckedFile, check_suite};
pub use library::Library;
pub use list::{ListedFile, ListedProblem, list_suite};
pub use operation::{Convolution, Extent, Operation, OperationKind, Product};
pub use rows::{MadeWith, SuiteRow};
pub use tune::{SuiteFailure, SuiteTable, SuiteTune, tune_suite};
pub use verify::{Reason, Verified, VerifyOptions, WrongConfiguration, verify_suite};

use about::BACKENDS;
use refusal::refused;
use std::path::{Path, PathBuf};
use tunesmith::{Error, Problem};
use tunesmith_backend::DeviceChoice;
use tunesmith_device::{Device, Machine};
use tunesmith_space::{Value, did_you_mean};

/// The problems of a suite.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The folder.
    pub folder: PathBuf,
    /// The problems, in the order of their names.
    pub entries: Vec<SuiteEntry>,
}

/// A problem of a suite.
#[derive(Clone, Debug)]
pub struct SuiteEntry {
    /// The name: that of its folder.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// The facts about it.
    pub about: About,
}

impl Suite {
    /// Reads the suite in `folder`: the problems in `names`, or all of them without names. Folders
    /// without an `about.toml` are no problems.
    ///
    /// # Errors
    /// The folder cannot be read or has no problems, a name is unknown, or an `about.toml` is wrong.
    pub fn open(folder: &Path, names: &[String]) -> Result<Self, Error> {
        let all = folders(folder)?;
        let known = || all.iter().map(|(name, _)| name.as_str());
        if let Some(name) = names.iter().find(|name| !known().any(|known| known == name.as_str())) {
            let remedy = did_you_mean(name, known())
                .unwrap_or_else(|| format!("its problems are {}", known().collect::<Vec<_>>().join(", ")));
            let text = format!("the suite `{}` has no problem `{name}`", folder.display());
            return Err(refused(text, Some(remedy)));
        }
        let chosen = all.into_iter().filter(|(name, _)| names.is_empty() || names.contains(name));
        let entry = |(name, folder): (String, PathBuf)| {
            let about = About::read(&folder.join("about.toml"))?;
            Ok(SuiteEntry { name, folder, about })
        };
        Ok(Self { folder: folder.to_path_buf(), entries: chosen.map(entry).collect::<Result<_, Error>>()? })
    }
}

/// Returns the folders with an `about.toml`, with their names, in order.
fn folders(folder: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    let name_it = || Some("name the folder with --suite FOLDER".to_string());
    let inside = std::fs::read_dir(folder)
        .map_err(|error| refused(format!("cannot read the suite `{}`: {error}", folder.display()), name_it()))?;
    let named = inside.filter_map(|entry| {
        let entry = entry.ok()?;
        Some((entry.file_name().into_string().ok()?, entry.path()))
    });
    let mut all: Vec<_> = named.filter(|(_, path)| path.join("about.toml").is_file()).collect();
    all.sort();
    if all.is_empty() {
        return Err(refused(format!("`{}` has no folder with an about.toml", folder.display()), name_it()));
    }
    Ok(all)
}

impl SuiteEntry {
    /// Returns the names of the problem's backends.
    pub fn backends(&self) -> impl Iterator<Item = &'static str> + '_ {
        BACKENDS.into_iter().filter(|backend| self.problem(backend).is_some())
    }

    /// Returns the name of the problem file of a backend. HIP's compiler takes CUDA's sources, so
    /// that a problem for CUDA is one for HIP too, unless it has another.
    fn problem(&self, backend: &str) -> Option<&str> {
        let of = |backend: &str| self.about.problems.get(backend).map(String::as_str);
        of(backend).or_else(|| of("cuda").filter(|_| backend == "hip"))
    }

    /// Returns the problem file of a backend.
    fn file(&self, backend: &str) -> Option<PathBuf> {
        Some(self.folder.join(self.problem(backend)?))
    }

    /// Returns every problem file by its name in `about.toml`: those of the backends, then others
    /// whose number of configurations is stated.
    fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = Vec::new();
        let of_backends = self.backends().filter_map(|backend| self.problem(backend));
        for file in of_backends.chain(self.about.configurations.keys().map(String::as_str)) {
            if !files.contains(&file) {
                files.push(file);
            }
        }
        files
    }

    /// Returns the first backend of a problem file.
    fn backend_of(&self, file: &str) -> Option<&'static str> {
        self.backends().find(|backend| self.problem(backend) == Some(file))
    }

    /// Loads a problem file, with the sizes for a GPU if `gpu`.
    fn load(&self, file: &Path, gpu: bool) -> Result<Problem, Error> {
        let mut sizes: Vec<(String, Value)> = Vec::new();
        if gpu {
            sizes.extend(self.about.gpu_sizes.iter().map(|(name, number)| (name.clone(), (*number).into())));
        }
        Ok(Problem::load(file, &sizes)?)
    }
}

/// Returns the name of the backend that a device belongs to.
fn backend_name(choice: &DeviceChoice) -> Result<&'static str, Error> {
    match choice {
        DeviceChoice::Kernels(backend, _) => Ok(backend.name()),
        other => {
            let text = format!("a suite runs kernels, which the device `{other}` does not");
            Err(refused(text, Some(format!("devices are {}", BACKENDS.join(", ")))))
        }
    }
}

/// A device of this machine for problems of a suite.
#[derive(Clone, Debug)]
struct Place {
    /// The name of its backend.
    backend: &'static str,
    /// The device as a user writes it.
    text: String,
    /// The machine with this device chosen.
    machine: Machine,
}

impl Place {
    /// Returns the place of a device that the user names.
    fn of(choice: &DeviceChoice, machine: &Machine) -> Result<Self, Error> {
        let machine = Machine { device: Some(choice.clone()), ..machine.clone() };
        Ok(Self { backend: backend_name(choice)?, text: choice.to_string(), machine })
    }

    /// Returns the places to use: `chosen`, or else one for every backend that this machine has.
    /// The second list says why the others are left out.
    fn all(chosen: &[DeviceChoice], machine: &Machine) -> Result<(Vec<Self>, Vec<String>), Error> {
        if !chosen.is_empty() {
            let places: Vec<Self> = chosen.iter().map(|choice| Self::of(choice, machine)).collect::<Result<_, _>>()?;
            places.iter().try_for_each(|place| place.device().map(drop))?;
            return Ok((places, Vec::new()));
        }
        let (mut places, mut missing) = (Vec::new(), Vec::new());
        for backend in BACKENDS {
            let place = Self::of(&backend.parse()?, machine)?;
            match place.device() {
                Ok(_) => places.push(place),
                Err(error) if error.is_interruption() => return Err(error),
                Err(error) => missing.push(format!("{backend} is left out: {error}")),
            }
        }
        Ok((places, missing))
    }

    /// Finds the device.
    fn device(&self) -> Result<Device, Error> {
        Ok(self.machine.device_or(DeviceChoice::processor())?)
    }
}

/// Returns true if the device is not a processor of this machine.
fn is_gpu(device: &Device) -> bool {
    matches!(device, Device::Kernels(target) if !target.is_processor())
}
