//! Devices that killed guards left as they had set them.

use crate::guard::messages::{LeftOver, Order, Report, hear, tell};
use crate::guard::steering::{StartGuard, start};
use crate::manager::Manager;
use crate::note::{self, Note, Restore};
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

/// The notes of killed guards in one folder.
#[derive(Debug)]
pub struct Leftovers;

/// The time limit for resetting what is left over.
const LIMIT: Duration = Duration::from_secs(10);

impl Leftovers {
    /// Resets everything that killed guards left over, in a guard of its own. Costs no more than
    /// listing `folder` if there is nothing.
    pub fn reset(start_guard: &StartGuard, folder: &Path) -> Vec<LeftOver> {
        if !note::any(folder) {
            return Vec::new();
        }
        let recovered = || {
            let (_child, socket) = start(start_guard)?;
            socket.set_read_timeout(Some(LIMIT))?;
            tell(&socket, &Order::Recover { folder: folder.to_owned() })?;
            hear(&mut BufReader::new(&socket))
        };
        match recovered() {
            Ok(Some(Report::Recovered(all))) => all,
            // The notes are still there for the next start.
            Ok(_) | Err(_) => Vec::new(),
        }
    }
}

/// Undoes settings as far as possible. Returns the first failure.
pub(super) fn restore(manager: &mut dyn Manager, restore: &Restore) -> Result<(), String> {
    let clock = if restore.clock { manager.reset_clock() } else { Ok(()) };
    let power = restore.power_limit_w.map_or(Ok(()), |watts| manager.limit_power(watts));
    clock.and(power).map_err(|fault| fault.to_string())
}

/// Resets the device of a note that is left over.
pub(super) fn recover(note: &Note) -> LeftOver {
    let done = note.device.open().map_err(|fault| fault.to_string());
    let done = done.and_then(|mut manager| restore(manager.as_mut(), &note.restore));
    let what = match note.restore {
        Restore { clock: true, power_limit_w: Some(_) } => "the clock and the power limit",
        Restore { clock: true, power_limit_w: None } => "the clock",
        Restore { clock: false, .. } => "the power limit",
    };
    LeftOver { device: note.device.name.clone(), what: what.to_owned(), problem: done.err() }
}
