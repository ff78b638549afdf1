//! Hardware counters of NVIDIA chips, as the tuner knows them.

use crate::backends::Absent;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The counters of one chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChipCounters {
    /// NVIDIA's name of the chip: `GH100`.
    pub chip: String,
    /// How often a kernel is launched to read all of them.
    pub passes: usize,
    /// Those that the chip has, in the order of the table.
    pub counters: Vec<ResolvedCounter>,
    /// Those that it lacks, by name.
    pub unavailable: Vec<String>,
}

/// A counter of a chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedCounter {
    /// Its name in the table.
    pub name: String,
    /// What the chip's tools call it, mostly the same.
    pub metric: String,
    /// How often a kernel would be launched to read this one alone.
    pub passes: usize,
}

/// A question to a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CountersTask {
    /// The folder in which NVIDIA's libraries are looked for first.
    pub(crate) libraries: Option<PathBuf>,
    /// The chips; none for those of this machine's GPUs.
    pub(crate) chips: Vec<String>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NoCounters {
    /// Something is missing.
    Absent(Absent),
    /// A chip was asked for that there is none of.
    UnknownChip(Absent),
}

/// Chips on which half-precision instructions run in the pipe of the multiply-adds (from GA10x and
/// Hopper on) count them there, by another name.
pub(super) const OTHER_NAMES: [(&str, &str); 1] =
    [("smsp__inst_executed_pipe_fp16.sum", "smsp__inst_executed_pipe_fma_type_fp16.sum")];

/// Returns what a GPU of this compute capability calls the counter `name` of the table.
pub(crate) fn name_on(compute_capability: f64, name: &'static str) -> &'static str {
    let other = OTHER_NAMES.iter().find(|(own, _)| *own == name).filter(|_| compute_capability > 8.5);
    other.map_or(name, |(_, other)| other)
}

/// Returns what the table calls the counter that a GPU calls `name`.
pub(crate) fn own_name(name: &str) -> &str {
    OTHER_NAMES.iter().find(|(_, other)| *other == name).map_or(name, |(own, _)| own)
}

/// How to get counters, as it follows an explanation.
pub(crate) const REMEDY: &str = "install CUDA 12.6 or later with its CUPTI, or name its folder in TUNESMITH_NVIDIA \
    (scripts/nvidia-wheels fetches one)";

/// How to be permitted.
pub(crate) const PERMISSION_REMEDY: &str = "run as root (in a container with --cap-add=SYS_ADMIN), or write `options nvidia \
    NVreg_RestrictProfilingToAdminUsers=0` to /etc/modprobe.d/nvidia.conf and restart; \
    see https://developer.nvidia.com/ERR_NVGPUCTRPERM";

/// How to get around a CUPTI that crashes.
pub(crate) const CRASH_REMEDY: &str = "without a driver take CUPTI 12.6 to 13.1, whose later releases crash: \
    scripts/nvidia-wheels fetches one for TUNESMITH_NVIDIA";
