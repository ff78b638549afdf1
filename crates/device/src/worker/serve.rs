//! The worker's own loop.

use crate::backends::{DriverCompilers, Session};
use crate::worker::buffers::Buffers;
use crate::worker::protocol::{Job, JobReport, Message, Phase, Request, Setup};
use crate::worker::sequence::JobBench;
use crate::worker::watch::Watcher;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use nix::unistd::{dup2_stdin, dup2_stdout, getppid};
use serde_json::{from_str, to_writer};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, exit};
use tunesmith_core::SystemClock;

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

/// Serves the tuner with process id `parent` until it closes the pipe. Never returns.
pub(super) fn serve(parent: Option<i32>) -> ! {
    enlarge_stack();
    // Without this, a kernel in an endless loop would outlive a tuner that was killed. The signal
    // comes when the thread that started the worker ends, even if the tuner lives. The tuner then
    // starts another worker.
    let _ = set_pdeathsig(Signal::SIGKILL);
    if parent.is_some_and(|parent| parent != getppid().as_raw()) {
        exit(0); // the tuner died before the line above
    }
    // An error here is a broken pipe: the tuner is gone, and nobody reads a message.
    let code = match take_pipes().and_then(|(from, to)| answer_all(from, to)) {
        Ok(()) => 0,
        Err(_) => 1,
    };
    exit(code)
}

/// Moves the protocol away from the standard streams, which belong to the kernel. The kernel reads
/// an empty input. Its output goes to the standard error stream.
fn take_pipes() -> io::Result<(BufReader<File>, File)> {
    let from = io::stdin().as_fd().try_clone_to_owned()?;
    let to = io::stdout().as_fd().try_clone_to_owned()?;
    dup2_stdin(File::open("/dev/null")?)?;
    dup2_stdout(io::stderr())?;
    Ok((BufReader::new(from.into()), to.into()))
}

fn answer_all(from: BufReader<File>, mut to: File) -> io::Result<()> {
    let mut prepared = None;
    let mut compilers = DriverCompilers::default();
    for line in from.lines() {
        match from_str(&line?)? {
            Request::Prepare(setup) => {
                let answer = match prepare(setup) {
                    Ok(ready) => {
                        prepared = Some(ready);
                        Message::Ready
                    }
                    Err(reason) => Message::Unusable(reason),
                };
                send(&mut to, &answer)?;
            }
            Request::Ask(question) => send(&mut to, &Message::Answer(question.answer()))?,
            Request::Compile(task) => {
                let mut launching = || drop(send(&mut to, &Message::Phase(Phase::Starting)));
                let compiled = compilers.compile(&task, &mut launching);
                send(&mut to, &Message::Compiled(compiled))?;
            }
            Request::Run(job) => {
                let Some(prepared) = &mut prepared else {
                    return Err(io::Error::other("a job came before its buffers"));
                };
                let report = prepared.run(&job, &mut to);
                send(&mut to, &Message::Finished(Box::new(report)))?;
            }
        }
    }
    Ok(())
}

/// A device with filled buffers, ready for jobs.
struct ReadyDevice {
    session: Box<dyn Session>,
    buffers: Buffers,
    watcher: Option<Watcher>,
}

fn prepare(setup: Setup) -> Result<ReadyDevice, String> {
    let mut session = setup.session.open()?;
    let mut buffers = Buffers::allocate(session.as_mut(), setup.arguments)?;
    buffers.renew(session.as_mut()).map_err(|fault| format!("cannot fill its buffers: {fault:?}"))?;
    let watcher = Watcher::new(session.as_mut(), setup.energy)?;
    Ok(ReadyDevice { session, buffers, watcher })
}

impl ReadyDevice {
    fn run(&mut self, job: &Job, to: &mut File) -> JobReport {
        // If the message cannot be sent, the tuner is gone. Sending the report will find that out.
        let mut announce = |phase: Phase| drop(send(to, &Message::Phase(phase)));
        let Self { session, buffers, watcher } = self;
        let (session, watcher) = (session.as_mut(), watcher.as_mut());
        JobBench { session, buffers, clock: &SystemClock::new(), watcher, announce: &mut announce }.run(job)
    }
}

fn send(to: &mut File, message: &Message) -> io::Result<()> {
    let mut line = Vec::with_capacity(128);
    to_writer(&mut line, message)?;
    line.push(b'\n');
    to.write_all(&line)
}
