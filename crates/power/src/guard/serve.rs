//! The guard's side.

use super::leftovers::{recover, restore};
use super::messages::{Applied, LeftOver, Order, Refused, Report, hear, tell};
use crate::device::ManagedDevice;
use crate::manager::{Fault, Knob, Manager, Setting};
use crate::note::{self, Claim, Claimed, Note, Restore};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::setsid;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io::{self, BufReader};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::exit;
use std::time::Duration;
use tunesmith_time::{Clock, SystemClock};

/// The time in which a device must report the clock that was set. An idle device may report another
/// one, and is not waited for longer.
const SETTLING: Duration = Duration::from_millis(500);

/// The interval at which the clock is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// The relative difference of clocks that are the same. Neighbouring clocks of GPUs are 1 % apart.
const SAME: f64 = 0.005;

/// A device that this process steers.
struct Steered {
    manager: Box<dyn Manager>,
    claim: Claim,
    restore: Restore,
    present: Setting,
}

/// Serves one tuner over the standard input, and exits when it is gone.
pub fn serve() -> ! {
    // An error means that the parent is not a tuner. Nobody reads a message.
    exit(i32::from(serve_tuner().is_err()))
}

fn serve_tuner() -> io::Result<()> {
    // Fails if a user started this process by hand: then it leads a group.
    setsid().map_err(io::Error::from)?;
    let signals = watch_signals()?;
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut input = BufReader::new(socket.try_clone()?);
    let mut steered: Option<Steered> = None;
    let served = loop {
        match wait(&socket, &signals) {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
        match hear(&mut input) {
            Ok(Some(order)) => {
                let report = answer(order, &mut steered);
                if let Err(error) = tell(&socket, &report) {
                    break Err(error);
                }
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    // Whatever ended the conversation.
    if let Some(steered) = steered {
        steered.end();
    }
    served
}

/// Keeps signals from ending this process. SIGTERM is a request, the others are ignored.
fn watch_signals() -> io::Result<SignalFd> {
    let mut signals = SigSet::empty();
    [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT].into_iter().for_each(|one| signals.add(one));
    signals.thread_block()?;
    Ok(SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?)
}

/// Waits for the tuner. Returns false if the guard is told to end.
fn wait(socket: &UnixStream, signals: &SignalFd) -> io::Result<bool> {
    loop {
        let mut watched = [PollFd::new(socket, PollFlags::IN), PollFd::new(signals, PollFlags::IN)];
        match poll(&mut watched, None) {
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
            Ok(_) => {}
        }
        let (tuner, signal) = (!watched[0].revents().is_empty(), !watched[1].revents().is_empty());
        if signal && let Some(one) = signals.read_signal()? {
            if i32::try_from(one.ssi_signo) == Ok(Signal::SIGTERM as i32) {
                return Ok(false);
            }
            continue;
        }
        if tuner {
            return Ok(true);
        }
    }
}

fn answer(order: Order, steered: &mut Option<Steered>) -> Report {
    match (order, steered.as_mut()) {
        (Order::Recover { folder }, _) => Report::Recovered(recover_all(&folder)),
        (Order::Open { .. }, Some(_)) => Report::Refused(Refused::Failed("the guard has a device already".to_owned())),
        (Order::Open { device, folder, knobs }, None) => match Steered::open(&device, &folder, &knobs) {
            Ok((mut opened, left_over)) => match opened.manager.abilities() {
                Ok(abilities) => {
                    *steered = Some(opened);
                    Report::Opened { abilities, left_over }
                }
                Err(fault) => {
                    opened.end();
                    Report::Refused(Refused::Failed(fault.to_string()))
                }
            },
            Err(refused) => Report::Refused(refused),
        },
        (Order::Set(setting), Some(steered)) => match steered.set(setting) {
            Ok(applied) => Report::Set(applied),
            Err(reason) => Report::Failed(reason),
        },
        (Order::Set(_), None) => Report::Failed("the guard has no device".to_owned()),
    }
}

/// Resets every device with a note that is left over. A note of a device that cannot be reset stays.
fn recover_all(folder: &Path) -> Vec<LeftOver> {
    let recover = |(claim, note): (Claim, Note)| {
        let left_over = recover(&note);
        if left_over.problem.is_none() {
            claim.release();
        }
        left_over
    };
    note::left_over(folder).into_iter().map(recover).collect()
}

impl Steered {
    /// Opens a device, resets what a killed guard left on it, writes the note, and turns each knob to
    /// see if it turns.
    fn open(device: &ManagedDevice, folder: &Path, knobs: &[Knob]) -> Result<(Self, Option<LeftOver>), Refused> {
        let failed = |error: io::Error| {
            Refused::Failed(format!("the notes in `{}` cannot be written: {error}", folder.display()))
        };
        let (claim, before) = match note::claim(folder, device).map_err(failed)? {
            Claimed::Free(claim, before) => (claim, before),
            Claimed::Held(note) => return Err(Refused::Busy(note.map(|note| note.guard))),
        };
        let left_over = before.as_ref().map(recover);
        let library = |fault: Fault| Refused::Failed(fault.to_string());
        let mut manager = match device.open() {
            Ok(manager) => manager,
            Err(fault) => {
                release_unless(before.is_some(), claim);
                return Err(library(fault));
            }
        };
        let abilities = manager.abilities().map_err(library)?;
        // Whatever an earlier guard could not restore is still to be restored.
        let owed = before.as_ref().map(|note| note.restore).unwrap_or_default();
        let limit = owed.power_limit_w.or(abilities.power_limit.map(|range| range.present_w));
        let restore = Restore {
            clock: owed.clock || knobs.contains(&Knob::Clock),
            power_limit_w: limit.filter(|_| owed.power_limit_w.is_some() || knobs.contains(&Knob::PowerLimit)),
        };
        let has = |knob: Knob| match knob {
            Knob::Clock => abilities.clocks.is_some(),
            Knob::PowerLimit => abilities.power_limit.is_some(),
        };
        if let Some(knob) = knobs.iter().find(|knob| !has(**knob)) {
            release_unless(before.is_some(), claim);
            return Err(Refused::NoKnob(*knob));
        }
        let note = Note { device: device.clone(), boot: note::boot(), guard: std::process::id(), restore };
        let mut steered = Self { manager, claim, restore, present: Setting::default() };
        steered.claim.write(&note).map_err(failed)?;
        match steered.try_knobs(knobs) {
            Ok(()) => Ok((steered, left_over)),
            Err(refused) => {
                // Every knob stands where it stood.
                release_unless(before.is_some(), steered.claim);
                Err(refused)
            }
        }
    }

    /// Turns each knob to where it stands.
    fn try_knobs(&mut self, knobs: &[Knob]) -> Result<(), Refused> {
        for knob in knobs {
            let tried = match knob {
                Knob::Clock => self.manager.reset_clock(),
                Knob::PowerLimit => self.restore.power_limit_w.map_or(Ok(()), |watts| self.manager.limit_power(watts)),
            };
            match tried {
                Ok(()) => {}
                Err(Fault::NotPermitted) => {
                    return Err(Refused::NotPermitted(*knob, self.manager.permission(*knob)));
                }
                Err(Fault::NotSupported) => return Err(Refused::NoKnob(*knob)),
                Err(fault @ (Fault::Lost | Fault::Failed(_))) => return Err(Refused::Failed(fault.to_string())),
            }
        }
        Ok(())
    }

    fn set(&mut self, setting: Setting) -> Result<Applied, String> {
        if let Some(watts) = setting.power_limit_w.filter(|watts| self.present.power_limit_w != Some(*watts)) {
            self.manager.limit_power(f64::from(watts)).map_err(|fault| format!("a limit of {watts} W: {fault}"))?;
            self.present.power_limit_w = Some(watts);
        }
        let Some(mhz) = setting.clock_mhz.filter(|mhz| self.present.clock_mhz != Some(*mhz)) else {
            return Ok(Applied::default());
        };
        self.manager.lock_clock(mhz).map_err(|fault| format!("a clock of {mhz} MHz: {fault}"))?;
        self.present.clock_mhz = Some(mhz);
        Ok(Applied { missed_mhz: self.settle(f64::from(mhz)) })
    }

    /// Waits until the device runs at `mhz`. Returns its clock if it does not within the limit.
    fn settle(&mut self, mhz: f64) -> Option<f64> {
        let clock = SystemClock::new();
        loop {
            // A device that does not tell its clock is taken at its word.
            let reported = self.manager.clock_mhz().ok()?;
            if (reported / mhz - 1.0).abs() <= SAME {
                return None;
            }
            if clock.now() >= SETTLING {
                return Some(reported);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Resets the device. The note stays if that fails, for the next start.
    fn end(mut self) {
        if restore(self.manager.as_mut(), &self.restore).is_ok() {
            self.claim.release();
        }
    }
}

/// Gives a device back that was not touched, unless it still has the note of an earlier guard.
fn release_unless(has_note: bool, claim: Claim) {
    if !has_note {
        claim.release();
    }
}
