//! The choice of a run's folder.

use crate::data::DataSet;
use crate::live::LiveOptions;
use crate::live::open::Opener;
use crate::live::programs::Programs;
use std::path::Path;
use std::sync::Arc;
use tunesmith_backend::host::Suspension;
use tunesmith_backend::sandbox::Confinement;
use tunesmith_kernel::DeviceError;
use tunesmith_kernel::data::{Places, SHARED_MEMORY};

/// The folder of a run, and the kernels that are compiled into it. No data are in it yet.
pub(super) struct Placed {
    pub(super) data: DataSet,
    pub(super) programs: Programs,
    /// Stops what compiles these kernels during measurements.
    pub(super) suspension: Arc<Suspension>,
}

impl Placed {
    /// Chooses the folder, finds the compilers, and makes the sandbox of `options`. If kernels may write
    /// shared memory, because their OpenMP needs it, the folder is elsewhere.
    ///
    /// # Errors
    /// No folder can be used, a source cannot be read, or a compiler is missing.
    pub(super) fn open(options: &mut LiveOptions) -> Result<Self, DeviceError> {
        let places = Places::new(options.worker.keeps_files_in());
        let mut placed = Self::open_in(options, &places)?;
        // The compilers of other backends write no shared memory for their kernels.
        let runs_c = placed.programs.session().is_some_and(|session| session.forks);
        if !runs_c
            || options.worker.confinement().is_none()
            || !placed.programs.compilers().any(|name| registers_openmp(&name))
        {
            return Ok(placed);
        }
        let shared = Path::new(SHARED_MEMORY);
        if placed.data.folder().canonicalize().is_ok_and(|folder| folder.starts_with(shared)) {
            placed = Self::open_in(options, &places.outside(shared))?;
        }
        options.worker = options.worker.sharing_memory(true);
        Ok(placed)
    }

    fn open_in(options: &mut LiveOptions, places: &Places) -> Result<Self, DeviceError> {
        let data = DataSet::place(&options.spec, places)?;
        let confinement = Confinement::of_run(options.sandbox.as_ref(), data.folder())?;
        options.worker = options.worker.confined(confinement);
        let suspension = Suspension::new(Arc::clone(&options.clock));
        let programs = Opener::new(options, data.folder(), &suspension).programs()?;
        Ok(Self { data, programs, suspension })
    }
}

/// Returns true if the OpenMP of a compiler registers itself in shared memory. It ends the process
/// if it cannot.
fn registers_openmp(compiler: &str) -> bool {
    ["clang", "Intel"].iter().any(|name| compiler.contains(name))
}
