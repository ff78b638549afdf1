//! Asking CUPTI for counters: the worker's side, which may crash, and the tuner's.

use super::host::{Host, chip_of, known_chips};
use super::library::Cupti;
use super::resolution::{ChipCounters, Metrics, resolution};
use super::status::{REMEDY, Refusal};
use crate::cuda::{Absent, libraries};
use crate::error::DeviceError;
use crate::worker::WorkerCommand;
use crate::worker::process::{Waited, Worker};
use crate::worker::protocol::{Message, Request};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::counters::VOLTA;
use tunesmith_core::{Interrupt, SystemClock};
use tunesmith_space::closest;

/// A question to a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CountersTask {
    /// The folder in which NVIDIA's libraries are looked for first.
    pub(crate) libraries: Option<PathBuf>,
    /// The chips; none for those of this machine's GPUs.
    pub(crate) chips: Vec<String>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NoCounters {
    /// Something is missing.
    Absent(Absent),
    /// A chip was asked for that there is none of.
    UnknownChip(Absent),
}

impl From<Refusal> for NoCounters {
    fn from(refusal: Refusal) -> Self {
        Self::Absent(Absent { reason: refusal.to_string(), remedy: refusal.remedy().to_owned() })
    }
}

/// How long CUPTI may take: a chip takes a tenth of a second, a sleeping GPU's driver seconds.
const LIMIT: Duration = Duration::from_secs(60);

/// The counters of NVIDIA chips, Volta and later: of `chips` by NVIDIA's names of them, `GH100` for instance, for which no
/// GPU is needed, or where there are none of this machine's GPUs. CUPTI is looked for in the folder `libraries` first, and asked
/// in a worker; a chip takes about 0.1 s.
///
/// # Errors
/// CUPTI is missing or crashes ([`DeviceError::NoCounters`]), or it does not know a chip ([`DeviceError::NoChip`]).
pub fn counters(
    chips: &[String],
    libraries: Option<&Path>,
    worker: &WorkerCommand,
) -> Result<Vec<ChipCounters>, DeviceError> {
    let mut process = Worker::spawn(worker, Arc::new(SystemClock::new()))?;
    let task = CountersTask { libraries: libraries.map(Path::to_owned), chips: chips.to_vec() };
    // A worker that cannot be written to has ended, which waiting will tell.
    let _ = process.send(&Request::Counters(task));
    let (reason, remedy) = match process.wait(LIMIT, &Interrupt::default()) {
        Waited::Message(Message::Counters(Ok(found))) => return Ok(found),
        Waited::Message(Message::Counters(Err(NoCounters::UnknownChip(Absent { reason, remedy })))) => {
            return Err(DeviceError::NoChip { reason, remedy });
        }
        Waited::Message(Message::Counters(Err(NoCounters::Absent(Absent { reason, remedy })))) => (reason, remedy),
        Waited::Ended(how) => (format!("CUPTI crashes ({how})"), CRASH_REMEDY.to_owned()),
        Waited::TimedOut => (format!("CUPTI does not answer within {} s", LIMIT.as_secs()), REMEDY.to_owned()),
        Waited::Message(_) | Waited::Interrupted => ("a worker speaks another protocol".to_owned(), String::new()),
    };
    Err(DeviceError::NoCounters { reason, remedy })
}

const CRASH_REMEDY: &str = "without a driver take CUPTI 12.6 to 13.1, whose later releases crash: \
    scripts/nvidia-wheels fetches one for TUNESMITH_NVIDIA";

/// Answers in a worker.
pub(crate) fn resolve(task: &CountersTask) -> Result<Vec<ChipCounters>, NoCounters> {
    let cupti = Cupti::open(task.libraries.as_deref())?;
    let chips = if task.chips.is_empty() { own_chips(cupti)? } else { task.chips.clone() };
    chips.iter().map(|chip| of_chip(cupti, chip)).collect()
}

fn of_chip(cupti: Cupti, chip: &str) -> Result<ChipCounters, NoCounters> {
    match Host::open(cupti, chip, None) {
        Ok(_) => Ok(resolution(chip, &VOLTA, &Asked { cupti, chip, available: None })?),
        Err(refusal) if refusal.is_unknown_chip() => Err(NoCounters::UnknownChip(unknown(chip, &known_chips(cupti)?))),
        Err(refusal) => Err(refusal.into()),
    }
}

/// The chips of all GPUs, each once.
fn own_chips(cupti: Cupti) -> Result<Vec<String>, NoCounters> {
    // Without a driver CUPTI crashes when it is asked for a device.
    let has_driver = libraries::open(None, "libcuda", &["1"], &[]).is_some();
    let of = |device: usize| has_driver.then(|| chip_of(cupti, device).ok()).flatten();
    let mut chips: Vec<String> = (0..).map_while(of).collect();
    chips.sort();
    chips.dedup();
    if !chips.is_empty() {
        return Ok(chips);
    }
    let known = known_chips(cupti)?.join(", ");
    let reason = if has_driver { "there is no NVIDIA GPU" } else { "there is no NVIDIA driver" }.to_owned();
    Err(NoCounters::Absent(Absent { reason, remedy: format!("name a chip with --chip: {known}") }))
}

fn unknown(chip: &str, known: &[String]) -> Absent {
    let remedy = if is_before_volta(chip) {
        "counters of chips before Volta come with recordings alone (of KTT, for instance)".to_owned()
    } else {
        let like = closest(chip, known.iter().map(String::as_str)).map(|known| format!("did you mean `{known}`?"));
        like.unwrap_or_else(|| format!("it knows {}", known.join(", ")))
    };
    Absent { reason: format!("CUPTI knows no chip `{chip}`"), remedy }
}

/// Fermi, Kepler, Maxwell and Pascal, whose counters CUPTI read by an interface that it no longer has.
fn is_before_volta(chip: &str) -> bool {
    ["GF", "GK", "GM", "GP"].iter().any(|family| chip.to_uppercase().starts_with(family))
}

/// A chip that is asked.
pub(super) struct Asked<'a> {
    pub(super) cupti: Cupti,
    pub(super) chip: &'a str,
    /// What a GPU lets be read; none where there is no GPU.
    pub(super) available: Option<&'a [u8]>,
}

impl Metrics for Asked<'_> {
    fn passes(&self, metrics: &[&str]) -> Result<usize, Refusal> {
        // What was added to a host stays; each question takes a new one.
        let mut host = Host::open(self.cupti, self.chip, self.available)?;
        host.add(metrics)?;
        let config = host.config()?;
        host.passes(&config)
    }
}
