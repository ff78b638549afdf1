//! Hardware counters of NVIDIA chips: the tuner's side.

use crate::backends::Absent;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The counters of one chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChipCounters {
    /// NVIDIA's name of the chip, such as `GH100`.
    pub chip: String,
    /// The number of passes needed to read all of its counters. Each pass launches the kernel
    /// again.
    pub passes: usize,
    /// The counters of the chip, in the order of the table.
    pub counters: Vec<ResolvedCounter>,
    /// The names of the table's counters that the chip lacks.
    pub unavailable: Vec<String>,
}

/// A counter of a chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedCounter {
    /// The counter's name in the table.
    pub name: String,
    /// The counter's name in the chip's tools, which is mostly the same.
    pub metric: String,
    /// The number of passes needed to read this counter alone.
    pub passes: usize,
}

/// A request to a worker for the counters of chips.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountersTask {
    /// The folder to search first for NVIDIA's libraries.
    pub libraries: Option<PathBuf>,
    /// The chips. Empty for those of this machine's GPUs.
    pub chips: Vec<String>,
}

/// The reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NoCounters {
    /// A missing part.
    Absent(Absent),
    /// A requested chip that is unknown.
    UnknownChip(Absent),
}

/// Other names of counters. On chips from GA10x and Hopper on, half-precision instructions run in
/// the pipe of the multiply-adds and are counted there.
pub(super) const OTHER_NAMES: [(&str, &str); 1] =
    [("smsp__inst_executed_pipe_fp16.sum", "smsp__inst_executed_pipe_fma_type_fp16.sum")];

/// Returns the name of the table's counter `name` on a GPU of this compute capability.
pub(crate) fn name_on(compute_capability: f64, name: &'static str) -> &'static str {
    let other = OTHER_NAMES.iter().find(|(own, _)| *own == name).filter(|_| compute_capability > 8.5);
    other.map_or(name, |(_, other)| other)
}

/// Returns the table's name of the counter that a GPU calls `name`.
pub(crate) fn own_name(name: &str) -> &str {
    OTHER_NAMES.iter().find(|(_, other)| *other == name).map_or(name, |(own, _)| own)
}

/// The way to get counters. The text follows an explanation.
pub(crate) const REMEDY: &str = "install CUDA 12.6 or later with its CUPTI, or name its folder in TUNESMITH_NVIDIA \
    (scripts/nvidia-wheels fetches one)";

/// The way to get permission to read counters.
pub(crate) const PERMISSION_REMEDY: &str = "run as root (in a container with --cap-add=SYS_ADMIN), or write \
    `options nvidia NVreg_RestrictProfilingToAdminUsers=0` to /etc/modprobe.d/nvidia.conf and restart; \
    see https://developer.nvidia.com/ERR_NVGPUCTRPERM";

/// The way around a CUPTI that crashes.
pub(crate) const CRASH_REMEDY: &str = "without a driver take CUPTI 12.6 to 13.1, whose later releases crash: \
    scripts/nvidia-wheels fetches one for TUNESMITH_NVIDIA";
