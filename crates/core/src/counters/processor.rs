//! Counters of any processor, with our own names. `perf_event` counters and symbolic counts of a
//! kernel can fill them.

use super::counter::Kind::{Operations, Stress};
use super::counter::{Counter, counter};

/// The last cache before memory takes the place of a GPU's L2, and the first cache that of its
/// texture cache. Utilisations are shares of the peak.
pub(super) const COUNTERS: &[Counter] = &[
    counter("instructions", "INST_EXE", Operations, "instructions", 1.0),
    counter("instructions.f16", "INST_F16", Operations, "instructions", 1.0),
    counter("instructions.f32", "INST_F32", Operations, "instructions", 1.0),
    counter("instructions.f64", "INST_F64", Operations, "instructions", 1.0),
    counter("instructions.integer", "INST_INT", Operations, "instructions", 1.0),
    counter("instructions.memory", "INST_LDST", Operations, "instructions", 1.0),
    counter("instructions.branch", "INST_CONT", Operations, "instructions", 1.0),
    counter("instructions.convert", "INST_BCONV", Operations, "instructions", 1.0),
    counter("instructions.other", "INST_MISC", Operations, "instructions", 1.0),
    counter("memory.bytes_read", "DRAM_RT", Operations, "bytes", 1.0),
    counter("memory.bytes_written", "DRAM_WT", Operations, "bytes", 1.0),
    counter("memory.utilisation", "DRAM_U", Stress, "share", 1.0),
    counter("last_cache.bytes_read", "L2_RT", Operations, "bytes", 1.0),
    counter("last_cache.bytes_written", "L2_WT", Operations, "bytes", 1.0),
    counter("last_cache.utilisation", "L2_U", Stress, "share", 1.0),
    counter("first_cache.bytes", "TEX_RWT", Operations, "bytes", 1.0),
    counter("first_cache.utilisation", "TEX_U", Stress, "share", 1.0),
    counter("issue.utilisation", "INST_ISSUE_U", Operations, "share", 1.0),
    counter("cycles", "", Stress, "cycles", 1.0),
    counter("branches.missed", "", Stress, "branches", 1.0),
    counter("first_cache.missed", "", Operations, "loads", 1.0),
    counter("cores.busy", "SM_E", Stress, "share", 1.0),
];
