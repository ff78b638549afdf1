//! The energy, the clock and the troubles of a GPU, as NVML tells them.

use crate::energy::{Conditions, Meter, OtherProcess, Slowdown};
use tunesmith_power::{Fault, NvmlGpu, Slowing};

/// The reasons for a lower clock that a device should not usually have, with their meanings, the
/// most telling first. NVML also reports idling, limits that users set, and the power limit.
const REASONS: [(Slowing, Slowdown); 4] = [
    (Slowing::HEAT, Slowdown::Heat),
    (Slowing::POWER_BRAKE, Slowdown::PowerBrake),
    (Slowing::HARDWARE, Slowdown::Hardware),
    (Slowing::SYNC_BOOST, Slowdown::SyncBoost),
];

/// Returns the meter of the GPU at an address of the PCI bus.
///
/// # Errors
/// There is no NVML, or it does not know the GPU.
pub(super) fn open(address: &str) -> Result<NvmlMeter, String> {
    NvmlGpu::open(address).map(NvmlMeter).map_err(|fault| fault.to_string())
}

/// A GPU as NVML sees it.
pub(super) struct NvmlMeter(NvmlGpu);

/// Returns the most telling of the reasons for a lower clock, if one is unusual.
fn slowdown(slowing: Slowing) -> Option<Slowdown> {
    REASONS.iter().find(|(reason, _)| slowing.has(*reason)).map(|(_, slowdown)| *slowdown)
}

/// Returns true if a reason says that the device itself is in trouble. A clock that follows another
/// GPU's is none.
fn is_throttled(slowing: Slowing) -> bool {
    [Slowing::HEAT, Slowing::POWER_BRAKE, Slowing::HARDWARE].into_iter().any(|reason| slowing.has(reason))
}

/// Returns true for this process and for those that its own tuner started: workers that end, and
/// those that compile.
fn is_of_this_run(pid: u32) -> bool {
    let parent = tunesmith_files::system_text(format!("/proc/{pid}/stat")).and_then(|text| {
        // The name in parentheses may hold spaces. The state and the parent follow it.
        text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    });
    pid == std::process::id() || parent == Some(std::os::unix::process::parent_id())
}

impl Meter for NvmlMeter {
    fn energy_mj(&mut self) -> Result<f64, String> {
        self.0.energy_mj().map_err(|fault| match fault {
            Fault::NotSupported => "this GPU does not count its energy; those from Volta on do".to_owned(),
            fault => format!("NVML does not tell the energy: {fault}"),
        })
    }

    fn conditions(&mut self) -> Conditions {
        let slowing = self.0.slowing().ok();
        Conditions {
            clock_mhz: self.0.clock_mhz().ok(),
            power_w: self.0.power_w().ok(),
            throttled: slowing.map(is_throttled),
            slowdown: slowing.and_then(slowdown),
        }
    }

    fn others(&mut self) -> Vec<OtherProcess> {
        let pids = self.0.processes().unwrap_or_default();
        let others = pids.into_iter().filter(|pid| !is_of_this_run(*pid));
        others.map(|pid| OtherProcess { pid, name: self.0.process_name(pid).unwrap_or_default() }).collect()
    }

    fn memory_errors(&mut self) -> Option<u64> {
        self.0.memory_errors().ok()
    }

    fn is_lost(&mut self) -> bool {
        self.0.power_w() == Err(Fault::Lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_telling_reason_is_the_one_that_is_told() {
        assert_eq!(slowdown(Slowing::HEAT), Some(Slowdown::Heat));
        assert!(is_throttled(Slowing::HARDWARE) && !is_throttled(Slowing::SYNC_BOOST));
        assert_eq!(slowdown(Slowing::SYNC_BOOST), Some(Slowdown::SyncBoost));
    }

    #[test]
    fn this_process_is_of_this_run_and_another_is_not() {
        assert!(is_of_this_run(std::process::id()) && !is_of_this_run(u32::MAX));
    }
}
