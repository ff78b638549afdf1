//! The watcher of a device: its meter, and what it has told.

use crate::energy::{EnergySource, ProcessorMeter, Watch};
use crate::worker::protocol::{Ending, JobReport};
use tunesmith_backend::Session;
use tunesmith_backend::energy::{Meter, Trouble};
use tunesmith_power::Setting;

/// The watcher of a worker's device.
pub(crate) struct Watcher {
    pub(super) meter: Box<dyn Meter>,
    pub(super) watch: Watch,
    /// True if the energy of every sample is measured.
    pub(super) energy: bool,
    /// The number of memory errors before the job.
    pub(super) memory_errors: Option<u64>,
    /// The troubles that no report has told yet.
    pub(super) untold: Vec<Trouble>,
}

impl Watcher {
    /// Opens the meter that `energy` names, or else the one of the session's device. Returns `None`
    /// if the device has no meter.
    ///
    /// # Errors
    /// Energy is wanted, but cannot be measured. The error gives the reason.
    pub(crate) fn new(session: &mut dyn Session, energy: Option<&EnergySource>) -> Result<Option<Self>, String> {
        let meter = match energy {
            Some(EnergySource::Processors(folder)) => ProcessorMeter::open(folder),
            Some(EnergySource::Device) | None => session.meter(),
        };
        let mut meter = match meter {
            Ok(meter) => meter,
            Err(reason) if energy.is_some() => return Err(format!("cannot measure energy: {reason}")),
            Err(_) => return Ok(None),
        };
        if energy.is_some() {
            meter.energy_mj().map_err(|reason| format!("cannot measure energy: {reason}"))?;
        }
        let others = meter.others();
        let untold = if others.is_empty() { Vec::new() } else { vec![Trouble::Shared(others)] };
        let memory_errors = meter.memory_errors();
        Ok(Some(Self { meter, watch: Watch::default(), energy: energy.is_some(), memory_errors, untold }))
    }

    /// Begins another configuration, for which the device was set to `setting`.
    pub(super) fn begin(&mut self, setting: Setting) {
        self.watch.begin(setting);
    }

    /// Adds the device's troubles to the report of a job that has ended. A device that is lost, or
    /// whose memory failed, takes the blame for whatever the job found.
    pub(super) fn conclude(&mut self, report: &mut JobReport) {
        report.troubles.append(&mut self.untold);
        let errors = self.meter.memory_errors();
        let has_failed = errors.zip(self.memory_errors).is_some_and(|(now, before)| now > before);
        self.memory_errors = errors.or(self.memory_errors);
        if has_failed {
            report.ending = Ending::Troubled(Trouble::Memory);
        } else if matches!(report.ending, Ending::Broken(_)) && self.meter.is_lost() {
            report.ending = Ending::Troubled(Trouble::Lost("NVML: GPU is lost".to_owned()));
        }
    }
}
