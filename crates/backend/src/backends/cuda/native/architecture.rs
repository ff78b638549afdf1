//! Devices that only compile: an architecture, without a GPU and its driver.

use crate::backends::Absent;
use crate::backends::cuda::native::describe::CudaToolchain;
use crate::backends::cuda::native::nvrtc::missing_compiler;
use crate::backends::gpu::GpuDevice;
use crate::backends::gpu::native::Toolchain;
use crate::host::{CudaSetup, GpuSetup};
use std::collections::BTreeMap;

/// The limits of a compute capability that differ between them: the shared memory of a block in
/// KiB, and the threads and blocks of a multiprocessor. From the table "Technical Specifications
/// per Compute Capability" of NVIDIA's CUDA C++ Programming Guide.
const CAPABILITIES: [(u32, u32, u32, u32); 10] = [
    (70, 96, 2048, 32),
    (75, 64, 1024, 16),
    (80, 163, 2048, 32),
    (86, 99, 1536, 16),
    (87, 163, 1536, 16),
    (89, 99, 1536, 24),
    (90, 227, 2048, 32),
    (100, 227, 2048, 32),
    (103, 227, 2048, 32),
    (120, 99, 1536, 24),
];

/// The limits that all of them share.
const COMMON: [(&str, f64); 9] = [
    ("warp_size", 32.0),
    ("max_work_group_size", 1024.0),
    ("max_work_item_size_0", 1024.0),
    ("max_work_item_size_1", 1024.0),
    ("max_work_item_size_2", 64.0),
    ("static_local_memory", 49152.0),
    ("constant_memory", 65536.0),
    ("registers", 65536.0),
    ("max_groups_0", 2_147_483_647.0),
];

/// Returns the device of an architecture that NVRTC compiles for.
///
/// # Errors
/// The reason why there is none: no compiler, or a name that it does not know.
pub(crate) fn describe_architecture(setup: &CudaSetup, name: &str) -> Result<GpuDevice, Absent> {
    let toolchain = CudaToolchain::open(setup)?;
    let (compiler, architectures) = (toolchain.name(), &toolchain.architectures);
    let known: Vec<u32> = CAPABILITIES.iter().map(|(capability, ..)| *capability).collect();
    let known = known.into_iter().filter(|one| architectures.as_ref().is_none_or(|list| list.contains(one)));
    let known: Vec<u32> = known.collect();
    let number = name.strip_prefix("sm_").and_then(|digits| digits.parse::<u32>().ok());
    let Some(limits) = number.filter(|number| known.contains(number)).and_then(limits) else {
        let names: Vec<String> = known.iter().map(|capability| format!("sm_{capability}")).collect();
        let reason = format!("{compiler} compiles for no `{name}`");
        return Err(Absent { remedy: format!("choose from {}", names.join(", ")), ..missing_compiler(&reason) });
    };
    Ok(GpuDevice {
        managed: None,
        index: 0,
        name: format!("{name}, compiled only"),
        driver: "none".to_owned(),
        compiler,
        architecture: name.to_owned(),
        headers: toolchain.headers(),
        limits,
        setup: GpuSetup::Cuda(setup.clone()),
    })
}

/// Returns the limits of a compute capability, ten times its number.
fn limits(capability: u32) -> Option<BTreeMap<String, f64>> {
    let (_, shared, threads, blocks) = CAPABILITIES.into_iter().find(|(known, ..)| *known == capability)?;
    // Since 8.0 the system keeps one KiB of a multiprocessor's shared memory for each block.
    let kept = if capability < 80 { 0 } else { 1 };
    let own = [
        ("compute_capability", f64::from(capability) / 10.0),
        ("local_memory", f64::from(shared) * 1024.0),
        ("local_memory_per_multiprocessor", f64::from(shared + kept) * 1024.0),
        ("max_threads_per_multiprocessor", f64::from(threads)),
        ("max_blocks_per_multiprocessor", f64::from(blocks)),
        ("registers_per_multiprocessor", 65536.0),
    ];
    Some(COMMON.into_iter().chain(own).map(|(name, value)| (name.to_owned(), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_kernel::LIMIT_NAMES;

    #[test]
    fn an_architecture_has_the_limits_of_its_gpus_under_the_names_of_constraints() {
        let limits = limits(90).unwrap();
        assert_eq!(limits["local_memory"], 232448.0);
        assert_eq!(limits["compute_capability"], 9.0);
        let unknown: Vec<&String> = limits.keys().filter(|name| !LIMIT_NAMES.contains(&name.as_str())).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        assert_eq!(super::limits(42), None);
    }
}
