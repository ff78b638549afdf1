//! The energy of processors, from the counters that Linux shows under `/sys/class/powercap` (RAPL).
//! Intel's and AMD's processors have them there under the same names.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The folder of the counters.
pub const POWERCAP: &str = "/sys/class/powercap";

/// The beginning of the names of zones that are whole processors. Their parts have two colons.
const ZONE: &str = "intel-rapl:";

/// The reason why the energy of the processors cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PowercapError {
    /// The system shows no counters.
    #[error("this machine shows no energy counters of its processors under `{}`", folder.display())]
    Absent {
        /// The folder.
        folder: PathBuf,
    },
    /// The user may not read a counter.
    #[error("you may not read the energy counter `{}`", file.display())]
    NotPermitted {
        /// The counter.
        file: PathBuf,
    },
    /// A counter cannot be read.
    #[error("the energy counter `{}` cannot be read: {reason}", file.display())]
    Broken {
        /// The counter.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl PowercapError {
    /// Returns the remedy.
    pub fn remedy(&self) -> String {
        match self {
            Self::Absent { .. } => "`sudo modprobe intel_rapl_msr` loads the counters of processors by Intel and AMD; \
                 virtual machines have none"
                .to_owned(),
            Self::NotPermitted { .. } => {
                format!("allow it until the next restart with `sudo chmod a+r {POWERCAP}/intel-rapl:*/energy_uj`")
            }
            Self::Broken { .. } => "choose another objective".to_owned(),
        }
    }
}

/// The counters of all processors of this machine. They count everything that runs on them.
#[derive(Debug)]
pub struct Powercap {
    packages: Vec<Package>,
}

/// The counter of one processor.
#[derive(Debug)]
struct Package {
    file: File,
    path: PathBuf,
    /// The counter begins at 0 again after this number of microjoules.
    range_uj: u64,
    last_uj: u64,
    /// The microjoules since the counter was opened.
    total_uj: u64,
}

impl Powercap {
    /// Opens the counters in `folder`. They can be read later in a sandbox that hides them.
    ///
    /// # Errors
    /// There are none, or the user may not read them.
    pub fn open(folder: &Path) -> Result<Self, PowercapError> {
        let absent = || PowercapError::Absent { folder: folder.to_owned() };
        let entries = fs::read_dir(folder).map_err(|_| absent())?;
        let is_package = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let number = name.strip_prefix(ZONE).is_some_and(|rest| rest.parse::<u32>().is_ok());
            number
                && tunesmith_files::read_text(path.join("name"), tunesmith_files::TEXT)
                    .is_ok_and(|name| name.starts_with("package"))
        };
        let mut zones: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_package).collect();
        zones.sort();
        let packages = zones.iter().map(|zone| Package::open(zone)).collect::<Result<Vec<_>, _>>()?;
        if packages.is_empty() { Err(absent()) } else { Ok(Self { packages }) }
    }

    /// Returns the energy in millijoules since the counters were opened.
    ///
    /// A counter begins anew after some minutes to hours. Two calls must not be further apart.
    ///
    /// # Errors
    /// A counter cannot be read any more.
    pub fn energy_mj(&mut self) -> Result<f64, PowercapError> {
        let mut total = 0;
        for package in &mut self.packages {
            total += package.total_uj()?;
        }
        Ok(total as f64 / 1e3)
    }
}

impl Package {
    fn open(zone: &Path) -> Result<Self, PowercapError> {
        let path = zone.join("energy_uj");
        let file = tunesmith_files::open(&path).map_err(|error| broken(&path, &error))?;
        let range =
            tunesmith_files::read_text(zone.join("max_energy_range_uj"), tunesmith_files::TEXT).unwrap_or_default();
        let mut package =
            Self { file, path, range_uj: range.trim().parse().unwrap_or(u64::MAX), last_uj: 0, total_uj: 0 };
        package.last_uj = package.read()?;
        Ok(package)
    }

    /// Reads the counter. The system writes the present value whenever the file is read from its
    /// beginning.
    fn read(&self) -> Result<u64, PowercapError> {
        let mut text = [0; 32];
        let length = self.file.read_at(&mut text, 0).map_err(|error| broken(&self.path, &error))?;
        let number = std::str::from_utf8(&text[..length]).ok().and_then(|text| text.trim().parse().ok());
        let reason = || "it is not a number".to_owned();
        number.ok_or_else(|| PowercapError::Broken { file: self.path.clone(), reason: reason() })
    }

    fn total_uj(&mut self) -> Result<u64, PowercapError> {
        let now = self.read()?;
        self.total_uj += match now.checked_sub(self.last_uj) {
            Some(used) => used,
            None => now + (self.range_uj - self.last_uj.min(self.range_uj)),
        };
        self.last_uj = now;
        Ok(self.total_uj)
    }
}

fn broken(path: &Path, error: &io::Error) -> PowercapError {
    match error.kind() {
        io::ErrorKind::PermissionDenied => PowercapError::NotPermitted { file: path.to_owned() },
        _ => PowercapError::Broken { file: path.to_owned(), reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn zone(folder: &Path, zone: &str, name: &str, energy: u64) {
        let zone = folder.join(zone);
        fs::create_dir_all(&zone).unwrap();
        for (file, text) in [("name", name.to_owned()), ("max_energy_range_uj", "1000000".to_owned())] {
            fs::write(zone.join(file), text + "\n").unwrap();
        }
        count(&zone, energy);
    }

    fn count(zone: &Path, energy: u64) {
        fs::write(zone.join("energy_uj"), format!("{energy}\n")).unwrap();
    }

    #[test]
    fn processors_are_added_up_and_their_parts_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for (at, name, energy) in [
            ("intel-rapl:0", "package-0", 5000),
            ("intel-rapl:1", "package-1", 7000),
            ("intel-rapl:2", "psys", 100),
            ("intel-rapl:0:0", "core", 100),
            ("intel-rapl-mmio:0", "package-0", 100),
        ] {
            zone(folder, at, name, energy);
        }
        let mut counters = Powercap::open(folder).unwrap();
        assert_eq!(counters.energy_mj(), Ok(0.0));
        count(&folder.join("intel-rapl:0"), 6000);
        count(&folder.join("intel-rapl:1"), 9000);
        assert_eq!(counters.energy_mj(), Ok(3.0));
    }

    #[test]
    fn a_counter_that_begins_anew_goes_on_counting() {
        let folder = tempfile::tempdir().unwrap();
        zone(folder.path(), "intel-rapl:0", "package-0", 999_000);
        let mut counters = Powercap::open(folder.path()).unwrap();
        count(&folder.path().join("intel-rapl:0"), 4000);
        assert_eq!(counters.energy_mj(), Ok(5.0));
        count(&folder.path().join("intel-rapl:0"), 5000);
        assert_eq!(counters.energy_mj(), Ok(6.0));
    }

    #[test]
    fn a_machine_without_counters_and_a_user_without_rights_are_told_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let absent = Powercap::open(folder.path()).unwrap_err();
        assert!(absent.remedy().contains("modprobe"));
        zone(folder.path(), "intel-rapl:0", "package-0", 1);
        let file = folder.path().join("intel-rapl:0/energy_uj");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
        // The administrator may read everything.
        if let Err(error) = Powercap::open(folder.path()) {
            assert!(matches!(error, PowercapError::NotPermitted { .. }) && error.remedy().contains("sudo chmod a+r"));
        }
        count_nothing(&file);
        assert!(matches!(Powercap::open(folder.path()), Err(PowercapError::Broken { .. })));
    }

    fn count_nothing(file: &Path) {
        fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(file, "none\n").unwrap();
    }
}
