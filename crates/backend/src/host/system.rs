//! The operating system's processes.

use crate::host::cgroup::Cgroup;
use crate::host::channel::{Channel, Packet};
use crate::host::process::{Process, Processes, Received};
use crate::host::{Membership, POLL, WorkerCommand};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::pidfd_send_signal;
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ExitStatus, Stdio};
use std::time::Duration;
use tunesmith_files::system_text;

/// The number of bytes kept of a kernel's printed output: enough for a message of a sanitizer or an
/// assertion.
const KEPT: usize = 4 << 10;

/// The most that is read at once of what a process prints. A process that prints without end must
/// not keep the tuner from looking at its time limit.
const PIECES: usize = 64;

/// The number of times that a packet is tried to be sent to a process that does not read.
const TRIES: usize = 100;

/// The time in which a process that was sent SIGKILL must end. A process that waits for a device
/// may take longer, and is then left alone.
pub(super) const LAST_WAIT: Duration = Duration::from_secs(5);

/// Starts processes of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemProcesses;

impl Processes for SystemProcesses {
    fn start(&self, command: &WorkerCommand) -> io::Result<Box<dyn Process>> {
        Ok(Box::new(SystemProcess::start(command)?))
    }

    fn nonce(&self) -> u64 {
        // The system's randomness goes into the keys of the hash.
        RandomState::new().hash_one(0)
    }
}

/// A worker's process.
#[derive(Debug)]
struct SystemProcess {
    child: Child,
    /// Its membership among the compilers, if it compiles.
    membership: Option<Membership>,
    /// The group of everything that the worker starts, where there may be groups.
    group: Option<Cgroup>,
    /// The worker's connection. Closing it lets the worker end by itself.
    channel: Option<Channel>,
    printed: Printed,
    job: Option<JobProcess>,
    /// The process that came with the last packet.
    offered: Option<JobProcess>,
    /// Packets of the worker that wait until the job's packets are read.
    waiting: VecDeque<Packet>,
    /// The exit status, once the worker was waited for. From then on, its process id may belong to
    /// another process.
    status: Option<ExitStatus>,
}

/// A process that the worker forked for a job.
#[derive(Debug)]
struct JobProcess {
    channel: Channel,
    /// Stands for the process, even after its id belongs to another one.
    handle: OwnedFd,
    is_open: bool,
}

/// The output that processes print, and its end that is kept.
#[derive(Debug)]
struct Printed {
    pipe: Option<ChildStderr>,
    kept: Vec<u8>,
}

impl SystemProcess {
    fn start(worker: &WorkerCommand) -> io::Result<Self> {
        let (channel, theirs) = Channel::pair()?;
        let mut command = worker.command()?;
        // A process group of its own: Ctrl-C on the terminal reaches only the tuner, and the tuner
        // can end everything that a kernel started together with the worker.
        command.process_group(0).stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let membership = worker.membership(child.id());
        // A worker starts nothing before its first request.
        let group = Cgroup::around(child.id());
        let printed = Printed { pipe: child.stderr.take(), kept: Vec::new() };
        let (waiting, channel) = (VecDeque::new(), Some(channel));
        Ok(Self { child, membership, group, channel, printed, job: None, offered: None, waiting, status: None })
    }

    /// Waits until one of the connections has something to read, and keeps what is printed
    /// meanwhile.
    fn wait(&mut self, limit: Duration) {
        let job = self.job.as_ref().filter(|job| job.is_open).map(|job| job.channel.as_fd());
        let watched = [self.channel.as_ref().map(Channel::as_fd), job, self.printed.descriptor()];
        let mut watched: Vec<_> =
            watched.iter().flatten().map(|descriptor| PollFd::from_borrowed_fd(*descriptor, PollFlags::IN)).collect();
        // An error is an interruption by a signal. The caller looks at its clock.
        let _ = poll(&mut watched, Some(&timespec(limit)));
        self.printed.read();
    }

    /// Returns the next packet that is there already. The job's packets come first: when the worker
    /// reports that the job's process has ended, everything that this process sent is there.
    fn next(&mut self) -> Option<Received> {
        let from_worker = self.waiting.is_empty().then(|| self.channel.as_ref().map(Channel::try_receive)).flatten();
        let is_closed = match from_worker {
            Some(Ok(Some(packet))) => {
                self.waiting.push_back(packet);
                false
            }
            Some(Err(error)) if error.kind() == ErrorKind::WouldBlock => false,
            Some(Ok(None) | Err(_)) => true,
            None => self.channel.is_none(),
        };
        if let Some(job) = self.job.as_mut().filter(|job| job.is_open) {
            match job.channel.try_receive() {
                Ok(Some(packet)) => return Some(Received::Packet(packet)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Ok(None) | Err(_) => {
                    job.is_open = false;
                    return Some(Received::JobClosed);
                }
            }
        }
        if let Some(mut packet) = self.waiting.pop_front() {
            self.offered = JobProcess::from_descriptors(&mut packet.descriptors);
            return Some(Received::Packet(packet));
        }
        is_closed.then_some(Received::Closed)
    }

    /// Waits for the end of the worker. Returns `None` if it lives on.
    fn await_end(&mut self, limit: Duration) -> Option<ExitStatus> {
        let mut left = limit;
        loop {
            // An error means that the process is gone.
            self.status = self.child.try_wait().ok().flatten();
            if self.status.is_some() || left.is_zero() {
                return self.status;
            }
            let step = left.min(Duration::from_millis(1));
            self.printed.read();
            std::thread::sleep(step);
            left -= step;
        }
    }
}

impl Process for SystemProcess {
    fn id(&self) -> u32 {
        self.child.id()
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        let channel = self.job.as_ref().map(|job| &job.channel).or(self.channel.as_ref());
        let channel = channel.ok_or(ErrorKind::NotConnected)?;
        for _ in 0..TRIES {
            match channel.try_send(packet) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let mut writable = [PollFd::new(channel, PollFlags::OUT)];
                    let _ = poll(&mut writable, Some(&timespec(POLL)));
                }
                sent => return sent,
            }
        }
        Err(ErrorKind::TimedOut.into())
    }

    fn receive(&mut self, limit: Duration) -> Received {
        self.next().unwrap_or_else(|| {
            self.wait(limit);
            self.next().unwrap_or(Received::Nothing)
        })
    }

    fn adopt(&mut self) -> bool {
        self.job = self.offered.take();
        self.job.is_some()
    }

    fn is_job_ending(&self) -> bool {
        self.job.as_ref().and_then(|job| is_ending(&job.handle)).unwrap_or(false)
    }

    fn end_job(&mut self) {
        if let Some(job) = self.job.take() {
            // An error means that the process is gone.
            let _ = pidfd_send_signal(&job.handle, rustix::process::Signal::KILL);
        }
    }

    fn forget_job(&mut self) {
        self.job = None;
    }

    fn end(&mut self, patience: Duration) -> Option<ExitStatus> {
        self.end_job();
        self.membership = None;
        self.channel = None;
        if self.status.is_none() && self.await_end(patience).is_none() {
            if let Ok(group) = i32::try_from(self.child.id()) {
                // An error means that the group is empty.
                let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
            }
            self.await_end(LAST_WAIT);
        }
        self.group = None;
        self.status
    }

    fn memory(&self) -> Option<u64> {
        own_memory(self.child.id())
    }

    fn take_printed(&mut self) -> Vec<u8> {
        self.printed.read();
        std::mem::take(&mut self.printed.kept)
    }
}

impl Drop for SystemProcess {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

impl JobProcess {
    /// Takes the connection and the handle of a process from a packet.
    fn from_descriptors(descriptors: &mut Vec<OwnedFd>) -> Option<Self> {
        let (handle, channel) = (descriptors.pop()?, descriptors.pop()?);
        Some(Self { channel: Channel::from(channel), handle, is_open: true })
    }
}

impl Printed {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads what is there, and keeps the end of it. Without the reading, a kernel that prints much
    /// would block.
    fn read(&mut self) {
        let mut piece = [0; 4096];
        for _ in 0..PIECES {
            let Some(pipe) = &mut self.pipe else { return };
            let is_readable = poll(&mut [PollFd::new(&*pipe, PollFlags::IN)], Some(&timespec(Duration::ZERO)));
            if !matches!(is_readable, Ok(1..)) {
                return;
            }
            match pipe.read(&mut piece) {
                Ok(length @ 1..) => self.keep(&piece[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => self.pipe = None,
            }
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        self.kept.extend(piece);
        let surplus = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..surplus);
    }
}

fn timespec(time: Duration) -> Timespec {
    let tv_sec = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec, tv_nsec: time.subsec_nanos().into() }
}

/// The flag of a thread that the system is ending, in the ninth number of its `stat`.
const EXITING: u64 = 0x4;

/// Returns true if every thread of the process for which `handle` stands is ending.
fn is_ending(handle: &OwnedFd) -> Option<bool> {
    let information = system_text(format!("/proc/self/fdinfo/{}", handle.as_raw_fd()))?;
    let process = information.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim().to_owned();
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten();
    let is_exiting = |folder: PathBuf| {
        let stat = system_text(folder.join("stat"))?;
        // The name may contain anything, but stands in brackets. The state follows as the third field.
        let flags = stat.rsplit_once(')')?.1.split_whitespace().nth(6)?.parse::<u64>().ok()?;
        Some(flags & EXITING != 0)
    };
    // A thread that is gone by now has ended.
    Some(threads.map(|thread| thread.path()).all(|folder| is_exiting(folder).unwrap_or(true)))
}

/// Returns the memory in bytes that belongs to a process alone.
fn own_memory(process: u32) -> Option<u64> {
    let status = system_text(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_ended_is_told_from_one_that_runs() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let id = rustix::process::Pid::from_raw(child.id().try_into().unwrap()).unwrap();
        let handle = rustix::process::pidfd_open(id, rustix::process::PidfdFlags::empty()).unwrap();
        assert_eq!(is_ending(&handle), Some(false));
        child.kill().unwrap();
        // It stays until it is waited for.
        poll(&mut [PollFd::new(&handle, PollFlags::IN)], None).unwrap();
        assert_eq!(is_ending(&handle), Some(true));
        child.wait().unwrap();
        assert_eq!(is_ending(&handle), None);
    }

    #[test]
    fn the_memory_of_a_process_grows_with_what_it_writes() {
        let before = own_memory(std::process::id()).unwrap();
        let kept = vec![1_u8; 64 << 20];
        let after = own_memory(std::process::id()).unwrap();
        assert!(kept.iter().all(|byte| *byte == 1) && after > before + (32 << 20), "{before} {after}");
        assert_eq!(own_memory(u32::MAX), None);
    }
}
