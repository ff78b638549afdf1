//! The errors of the HIP runtime. Their numbers are the same since ROCm 5.

use crate::backends::gpu::native::{ErrorKind, ErrorTable};

/// The errors whose meaning is known.
pub(super) static ERRORS: ErrorTable = ErrorTable(&[
    (1, "hipErrorInvalidValue", ErrorKind::InvalidValue),
    (2, "hipErrorOutOfMemory", ErrorKind::OutOfMemory),
    (9, "hipErrorInvalidConfiguration", ErrorKind::InvalidConfiguration),
    (98, "hipErrorInvalidDeviceFunction", ErrorKind::NoBinaryForDevice),
    (100, "hipErrorNoDevice", ErrorKind::NoDevice),
    (101, "hipErrorInvalidDevice", ErrorKind::InvalidDevice),
    (200, "hipErrorInvalidImage", ErrorKind::InvalidImage),
    (209, "hipErrorNoBinaryForGpu", ErrorKind::NoBinaryForDevice),
    (214, "hipErrorECCNotCorrectable", ErrorKind::EccUncorrectable),
    (218, "hipErrorInvalidKernelFile", ErrorKind::InvalidImage),
    (400, "hipErrorInvalidHandle", ErrorKind::InvalidHandle),
    (500, "hipErrorNotFound", ErrorKind::NotFound),
    (600, "hipErrorNotReady", ErrorKind::NotReady),
    (700, "hipErrorIllegalAddress", ErrorKind::IllegalAddress),
    (701, "hipErrorLaunchOutOfResources", ErrorKind::OutOfResources),
    (702, "hipErrorLaunchTimeOut", ErrorKind::Timeout),
    (709, "hipErrorContextIsDestroyed", ErrorKind::ContextDestroyed),
    (710, "hipErrorAssert", ErrorKind::Assert),
    (719, "hipErrorLaunchFailure", ErrorKind::LaunchFailed),
    (720, "hipErrorCooperativeLaunchTooLarge", ErrorKind::CooperativeTooLarge),
    (801, "hipErrorNotSupported", ErrorKind::NotSupported),
    (999, "hipErrorUnknown", ErrorKind::Other),
    // The HSA runtime below HIP failed. Nothing works afterwards.
    (1052, "hipErrorRuntimeMemory", ErrorKind::LaunchFailed),
    (1053, "hipErrorRuntimeOther", ErrorKind::LaunchFailed),
]);
