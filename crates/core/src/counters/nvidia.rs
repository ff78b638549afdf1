//! The counters of NVIDIA GPUs, as CUPTI names them and KTT collects them.
//!
//! Table 1 of the paper states which of them have the same meaning. Shares of the peak come as
//! levels of 10, as per cent, or as the threads of 32 that a warp executes.

use super::counter::Kind::{Operations, Stress};
use super::counter::{Counter, counter};

/// A utilisation in eleven levels, 0 to 10.
const LEVEL: (&str, f64) = ("level of 10", 0.1);
const PERCENT: (&str, f64) = ("%", 0.01);

const fn operations(name: &'static str, quantity: &'static str, unit: &'static str) -> Counter {
    counter(name, quantity, Operations, unit, 1.0)
}

const fn stress(name: &'static str, quantity: &'static str, (unit, scale): (&'static str, f64)) -> Counter {
    counter(name, quantity, Stress, unit, scale)
}

pub(super) const BEFORE_VOLTA: &[Counter] = &[
    stress("dram_utilization", "DRAM_U", LEVEL),
    operations("dram_read_transactions", "DRAM_RT", "transactions"),
    operations("dram_write_transactions", "DRAM_WT", "transactions"),
    stress("l2_utilization", "L2_U", LEVEL),
    operations("l2_read_transactions", "L2_RT", "transactions"),
    operations("l2_write_transactions", "L2_WT", "transactions"),
    stress("tex_utilization", "TEX_U", LEVEL),
    operations("tex_cache_transactions", "TEX_RWT", "transactions"),
    counter("local_memory_overhead", "LOC_O", Operations, "%", 0.01),
    stress("shared_utilization", "SHR_U", LEVEL),
    stress("shared_efficiency", "SHR_E", PERCENT),
    operations("shared_load_transactions", "SHR_LT", "transactions"),
    operations("shared_store_transactions", "SHR_WT", "transactions"),
    operations("local_load_transactions", "LOC_LT", "transactions"),
    operations("local_store_transactions", "LOC_WT", "transactions"),
    stress("achieved_occupancy", "OCC", ("share", 1.0)),
    stress("sm_efficiency", "SM_E", PERCENT),
    operations("inst_fp_16", "INST_F16", "instructions"),
    operations("inst_fp_32", "INST_F32", "instructions"),
    operations("inst_fp_64", "INST_F64", "instructions"),
    operations("inst_integer", "INST_INT", "instructions"),
    operations("inst_control", "INST_CONT", "instructions"),
    operations("inst_compute_ld_st", "INST_LDST", "instructions"),
    operations("inst_misc", "INST_MISC", "instructions"),
    operations("inst_bit_convert", "INST_BCONV", "instructions"),
    operations("inst_executed", "INST_EXE", "instructions of a warp"),
    stress("half_precision_fu_utilization", "", LEVEL),
    stress("single_precision_fu_utilization", "", LEVEL),
    // The authors' program treats it as a quantity to raise. No other set has it.
    stress("flop_sp_efficiency", "FLOP_SP_E", PERCENT),
    stress("double_precision_fu_utilization", "", LEVEL),
    stress("flop_dp_efficiency", "", PERCENT),
    stress("special_fu_utilization", "SFU_U", LEVEL),
    stress("cf_fu_utilization", "", LEVEL),
    stress("ldst_fu_utilization", "", LEVEL),
    stress("tex_fu_utilization", "TEXFU_U", LEVEL),
    // Table 1 lists it among the operations: the share of cycles that cannot issue.
    counter("issue_slot_utilization", "INST_ISSUE_U", Operations, "%", 0.01),
    stress("warp_execution_efficiency", "WARP_E", PERCENT),
    stress("warp_nonpred_execution_efficiency", "WARP_NP_E", PERCENT),
];

pub(super) const VOLTA: &[Counter] = &[
    stress("dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM_U", PERCENT),
    operations("dram__sectors_read.sum", "DRAM_RT", "sectors"),
    operations("dram__sectors_write.sum", "DRAM_WT", "sectors"),
    stress("lts__t_sectors.avg.pct_of_peak_sustained_elapsed", "L2_U", PERCENT),
    operations("lts__t_sectors_op_read.sum", "L2_RT", "sectors"),
    operations("lts__t_sectors_op_write.sum", "L2_WT", "sectors"),
    stress("l1tex__t_requests_pipe_lsu_mem_global_op_ld.avg.pct_of_peak_sustained_active", "TEX_U", PERCENT),
    operations("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "TEX_RWT", "requests"),
    stress("l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed", "SHR_U", PERCENT),
    operations("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "SHR_LT", "wavefronts"),
    operations("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "SHR_WT", "wavefronts"),
    operations("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "LOC_LT", "sectors"),
    operations("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "LOC_WT", "sectors"),
    stress("sm__warps_active.avg.pct_of_peak_sustained_active", "OCC", PERCENT),
    stress("smsp__cycles_active.avg.pct_of_peak_sustained_elapsed", "SM_E", PERCENT),
    operations("smsp__sass_thread_inst_executed_op_fp16_pred_on.sum", "INST_F16", "instructions"),
    operations("smsp__sass_thread_inst_executed_op_fp32_pred_on.sum", "INST_F32", "instructions"),
    operations("smsp__sass_thread_inst_executed_op_fp64_pred_on.sum", "INST_F64", "instructions"),
    operations("smsp__sass_thread_inst_executed_op_integer_pred_on.sum", "INST_INT", "instructions"),
    operations("smsp__sass_thread_inst_executed_op_control_pred_on.sum", "INST_CONT", "instructions"),
    operations("smsp__sass_thread_inst_executed_op_memory_pred_on.sum", "INST_LDST", "instructions"),
    operations("smsp__sass_thread_inst_executed_op_misc_pred_on.sum", "INST_MISC", "instructions"),
    operations("smsp__sass_thread_inst_executed_op_conversion_pred_on.sum", "INST_BCONV", "instructions"),
    operations("smsp__inst_executed.sum", "INST_EXE", "instructions of a warp"),
    operations("smsp__inst_executed_pipe_fp16.sum", "", "instructions of a warp"),
    stress("smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", "", PERCENT),
    stress("smsp__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active", "", PERCENT),
    stress("smsp__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", "SFU_U", PERCENT),
    stress("smsp__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", "", PERCENT),
    stress("smsp__inst_executed_pipe_tex.avg.pct_of_peak_sustained_active", "TEXFU_U", PERCENT),
    counter("smsp__issue_active.avg.pct_of_peak_sustained_active", "INST_ISSUE_U", Operations, "%", 0.01),
    stress("smsp__thread_inst_executed_per_inst_executed.ratio", "WARP_E", ("threads of 32", 1.0 / 32.0)),
    stress("smsp__thread_inst_executed_per_inst_executed.pct", "WARP_NP_E", PERCENT),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_1_is_complete_on_both_sides() {
        let table = [
            "DRAM_RT",
            "DRAM_WT",
            "L2_RT",
            "L2_WT",
            "TEX_RWT",
            "SHR_LT",
            "SHR_WT",
            "INST_F32",
            "INST_F64",
            "INST_INT",
            "INST_MISC",
            "INST_LDST",
            "INST_CONT",
            "INST_BCONV",
            "INST_EXE",
            "INST_ISSUE_U",
            "DRAM_U",
            "L2_U",
            "TEX_U",
            "SHR_U",
            "SM_E",
            "WARP_E",
            "WARP_NP_E",
        ];
        for quantity in table {
            for set in [BEFORE_VOLTA, VOLTA] {
                assert!(set.iter().any(|counter| counter.quantity == quantity), "{quantity}");
            }
        }
        assert_eq!((BEFORE_VOLTA.len(), VOLTA.len()), (38, 33), "as many as KTT collects");
    }
}
