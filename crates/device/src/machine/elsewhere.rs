//! Devices of other machines, for which this machine compiles.

use super::Machine;
use crate::backends::Target;
use crate::backends::gpu::{GpuApi, GpuDevice};
use crate::backends::opencl::OpenClDevice;
use crate::devices::{cuda_architecture, hip_architecture, opencl_devices};
use crate::error::DeviceError;

impl Machine {
    /// Returns a device of another machine with the compilers of this one. For a GPU of CUDA or HIP,
    /// the compiler is enough. An OpenCL compiler is part of its driver, so that this machine must
    /// have the device, too.
    ///
    /// # Errors
    /// The compiler is missing here, or does not compile for the device.
    pub fn compiler_for(&self, target: &Target) -> Result<Target, DeviceError> {
        match target {
            Target::Processor => Ok(Target::Processor),
            Target::OpenCl(device) => Ok(Target::OpenCl(Box::new(self.same_opencl(device)?))),
            Target::Gpu(device) => {
                let GpuDevice { compiler, headers, setup, .. } = self.gpu_compiler(device)?;
                Ok(Target::Gpu(Box::new(GpuDevice { compiler, headers, setup, ..device.as_ref().clone() })))
            }
        }
    }

    /// Returns the device of this machine that is the same as one of another machine.
    fn same_opencl(&self, device: &OpenClDevice) -> Result<OpenClDevice, DeviceError> {
        let found = opencl_devices(&self.worker)?
            .into_iter()
            .find(|own| (&own.name, &own.platform, &own.driver) == (&device.name, &device.platform, &device.driver));
        found.ok_or_else(|| DeviceError::Absent {
            driver: "OpenCL",
            which: format!("{} of {} ({})", device.name, device.platform, device.driver),
            remedy: "a worker compiles for OpenCL where the same driver has the same device".to_owned(),
        })
    }

    /// Returns the architecture of a GPU as the compiler of this machine knows it.
    fn gpu_compiler(&self, device: &GpuDevice) -> Result<GpuDevice, DeviceError> {
        match device.api() {
            GpuApi::Cuda => {
                let name = device.architecture.replace("compute_", "sm_");
                cuda_architecture(&self.compilers.cuda, &name, &self.worker)
            }
            GpuApi::Hip => {
                // Features such as `:xnack-` come behind the name.
                let name = device.architecture.split(':').next().unwrap_or_default();
                hip_architecture(&self.compilers.hip, name, &self.worker)
            }
        }
    }
}
