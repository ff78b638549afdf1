//! The status codes of CUPTI.

use crate::backends::cuda::counters::{PERMISSION_REMEDY, REMEDY};
use thiserror::Error;

/// The reason why CUPTI refused a call.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum Refusal {
    /// The library is missing.
    #[error("CUPTI cannot be opened: {0}")]
    Missing(String),
    /// The library is too old for the interfaces used.
    #[error("CUPTI has no `{0}`: it is older than CUDA 12.6")]
    Old(&'static str),
    /// Only administrators may read counters (ERR_NVGPUCTRPERM in NVIDIA's tools).
    #[error("the driver lets only administrators read counters (ERR_NVGPUCTRPERM)")]
    Permission,
    /// A call failed with this status.
    #[error("{function} fails with status {status}{}", meaning(*status))]
    Failed {
        /// The function.
        function: &'static str,
        /// The function's status.
        status: i32,
    },
}

impl Refusal {
    /// Converts a status to a refusal. 0 means success.
    pub(super) fn check(function: &'static str, status: i32) -> Result<(), Self> {
        match status {
            0 => Ok(()),
            INSUFFICIENT_PRIVILEGES | VIRTUAL_INSUFFICIENT_PRIVILEGES => Err(Self::Permission),
            status => Err(Self::Failed { function, status }),
        }
    }

    /// Returns true if CUPTI does not know the chip.
    pub(super) fn is_unknown_chip(&self) -> bool {
        matches!(self, Self::Failed { status: INVALID_CHIP_NAME, .. })
    }

    /// Returns the refusal and its remedy as a text.
    pub(crate) fn explained(&self) -> String {
        format!("{self}; {}", self.remedy())
    }

    /// Returns the remedy.
    pub(crate) fn remedy(&self) -> &'static str {
        match self {
            Self::Permission => PERMISSION_REMEDY,
            Self::Failed { status: HARDWARE_BUSY | MULTIPLE_SUBSCRIBERS, .. } => {
                "end the other program that profiles on this GPU (Nsight, DCGM: `dcgmi profile --pause`)"
            }
            Self::Missing(_) | Self::Old(_) | Self::Failed { .. } => REMEDY,
        }
    }
}

const HARDWARE_BUSY: i32 = 26;
const INSUFFICIENT_PRIVILEGES: i32 = 35;
const MULTIPLE_SUBSCRIBERS: i32 = 39;
const VIRTUAL_INSUFFICIENT_PRIVILEGES: i32 = 40;
const INVALID_CHIP_NAME: i32 = 46;

/// Returns the text of CUPTI's reference for a status that users can act on.
fn meaning(status: i32) -> &'static str {
    match status {
        11 | 27 => " (the driver or the GPU does not support it)",
        15 => " (there is no driver)",
        HARDWARE_BUSY => " (another program uses the counters)",
        MULTIPLE_SUBSCRIBERS => " (another profiler is attached)",
        41 => " (not with confidential computing)",
        42..=45 => " (not on this kind of device: mining, MIG, SLI or WSL)",
        INVALID_CHIP_NAME => " (it does not know the chip)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_permission_is_told_with_its_remedy() {
        for status in [35, 40] {
            let refusal = Refusal::check("cuptiRangeProfilerEnable", status).unwrap_err();
            assert!(refusal.to_string().contains("ERR_NVGPUCTRPERM"));
            assert!(refusal.remedy().contains("NVreg_RestrictProfilingToAdminUsers=0"));
        }
    }

    #[test]
    fn other_statuses_name_the_function() {
        assert_eq!(Refusal::check("f", 0), Ok(()));
        let busy = Refusal::check("cuptiX", 26).unwrap_err();
        assert_eq!(busy.to_string(), "cuptiX fails with status 26 (another program uses the counters)");
        assert!(busy.remedy().contains("dcgmi"));
        assert!(Refusal::check("f", 46).unwrap_err().is_unknown_chip());
    }
}
