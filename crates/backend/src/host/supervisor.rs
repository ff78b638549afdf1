//! The process between the tuner and a command.
//!
//! It receives its task over a socket on its standard input, runs the command in its own process
//! group, and reports the command's end. If the socket closes, the tuner has died or wants the end.
//!
//! In any case the supervisor ends everything that the command left behind before it ends itself.
//! As a child subreaper, it becomes the parent of processes that left the group. It stays outside
//! of the command's sandbox, so that a sandboxed command cannot end it by a signal.

use crate::host::{MemoryQuota, end_descendants, limit_processes, offer_memory};
use crate::sandbox::{Cage, Confinement, Role, Scope};
use crate::wire_path;
use nix::sys::prctl::set_child_subreaper;
use nix::sys::resource::{Resource, Usage, UsageWho, getrlimit, getrusage, setrlimit};
use nix::sys::time::TimeVal;
use nix::unistd::{getpgrp, getpid};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio, exit};
use std::sync::mpsc;
use std::time::Duration;
use tunesmith_core::{Clock, SystemClock};

/// A command to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CommandTask {
    /// The program and its arguments.
    pub(crate) words: Vec<String>,
    /// Additions to the environment.
    pub(crate) environment: Vec<(String, String)>,
    /// The working folder.
    #[serde(with = "wire_path")]
    pub(crate) folder: PathBuf,
    /// The standard input.
    pub(crate) input: Input,
    /// The limit of the memory of each process.
    pub(crate) memory: MemoryLimit,
    /// The sandbox of the program.
    pub(crate) confinement: Option<Confinement>,
}

/// The limit of the memory of each process of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MemoryLimit {
    /// None of its own: a program may reserve more addresses than it uses.
    Open,
    /// So many bytes of address space.
    AddressSpace(u64),
    /// Private memory up to the [quota](MemoryQuota) of the machine.
    Quota,
}

/// The standard input of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Input {
    /// It is empty.
    Nothing,
    /// It is this file.
    File(#[serde(with = "wire_path")] PathBuf),
    /// Everything that the tuner writes after the task is passed on.
    Relayed,
}

/// A report of a supervisor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum News {
    /// The task has been read, and the program is about to start. From now on, the program is
    /// responsible for any end of this process.
    Starting,
    /// The system refuses the sandbox. The text gives the reason.
    NoSandbox(String),
    /// The program could not be started. The text gives the reason.
    NotStarted(String),
    /// The program ended.
    Ended(ProcessReport),
}

/// The end of a program and the resources it used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProcessReport {
    /// The status as returned by `wait`.
    pub(crate) status: i32,
    /// The time from just before the program's start to just after its end.
    pub(crate) wall: Duration,
    /// The processor time of the program and of the processes it waited for, in user mode.
    pub(crate) user: Duration,
    /// The same, in the operating system's kernel.
    pub(crate) system: Duration,
    /// The largest memory use of one of these processes, in bytes.
    pub(crate) peak: u64,
}

/// Serves one task and exits.
pub fn supervise() -> ! {
    // An error means that the tuner is gone, or that the parent is not a tuner. Nobody reads a
    // message.
    exit(i32::from(serve().is_err()))
}

fn serve() -> io::Result<()> {
    // The tuner and the program may end this process group. If a user started this process by hand,
    // that group must not be the user's.
    if getpgrp() != getpid() {
        let text = "This is started by Tunesmith; there is nothing to do by hand.\n";
        io::stderr().write_all(text.as_bytes())?;
        return Err(io::Error::other(text));
    }
    // The duplicate is closed in the program, which has another standard input.
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut line = String::new();
    let mut input = BufReader::new(control.try_clone()?);
    input.read_line(&mut line)?;
    let task: CommandTask = serde_json::from_str(&line)?;
    offer_memory();
    limit_processes();
    set_child_subreaper(true)?;
    // Every thread of this process is in the scope, and so is everything that the program starts.
    let scope = task.confinement.as_ref().and_then(|_| Scope::enter());
    let served = serve_task(task, &control, input);
    let ended = end_descendants(scope.as_ref());
    served.and(ended)
}

fn serve_task(task: CommandTask, control: &UnixStream, mut input: BufReader<UnixStream>) -> io::Result<()> {
    let mut program = match start(task, control.try_clone()?)? {
        Ok(program) => program,
        Err(news) => return tell(control, &news),
    };
    // A relayed input has a thread of its own: a program that does not read must not keep this one
    // from noticing the end.
    let relaying = program.child.stdin.take().map(|mut to| {
        std::thread::Builder::new().spawn(move || {
            let _ = relay(&mut input, &mut to);
            // A program may close its input. What the tuner writes then is lost.
            let _ = io::copy(&mut input, &mut io::sink());
        })
    });
    let relaying = relaying.transpose()?;
    // Without a relayed input, the tuner says nothing after the task. What can be read is the end.
    let end = if relaying.is_some() { PollFlags::RDHUP } else { PollFlags::IN };
    wait(&program.child, control, end)?;
    let status = program.child.wait()?;
    let wall = program.clock.now() - program.start;
    // Only this child has been waited for.
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    tell(control, &News::Ended(report(status.into_raw(), wall, &used)))
}

/// Passes on what is read, as it comes. The system's way to copy between descriptors, which
/// `io::copy` takes, locks the pipe until more is there, so that nobody can read it.
fn relay(input: &mut impl BufRead, to: &mut impl Write) -> io::Result<()> {
    loop {
        let piece = input.fill_buf()?;
        if piece.is_empty() {
            return Ok(());
        }
        to.write_all(piece)?;
        let length = piece.len();
        input.consume(length);
    }
}

/// A started program.
struct Program {
    child: Child,
    clock: SystemClock,
    /// The time just before its start.
    start: Duration,
}

/// Starts the program in a thread of its own, because a sandbox is one of a thread. Returns the news
/// of a program that could not be started.
///
/// The thread lives as long as this process: the system takes its end for that of the program's
/// parent, and some programs ask to be ended with it.
fn start(task: CommandTask, control: UnixStream) -> io::Result<Result<Program, News>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    std::thread::Builder::new().spawn(move || {
        let _ = sender.send(enter_and_start(&task, &control));
        loop {
            std::thread::park();
        }
    })?;
    receiver.recv().map_err(io::Error::other)?
}

fn enter_and_start(task: &CommandTask, control: &UnixStream) -> io::Result<Result<Program, News>> {
    if let Some(confinement) = &task.confinement {
        let entered = Cage::build(confinement, Role::Program).and_then(Cage::enter);
        if let Err(reason) = entered {
            return Ok(Err(News::NoSandbox(reason)));
        }
    }
    tell(control, &News::Starting)?;
    let clock = SystemClock::new();
    let start = clock.now();
    let started = start_program(task);
    let program = started.map(|child| Program { child, clock, start });
    Ok(program.map_err(|error| News::NotStarted(error.to_string())))
}

/// Waits until the program has ended. It remains to be waited for by `wait`. An event of `end` on the
/// connection to the tuner is its end.
///
/// # Errors
/// The tuner is gone, or wants the end.
fn wait(child: &Child, control: &UnixStream, end: PollFlags) -> io::Result<()> {
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
    let handle = pidfd_open(id, PidfdFlags::empty())?;
    loop {
        let mut watched = [PollFd::new(control, end), PollFd::new(&handle, PollFlags::IN)];
        match poll(&mut watched, None) {
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
            Ok(_) => {}
        }
        if !watched[0].revents().is_empty() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if !watched[1].revents().is_empty() {
            return Ok(());
        }
    }
}

fn start_program(task: &CommandTask) -> io::Result<Child> {
    let program = task.words.first().ok_or_else(|| io::Error::other("there is no program"))?;
    let input = match &task.input {
        Input::File(path) => Stdio::from(tunesmith_files::open(path)?),
        Input::Nothing => Stdio::null(),
        Input::Relayed => Stdio::piped(),
    };
    let mut command = Command::new(program);
    command.args(&task.words[1..]).envs(task.environment.iter().map(|(name, value)| (name, value)));
    command.current_dir(&task.folder).stdin(input);
    let bytes = match task.memory {
        MemoryLimit::Open => return command.spawn(),
        MemoryLimit::AddressSpace(bytes) => bytes,
        MemoryLimit::Quota => {
            MemoryQuota::of_now().apply();
            return command.spawn();
        }
    };
    // Limits are inherited. This process gets its own limit back, because it may need memory
    // afterwards.
    let (soft, hard) = getrlimit(Resource::RLIMIT_AS)?;
    setrlimit(Resource::RLIMIT_AS, bytes.min(hard), hard)?;
    let child = command.spawn();
    setrlimit(Resource::RLIMIT_AS, soft, hard)?;
    child
}

fn report(status: i32, wall: Duration, used: &Usage) -> ProcessReport {
    let peak = u64::try_from(used.max_rss()).unwrap_or_default() * 1024;
    ProcessReport { status, wall, user: duration(used.user_time()), system: duration(used.system_time()), peak }
}

fn duration(time: TimeVal) -> Duration {
    let seconds = u64::try_from(time.tv_sec()).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_micros(u64::try_from(time.tv_usec()).unwrap_or_default())
}

fn tell(mut control: &UnixStream, news: &News) -> io::Result<()> {
    let mut line = serde_json::to_vec(news)?;
    line.push(b'\n');
    control.write_all(&line)
}
