//! Runs a job in a process that the worker forks for it.

use crate::worker::link::Link;
use crate::worker::protocol::{Job, Message};
use crate::worker::service::ReadyDevice;
use crate::worker::zygote::{MUTE, Zygote};
use nix::errno::Errno;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, getpid, getppid, setpgid};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{PidfdFlags, pidfd_open};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tunesmith_backend::host::Channel;
use tunesmith_backend::{fork, leave};

/// The exit code of a job's process that panicked.
const PANICKED: i32 = 101;

/// Runs a job in a process of its own. Returns when that process has ended, with everything that it
/// left behind.
///
/// # Errors
/// The tuner is gone, processes that the job left behind cannot be ended, or this process stays
/// changed.
pub(super) fn run(zygote: &Zygote, device: &mut ReadyDevice, job: &Job, link: &mut Link) -> io::Result<()> {
    let worker = getpid();
    let forked = Channel::pair().and_then(|(ours, theirs)| Ok((fork()?, ours, theirs)));
    let (child, ours, theirs) = match forked {
        Ok((Some(child), ours, theirs)) => (Pid::from_raw(i32::try_from(child).unwrap_or_default()), ours, theirs),
        Ok((None, ours, theirs)) => {
            drop(theirs);
            // Replaces, and so closes, the worker's own connection.
            *link = link.over(Box::new(ours));
            become_job(worker, device, job, link)
        }
        Err(error) => return link.send(&Message::Machine(no_process(&error))),
    };
    drop(ours);
    // The child does the same. One of the two calls comes first.
    let _ = setpgid(child, child);
    let watched = announce(child, theirs, link).and_then(|handle| watch(&handle, link));
    // The process has ended, or the tuner is gone.
    let _ = kill(child, Signal::SIGKILL);
    let status = reap(child)?;
    // An error means that the group is empty.
    let _ = killpg(child, Signal::SIGKILL);
    zygote.end_descendants()?;
    device.empty_temporary();
    watched?;
    link.send(&Message::JobEnded(status))?;
    // The job has its verdict. The next one gets another worker if this fails.
    device.settle(zygote)
}

/// Tells the tuner of the process. Returns a handle on it.
fn announce(child: Pid, theirs: Channel, link: &Link) -> io::Result<OwnedFd> {
    let id = rustix::process::Pid::from_raw(child.as_raw()).ok_or(Errno::ESRCH)?;
    let handle = pidfd_open(id, PidfdFlags::empty())?;
    link.send_with(&Message::Forked(child.as_raw().unsigned_abs()), &[theirs.as_fd(), handle.as_fd()])?;
    Ok(handle)
}

/// Waits until the process has ended.
///
/// # Errors
/// The tuner is gone.
fn watch(handle: &OwnedFd, link: &Link) -> io::Result<()> {
    loop {
        let mut watched = vec![PollFd::new(handle, PollFlags::IN)];
        // Of the connection, only its end is awaited.
        watched.extend(link.descriptor().map(|wire| PollFd::from_borrowed_fd(wire, PollFlags::empty())));
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
            Ok(_) => {}
        }
        if watched.get(1).is_some_and(|wire| !wire.revents().is_empty()) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if !watched[0].revents().is_empty() {
            return Ok(());
        }
    }
}

/// Waits for the process, and returns its status in the form of `wait`.
fn reap(child: Pid) -> io::Result<i32> {
    loop {
        match waitpid(child, None) {
            Ok(WaitStatus::Exited(_, code)) => return Ok((code & 0xff) << 8),
            Ok(WaitStatus::Signaled(_, signal, _)) => return Ok(signal as i32),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Runs the job in this process, which was forked for it, and ends it.
fn become_job(worker: Pid, device: &mut ReadyDevice, job: &Job, link: &mut Link) -> ! {
    let ran = catch_unwind(AssertUnwindSafe(|| {
        setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
        set_pdeathsig(Signal::SIGKILL)?;
        if getppid() != worker {
            return Err(io::ErrorKind::ConnectionAborted.into()); // the worker died before the line above
        }
        if let Err(reason) = device.begin(job) {
            return link.send(&Message::Machine(format!("the worker cannot enter its sandbox: {reason}")));
        }
        let report = device.run(job, link);
        link.send(&Message::Finished(Box::new(report)))
    }));
    leave(match ran {
        Ok(Ok(())) => 0,
        Ok(Err(_)) => MUTE,
        Err(_) => PANICKED,
    })
}

fn no_process(error: &io::Error) -> String {
    format!(
        "the worker cannot start a process for a configuration: {error}; see whether the system is out of memory, \
         processes or descriptors"
    )
}
