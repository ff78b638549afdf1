//! Finds the device that a problem is tuned on.

use crate::{Error, Problem};
use tunesmith_backend::{DeviceChoice, DeviceInfo, Missing, Target};
use tunesmith_core::{ERROR, Recording};
use tunesmith_device::{Device, Machine, Replay};
use tunesmith_kernel::measure::ENERGY_MJ;
use tunesmith_problem::Yielded;
use tunesmith_space::Value;

/// Finds the device that `machine` names, or else the best one for the language of the problem's
/// kernels. For an OpenCL or CUDA device, queries the drivers in a worker.
///
/// # Errors
/// The machine has no such device, or the device cannot run the problem's kernel, or the machine does not carry so many
/// builds at once.
pub fn device_for(problem: &Problem, machine: &Machine) -> Result<Device, Error> {
    machine.check_jobs()?;
    let own = own_device(problem);
    let device = machine.device_or(own.clone())?;
    let file = problem.source_file().path.display();
    match &device {
        Device::Command if problem.spec().command().is_none() => Err(Error::request(
            format!("`{file}` has no command"),
            Some("write `[kernel]` with command = [\"./prog\", \"{N}\"], or leave out --device".to_string()),
        )),
        Device::Kernels(_) if problem.spec().command().is_some() => Err(Error::request(
            format!(
                "the kernel of `{file}` is a command, which the device `{}` does not run",
                machine.device.as_ref().unwrap_or(&own)
            ),
            Some("leave out --device, or write --device command".to_string()),
        )),
        _ => Ok(device),
    }
}

/// Returns the device that the problem names, or else the one that its kernels are written for.
fn own_device(problem: &Problem) -> DeviceChoice {
    if problem.spec().command().is_some() {
        return DeviceChoice::Command;
    }
    if let Some(device) = &problem.spec().tuning().device {
        return device.clone();
    }
    problem.spec().kernels().first().map_or_else(DeviceChoice::processor, |kernel| kernel.language.into())
}

/// Refuses to tune on a device that lacks counters or an energy meter, if they are wanted. A recording
/// may have them, and a command may print its energy.
pub(crate) fn check_counted(
    device: &Device,
    problem: &Problem,
    machine: &Machine,
    (counters, energy): (bool, bool),
) -> Result<(), Error> {
    if counters && !matches!(device, Device::Kernels(target) if target.is_instrumented()) {
        let remedy = "CUDA devices do (--device cuda, for problems in CUDA)".to_string();
        return Err(Error::request("this device has no counters to read (--profile)", Some(remedy)));
    }
    match device {
        Device::Kernels(target) if energy => Ok(target.check_energy(&machine.power)?),
        Device::Command if energy && !problem.prints_energy() => Ok(Target::processor().check_energy(&machine.power)?),
        _ => Ok(()),
    }
}

/// Returns the numbers that every run on `device` yields.
pub(crate) fn yielded(device: &Device, problem: &Problem) -> Result<Yielded, Error> {
    let error = |target: &Target| problem.kernel_spec(target.language()).is_ok_and(|spec| spec.is_verified());
    let values: Vec<String> = match device {
        Device::Kernels(target) => error(target).then(|| ERROR.to_string()).into_iter().collect(),
        Device::Synthetic(_) | Device::Function(_) => Vec::new(),
        Device::Command => problem
            .spec()
            .command()
            .into_iter()
            .flat_map(|command| &command.values)
            .map(|(name, _)| name.clone())
            .collect(),
        Device::Replay(replay) => {
            recording(replay)?.rows().iter().flat_map(|row| row.measurement.values.keys().cloned()).collect()
        }
    };
    let compiles = (!matches!(device, Device::Synthetic(_) | Device::Function(_))).then_some("compile_ms");
    let measured = ["time_ms"].into_iter().chain(compiles).map(str::to_string);
    // Its meter adds numbers of its own, and a function names its numbers itself.
    let is_instrumented = matches!(device, Device::Kernels(target) if target.is_instrumented());
    let has_more = is_instrumented || matches!(device, Device::Function(_));
    // An objective that needs the energy has it measured.
    let energy = matches!(device, Device::Kernels(_) | Device::Command).then(|| ENERGY_MJ.to_string());
    let names = values.into_iter().chain(measured).chain(energy).collect();
    Ok(Yielded { names, source: device.number_source(), has_more })
}

/// Returns the recording that stands for a device.
pub(crate) fn recording(replay: &Replay) -> Result<&Recording, Error> {
    Ok(replay.recording(tunesmith_study::read_recording)?)
}

/// Returns every device that `machine` offers, and the reasons why others are missing. Queries the
/// drivers in a worker.
pub fn devices(machine: &Machine) -> (Vec<DeviceInfo>, Vec<Missing>) {
    tunesmith_device::devices(&machine.compilers, &machine.worker)
}

/// Returns the limits that the constraints of `problem` call `device.NAME`. They are those of the
/// device that `machine` names, or else of the device that the problem would be tuned on. Queries
/// nothing if no constraint uses a limit.
///
/// # Errors
/// The machine has no such device, or the device cannot run the problem's kernel.
pub fn limits(problem: &Problem, machine: &Machine) -> Result<Vec<(String, Value)>, Error> {
    let mut names = problem.spec().constraints().iter().flat_map(|constraint| constraint.expr().names());
    if !names.any(|name| name.text.starts_with("device.")) {
        return Ok(Vec::new());
    }
    Ok(device_for(problem, machine)?.limits(machine))
}
