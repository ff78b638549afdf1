//! The tuner's side.

use super::messages::{Applied, LeftOver, Order, Refused, Report, hear, tell};
use crate::device::ManagedDevice;
use crate::manager::{Abilities, Knob, Setting};
use std::fmt;
use std::io::{self, BufReader};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Returns the command that starts this program as a guard.
pub type StartGuard = Arc<dyn Fn() -> io::Result<Command> + Send + Sync>;

/// The time limit of an order. Libraries take milliseconds, a driver that wakes up takes seconds.
const LIMIT: Duration = Duration::from_secs(30);

/// A device that cannot be steered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct SteeringError {
    /// The problem, with the device.
    pub problem: String,
    /// The remedy.
    pub remedy: String,
}

/// A device whose clock and power limit this process sets, through a guard. They are reset when this
/// value is dropped, and when this process ends in any other way.
pub struct Steering {
    start_guard: StartGuard,
    device: ManagedDevice,
    folder: PathBuf,
    knobs: Vec<Knob>,
    guard: Guard,
    abilities: Abilities,
    /// Devices that killed guards left set.
    left_over: Vec<LeftOver>,
    present: Setting,
}

/// A guard and the connection to it.
struct Guard {
    child: Child,
    socket: UnixStream,
}

impl fmt::Debug for Steering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steering").field("device", &self.device).field("present", &self.present).finish_non_exhaustive()
    }
}

/// Starts a guard.
pub(super) fn start(start_guard: &StartGuard) -> io::Result<(Child, UnixStream)> {
    let (socket, theirs) = UnixStream::pair()?;
    let mut command = start_guard()?;
    command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn()?;
    Ok((child, socket))
}

impl Guard {
    /// Gives an order. Returns `None` if the guard is gone.
    fn order(&self, order: &Order) -> io::Result<Option<Report>> {
        self.socket.set_read_timeout(Some(LIMIT))?;
        match tell(&self.socket, order) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(None),
            told => told?,
        }
        match hear(&mut BufReader::new(&self.socket)) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            heard => heard,
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The guard resets the device and ends. It stays outside of this process's life, so that a
        // library that hangs keeps the guard, and not the tuner.
        let _ = self.socket.shutdown(Shutdown::Write);
        let _ = self.socket.set_read_timeout(Some(LIMIT));
        let is_gone = matches!(hear::<Report>(&mut BufReader::new(&self.socket)), Ok(None));
        if is_gone {
            let _ = self.child.wait();
        }
    }
}

impl Steering {
    /// Opens a device, and finds out if its `knobs` can be turned. Notes are kept in `folder`.
    ///
    /// # Errors
    /// The library is missing, the user may not turn a knob, the device has no such knob, or another
    /// run steers the device.
    pub fn open(
        start_guard: StartGuard,
        device: ManagedDevice,
        folder: PathBuf,
        knobs: Vec<Knob>,
    ) -> Result<Self, SteeringError> {
        let (guard, abilities, left_over) = open(&start_guard, &device, &folder, &knobs)?;
        let left_over = left_over.into_iter().collect();
        Ok(Self { start_guard, device, folder, knobs, guard, abilities, left_over, present: Setting::default() })
    }

    /// Returns the values that the device takes.
    pub fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    /// Returns and forgets the devices that killed guards had left set, and that are reset now.
    pub fn take_left_over(&mut self) -> Vec<LeftOver> {
        std::mem::take(&mut self.left_over)
    }

    /// Returns the process id of the guard.
    pub fn guard_id(&self) -> u32 {
        self.guard.child.id()
    }

    /// Sets the device. A knob without a value stays as it is. Costs nothing if nothing changes.
    ///
    /// # Errors
    /// The device refuses a value, or the guard cannot be replaced after its end.
    pub fn apply(&mut self, setting: Setting) -> Result<Applied, SteeringError> {
        if setting == self.present {
            return Ok(Applied::default());
        }
        let answer = match self.guard.order(&Order::Set(setting)) {
            Ok(Some(answer)) => answer,
            Ok(None) => {
                self.replace_guard()?;
                let again = self.guard.order(&Order::Set(setting)).ok().flatten();
                again.ok_or_else(|| self.failed("its guard process ended twice".to_owned()))?
            }
            Err(error) => return Err(self.failed(format!("its guard process does not answer: {error}"))),
        };
        match answer {
            Report::Set(applied) => {
                self.present = setting;
                Ok(applied)
            }
            Report::Failed(reason) => Err(self.failed(reason)),
            other => Err(self.failed(format!("its guard process speaks another protocol: {other:?}"))),
        }
    }

    /// Starts another guard after the end of the first one. It finds the note, and resets the device.
    fn replace_guard(&mut self) -> Result<(), SteeringError> {
        let _ = self.guard.child.wait();
        let (guard, _, left_over) = open(&self.start_guard, &self.device, &self.folder, &self.knobs)?;
        self.guard = guard;
        self.left_over.extend(left_over);
        self.present = Setting::default();
        Ok(())
    }

    fn failed(&self, reason: String) -> SteeringError {
        failed(&self.device, &reason)
    }
}

fn failed(device: &ManagedDevice, reason: &str) -> SteeringError {
    SteeringError {
        problem: format!("the clock and power of {} cannot be set: {reason}", device.name),
        remedy: "remove [device_settings], or choose another device".to_owned(),
    }
}

fn open(
    start_guard: &StartGuard,
    device: &ManagedDevice,
    folder: &std::path::Path,
    knobs: &[Knob],
) -> Result<(Guard, Abilities, Option<LeftOver>), SteeringError> {
    let unstarted = |error: io::Error| failed(device, &format!("the guard process cannot be started: {error}"));
    let (child, socket) = start(start_guard).map_err(unstarted)?;
    let guard = Guard { child, socket };
    let order = Order::Open { device: device.clone(), folder: folder.to_owned(), knobs: knobs.to_vec() };
    match guard.order(&order).map_err(unstarted)? {
        Some(Report::Opened { abilities, left_over }) => Ok((guard, abilities, left_over)),
        Some(Report::Refused(refused)) => Err(refused.error(device)),
        Some(other) => Err(failed(device, &format!("the guard process speaks another protocol: {other:?}"))),
        None => {
            let reason = "the guard process ended at once; does the program call `worker::enter_if_worker()` in the \
                          first line of `main`?";
            Err(failed(device, reason))
        }
    }
}

impl Refused {
    fn error(self, device: &ManagedDevice) -> SteeringError {
        let name = &device.name;
        match self {
            Self::Busy(guard) => SteeringError {
                problem: format!(
                    "another run sets the clock and power of {name}{}",
                    guard.map(|id| format!(" (its guard is process {id})")).unwrap_or_default()
                ),
                remedy: "wait for its end: two runs on one device would measure each other's clocks".to_owned(),
            },
            Self::NotPermitted(knob, remedy) => {
                SteeringError { problem: format!("you may not set `{knob}` of {name}"), remedy }
            }
            Self::NoKnob(knob) => SteeringError {
                problem: format!("{name} has no `{knob}` that can be set"),
                remedy: format!("remove `{knob}` from [device_settings]"),
            },
            Self::Failed(reason) => failed(device, &reason),
        }
    }
}
