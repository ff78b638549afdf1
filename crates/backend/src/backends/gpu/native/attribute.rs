//! Properties of devices and kernels that drivers report.

use serde::Deserialize;

/// A property of a device. Scripts call it by the CUDA driver API's name without
/// `CU_DEVICE_ATTRIBUTE_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Attribute {
    ComputeCapabilityMajor,
    ComputeCapabilityMinor,
    MultiprocessorCount,
    /// In kHz.
    ClockRate,
    /// In kHz.
    MemoryClockRate,
    GlobalMemoryBusWidth,
    L2CacheSize,
    WarpSize,
    MaxThreadsPerBlock,
    MaxBlockDimX,
    MaxBlockDimY,
    MaxBlockDimZ,
    /// The shared memory of a block that asked for it.
    MaxSharedMemoryPerBlockOptin,
    MaxSharedMemoryPerBlock,
    MaxSharedMemoryPerMultiprocessor,
    TotalConstantMemory,
    MaxRegistersPerBlock,
    MaxRegistersPerMultiprocessor,
    MaxThreadsPerMultiprocessor,
    MaxBlocksPerMultiprocessor,
    MaxGridDimX,
    PciDomainId,
    PciBusId,
    PciDeviceId,
}

/// A property of a kernel. Scripts call it by the CUDA driver API's name without
/// `CU_FUNC_ATTRIBUTE_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum FunctionAttribute {
    MaxThreadsPerBlock,
    /// Shared memory that the source declares, in bytes.
    SharedSizeBytes,
    ConstSizeBytes,
    LocalSizeBytes,
    /// Registers of a thread.
    NumRegs,
}
