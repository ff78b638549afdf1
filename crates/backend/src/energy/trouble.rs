//! The troubles of a device that no configuration is to blame for: each one line with its remedy.

use serde::{Deserialize, Serialize};

/// A trouble of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trouble {
    /// Other processes compute on the device.
    Shared(Vec<OtherProcess>),
    /// The device lowers its clock.
    Slow(Slowdown),
    /// The device's memory had an error that it could not correct. Nothing measured then counts.
    Memory,
    /// The device does not answer any more. The text says how that showed.
    Lost(String),
}

/// A process that computes on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherProcess {
    pub(crate) pid: u32,
    /// The name of its program. Empty if the system does not tell it.
    pub(crate) name: String,
}

/// A reason for which a device lowers its clock, beside those of its usual work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slowdown {
    /// The device is too hot.
    Heat,
    /// The power supply asks for less.
    PowerBrake,
    /// The hardware slows down without telling whether by heat or by its supply.
    Hardware,
    /// The clock follows that of the slowest device in a group.
    SyncBoost,
}

impl Slowdown {
    /// Returns true if the reason passes, so that a sample that it disturbed is worth retaking.
    pub(crate) fn disturbs(self) -> bool {
        self != Self::SyncBoost
    }

    /// Returns the cause and the remedy.
    fn explained(self) -> (&'static str, &'static str) {
        match self {
            Self::Heat => {
                ("it is too hot", "cool it better, or lower its power limit (`nvidia-smi --power-limit WATTS`)")
            }
            Self::PowerBrake => ("of the external power brake", "check the power supply and the rack's power limit"),
            Self::Hardware => ("the hardware asks for it", "check its cooling and its power cables"),
            Self::SyncBoost => {
                ("its clock follows the slowest GPU of a sync boost group", "take it out of the group (`nvidia-smi`)")
            }
        }
    }
}

impl Trouble {
    /// Returns the trouble of the device with this name, and the remedy, in one line.
    pub fn line(&self, device: &str) -> String {
        match self {
            Self::Shared(others) => format!(
                "other processes use {device}: {}; times may vary, so end them or choose another GPU (`--device \
                 cuda:N`)",
                listed(others)
            ),
            Self::Slow(slowdown) => {
                let (cause, remedy) = slowdown.explained();
                let again = if slowdown.disturbs() { "; disturbed samples are taken again" } else { "" };
                format!("{device} slows down because {cause}{again}; {remedy}")
            }
            Self::Memory => format!(
                "{device} had an uncorrectable memory error (ECC); see `nvidia-smi -q -d ECC` or `amd-smi metric \
                 --ecc`, and reset or replace the GPU if more follow"
            ),
            Self::Lost(how) => format!(
                "the GPU is lost ({device}: {how}); `dmesg` says why; reset it (`nvidia-smi --gpu-reset`, `amd-smi \
                 reset --gpureset`) or restart the machine; --resume then continues the run"
            ),
        }
    }
}

/// The number of processes that a line names.
const NAMED: usize = 4;

fn listed(others: &[OtherProcess]) -> String {
    let name = |other: &OtherProcess| match other.name.as_str() {
        "" => other.pid.to_string(),
        name => format!("{} ({name})", other.pid),
    };
    let more = others.len().saturating_sub(NAMED);
    let named = others.iter().take(NAMED).map(name).chain((more > 0).then(|| format!("{more} more")));
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trouble_is_one_line_that_names_the_device_and_what_to_do() {
        let other = |pid, name: &str| OtherProcess { pid, name: name.to_owned() };
        let slow = [Slowdown::Heat, Slowdown::PowerBrake, Slowdown::Hardware, Slowdown::SyncBoost].map(Trouble::Slow);
        let others = [Trouble::Shared(vec![other(7, "train")]), Trouble::Memory, Trouble::Lost("gone".to_owned())];
        for trouble in slow.into_iter().chain(others) {
            let line = trouble.line("A GPU");
            assert!(line.contains("A GPU") && line.contains("; ") && !line.contains('\n'), "{line}");
        }
    }

    #[test]
    fn many_processes_are_counted_and_few_are_named() {
        let others: Vec<_> = (1..=6).map(|pid| OtherProcess { pid, name: String::new() }).collect();
        assert_eq!(listed(&others), "1, 2, 3, 4, 2 more");
        assert_eq!(listed(&[OtherProcess { pid: 42, name: "python3".to_owned() }]), "42 (python3)");
    }
}
