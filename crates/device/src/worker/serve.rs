//! The start of a worker, and the machine that it runs on.

use crate::worker::apart;
use crate::worker::link::Link;
use crate::worker::protocol::Job;
use crate::worker::service::{ReadyDevice, Surroundings, answer_all};
use crate::worker::state::ProcessState;
use crate::worker::zygote::Zygote;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use nix::unistd::{dup2_stdin, dup2_stdout, getppid};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, exit};
use std::sync::Arc;
use tunesmith_backend::host::{Channel, limit_processes, offer_memory};
use tunesmith_backend::{Session, SessionKind, table};
use tunesmith_core::{Clock, SystemClock};

/// The size of the stack in bytes. Private arrays, and OpenCL work-items on processors, take more
/// than the usual 8 MiB.
const STACK: u64 = 64 << 20;

/// Enlarges the stack and restarts the process. The restart is necessary because the size at the
/// start of the process also holds for threads that drivers start later. If the stack cannot be
/// enlarged, the process goes on with the stack it has.
fn enlarge_stack() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_STACK) else { return };
    let wanted = STACK.min(hard);
    if soft < wanted && setrlimit(Resource::RLIMIT_STACK, wanted, hard).is_ok() {
        let mut arguments = std::env::args_os();
        let name = arguments.next().unwrap_or_default();
        // Returns only on failure.
        let _ = Command::new("/proc/self/exe").arg0(name).args(arguments).exec();
    }
}

/// Serves the tuner with process id `parent` until it closes the connection. Never returns.
pub(super) fn serve(parent: Option<i32>) -> ! {
    enlarge_stack();
    offer_memory();
    limit_processes();
    // Without this, a kernel in an endless loop would outlive a tuner that was killed. The signal
    // comes when the thread that started the worker ends, even if the tuner lives. The tuner then
    // starts another worker.
    let _ = set_pdeathsig(Signal::SIGKILL);
    if parent.is_some_and(|parent| parent != getppid().as_raw()) {
        exit(0); // the tuner died before the line above
    }
    // An error here is a broken connection: the tuner is gone, and nobody reads a message.
    let code = match take_connection().and_then(|link| answer_all(link, &System)) {
        Ok(()) => 0,
        Err(_) => 1,
    };
    exit(code)
}

/// Moves the connection away from the standard streams, which belong to the kernel. The kernel
/// reads an empty input. Its output goes to the standard error stream.
fn take_connection() -> io::Result<Link> {
    let channel = Channel::from(io::stdin().as_fd().try_clone_to_owned()?);
    dup2_stdin(File::open("/dev/null")?)?;
    dup2_stdout(io::stderr())?;
    Ok(Link::new(Box::new(channel)))
}

/// The machine itself.
struct System;

impl Surroundings for System {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(SystemClock::new())
    }

    fn open(&self, session: SessionKind) -> Result<Box<dyn Session>, String> {
        table::open_session(&session)
    }

    fn become_zygote(&self, confined: bool) -> io::Result<Zygote> {
        Zygote::become_one(confined)
    }

    fn state(&self) -> ProcessState {
        ProcessState::current()
    }

    fn run_apart(&self, zygote: &Zygote, device: &mut ReadyDevice, job: &Job, link: &mut Link) -> io::Result<()> {
        apart::run(zygote, device, job, link)
    }
}
