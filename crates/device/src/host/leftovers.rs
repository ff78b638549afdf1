//! Ends what a program leaves behind.

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};
use std::io;
use std::time::Duration;

/// The number of times that this process looks for children, with [`PAUSE`] between them. Only
/// processes that fork faster than they are ended last longer.
const ROUNDS: usize = 2000;

/// The time in which a process that was sent SIGKILL usually ends.
const PAUSE: Duration = Duration::from_millis(1);

/// Ends all children of this process by force, and waits for them. In a child subreaper, which
/// becomes the parent of every orphan beneath it, no descendant is left afterwards, in whatever
/// group or session it was.
///
/// # Errors
/// Children cannot be listed, or live on for some seconds.
pub(crate) fn end_descendants() -> io::Result<()> {
    for _ in 0..ROUNDS {
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Err(Errno::ECHILD) => return Ok(()),
                Ok(WaitStatus::StillAlive) => break,
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // The ids belong to these processes until they are waited for.
        for child in children()? {
            let _ = kill(child, Signal::SIGKILL);
        }
        std::thread::sleep(PAUSE);
    }
    Err(io::Error::other("processes that a program left behind cannot be ended"))
}

/// Returns the children of this process.
fn children() -> io::Result<Vec<Pid>> {
    let me = getpid().to_string();
    let is_child = |id: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // The program's name may contain anything, but stands in brackets. The state and the
        // parent's id follow.
        let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        rest.split_whitespace().nth(1) == Some(&me)
    };
    let ids = std::fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(ids.filter(is_child).map(Pid::from_raw).collect())
}
