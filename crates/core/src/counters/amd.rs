//! The counters of AMD's data-center GPUs (gfx90a, gfx942), as rocprofiler-sdk names them in its
//! `counter_defs.yaml`. Those in capitals with `_sum` are summed over all instances of a unit.
//!
//! Integers, conversions and each operation on floats are counted as instructions of a wavefront of
//! 64. Multiply-adds stand for the operations on floats: `TOTAL_32_OPS` and its like also contain
//! integers.

use super::counter::Kind::{Operations, Stress};
use super::counter::{Counter, counter};

const PERCENT: (&str, f64) = ("%", 0.01);

/// The threads of a wavefront. An instruction is an operation of each.
const LANES: f64 = 64.0;

const fn operations(name: &'static str, quantity: &'static str, unit: &'static str) -> Counter {
    counter(name, quantity, Operations, unit, 1.0)
}

/// Returns a counter of instructions of which every thread counts.
const fn lanes(name: &'static str, quantity: &'static str) -> Counter {
    counter(name, quantity, Operations, "instructions of a wavefront", LANES)
}

const fn stress(name: &'static str, quantity: &'static str) -> Counter {
    counter(name, quantity, Stress, PERCENT.0, PERCENT.1)
}

pub(super) const COUNTERS: &[Counter] = &[
    counter("FETCH_SIZE", "DRAM_RT", Operations, "KiB", 1024.0),
    counter("WRITE_SIZE", "DRAM_WT", Operations, "KiB", 1024.0),
    operations("TCC_READ_sum", "L2_RT", "requests"),
    operations("TCC_WRITE_sum", "L2_WT", "requests"),
    operations("TCC_HIT_sum", "", "requests"),
    operations("TCC_MISS_sum", "", "requests"),
    stress("L2CacheHit", ""),
    operations("TCP_TOTAL_CACHE_ACCESSES_sum", "TEX_RWT", "accesses"),
    stress("MemUnitBusy", "TEX_U"),
    stress("MemUnitStalled", ""),
    stress("WriteUnitStalled", ""),
    // Loads and stores together.
    operations("SQ_INSTS_LDS", "", "instructions of a wavefront"),
    stress("LDSBankConflict", ""),
    stress("ALUStalledByLDS", ""),
    stress("GPUBusy", "SM_E"),
    counter("CU_OCCUPANCY", "OCC", Stress, "share", 1.0),
    operations("SQ_WAVES_sum", "", "wavefronts"),
    operations("SQ_INSTS", "INST_EXE", "instructions of a wavefront"),
    lanes("SQ_INSTS_VALU_FMA_F16", "INST_F16"),
    lanes("SQ_INSTS_VALU_FMA_F32", "INST_F32"),
    lanes("SQ_INSTS_VALU_FMA_F64", "INST_F64"),
    lanes("SQ_INSTS_VALU_ADD_F32", ""),
    lanes("SQ_INSTS_VALU_MUL_F32", ""),
    lanes("SQ_INSTS_VALU_ADD_F64", ""),
    lanes("SQ_INSTS_VALU_MUL_F64", ""),
    lanes("SQ_INSTS_VALU_TRANS_F32", ""),
    lanes("SQ_INSTS_VALU_INT32", "INST_INT"),
    lanes("SQ_INSTS_VALU_CVT", "INST_BCONV"),
    lanes("SQ_INSTS_VMEM", "INST_LDST"),
    lanes("SQ_INSTS_BRANCH", "INST_CONT"),
    operations("SQ_INSTS_SALU", "", "instructions of a wavefront"),
    operations("SQ_INSTS_SMEM", "", "instructions of a wavefront"),
    operations("TOTAL_16_OPS", "", "operations"),
    operations("TOTAL_32_OPS", "", "operations"),
    operations("TOTAL_64_OPS", "", "operations"),
    // As on NVIDIA's GPUs, the share of cycles that issue is an operation.
    counter("VALUBusy", "INST_ISSUE_U", Operations, "%", 0.01),
    stress("SALUBusy", ""),
    stress("VALUUtilization", "WARP_E"),
];
