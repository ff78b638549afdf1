//! The process between the tuner and a command.
//!
//! It is told what to run over a socket on its standard input, runs it in its own process group,
//! and tells how it ended. When the socket closes, the tuner has died, and the whole group is
//! ended.

use nix::sys::resource::{Resource, Usage, UsageWho, getrlimit, getrusage, setrlimit};
use nix::sys::signal::{Signal, killpg};
use nix::sys::time::TimeVal;
use nix::unistd::{getpgrp, getpid};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio, exit};
use std::time::Duration;
use tunesmith_core::{Clock, SystemClock};

/// What to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CommandTask {
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    /// What is added to the environment.
    pub(super) environment: Vec<(String, String)>,
    /// Where.
    pub(super) folder: PathBuf,
    /// A file to read from; nothing where there is none.
    pub(super) input: Option<PathBuf>,
    /// The most address space of each of its processes, in bytes.
    pub(super) memory_limit: Option<u64>,
}

/// What a supervisor tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum News {
    /// The task is understood and the program about to start: what ends this process from now on is
    /// its doing.
    Starting,
    /// The program could not be started, for this reason.
    NotStarted(String),
    /// The program ended.
    Ended(ProcessReport),
}

/// How a program ended and what it used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ProcessReport {
    /// The status as `wait` tells it.
    pub(super) status: i32,
    /// From just before its start to just after its end.
    pub(super) wall: Duration,
    /// Processor time of the program and of those it waited for.
    pub(super) user: Duration,
    /// The same, in the system's kernel.
    pub(super) system: Duration,
    /// The most memory that one of them had, in bytes.
    pub(super) peak: u64,
}

/// Serves one task and ends the process.
pub(crate) fn supervise() -> ! {
    // An error means that the tuner is gone or is none: there is nobody to tell.
    exit(i32::from(serve().is_err()))
}

fn serve() -> io::Result<()> {
    // Everything below ends the process group, which must not be that of someone who started this
    // by hand.
    if getpgrp() != getpid() {
        let text = "This is started by Tunesmith; there is nothing to do by hand.\n";
        io::stderr().write_all(text.as_bytes())?;
        return Err(io::Error::other(text));
    }
    // A duplicate is closed in the program, whose standard input is another.
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut reader = BufReader::new(control.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let task: CommandTask = serde_json::from_str(&line)?;
    std::thread::spawn(move || outlive_no_tuner(reader));
    tell(&mut control, &News::Starting)?;
    let clock = SystemClock::new();
    let start = clock.now();
    let mut child = match start_program(&task) {
        Ok(child) => child,
        Err(error) => return tell(&mut control, &News::NotStarted(error.to_string())),
    };
    let status = child.wait()?;
    let wall = clock.now() - start;
    // This process has no other children.
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    tell(&mut control, &News::Ended(report(status.into_raw(), wall, &used)))
}

/// Waits for the end of the tuner, and ends the group.
fn outlive_no_tuner(mut from: impl Read) {
    while matches!(from.read(&mut [0; 64]), Ok(1..)) {}
    let _ = killpg(getpgrp(), Signal::SIGKILL);
}

fn start_program(task: &CommandTask) -> io::Result<Child> {
    let program = task.words.first().ok_or_else(|| io::Error::other("there is no program"))?;
    let input = match &task.input {
        Some(path) => Stdio::from(File::open(path)?),
        None => Stdio::null(),
    };
    let mut command = Command::new(program);
    command.args(&task.words[1..]).envs(task.environment.iter().map(|(name, value)| (name, value)));
    command.current_dir(&task.folder).stdin(input);
    let Some(bytes) = task.memory_limit else { return command.spawn() };
    // Limits are inherited. This process, which needs little but may need it afterwards, gets its
    // own back.
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

fn tell(control: &mut UnixStream, news: &News) -> io::Result<()> {
    let mut line = serde_json::to_vec(news)?;
    line.push(b'\n');
    control.write_all(&line)
}
