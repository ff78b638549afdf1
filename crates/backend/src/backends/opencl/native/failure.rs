//! Translates the error codes of OpenCL into faults of a configuration.

use crate::backends::Fault;
use opencl3::error_codes::{
    CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_WORK_DIMENSION, CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE,
    CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES, ClError,
};

/// Returns the fault for an error before a kernel runs. The device may merely not accept the
/// configuration.
pub(super) fn before_launch(what: &str, error: ClError) -> Fault {
    const REFUSALS: [i32; 7] = [
        CL_INVALID_GLOBAL_WORK_SIZE,
        CL_INVALID_WORK_DIMENSION,
        CL_INVALID_WORK_GROUP_SIZE,
        CL_INVALID_WORK_ITEM_SIZE,
        CL_MEM_OBJECT_ALLOCATION_FAILURE,
        CL_OUT_OF_HOST_MEMORY,
        CL_OUT_OF_RESOURCES,
    ];
    let text = format!("{what}: {error}");
    if REFUSALS.contains(&error.0) { Fault::Refused(text) } else { Fault::Failed(text) }
}

/// Returns the fault for an error that the configuration cannot have caused.
pub(super) fn failed(what: &str, error: ClError) -> Fault {
    Fault::Failed(format!("{what}: {error}"))
}
