//! Reads the processor's name and limits from the system.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use std::thread::available_parallelism;
use tunesmith_space::hex;

/// The variables of the OpenMP runtimes, by their first letters.
const OPENMP: [&str; 3] = ["OMP_", "GOMP_", "KMP_"];

/// The thread counts of libraries of linear algebra.
const THREADS: [&str; 3] = ["OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"];

/// Returns true if a runtime of threads or a library of linear algebra reads this variable of the environment.
pub fn is_of_threads(name: &str) -> bool {
    OPENMP.iter().any(|first| name.starts_with(first)) || THREADS.contains(&name)
}

/// Returns the processor's name.
pub(crate) fn processor_name() -> String {
    let cpuinfo = tunesmith_files::system_text("/proc/cpuinfo").unwrap_or_default();
    let model = field(&cpuinfo, "model name").map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "));
    model.unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}

/// Returns a digest of the instructions that the processor knows. A compiler that optimises for this
/// machine may use all of them.
pub fn instruction_set() -> String {
    let cpuinfo = tunesmith_files::system_text("/proc/cpuinfo").unwrap_or_default();
    let known = field(&cpuinfo, "flags").or_else(|| field(&cpuinfo, "Features")).unwrap_or_default();
    let mut names: Vec<&str> = known.split_whitespace().collect();
    names.sort_unstable();
    hex(&Sha256::digest(format!("{} {}", std::env::consts::ARCH, names.join(" "))))
}

/// Returns the number of threads that the processor runs at once.
pub fn threads() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Returns the processor's limits for constraints and models, as far as the system reports them:
/// the number of threads that run at once, the highest clock in MHz, and the data caches of a core
/// in bytes.
pub(crate) fn limits() -> BTreeMap<String, f64> {
    let folder = Path::new("/sys/devices/system/cpu/cpu0");
    let mut limits = caches(folder);
    limits.insert("threads".to_owned(), threads() as f64);
    let cpuinfo = tunesmith_files::system_text("/proc/cpuinfo").unwrap_or_default();
    limits.extend(clock_mhz(folder, &cpuinfo).map(|mhz| ("clock_mhz".to_owned(), mhz)));
    limits
}

fn field<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    fields.into_iter().find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

/// Returns the highest clock in MHz. A virtual machine does not report it; there, returns the
/// present clock, rounded so that its fluctuations do not show.
fn clock_mhz(folder: &Path, cpuinfo: &str) -> Option<f64> {
    let highest = tunesmith_files::system_text(folder.join("cpufreq/cpuinfo_max_freq"));
    let highest = highest.and_then(|text| text.trim().parse::<f64>().ok()).map(|khz| khz / 1e3);
    let present = || field(cpuinfo, "cpu MHz")?.parse::<f64>().ok().map(|mhz| (mhz / 100.0).round() * 100.0);
    highest.or_else(present).filter(|mhz| *mhz > 0.0)
}

fn caches(folder: &Path) -> BTreeMap<String, f64> {
    let cache = |index: usize| {
        let text = |name: &str| {
            let text =
                tunesmith_files::read_text(folder.join(format!("cache/index{index}/{name}")), tunesmith_files::TEXT)
                    .ok()?;
            Some(text.trim().to_owned())
        };
        if text("type")? == "Instruction" {
            return None;
        }
        Some((format!("l{}_cache", text("level")?), bytes(&text("size")?)?))
    };
    // No processor has more caches.
    (0..8).filter_map(cache).collect()
}

/// Parses `48K` or `32M`.
fn bytes(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(|sign: char| !sign.is_ascii_digit());
    let unit = match &text[digits.len()..] {
        "" => 1.0,
        "K" => 1024.0,
        "M" => 1024.0 * 1024.0,
        _ => return None,
    };
    Some(digits.parse::<f64>().ok()? * unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tunesmith_kernel::LIMIT_NAMES;

    #[test]
    fn caches_are_read_in_bytes_without_those_of_instructions() {
        let folder = tempfile::tempdir().unwrap();
        for (index, parts) in
            [["1", "Data", "48K"], ["1", "Instruction", "64K"], ["3", "Unified", "32M"]].iter().enumerate()
        {
            let cache = folder.path().join(format!("cache/index{index}"));
            fs::create_dir_all(&cache).unwrap();
            for (name, text) in ["level", "type", "size"].iter().zip(parts) {
                fs::write(cache.join(name), format!("{text}\n")).unwrap();
            }
        }
        let expected = [("l1_cache".to_owned(), 49152.0), ("l3_cache".to_owned(), 33_554_432.0)];
        assert_eq!(caches(folder.path()), BTreeMap::from(expected));
        assert_eq!(bytes("1G"), None);
    }

    #[test]
    fn the_clock_is_the_highest_or_else_the_present_one_in_steps() {
        let folder = tempfile::tempdir().unwrap();
        let cpuinfo = "model name\t: A\ncpu MHz\t\t: 2599.998\n";
        assert_eq!(clock_mhz(folder.path(), cpuinfo), Some(2600.0));
        assert_eq!(clock_mhz(folder.path(), ""), None);
        fs::create_dir_all(folder.path().join("cpufreq")).unwrap();
        fs::write(folder.path().join("cpufreq/cpuinfo_max_freq"), "3900000\n").unwrap();
        assert_eq!(clock_mhz(folder.path(), cpuinfo), Some(3900.0));
    }

    #[test]
    fn every_limit_of_a_processor_has_its_name() {
        let limits = limits();
        let unknown: Vec<&String> = limits.keys().filter(|name| !LIMIT_NAMES.contains(&name.as_str())).collect();
        assert!(unknown.is_empty() && LIMIT_NAMES.is_sorted(), "{unknown:?}");
    }
}
