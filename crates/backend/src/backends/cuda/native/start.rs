//! Explains why NVIDIA's driver does not start.

use crate::backends::Absent;
use crate::backends::gpu::GpuApi;
use crate::backends::gpu::native::{DeviceFiles, DriverError, ErrorKind};
use std::path::Path;

/// The number of devices whose files are looked at.
const MOST_DEVICES: usize = 16;

/// Looks at the device files of this machine.
pub(super) fn device_files() -> DeviceFiles {
    let control = DeviceFiles::at(Path::new("/dev/nvidiactl"));
    if control != DeviceFiles::Usable {
        return control;
    }
    // A device that is there, but may not be opened, is as good as none.
    let devices = (0..MOST_DEVICES).map(|number| DeviceFiles::at(Path::new(&format!("/dev/nvidia{number}"))));
    let found: Vec<DeviceFiles> = devices.filter(|device| *device != DeviceFiles::Absent).collect();
    let is_denied = !found.is_empty() && !found.contains(&DeviceFiles::Usable);
    if is_denied { DeviceFiles::Denied } else { DeviceFiles::Usable }
}

/// Explains the error of a driver that does not start.
pub(super) fn unusable(error: &DriverError, files: DeviceFiles) -> Absent {
    let explained = |reason: &str, remedy: &str| Absent { reason: reason.to_owned(), remedy: remedy.to_owned() };
    match (error.kind(), files) {
        (_, DeviceFiles::Denied) => explained(
            "this user may not open the GPU's device files (/dev/nvidia*)",
            "join the group that `ls -l /dev/nvidia*` shows, or run `chmod a+rw /dev/nvidia*` as root; in a container, \
             pass the GPU on (`--gpus all`)",
        ),
        (ErrorKind::NoDevice, DeviceFiles::Absent) => explained(
            "the NVIDIA driver finds no GPU, because there are no device files (/dev/nvidia*)",
            "load the driver's module (`modprobe nvidia`, then `nvidia-smi`); in a container, pass the GPU on \
             (`--gpus all`)",
        ),
        (ErrorKind::SystemNotReady, _) => explained(
            "the GPUs of this machine are not connected yet (CUDA_ERROR_SYSTEM_NOT_READY)",
            "start the fabric manager (`systemctl start nvidia-fabricmanager`)",
        ),
        (ErrorKind::DriverMismatch, _) => explained(
            "the NVIDIA driver's library and its kernel module have different versions",
            "restart the machine, or load the module again (`rmmod nvidia_uvm nvidia`, `modprobe nvidia`)",
        ),
        (ErrorKind::NoDevice, _) => GpuApi::Cuda.missing_driver("the NVIDIA driver finds no GPU"),
        _ => GpuApi::Cuda.missing_driver(&format!("the NVIDIA driver does not start: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::cuda::native::driver::ERRORS;

    #[test]
    fn a_permission_is_told_from_a_missing_gpu() {
        let told = |kind, files| unusable(&ERRORS.of_kind(kind), files);
        let denied = told(ErrorKind::NoDevice, DeviceFiles::Denied);
        assert!(denied.reason.contains("may not open") && denied.remedy.contains("chmod"), "{denied:?}");
        let absent = told(ErrorKind::NoDevice, DeviceFiles::Absent);
        assert!(absent.remedy.contains("modprobe nvidia") && absent.remedy.contains("--gpus all"), "{absent:?}");
        let none = told(ErrorKind::NoDevice, DeviceFiles::Usable);
        assert_eq!(none, GpuApi::Cuda.missing_driver("the NVIDIA driver finds no GPU"));
        let early = told(ErrorKind::SystemNotReady, DeviceFiles::Usable);
        assert!(early.remedy.contains("nvidia-fabricmanager"), "{early:?}");
    }
}
