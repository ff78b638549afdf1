//! The process between the tuner and a command.
//!
//! It receives its task over a socket on its standard input, runs the command in its own process
//! group, and reports the command's end. If the socket closes, the tuner has died. The supervisor
//! then ends the whole group.

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

/// A command to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CommandTask {
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    /// Additions to the environment.
    pub(super) environment: Vec<(String, String)>,
    /// The working folder.
    pub(super) folder: PathBuf,
    /// The file that becomes the standard input. `None` means an empty input.
    pub(super) input: Option<PathBuf>,
    /// The maximum address space of each process, in bytes.
    pub(super) memory_limit: Option<u64>,
}

/// A report of a supervisor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum News {
    /// The task has been read, and the program is about to start. From now on, the program is
    /// responsible for any end of this process.
    Starting,
    /// The program could not be started. The text gives the reason.
    NotStarted(String),
    /// The program ended.
    Ended(ProcessReport),
}

/// The end of a program and the resources it used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ProcessReport {
    /// The status as returned by `wait`.
    pub(super) status: i32,
    /// The time from just before the program's start to just after its end.
    pub(super) wall: Duration,
    /// The processor time of the program and of the processes it waited for, in user mode.
    pub(super) user: Duration,
    /// The same, in the operating system's kernel.
    pub(super) system: Duration,
    /// The largest memory use of one of these processes, in bytes.
    pub(super) peak: u64,
}

/// Serves one task and exits.
pub(crate) fn supervise() -> ! {
    // An error means that the tuner is gone, or that the parent is not a tuner. Nobody reads a
    // message.
    exit(i32::from(serve().is_err()))
}

fn serve() -> io::Result<()> {
    // The code below ends the process group. If a user started this process by hand, that group
    // must not be the user's.
    if getpgrp() != getpid() {
        let text = "This is started by Tunesmith; there is nothing to do by hand.\n";
        io::stderr().write_all(text.as_bytes())?;
        return Err(io::Error::other(text));
    }
    // The duplicate is closed in the program, which has another standard input.
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

/// Waits for the end of the tuner, and then ends the group.
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

fn tell(control: &mut UnixStream, news: &News) -> io::Result<()> {
    let mut line = serde_json::to_vec(news)?;
    line.push(b'\n');
    control.write_all(&line)
}
