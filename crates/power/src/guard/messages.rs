//! The conversation of a tuner with its guard: one JSON document a line, an answer to each order.

use crate::device::ManagedDevice;
use crate::manager::{Abilities, Knob, Setting};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;

/// An order of the tuner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Opens a device to turn these knobs. Comes first. Answered by [`Report::Opened`] or
    /// [`Report::Refused`].
    Open { device: ManagedDevice, folder: PathBuf, knobs: Vec<Knob> },
    /// Sets the device. Answered by [`Report::Set`] or [`Report::Failed`].
    Set(Setting),
    /// Resets what killed guards left over, in place of opening a device. Answered by
    /// [`Report::Recovered`].
    Recover { folder: PathBuf },
}

/// A report of the guard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The device is open, and all knobs can be turned.
    Opened { abilities: Abilities, left_over: Option<LeftOver> },
    /// The device cannot be steered.
    Refused(Refused),
    /// The device is set.
    Set(Applied),
    /// The device cannot be set. The text gives the reason.
    Failed(String),
    /// These devices were left over from killed guards.
    Recovered(Vec<LeftOver>),
}

/// The reason why a device cannot be steered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Refused {
    /// The guard with this process id steers it for another run.
    Busy(Option<u32>),
    /// The user may not turn this knob. The text is the command that permits it.
    NotPermitted(Knob, String),
    /// The device has no such knob.
    NoKnob(Knob),
    /// The library or the folder of notes fails. The text gives the reason.
    Failed(String),
}

/// The result of setting a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// The clock in MHz that the device reported last, if it did not reach the clock that was set
    /// within the limit. An idle device may not.
    pub missed_mhz: Option<f64>,
}

/// A device that was left as a killed run had set it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOver {
    /// The device's name.
    pub device: String,
    /// The properties that were set.
    pub what: String,
    /// The reason why they could not be reset. `None` if they are reset.
    pub problem: Option<String>,
}

impl fmt::Display for LeftOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, what, problem } = self;
        match problem {
            None => write!(f, "an earlier run was killed and left {what} of {device} set; it is reset now"),
            Some(problem) => {
                write!(f, "an earlier run was killed and left {what} of {device} set, which cannot be reset: {problem}")
            }
        }
    }
}

/// Writes a message.
pub(crate) fn tell(mut to: impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Reads a message. Returns `None` at the end of the conversation.
pub(crate) fn hear<T: for<'a> Deserialize<'a>>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    // A line without its end was cut by the end of its writer.
    if !line.ends_with('\n') {
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(&line)?))
}
