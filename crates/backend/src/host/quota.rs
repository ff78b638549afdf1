//! The share of the machine that user code may take, so that the tuner keeps enough to go on.
//!
//! Without memory, the system ends a process. It prefers those that offer themselves, and everything that they
//! start: workers and supervisors do. A kernel in C and a compiler also have a limit of private memory, at which
//! their allocations fail. The number of processes is limited where the user is not the machine's administrator,
//! whom the system exempts.

use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use tunesmith_files::system_text;

/// The share of what is there that the tuner keeps: one part of so many.
const PARTS: u64 = 8;

/// The size of a page in the counts of the system, at least.
const PAGE: u64 = 4 << 10;

/// Lets the system end this process, and what it starts, before others when memory runs out.
pub fn offer_memory() {
    let file = tunesmith_files::open_with(OpenOptions::new().write(true), Path::new("/proc/self/oom_score_adj"));
    // Without it, the system chooses by size alone. The largest process is usually the one to blame.
    let _ = file.and_then(|mut file| file.write_all(b"1000"));
}

/// Limits the number of the user's processes beyond which this process, and what it starts, start no others.
pub fn limit_processes() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NPROC) else { return };
    let of_system = ["/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"];
    let numbers = of_system.into_iter().filter_map(|path| system_text(path)?.trim().parse::<rlim_t>().ok());
    let most = numbers.fold(soft, rlim_t::min);
    let most = most - most / PARTS;
    // A lower limit of the user stays.
    let _ = setrlimit(Resource::RLIMIT_NPROC, most.min(soft), most.min(hard));
}

/// A number of bytes of private memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryQuota(Option<u64>);

impl MemoryQuota {
    /// Returns the share of the memory that is free now. Reading it takes about 50 us.
    pub fn of_now() -> Self {
        let machine = system_text("/proc/meminfo").and_then(|text| field(&text, "MemAvailable:"));
        let group = system_text("/sys/fs/cgroup/memory.max").and_then(|most| {
            let most = most.trim().parse::<u64>().ok()?;
            let used = system_text("/sys/fs/cgroup/memory.current")?.trim().parse::<u64>().ok()?;
            // What the group holds of files is given back on demand.
            let files = system_text("/sys/fs/cgroup/memory.stat").map_or(0, |text| number(&text, "file ").unwrap_or(0));
            Some(most.saturating_sub(used.saturating_sub(files)))
        });
        let free = [machine, group].into_iter().flatten().min();
        Self(free.map(|free| free - free / PARTS))
    }

    /// Lets allocations of this process, and of each that it starts, fail beyond the memory that it has now and
    /// this quota. Costs two calls of the system and the reading of a line.
    pub fn apply(self) {
        let Some(quota) = self.0 else { return };
        let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_DATA) else { return };
        // The sixth number counts the pages of data and stack.
        let pages = system_text("/proc/self/statm").and_then(|text| text.split(' ').nth(5)?.parse::<u64>().ok());
        let most = quota.saturating_add(pages.unwrap_or_default().saturating_mul(PAGE));
        let _ = setrlimit(Resource::RLIMIT_DATA, most.min(soft), most.min(hard));
    }
}

/// Returns the bytes of a line of `/proc/meminfo`.
fn field(text: &str, name: &str) -> Option<u64> {
    number(text, name)?.checked_mul(1 << 10)
}

/// Returns the number behind `name` at the beginning of a line.
fn number(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Returns the memory of the machine in bytes.
pub fn machine_memory() -> Option<u64> {
    field(&system_text("/proc/meminfo")?, "MemTotal:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_system_are_found_by_their_names() {
        let text = "MemTotal:       24567 kB\nMemFree:    11 kB\nMemAvailable:   20000 kB\n";
        assert_eq!((field(text, "MemAvailable:"), field(text, "Swap:")), (Some(20000 << 10), None));
        assert_eq!(number("anon 5\nfile 4096\nfile_mapped 7\n", "file "), Some(4096));
    }

    #[test]
    fn a_quota_leaves_a_part_of_the_memory() {
        let (MemoryQuota(quota), total) = (MemoryQuota::of_now(), machine_memory().unwrap());
        assert!(quota.is_some_and(|quota| 0 < quota && quota <= total - total / PARTS), "{quota:?} of {total}");
    }
}
