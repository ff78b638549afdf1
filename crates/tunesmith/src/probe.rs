//! What no driver tells of a device: the bandwidth of its memory, measured by copying.

use crate::devices::DeviceChoice;
use crate::run_one::{RunOptions, run_one};
use crate::tune::TuneOptions;
use crate::{Error, Problem};
use std::path::Path;
use tunesmith_core::Interrupt;

/// The name of the measured bandwidth among a device's features.
pub(crate) const BANDWIDTH: &str = "memory_gbytes_per_second";

/// Copies 64 MiB for about a second and returns GB/s, read and written bytes together, of one thread of a processor or the
/// whole of an OpenCL or CUDA device. `None` of devices that run no kernels, and when interrupted or the copy fails.
///
/// # Errors
/// The device or the disk fails.
pub(crate) fn bandwidth(
    device: &DeviceChoice,
    options: &TuneOptions,
    interrupt: &Interrupt,
) -> Result<Option<f64>, Error> {
    let (file, text, work) = match device {
        DeviceChoice::C => ("copy.c", include_str!("../probe/copy.c"), ""),
        DeviceChoice::OpenCl(_) => ("copy.cl", include_str!("../probe/copy.cl"), "global = [\"N\"]"),
        DeviceChoice::Cuda(_) => ("copy.cu", include_str!("../probe/copy.cu"), "global = [\"N\"]\nlocal = [\"256\"]"),
        DeviceChoice::Command | DeviceChoice::Replay { .. } | DeviceChoice::Synthetic(_) => return Ok(None),
    };
    let folder = tempfile::tempdir().map_err(|source| Error::Write { path: std::env::temp_dir(), source })?;
    let problem = include_str!("../probe/copy.toml").replace("FILE", file).replace("WORK", work);
    write(&folder.path().join(file), text)?;
    let path = folder.path().join("copy.toml");
    write(&path, &problem)?;
    let tune = TuneOptions {
        device: options.device.clone(),
        compilers: options.compilers.clone(),
        worker: options.worker.clone(),
        ..TuneOptions::default()
    };
    let run = run_one(&Problem::load(&path, &[])?, &RunOptions { tune, ..RunOptions::default() }, interrupt)?;
    Ok(run.and_then(|run| run.gbytes))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|source| Error::Write { path: path.to_path_buf(), source })
}
