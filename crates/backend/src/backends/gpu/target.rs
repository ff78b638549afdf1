//! GPUs as devices that kernels are tuned on.

use crate::backends::cuda::{self, cuda_architecture};
use crate::backends::gpu::backend::GpuBackend;
use crate::backends::gpu::{GpuApi, GpuDevice};
use crate::backends::hip::hip_architecture;
use crate::backends::kind::Means;
use crate::backends::target::KernelDevice;
use crate::backends::{Backend, BackendMessage, DeviceInfo, KernelSource, Opening, OutsideProfiler, Target};
use crate::host::{Compilers, WorkerCommand};
use std::any::Any;
use tunesmith_core::counters::Hardware;
use tunesmith_kernel::{DeviceError, Language};
use tunesmith_power::ManagedDevice;

impl From<GpuDevice> for Target {
    fn from(device: GpuDevice) -> Self {
        Self::of(device)
    }
}

impl KernelDevice for GpuDevice {
    fn title(&self) -> String {
        format!("{} device {} ({})", self.api().title(), self.index, self.name)
    }

    fn index(&self) -> usize {
        self.index
    }

    fn language(&self) -> Language {
        self.api().language()
    }

    fn runs(&self, language: Language) -> bool {
        self.api().runs(language)
    }

    fn info(&self, _: &Compilers, _: &WorkerCommand) -> Option<DeviceInfo> {
        Some(self.info())
    }

    fn is_processor(&self) -> bool {
        false
    }

    fn is_instrumented(&self) -> bool {
        self.api() == GpuApi::Cuda
    }

    fn managed(&self) -> Option<&ManagedDevice> {
        self.managed.as_ref()
    }

    fn outside_profiler(&self) -> Option<Box<dyn OutsideProfiler>> {
        cuda::outside_profiler(self)
    }

    fn counted_hardware(&self) -> Option<Hardware> {
        self.is_instrumented().then(|| self.hardware())
    }

    fn open(&self, source: KernelSource, opening: Opening<'_>) -> Result<Box<dyn Backend>, DeviceError> {
        Ok(Box::new(GpuBackend::new(source, self.clone(), opening)?))
    }

    /// Returns the device with the compiler of this machine, which needs neither a GPU nor a driver.
    fn compiled_here(&self, means: Means<'_>) -> Result<Target, DeviceError> {
        let Means { compilers, drivers, .. } = means;
        let own = match self.api() {
            GpuApi::Cuda => {
                let name = self.architecture.replace("compute_", "sm_");
                cuda_architecture(&compilers.cuda, &name, drivers)?
            }
            GpuApi::Hip => {
                // Features such as `:xnack-` come behind the name.
                let name = self.architecture.split(':').next().unwrap_or_default();
                hip_architecture(&compilers.hip, name, drivers)?
            }
        };
        let GpuDevice { compiler, headers, setup, .. } = own;
        Ok(Target::of(Self { compiler, headers, setup, ..self.clone() }))
    }

    fn description(&self) -> Option<BackendMessage> {
        Some(BackendMessage::new(self.api().device(), self))
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}
