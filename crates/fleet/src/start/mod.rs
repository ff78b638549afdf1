//! Starts the workers that a fleet consists of, and ends whatever it started.

mod ask;
mod hyperqueue;
mod transcript;

use crate::worker::is_connected;
use crate::{FleetError, FleetSpec, Token};
use ask::end;
use hyperqueue::Job;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;
use transcript::Transcript;
use tunesmith_core::Interrupt;

/// The variable of the environment that hands the token to a worker.
pub const TOKEN_VARIABLE: &str = "TUNESMITH_FLEET_TOKEN";

/// Number of times that a worker of this host is started again after it ended by itself.
const AGAIN: usize = 3;

/// Maximum number of hosts or commands that an error names.
const MOST_NOTES: usize = 3;

/// Time that a process gets to end by itself.
const LEAVE: Duration = Duration::from_secs(2);

/// The time that engines have for their work, and the flag that ends it.
pub(crate) struct Patience<'a> {
    /// Maximum time until a host has a worker.
    pub(crate) time: Duration,
    pub(crate) interrupt: &'a Interrupt,
}

/// The command that starts a worker.
#[derive(Clone, Debug, Default)]
pub struct WorkerProgram {
    /// The program, without the address and the token.
    pub program: PathBuf,
    /// Further options of all workers.
    pub options: Vec<String>,
    /// Further options of each worker of this host.
    pub each: Vec<Vec<String>>,
    /// The command for other hosts, which takes a host and a script as `ssh` does.
    pub ssh: Vec<String>,
    /// The name or address by which other hosts reach this one. Without it, that is the host's name, or
    /// for `ssh` the address that it came from.
    pub address: Option<String>,
}

impl WorkerProgram {
    /// Returns the name by which other hosts reach this one.
    fn reached_by(&self) -> String {
        self.address.clone().unwrap_or_else(own_name)
    }
}

/// A process that runs one worker, or an engine that runs several.
struct Started {
    child: Child,
    /// The command, to start a worker of this host again.
    command: Option<Command>,
    again: usize,
    name: String,
    said: Transcript,
    /// The time by which a worker on another host must have connected.
    due: Option<Due>,
}

/// The time by which a worker on another host must have connected.
struct Due {
    host: String,
    /// A command that shows what is wrong with the host.
    trial: String,
    time: Duration,
}

/// All that a fleet has started.
#[derive(Default)]
pub(crate) struct Crew {
    started: Vec<Started>,
    job: Option<Job>,
    /// The port that workers connect to.
    port: u16,
    /// Sentences about hosts that have no worker.
    notes: Vec<String>,
}

impl Crew {
    /// Starts the workers of `spec`, which connect to `address`.
    pub(crate) fn start(
        spec: &FleetSpec,
        worker: &WorkerProgram,
        address: SocketAddr,
        token: &Token,
        patience: &Patience<'_>,
    ) -> Result<Self, FleetError> {
        let mut crew = Self::default();
        crew.port = address.port();
        let connect = |host: &str| -> Vec<String> {
            let fixed = ["worker", "--connect"].map(str::to_string).into_iter();
            fixed.chain([format!("{host}:{}", address.port())]).chain(worker.options.clone()).collect()
        };
        match spec {
            FleetSpec::Listen(_) => {}
            FleetSpec::Local(count) => {
                for at in 0..*count {
                    let own = worker.each.get(at).cloned().unwrap_or_default();
                    let mut command = local(&worker.program, token);
                    command.args(connect("127.0.0.1")).args(own);
                    crew.add(command, format!("the worker process {}", at + 1), true)?;
                }
            }
            FleetSpec::Ssh(file) => {
                let program = worker.program.display().to_string();
                for host in hosts(file)? {
                    if let Err(error) = crew.ssh(&host, &program, worker, token, patience.time) {
                        crew.notes.push(format!("{host} has no worker: {error}"));
                    }
                }
                if crew.started.is_empty() {
                    crew.notes.truncate(MOST_NOTES);
                    return Err(FleetError::Engine { command: "ssh".to_string(), reason: crew.notes.join("; ") });
                }
            }
            FleetSpec::Slurm(words) => {
                let mut command = Command::new("srun");
                command.args(words).arg(&worker.program).args(connect(&worker.reached_by()));
                // Workers write nothing that is a result: it would stand among the results of this run.
                command.env(TOKEN_VARIABLE, token.secret()).stdin(Stdio::null()).stdout(Stdio::null());
                command.process_group(0);
                crew.add(command, "srun".to_string(), false)?;
            }
            FleetSpec::HyperQueue(words) => {
                crew.job = Some(Job::submit(words, worker, &connect(&worker.reached_by()), token, patience)?);
            }
        }
        Ok(crew)
    }

    fn add(&mut self, mut command: Command, name: String, is_local: bool) -> Result<(), FleetError> {
        let child = spawn(&mut command)?;
        let command = is_local.then_some(command);
        self.started.push(Started { child, command, again: 0, name, said: Transcript::default(), due: None });
        Ok(())
    }

    /// Starts a worker on another host. The token goes through the standard input of `ssh`, since
    /// arguments are visible to others.
    fn ssh(
        &mut self,
        host: &str,
        program: &str,
        worker: &WorkerProgram,
        token: &Token,
        time: Duration,
    ) -> Result<(), FleetError> {
        let join = |words: &mut dyn Iterator<Item = &str>| {
            shlex::try_join(words).map_err(|error| FleetError::Protocol(error.to_string()))
        };
        let (program, options) =
            (join(&mut [program].into_iter())?, join(&mut worker.options.iter().map(String::as_str))?);
        let address = match &worker.address {
            Some(address) => join(&mut [address.as_str()].into_iter())?,
            // An address with colons, of IPv6, needs brackets before a port.
            None => "$(h=${SSH_CONNECTION%% *}; case $h in *:*) h=[$h];; esac; echo $h)".to_string(),
        };
        let line = format!("{program} worker --connect {address}:{} {options}", self.port);
        // The user's shell there may be one with another language.
        let script = format!("read -r {TOKEN_VARIABLE} && export {TOKEN_VARIABLE} && exec {line}");
        let script = format!("exec sh -c {}", join(&mut [script.as_str()].into_iter())?);
        let (ssh, first) = worker.ssh.split_first().map_or(("ssh", &[][..]), |(ssh, first)| (ssh.as_str(), first));
        let mut command = Command::new(ssh);
        command.args(first).args(["-o", "BatchMode=yes", "--", host, &script]);
        // A shell there may write anything before the worker does, and none of it is a result of this run.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = spawn(&mut command)?;
        let said = Transcript::of(&mut child).inspect_err(|_| end(&mut child))?;
        if let Some(mut stdin) = child.stdin.take() {
            // It has ended already if this fails, and its end is told.
            let _ = writeln!(stdin, "{}", token.secret());
        }
        let mut words = worker.ssh.iter().map(String::as_str).chain([host, "true"]);
        let due = Some(Due { host: host.to_string(), trial: join(&mut words)?, time });
        self.started.push(Started { child, command: None, again: 0, name: format!("ssh {host}"), said, due });
        Ok(())
    }

    /// Ends a worker of this host that hangs. [`look`](Self::look) starts it again. Returns false if it
    /// is none that was started here.
    pub(crate) fn end(&mut self, process: u32) -> bool {
        let is_it = |started: &&mut Started| started.command.is_some() && started.child.id() == process;
        self.started.iter_mut().find(is_it).is_some_and(|started| started.child.kill().is_ok())
    }

    /// Notices processes that ended by themselves. Starts workers of this host again, unless they keep
    /// ending. Ends those of other hosts without a worker when their time is over. Returns a sentence about each.
    pub(crate) fn look(&mut self, now: Duration) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.notes);
        self.started.retain_mut(|started| {
            let status = started.child.try_wait();
            started.hear(self.port);
            let Ok(Some(status)) = status else {
                let late = started.end_if_late(now);
                let is_late = late.is_some();
                notes.extend(late);
                return !is_late;
            };
            let ending = started.ending(status);
            let name = &started.name;
            let again =
                started.command.as_mut().filter(|_| started.again < AGAIN && !matches!(status.code(), Some(0 | 2)));
            match again.map(spawn) {
                Some(Ok(child)) => {
                    notes.push(format!("{name} {ending}; it was started again"));
                    (started.child, started.again) = (child, started.again + 1);
                    true
                }
                Some(Err(error)) => {
                    notes.push(format!("{name} {ending}; {error}"));
                    false
                }
                None => {
                    notes.push(format!("{name} {ending}"));
                    false
                }
            }
        });
        notes
    }

    /// Returns true if workers may still come from what was started.
    pub(crate) fn is_running(&self) -> bool {
        !self.started.is_empty() || self.job.is_some()
    }

    /// Returns a sentence about what was started and runs, for a run that waited for it in vain.
    pub(crate) fn running(&self) -> Option<String> {
        let job = self.job.as_ref().map(Job::name);
        let names = self.started.iter().map(|started| started.name.as_str()).chain(job.as_deref());
        let names: Vec<&str> = names.take(MOST_NOTES).collect();
        let verb = if names.len() == 1 { "runs" } else { "run" };
        (!names.is_empty()).then(|| format!("{} still {verb}; --fleet-wait waits longer", names.join(", ")))
    }
}

impl Started {
    /// Sends a signal to the process and, unless it is a worker of this host, to all that it started. A worker's
    /// own supervisors end what it started.
    fn signal(&mut self, signal: Signal) {
        let id = Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(i32::MAX));
        if self.command.is_none() {
            // Its group outlives it.
            let _ = killpg(id, signal);
        } else if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = kill(id, signal);
        }
    }

    /// Reads what the process wrote, and whether its worker has connected.
    fn hear(&mut self, port: u16) {
        let mut has_connected = false;
        self.said.read(|line| has_connected |= is_connected(line, port));
        if has_connected {
            self.due = None;
        }
    }

    /// Ends a process whose worker has not connected in time. Returns a sentence about it.
    fn end_if_late(&mut self, now: Duration) -> Option<String> {
        let Due { host, trial, time } = self.due.take_if(|due| now >= due.time)?;
        end(&mut self.child);
        self.said.read_end();
        let (name, seconds, said) = (&self.name, time.as_secs_f64(), self.last_words());
        Some(format!(
            "{host} has no worker: `{name}` brought none within {seconds} s (--fleet-wait) and is ended{said}; does \
             `{trial}` end?"
        ))
    }

    /// Says how the process ended, and what it wrote last if that was no success, or if it brought no worker.
    fn ending(&mut self, status: ExitStatus) -> String {
        self.said.read_end();
        let has_served = status.success() && self.due.is_none();
        if has_served { ending(status) } else { ending(status) + &self.last_words() }
    }

    fn last_words(&self) -> String {
        self.said.last().map_or_else(String::new, |last| format!(" (it said last: {last})"))
    }
}

impl Drop for Crew {
    /// Ends everything that was started. Workers end by themselves when their connection does.
    fn drop(&mut self) {
        self.job = None;
        let step = Duration::from_millis(20);
        let mut left = LEAVE.as_millis() / step.as_millis();
        while left > 0 && self.started.iter_mut().any(|started| !matches!(started.child.try_wait(), Ok(Some(_)))) {
            thread::sleep(step);
            left -= 1;
        }
        self.started.retain_mut(|started| !matches!(started.child.try_wait(), Ok(Some(_))));
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            for started in &mut self.started {
                started.signal(signal);
                thread::sleep(step);
            }
        }
        self.started.iter_mut().for_each(|started| drop(started.child.wait()));
    }
}

fn local(program: &Path, token: &Token) -> Command {
    let mut command = Command::new(program);
    // Ctrl-C in a terminal reaches the coordinator alone, which ends its workers.
    command.env(TOKEN_VARIABLE, token.secret()).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn spawn(command: &mut Command) -> Result<Child, FleetError> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.spawn().map_err(|source| FleetError::Start { program, source })
}

fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_string(),
    }
}

/// Returns the hosts that a file names, one a line. `#` begins a comment.
fn hosts(file: &Path) -> Result<Vec<String>, FleetError> {
    let wrong = |reason: String| FleetError::Files { path: file.to_path_buf(), reason };
    let text = tunesmith_files::read_text(file, tunesmith_files::TEXT).map_err(|error| wrong(error.to_string()))?;
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let hosts: Vec<String> = lines.filter(|line| !line.is_empty()).map(str::to_string).collect();
    match hosts.iter().find(|host| host.starts_with('-') || host.contains(char::is_whitespace)) {
        Some(host) => Err(wrong(format!("`{host}` is no host; write one a line"))),
        None if hosts.is_empty() => Err(wrong("it names no host".to_string())),
        None => Ok(hosts),
    }
}

/// Returns the name by which other hosts reach this one.
fn own_name() -> String {
    let name = tunesmith_files::system_text("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { "localhost".to_string() } else { name.trim().to_string() }
}
