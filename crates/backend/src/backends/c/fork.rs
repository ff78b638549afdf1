//! Forks of the worker. Each runs one configuration.

#![allow(unsafe_code)]

use nix::libc;
use nix::unistd::ForkResult;
use std::io;
use std::os::unix::fs::MetadataExt;

/// Forks this process. Returns the id of the new process, and `None` in the new process itself.
///
/// # Errors
/// This process has several threads, or the system has no room for another process.
pub fn fork() -> io::Result<Option<u32>> {
    // A folder has two links of its own, and one of each folder in it.
    if std::fs::metadata("/proc/self/task")?.nlink() != 3 {
        return Err(io::Error::other("the process has several threads"));
    }
    // SAFETY: no other thread runs, so that none holds a lock that the new process waits for.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(Some(child.as_raw().unsigned_abs())),
        ForkResult::Child => Ok(None),
    }
}

/// Ends this process at once. Runs nothing that a kernel has registered for the end.
pub fn leave(code: i32) -> ! {
    // SAFETY: ends the process without running any code of it.
    unsafe { libc::_exit(code) }
}
