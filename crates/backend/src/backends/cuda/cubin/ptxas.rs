//! The report of `ptxas`, the assembler inside of NVRTC and nvcc (`--ptxas-options=-v`).

// Only NVRTC's side reads reports.
#![cfg_attr(not(feature = "cuda"), allow(dead_code))]

use serde::{Deserialize, Serialize};

/// The bytes of a thread that the compiler moved between registers and local memory because there
/// were too few registers: each move in the code once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spills {
    pub(crate) store_bytes: u64,
    pub(crate) load_bytes: u64,
}

impl Spills {
    /// Returns the spills of the kernel with the mangled name `function` in a report, if they are
    /// there.
    ///
    /// ```text
    /// ptxas info    : Function properties for _Z1fPf
    ///     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
    /// ```
    pub(crate) fn of(report: &str, function: &str) -> Option<Self> {
        let mut lines = report.lines();
        lines.find(|line| {
            line.split_once("Function properties for ").is_some_and(|(_, name)| name.trim() == function)
        })?;
        let bytes = |of: &str| {
            let part = lines.clone().next()?.split(',').find(|part| part.trim().ends_with(of))?.trim();
            part.strip_suffix(of)?.trim().strip_suffix("bytes")?.trim().parse().ok()
        };
        Some(Self { store_bytes: bytes("spill stores")?, load_bytes: bytes("spill loads")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REPORT: &str = "ptxas info    : 16 bytes gmem\n\
        ptxas info    : Compiling entry function '_Z1gv' for 'sm_90'\n\
        ptxas info    : Function properties for _Z1gv\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
        ptxas info    : Used 8 registers, used 0 barriers\n\
        ptxas info    : Compiling entry function '_Z1fPf' for 'sm_90'\n\
        ptxas info    : Function properties for _Z1fPf\n    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n\
        ptxas info    : Used 255 registers, used 0 barriers, 8 bytes cumulative stack size\n";

    #[test]
    fn the_spills_of_each_kernel_are_its_own() {
        assert_eq!(Spills::of(REPORT, "_Z1fPf"), Some(Spills { store_bytes: 4, load_bytes: 12 }));
        assert_eq!(Spills::of(REPORT, "_Z1gv"), Some(Spills { store_bytes: 0, load_bytes: 0 }));
        assert_eq!(Spills::of(REPORT, "_Z1f"), None);
        assert_eq!(Spills::of("", "_Z1fPf"), None);
    }

    proptest! {
        #[test]
        fn a_report_cut_off_anywhere_is_read_without_panic(end in any::<prop::sample::Index>()) {
            let cut = &REPORT[..end.index(REPORT.len())];
            Spills::of(cut, "_Z1fPf");
        }
    }
}
