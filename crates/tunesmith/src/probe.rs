//! Measures the bandwidth of a device's memory by copying, since no driver reports it.

use crate::run_one::{RunOptions, run_one};
use crate::{Error, Problem};
use std::path::Path;
use tunesmith_core::Interrupt;
use tunesmith_device::{Device, Machine};
use tunesmith_kernel::Language;

/// The name of the measured bandwidth among a device's features.
pub(crate) const BANDWIDTH: &str = "memory_gbytes_per_second";

/// Copies 64 MiB for about a second and returns GB/s, counting both read and written bytes. Uses
/// one thread of a processor, or the whole of a GPU or an OpenCL device. Returns `None` for devices
/// that run no kernels, when interrupted, or if the copy fails.
///
/// # Errors
/// The device or the disk fails.
pub(crate) fn bandwidth(device: &Device, machine: &Machine, interrupt: &Interrupt) -> Result<Option<f64>, Error> {
    let Device::Kernels(target) = device else { return Ok(None) };
    let (file, text, work) = match target.language() {
        Language::OpenCl => ("copy.cl", include_str!("../probe/copy.cl"), "global = [\"N\"]"),
        Language::Cuda | Language::Hip => {
            ("copy.cu", include_str!("../probe/copy.cu"), "global = [\"N\"]\nlocal = [\"256\"]")
        }
        _ => ("copy.c", include_str!("../probe/copy.c"), ""),
    };
    let folder = tempfile::tempdir().map_err(Error::write(&std::env::temp_dir()))?;
    let problem = include_str!("../probe/copy.toml").replace("FILE", file).replace("WORK", work);
    write(&folder.path().join(file), text)?;
    let path = folder.path().join("copy.toml");
    write(&path, &problem)?;
    let run = run_one(&Problem::load(&path, &[])?, machine, &RunOptions::default(), interrupt)?;
    Ok(run.and_then(|run| run.rates.gbytes))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    tunesmith_files::replace(path, text).map_err(Error::write(path))
}
