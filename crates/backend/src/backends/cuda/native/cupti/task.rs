//! Asks CUPTI for counters: the worker's side, which may crash, and the tuner's side.

use super::host::{Host, chip_of, known_chips};
use super::library::Cupti;
use super::question::Question;
use super::resolution::resolution;
use super::status::Refusal;
use crate::backends::Absent;
use crate::backends::cuda::native::driver::SystemDriver;
use crate::backends::cuda::{ChipCounters, CountersTask, NoCounters};
use crate::backends::gpu::native::Driver;
use tunesmith_core::counters::VOLTA;
use tunesmith_space::did_you_mean;

impl From<Refusal> for NoCounters {
    fn from(refusal: Refusal) -> Self {
        Self::Absent(Absent { reason: refusal.to_string(), remedy: refusal.remedy().to_owned() })
    }
}

/// Answers a request in a worker.
pub(crate) fn resolve(task: &CountersTask) -> Result<Vec<ChipCounters>, NoCounters> {
    let cupti = Cupti::open(task.libraries.as_deref())?;
    let chips = if task.chips.is_empty() { own_chips(cupti)? } else { task.chips.clone() };
    chips.iter().map(|chip| of_chip(cupti, chip)).collect()
}

fn of_chip(cupti: Cupti, chip: &str) -> Result<ChipCounters, NoCounters> {
    match Host::open(cupti, chip, None) {
        Ok(_) => Ok(resolution(chip, &VOLTA, &Question { cupti, chip, available: None })?),
        Err(refusal) if refusal.is_unknown_chip() => Err(NoCounters::UnknownChip(unknown(chip, &known_chips(cupti)?))),
        Err(refusal) => Err(refusal.into()),
    }
}

/// Returns the chips of all GPUs, without repetitions.
fn own_chips(cupti: Cupti) -> Result<Vec<String>, NoCounters> {
    // CUPTI crashes when asked for a device before the driver has started, and for one that does not exist.
    let driver = SystemDriver::new().ok();
    let count = driver.as_ref().and_then(|driver| driver.count().ok()).unwrap_or_default();
    if count > 0 {
        cupti.begin()?;
    }
    let mut chips = (0..count).map(|device| chip_of(cupti, device)).collect::<Result<Vec<_>, _>>()?;
    chips.sort();
    chips.dedup();
    if !chips.is_empty() {
        return Ok(chips);
    }
    let known = known_chips(cupti)?.join(", ");
    let reason = if driver.is_some() { "there is no NVIDIA GPU" } else { "there is no NVIDIA driver" }.to_owned();
    Err(NoCounters::Absent(Absent { reason, remedy: format!("name a chip with --chip: {known}") }))
}

fn unknown(chip: &str, known: &[String]) -> Absent {
    let remedy = if is_before_volta(chip) {
        "counters of chips before Volta come only with recordings (of KTT, for instance)".to_owned()
    } else {
        let like = did_you_mean(chip, known.iter().map(String::as_str));
        like.unwrap_or_else(|| format!("it knows {}", known.join(", ")))
    };
    Absent { reason: format!("CUPTI knows no chip `{chip}`"), remedy }
}

/// Returns true if the chip is of Fermi, Kepler, Maxwell or Pascal. CUPTI read their counters
/// through an interface that it no longer has.
fn is_before_volta(chip: &str) -> bool {
    ["GF", "GK", "GM", "GP"].iter().any(|family| chip.to_uppercase().starts_with(family))
}
