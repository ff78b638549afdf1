//! Control groups of version 2, which hold a process with everything that it starts.
//!
//! A process cannot leave its group by a new session, a new parent or the death of its parent.
//! Ending a group therefore ends what a worker left behind, even if the worker died first.
//!
//! Moving a process takes up to 60 ms, because the system waits for all processors. Workers, of
//! which a run starts a few, have groups. Supervisors, of which a run starts thousands, do not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The prefix of the groups' names. The id of the tuner's process and a number follow.
const PREFIX: &str = "tunesmith-";

/// The number of times that a group is looked at, with [`PAUSE`] between them, until the processes
/// in it have ended.
const ROUNDS: u32 = 2000;

const PAUSE: Duration = Duration::from_millis(1);

/// A group for one process and its descendants. Dropping it ends them by force.
#[derive(Debug)]
pub(crate) struct Cgroup {
    folder: PathBuf,
}

impl Cgroup {
    /// Creates a group and moves a process into it, which must not have started others yet. Returns
    /// `None` where this user may not create groups, or the system cannot end them.
    pub(crate) fn around(process: u32) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = own_group()?.join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        // From here on, dropping it removes the folder.
        let group = Self { folder };
        let is_moved = fs::write(group.folder.join("cgroup.procs"), process.to_string()).is_ok();
        // Systems before Linux 5.14 have no such file.
        (is_moved && group.folder.join("cgroup.kill").exists()).then_some(group)
    }

    /// Returns true if a process of the group lives.
    fn is_populated(&self) -> bool {
        let events = tunesmith_files::system_text(self.folder.join("cgroup.events")).unwrap_or_default();
        events.lines().any(|line| line == "populated 1")
    }
}

impl Drop for Cgroup {
    /// Ends the group's processes by force and removes the group. Waits for some seconds at most: a
    /// process that waits for a device ends later, and the next run removes its group.
    fn drop(&mut self) {
        for _ in 0..ROUNDS {
            if self.is_populated() {
                // An error means that the group is gone.
                let _ = fs::write(self.folder.join("cgroup.kill"), "1");
            }
            match fs::remove_dir(&self.folder) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => std::thread::sleep(PAUSE),
                _ => return,
            }
        }
    }
}

/// Returns the folder of this process's own group, below which this user may create others.
fn own_group() -> Option<&'static Path> {
    static OWN: OnceLock<Option<PathBuf>> = OnceLock::new();
    OWN.get_or_init(|| {
        let mounts = tunesmith_files::system_text("/proc/self/mountinfo")?;
        let group = tunesmith_files::system_text("/proc/self/cgroup")?;
        let folder = folder_of(&mounts, &group)?;
        remove_stale(&folder);
        Some(folder)
    })
    .as_deref()
}

/// Returns the folder of a process's group. `mounts` has the form of `/proc/self/mountinfo`, `group`
/// that of `/proc/self/cgroup`.
fn folder_of(mounts: &str, group: &str) -> Option<PathBuf> {
    let path = group.lines().find_map(|line| line.strip_prefix("0::"))?;
    let is_version_2 = |line: &&str| {
        let kind = line.split_once(" - ").and_then(|(_, rest)| rest.split_whitespace().next());
        kind == Some("cgroup2")
    };
    let mut fields = mounts.lines().find(is_version_2)?.split_whitespace().skip(3);
    let (root, mounted) = (fields.next()?, fields.next()?);
    let below = Path::new(path).strip_prefix(root).ok()?;
    Some(Path::new(mounted).join(below))
}

/// Removes the empty groups of tuners that are gone.
fn remove_stale(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let tuner = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse::<u32>().ok());
        if tuner.is_some_and(|tuner| !Path::new(&format!("/proc/{tuner}")).exists()) {
            // An error means that processes live in it.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufRead;
    use std::process::{Command, Stdio};

    #[test]
    fn the_folder_of_a_group_is_found_below_any_mount() {
        let mounts = "29 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      30 23 0:27 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
        let found = |mounts, group| folder_of(mounts, group).map(|path| path.display().to_string());
        let own = "4:memory:/x\n0::/user.slice/a.scope\n";
        assert_eq!(found(mounts, own).as_deref(), Some("/sys/fs/cgroup/unified/user.slice/a.scope"));
        // A container sees a part of the tree.
        let part = "30 23 0:27 /user.slice /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(found(part, own).as_deref(), Some("/sys/fs/cgroup/a.scope"));
        assert_eq!(found(part, "0::/other\n"), None);
        assert_eq!(found(mounts, "4:memory:/x\n"), None);
        assert_eq!(found("29 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", own), None);
    }

    #[test]
    #[allow(clippy::print_stdout)] // says why it is left out
    fn the_end_of_a_group_ends_orphans_in_other_sessions() {
        // The shell waits for its group, and ends before the process that it starts.
        let script = "read go; setsid sh -c 'echo $$; exec sleep 600' & exit";
        let mut shell =
            Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let Some(group) = Cgroup::around(shell.id()) else {
            println!("skipped: this user may not create control groups of version 2");
            shell.kill().unwrap();
            shell.wait().unwrap();
            return;
        };
        drop(shell.stdin.take());
        shell.wait().unwrap();
        let mut line = String::new();
        io::BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let orphan = format!("/proc/{}/stat", line.trim());
        let lives = || std::fs::read_to_string(&orphan).is_ok_and(|stat| !stat.contains(") Z"));
        assert!(lives() && group.is_populated());
        let folder = group.folder.clone();
        drop(group);
        assert!(!lives() && !folder.exists());
    }
}
