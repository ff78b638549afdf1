//! Ends what a program leaves behind.

use crate::sandbox::Scope;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::time::Duration;
use tunesmith_core::{Clock, SystemClock};

/// The longest time for ending what was left. Only processes that wait for a device take longer, or
/// that fork faster than they are ended where there is no [`Scope`].
const LIMIT: Duration = Duration::from_secs(4);

/// The time in which a process that was sent SIGKILL usually ends.
const PAUSE: Duration = Duration::from_millis(1);

/// Ends all children of this process by force, and waits for them. In a child subreaper, which
/// becomes the parent of every orphan beneath it, no descendant is left afterwards, in whatever
/// group or session it was.
///
/// If this process started them all in a `scope`, one call ends them at once. Otherwise they are
/// ended one by one, as they become children of this process.
///
/// # Errors
/// Children cannot be listed, or live on for some seconds.
pub fn end_descendants(scope: Option<&Scope>) -> io::Result<()> {
    let clock = SystemClock::new();
    let mut ending = HashSet::new();
    while clock.now() < LIMIT {
        if !reap(&mut ending)? {
            return Ok(());
        }
        let is_over_soon = scope.is_some_and(Scope::end_all) || !end_children(&mut ending)?;
        // A process that forks and exits must not gain time: after new children come others.
        if is_over_soon {
            std::thread::sleep(PAUSE);
        }
    }
    Err(io::Error::other("processes that a program left behind cannot be ended"))
}

/// Waits for all children that have ended, and removes them from `ending`. Returns false if there
/// are no children.
fn reap(ending: &mut HashSet<Pid>) -> io::Result<bool> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::ECHILD) => return Ok(false),
            Ok(WaitStatus::StillAlive) => return Ok(true),
            Ok(status) => {
                status.pid().map(|child| ending.remove(&child));
            }
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Ends the children by force that are not among `ending`, and adds them. Returns false if there
/// are none.
fn end_children(ending: &mut HashSet<Pid>) -> io::Result<bool> {
    let mut is_new = false;
    // The ids belong to these processes until they are waited for.
    for child in children()? {
        if ending.insert(child) {
            let _ = kill(child, Signal::SIGKILL);
            is_new = true;
        }
    }
    Ok(is_new)
}

/// Returns the children of this process.
fn children() -> io::Result<Vec<Pid>> {
    listed().map_or_else(found, Ok)
}

/// Returns the children as the system lists them, by the threads that are their parents. Returns
/// `None` if it does not (`CONFIG_PROC_CHILDREN`).
fn listed() -> Option<Vec<Pid>> {
    fs::metadata("/proc/thread-self/children").ok()?;
    let threads = fs::read_dir("/proc/self/task").ok()?.flatten();
    // A thread may have ended. Another one then has its children.
    let lists = threads.map(|thread| tunesmith_files::system_text(thread.path().join("children")).unwrap_or_default());
    Some(lists.flat_map(|list| list.split_whitespace().filter_map(to_pid).collect::<Vec<_>>()).collect())
}

/// Returns the children as found among all processes.
fn found() -> io::Result<Vec<Pid>> {
    let me = getpid().to_string();
    let is_child = |id: &Pid| {
        let stat = tunesmith_files::system_text(format!("/proc/{id}/stat")).unwrap_or_default();
        // The program's name may contain anything, but stands in brackets. The state and the
        // parent's id follow.
        let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        rest.split_whitespace().nth(1) == Some(&me)
    };
    let ids = fs::read_dir("/proc")?.flatten().filter_map(|entry| to_pid(entry.file_name().to_str()?));
    Ok(ids.filter(is_child).collect())
}

fn to_pid(id: &str) -> Option<Pid> {
    id.parse().ok().map(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn both_ways_to_list_children_find_one() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let id = Pid::from_raw(child.id().try_into().unwrap());
        let is_found = found().unwrap().contains(&id);
        let is_listed = listed().is_none_or(|children| children.contains(&id));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_found && is_listed);
    }
}
