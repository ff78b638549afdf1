//! Which column of a CSV is what.

use super::number::milliseconds;
use super::sidecar::Sidecar;
use tunesmith_core::recording::Column;

/// The counters of NVIDIA's profiler before Volta, as KTT collects them. Later ones have `__` in their names.
const COUNTERS: [&str; 38] = [
    "dram_utilization",
    "dram_read_transactions",
    "dram_write_transactions",
    "l2_utilization",
    "l2_read_transactions",
    "l2_write_transactions",
    "tex_utilization",
    "tex_cache_transactions",
    "local_memory_overhead",
    "shared_utilization",
    "shared_efficiency",
    "shared_load_transactions",
    "shared_store_transactions",
    "local_load_transactions",
    "local_store_transactions",
    "achieved_occupancy",
    "sm_efficiency",
    "inst_fp_16",
    "inst_fp_32",
    "inst_fp_64",
    "inst_integer",
    "inst_control",
    "inst_compute_ld_st",
    "inst_misc",
    "inst_bit_convert",
    "inst_executed",
    "half_precision_fu_utilization",
    "single_precision_fu_utilization",
    "flop_sp_efficiency",
    "double_precision_fu_utilization",
    "flop_dp_efficiency",
    "special_fu_utilization",
    "cf_fu_utilization",
    "ldst_fu_utilization",
    "tex_fu_utilization",
    "issue_slot_utilization",
    "warp_execution_efficiency",
    "warp_nonpred_execution_efficiency",
];

/// Columns of KTT that stand before the parameters.
const BEFORE: [&str; 7] =
    ["Kernel name", "Computation duration (us)", "Global size", "Local size", "run", "step", "profiled"];

/// What a column holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Role {
    /// Values of the parameter with this place.
    Parameter(usize),
    /// The time, in units of so many milliseconds.
    Time(f64),
    Status,
    RelStd,
    Compile,
    Benchmark,
    Verification,
    Framework,
    Search,
    Kernel,
    Counter,
    /// Another number of the run, or nothing that is kept.
    Further,
}

/// The columns of a CSV with the roles of their names.
pub(super) struct Columns {
    pub(super) roles: Vec<Role>,
    pub(super) parameters: Vec<Column>,
}

impl Columns {
    /// The columns named in `header`. The sidecar's parameters are the parameters; without any they are the columns before
    /// the status, the time or the first counter, other than those that KTT writes before them.
    pub(super) fn new(header: &[&str], sidecar: &Sidecar) -> Self {
        let mut parameters = sidecar.columns.clone();
        if parameters.is_empty() {
            let is_before = |name: &&&str| BEFORE.contains(*name);
            let starts = header.iter().take_while(is_before).count();
            let is_parameter = |name: &&&str| is_plain(name, sidecar);
            let names = header[starts..].iter().take_while(is_parameter);
            parameters = names.map(|name| Column::of_rows(*name)).collect();
        }
        let role = |name: &&str| match parameters.iter().position(|parameter| parameter.name == *name) {
            Some(at) => Role::Parameter(at),
            None => role(name, sidecar),
        };
        Self { roles: header.iter().map(role).collect(), parameters }
    }
}

/// Whether a name is none of those that follow the parameters.
fn is_plain(name: &str, sidecar: &Sidecar) -> bool {
    role(name, sidecar) == Role::Further
}

fn role(name: &str, sidecar: &Sidecar) -> Role {
    match name {
        "status" => Role::Status,
        "rel_std" => Role::RelStd,
        "compile_ms" => Role::Compile,
        "benchmark_ms" => Role::Benchmark,
        "verification_ms" => Role::Verification,
        "framework_ms" => Role::Framework,
        "search_ms" => Role::Search,
        "Kernel name" => Role::Kernel,
        "Computation duration (us)" => Role::Time(1e-3),
        _ if name.contains("__") || COUNTERS.contains(&name) || sidecar.counters.iter().any(|c| c == name) => {
            Role::Counter
        }
        _ => {
            let unit = name.strip_prefix("time_").or_else(|| name.strip_prefix("duration_"));
            unit.and_then(milliseconds).map_or(Role::Further, Role::Time)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_end_at_the_status_or_the_first_counter() {
        let names = |header: &[&str]| -> Vec<String> {
            Columns::new(header, &Sidecar::default()).parameters.into_iter().map(|column| column.name).collect()
        };
        assert_eq!(names(&["tile", "VEC", "time_ms", "status", "rel_std"]), ["tile", "VEC"]);
        let ktt = ["Kernel name", "Computation duration (us)", "Global size", "Local size", "X", "dram_utilization"];
        assert_eq!(names(&ktt), ["X"]);
        assert_eq!(names(&["run", "step", "profiled", "Y", "status", "duration_us", "registers"]), ["Y"]);
    }
}
