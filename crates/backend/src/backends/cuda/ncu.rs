//! Counters through the command line of Nsight Compute, for machines on which CUPTI cannot be
//! opened. Builds the command line and parses the table in the log.

use crate::backends::OutsideProfiler;
use crate::backends::cuda::counters::{PERMISSION_REMEDY, name_on, own_name};
use crate::backends::gpu::GpuDevice;
use crate::host::GpuSetup;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tunesmith_core::counters::VOLTA;

/// The places to look for Nsight Compute: the path, and the folders of the toolkit's installers.
const PROGRAMS: [&str; 3] = ["ncu", "/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/ncu"];

/// The time of a launch. It weights the readings of several launches.
const DURATION: &str = "gpu__time_duration.sum";

/// Nsight Compute, found on this machine.
struct NsightCompute {
    program: PathBuf,
    metrics: Vec<&'static str>,
}

/// Returns Nsight Compute for `device`: the program that the user named, or else an installed one.
pub(crate) fn outside_profiler(device: &GpuDevice) -> Option<Box<dyn OutsideProfiler>> {
    let GpuSetup::Cuda(setup) = &device.setup else { return None };
    let program = setup.ncu.clone().or_else(find)?;
    Some(Box::new(NsightCompute { program, metrics: metrics(device.compute_capability()) }))
}

impl OutsideProfiler for NsightCompute {
    fn name(&self) -> &'static str {
        "Nsight Compute"
    }

    fn command(&self, log: &Path) -> Vec<String> {
        command(&self.program, log, &self.metrics)
    }

    fn read(&self, log: &str) -> Result<BTreeMap<String, f64>, String> {
        read(log)
    }
}

/// Returns the metrics of the table, under their names on a GPU of this compute capability.
fn metrics(compute_capability: f64) -> Vec<&'static str> {
    VOLTA.counters.iter().map(|counter| name_on(compute_capability, counter.name)).collect()
}

/// Returns the first of [`PROGRAMS`] that runs.
fn find() -> Option<PathBuf> {
    let runs = |program: &&&str| {
        let mut version = Command::new(**program);
        version.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        version.status().is_ok_and(|status| status.success())
    };
    PROGRAMS.iter().find(runs).map(PathBuf::from)
}

/// Returns the command line up to the profiled program. It reads `metrics` for every launch and
/// writes them to `log` as CSV.
fn command(program: &Path, log: &Path, metrics: &[&str]) -> Vec<String> {
    let metrics = metrics.iter().copied().chain([DURATION]).collect::<Vec<_>>().join(",");
    let (program, log) = (program.display().to_string(), log.display().to_string());
    let options = ["--csv", "--page", "raw", "--print-units", "base", "--target-processes", "all", "--log-file", &log];
    [&[program.as_str()], &options[..], &["--metrics", &metrics]].concat().into_iter().map(str::to_owned).collect()
}

/// Returns the counters of all launches in a log together. Sums are added. Shares and ratios are
/// averaged, weighted by the time of the launches.
///
/// # Errors
/// The reason why there are no counters: no permission, another error in the log, or no launch.
fn read(log: &str) -> Result<BTreeMap<String, f64>, String> {
    if log.contains("ERR_NVGPUCTRPERM") {
        return Err(format!(
            "the driver lets only administrators read counters (ERR_NVGPUCTRPERM); {PERMISSION_REMEDY}"
        ));
    }
    let launches = launches(log);
    if launches.is_empty() {
        let error = log.lines().find_map(|line| line.strip_prefix("==ERROR== "));
        return Err(format!("Nsight Compute saw no launch{}", error.map(|e| format!(": {e}")).unwrap_or_default()));
    }
    Ok(merged(&launches))
}

/// Returns the numbers of each launch by the names of their columns.
fn launches(log: &str) -> Vec<BTreeMap<String, f64>> {
    // The table follows the output of the program and the profiler. Its second line holds units.
    let mut table = log.lines().skip_while(|line| !line.starts_with("\"ID\",")).map(fields);
    let Some(names) = table.next() else { return Vec::new() };
    let row = |row: Vec<String>| {
        let numbers = names.iter().zip(&row).filter(|(name, _)| name.contains("__"));
        numbers.filter_map(|(name, text)| Some((name.clone(), number(text)?))).collect()
    };
    table.skip(1).filter(|row| row.len() == names.len()).map(row).collect()
}

/// Returns the fields of a line. All fields are quoted, and a quote within a field is doubled.
fn fields(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('"').trim_end_matches('"');
    inner.split("\",\"").map(|field| field.replace("\"\"", "\"")).collect()
}

/// Parses a number with commas between its thousands. Returns `None` for `n/a`.
fn number(text: &str) -> Option<f64> {
    text.replace(',', "").parse().ok().filter(|number: &f64| number.is_finite())
}

fn merged(launches: &[BTreeMap<String, f64>]) -> BTreeMap<String, f64> {
    let weight =
        |launch: &BTreeMap<String, f64>| launch.get(DURATION).copied().filter(|time| *time > 0.0).unwrap_or(1.0);
    let names = launches.iter().flat_map(BTreeMap::keys).filter(|name| *name != DURATION);
    let value = |name: &String| {
        let read = || launches.iter().filter_map(|launch| Some((*launch.get(name)?, weight(launch))));
        if name.ends_with(".sum") {
            return read().map(|(value, _)| value).sum();
        }
        let total: f64 = read().map(|(_, weight)| weight).sum();
        read().map(|(value, weight)| value * weight).sum::<f64>() / total
    };
    names.map(|name| (own_name(name).to_owned(), value(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"==PROF== Connected to process 4242 (/usr/bin/tunesmith)
==PROF== Profiling "copy" - 0: 0%....50%....100% - 5 passes
==PROF== Profiling "copy<float, (int)4>" - 1: 0%....50%....100% - 5 passes
==PROF== Disconnected from process 4242
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__sectors_read.sum","dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum","lts__t_sectors_op_write.sum"
"","","","","","","","","","","","sector","%","ns","sector"
"0","4242","tunesmith","127.0.0.1","copy","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","16,384","40.00","1,000","n/a"
"1","4242","tunesmith","127.0.0.1","copy<float, (int)4>","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","1,000,000.5","80.00","3,000","12"
"#;

    #[test]
    fn sums_are_added_and_shares_averaged_by_time() {
        let read = read(LOG).unwrap();
        let expected = [
            ("dram__sectors_read.sum", 1_016_384.5),
            ("dram__throughput.avg.pct_of_peak_sustained_elapsed", 70.0),
            ("lts__t_sectors_op_write.sum", 12.0),
        ];
        assert_eq!(read, expected.map(|(name, value)| (name.to_owned(), value)).into());
    }

    #[test]
    fn a_missing_permission_is_told_with_its_remedy() {
        let log = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance \
            Counters on the target device 0.\n";
        assert!(read(log).unwrap_err().contains("NVreg_RestrictProfilingToAdminUsers=0"));
    }

    #[test]
    fn a_log_without_launches_says_what_went_wrong() {
        let error = |log: &str| read(log).unwrap_err();
        assert_eq!(
            error("==ERROR== Failed to find metric x\n"),
            "Nsight Compute saw no launch: Failed to find metric x"
        );
        assert_eq!(error("==WARNING== No kernels were profiled.\n"), "Nsight Compute saw no launch");
        assert!(error(LOG.lines().take(6).collect::<Vec<_>>().join("\n").as_str()).contains("no launch"), "cut");
    }

    #[test]
    fn the_command_line_names_metrics_and_log() {
        let line = command(Path::new("/cuda/ncu"), Path::new("/tmp/log"), &["a__b.sum"]).join(" ");
        assert!(line.starts_with("/cuda/ncu --csv --page raw") && line.contains("--log-file /tmp/log"), "{line}");
        assert!(line.ends_with("--metrics a__b.sum,gpu__time_duration.sum"), "{line}");
    }
}
