//! A program of the user that runs beside a search and talks with it line by line.

use crate::host::launcher::{Answered, Group, unusable};
use crate::host::output::OutputReader;
use crate::host::supervisor::News;
use crate::host::{CommandTask, Input, Launcher, MemoryLimit, POLL, WorkerCommand, ended_badly};
use crate::sandbox::{Confinement, Sandbox};
use std::io::{self, BufRead, BufReader, PipeReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;
use tunesmith_core::{Interrupt, SystemClock};
use tunesmith_kernel::DeviceError;
use tunesmith_kernel::data::{Places, Scratch};

/// Maximum number of lines that wait for a program to read them.
const UNREAD: usize = 10_000;
/// Maximum number of lines that wait for the tuner. A program that writes more is made to wait.
const UNHEARD: usize = 256;
/// Maximum length of a line in bytes.
const LONGEST: u64 = 1 << 20;
/// The time in which a supervisor tells how its program ended, after the program closed its output.
const PATIENCE: Duration = Duration::from_secs(1);

/// A program of the user that runs as long as this value lives, under a supervisor and in the
/// sandbox of commands. It reads lines and writes lines. Nothing that it does blocks the tuner: other
/// threads write and read, and both keep a limited number of lines.
pub struct Companion {
    group: Group,
    to: SyncSender<String>,
    from: Receiver<Heard>,
    /// The reader of its standard error, for the message on its end.
    remarks: Option<OutputReader>,
    is_over: bool,
    interrupt: Interrupt,
    /// The folder for its temporary files. Dropped last.
    _scratch: Option<Scratch>,
}

/// A line of a companion, or its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A line, without its end.
    Line(String),
    /// A line of more than a megabyte. Nothing after it is heard.
    TooLong,
    /// The program has closed its output. The text says how it ended.
    Ended(String),
}

impl Companion {
    /// Starts the program `words` in `folder`, in the sandbox if there is one. The supervisor is started
    /// as `worker` starts workers.
    ///
    /// # Errors
    /// The supervisor cannot be started, or there is no room for temporary files. That the program
    /// does not exist is [heard](Self::receive).
    pub fn start(
        worker: &WorkerCommand,
        sandbox: Option<&Sandbox>,
        words: Vec<String>,
        folder: &Path,
    ) -> Result<Self, DeviceError> {
        let scratch = sandbox.map(|_| Scratch::create(0, &Places::new(worker.keeps_files_in()))).transpose()?;
        let confinement = match &scratch {
            Some(scratch) => Confinement::of_run(sandbox, scratch.path())?,
            None => None,
        };
        let confinement = confinement.map(|confinement| confinement.with_own_folder(folder));
        let launcher = Launcher::new(worker.clone(), Arc::new(SystemClock::new()))?.confined(confinement);
        let task = CommandTask {
            words,
            environment: Vec::new(),
            folder: folder.to_owned(),
            input: Input::Relayed,
            memory: MemoryLimit::Open,
            confinement: None,
        };
        let cannot = |error: io::Error| unusable(format!("cannot be started: {error}"));
        Self::with(&launcher, &task, scratch).map_err(cannot)
    }

    fn with(launcher: &Launcher, task: &CommandTask, scratch: Option<Scratch>) -> io::Result<Self> {
        let (output, to_stdout) = io::pipe()?;
        let (remarks, to_stderr) = OutputReader::start()?;
        let mut group = launcher.supervisor(to_stdout, to_stderr)?;
        group.control.write_all(&launcher.line(task)?)?;
        let input = group.control.try_clone()?;
        let (to, lines) = sync_channel(UNREAD);
        std::thread::Builder::new().spawn(move || write_lines(&lines, input))?;
        let (heard, from) = sync_channel(UNHEARD);
        std::thread::Builder::new().spawn(move || read_lines(output, &heard))?;
        let interrupt = launcher.interrupt().clone();
        Ok(Self { group, to, from, remarks: Some(remarks), is_over: false, interrupt, _scratch: scratch })
    }

    /// Passes a line on. Returns false if the program has not read thousands of earlier lines.
    pub fn send(&mut self, line: String) -> bool {
        // A program that has ended is heard.
        !matches!(self.to.try_send(line), Err(std::sync::mpsc::TrySendError::Full(_)))
    }

    /// Waits for a line, for at most `limit` and until the run is interrupted. Returns `None` if
    /// there is none.
    pub fn receive(&mut self, limit: Duration) -> Option<Heard> {
        let mut left = limit;
        loop {
            let piece = left.min(POLL);
            left -= piece;
            let heard = self.receive_within(piece);
            if heard.is_some() || self.is_over || left.is_zero() || self.interrupt.is_raised() {
                return heard;
            }
        }
    }

    fn receive_within(&mut self, limit: Duration) -> Option<Heard> {
        use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
        if self.is_over {
            return None;
        }
        match self.from.recv_timeout(limit) {
            Ok(heard) => {
                self.is_over = matches!(heard, Heard::TooLong);
                Some(heard)
            }
            Err(Timeout) => None,
            Err(Disconnected) => {
                self.is_over = true;
                Some(Heard::Ended(self.ending()))
            }
        }
    }

    /// Says how the program ended, with the last line of its remarks.
    fn ending(&mut self) -> String {
        let how = loop {
            break match self.group.hear(PATIENCE) {
                Ok(Answered::News(News::Starting)) => continue,
                Ok(Answered::News(News::NoSandbox(reason))) => format!("cannot enter its sandbox: {reason}"),
                Ok(Answered::News(News::NotStarted(reason))) => format!("could not be started: {reason}"),
                Ok(Answered::News(News::Ended(report))) => {
                    ended_badly(ExitStatus::from_raw(report.status)).unwrap_or_else(|| "ended".to_owned())
                }
                Ok(Answered::Nothing) => "closed its output".to_owned(),
                Ok(Answered::End) | Err(_) => "ended, and with it the process that watched it".to_owned(),
            };
        };
        let remarks = self.remarks.take().map(OutputReader::finish).unwrap_or_default().last_lines();
        match remarks.lines().rfind(|line| !line.trim().is_empty()) {
            Some(last) => format!("{how} ({})", last.trim()),
            None => how,
        }
    }
}

/// Writes lines until there are no more, or nobody reads them.
fn write_lines(lines: &Receiver<String>, mut to: UnixStream) {
    while let Ok(mut line) = lines.recv() {
        line.push('\n');
        if to.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
}

/// Reads lines until the output ends, a line is too long, or nobody wants them.
fn read_lines(output: PipeReader, heard: &SyncSender<Heard>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let read = (&mut output).take(LONGEST + 1).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            return;
        }
        let is_too_long = line.len() as u64 > LONGEST;
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        let news = if is_too_long { Heard::TooLong } else { Heard::Line(text) };
        // Blank lines say nothing.
        if matches!(&news, Heard::Line(text) if text.is_empty()) {
            continue;
        }
        if heard.send(news).is_err() || is_too_long {
            return;
        }
    }
}
