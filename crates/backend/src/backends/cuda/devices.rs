//! The GPUs of NVIDIA's driver, as the table of backends lists them.

use crate::backends::compiling::Compiled;
use crate::backends::cuda::question::{answer, cuda_devices};
use crate::backends::cuda::{Compiler, open};
use crate::backends::gpu::{GpuApi, GpuDevice, GpuPlace, find, listed};
use crate::backends::kind::{BackendKind, DriverCompiler, Means};
use crate::backends::{DeviceInfo, Missing, Session, Target, WhichDevice, decoded};
use crate::host::GpuSetup;
use serde_json::Value;
use tunesmith_kernel::DeviceError;

/// The backend.
#[derive(Debug)]
pub(crate) struct CudaDevices;

impl BackendKind for CudaDevices {
    fn name(&self) -> &'static str {
        GpuApi::Cuda.device()
    }

    fn form(&self) -> &'static str {
        "[:N]"
    }

    fn may_use_processor(&self) -> bool {
        false
    }

    fn list(&self, means: Means<'_>) -> (Vec<DeviceInfo>, Vec<Missing>) {
        listed(GpuApi::Cuda, cuda_devices(&means.compilers.cuda, means.drivers))
    }

    fn find(&self, which: &WhichDevice, means: Means<'_>) -> Result<Target, DeviceError> {
        let devices = cuda_devices(&means.compilers.cuda, means.drivers)?;
        Ok(find(GpuApi::Cuda, which, &devices)?.into())
    }

    fn described(&self, description: &Value) -> Option<Target> {
        decoded(description).filter(|device: &GpuDevice| device.api() == GpuApi::Cuda).map(Target::of)
    }

    fn open(&self, device: &Value) -> Result<Box<dyn Session>, String> {
        match decoded(device) {
            Some(GpuPlace { device, setup: GpuSetup::Cuda(setup) }) => open(&setup, device),
            _ => Err("there is no such CUDA device".to_owned()),
        }
    }

    fn compiler(&self) -> Option<Box<dyn DriverCompiler>> {
        Some(Box::<Compiler>::default())
    }

    fn answer(&self, question: &Value) -> Option<Value> {
        answer(question)
    }
}

impl DriverCompiler for Compiler {
    fn compile(&mut self, task: &Value, _: &mut dyn FnMut()) -> Compiled {
        match decoded(task) {
            Some(task) => self.compile(&task),
            None => Compiled::Unusable("the task is not for CUDA".to_owned()),
        }
    }
}
