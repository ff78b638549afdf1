//! Devices that only compile: an architecture, without a GPU and its runtime.

use crate::backends::Absent;
use crate::backends::gpu::GpuDevice;
use crate::backends::gpu::native::{Compilation, RuntimeCompiler};
use crate::backends::hip::native::hiprtc::{Hiprtc, missing_compiler};
use crate::host::{GpuSetup, HipSetup};
use std::collections::BTreeMap;

/// The limits of an architecture that differ between them: the threads of a wavefront and the local
/// memory of a block in KiB. From the tables of AMD's HIP documentation ("Hardware features") and
/// of its data-center GPUs.
const ARCHITECTURES: [(&str, u32, u32); 14] = [
    ("gfx900", 64, 64),
    ("gfx906", 64, 64),
    ("gfx908", 64, 64),
    ("gfx90a", 64, 64),
    ("gfx942", 64, 64),
    ("gfx950", 64, 160),
    ("gfx1030", 32, 64),
    ("gfx1100", 32, 64),
    ("gfx1101", 32, 64),
    ("gfx1102", 32, 64),
    ("gfx1150", 32, 64),
    ("gfx1151", 32, 64),
    ("gfx1200", 32, 64),
    ("gfx1201", 32, 64),
];

/// The limits that all of them share.
const COMMON: [(&str, f64); 5] = [
    ("max_work_group_size", 1024.0),
    ("max_work_item_size_0", 1024.0),
    ("max_work_item_size_1", 1024.0),
    ("max_work_item_size_2", 1024.0),
    ("max_groups_0", 2_147_483_647.0),
];

/// Returns the device of an architecture that hiprtc compiles for.
///
/// # Errors
/// The reason why there is none: no compiler, or a name that it does not know.
pub(crate) fn describe_architecture(setup: &HipSetup, name: &str) -> Result<GpuDevice, Absent> {
    let compiler = Hiprtc::find(setup.libraries.as_deref())?;
    let Some(limits) = limits(name) else {
        let known: Vec<&str> = ARCHITECTURES.iter().map(|(known, ..)| *known).collect();
        let reason = format!("the limits of no `{name}` are known");
        return Err(Absent { remedy: format!("choose from {}", known.join(", ")), ..missing_compiler(&reason) });
    };
    if !compiles(&compiler, name) {
        return Err(missing_compiler(&format!("{} makes no code for `{name}`: it is too old", compiler.name())));
    }
    Ok(GpuDevice {
        managed: None,
        index: 0,
        name: format!("{name}, compiled only"),
        driver: "none".to_owned(),
        compiler: compiler.name(),
        architecture: name.to_owned(),
        headers: Vec::new(),
        limits,
        setup: GpuSetup::Hip(setup.clone()),
    })
}

/// Returns true if the compiler makes code for an architecture. No function of it lists those that
/// it knows. The compiler of ROCm 5.2 ends the process instead, which the asking side reports.
fn compiles(compiler: &Hiprtc, name: &str) -> bool {
    let options = [format!("--offload-arch={name}")];
    let source = "extern \"C\" __global__ void nothing() {}\n";
    compiler.compile(&Compilation { source, name: "nothing.hip", options: &options, names: &[] }).is_ok()
}

/// Returns the limits of an architecture.
fn limits(name: &str) -> Option<BTreeMap<String, f64>> {
    let (_, wavefront, shared) = ARCHITECTURES.into_iter().find(|(known, ..)| *known == name)?;
    let shared = f64::from(shared) * 1024.0;
    let own = [("warp_size", f64::from(wavefront)), ("local_memory", shared), ("static_local_memory", shared)];
    Some(COMMON.into_iter().chain(own).map(|(name, value)| (name.to_owned(), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_kernel::LIMIT_NAMES;

    #[test]
    fn an_architecture_has_the_limits_of_its_gpus_under_the_names_of_constraints() {
        let (cdna, rdna) = (limits("gfx90a").unwrap(), limits("gfx1100").unwrap());
        assert_eq!((cdna["warp_size"], rdna["warp_size"]), (64.0, 32.0));
        assert_eq!(cdna["local_memory"], 65536.0);
        let unknown: Vec<&String> = cdna.keys().filter(|name| !LIMIT_NAMES.contains(&name.as_str())).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        assert_eq!(limits("gfx42"), None);
    }
}
