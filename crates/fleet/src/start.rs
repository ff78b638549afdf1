//! Starts the workers that a fleet consists of, and ends whatever it started.

use crate::{FleetError, FleetSpec, Token};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// The variable of the environment that hands the token to a worker.
pub const TOKEN_VARIABLE: &str = "TUNESMITH_FLEET_TOKEN";

/// Number of times that a worker of this host is started again after it ended by itself.
const AGAIN: usize = 3;

/// Time that a process gets to end by itself.
const PATIENCE: Duration = Duration::from_secs(2);

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
}

/// All that a fleet has started.
#[derive(Default)]
pub(crate) struct Crew {
    started: Vec<Started>,
    /// A job of HyperQueue, which runs on without its submitter.
    job: Option<String>,
    /// The file from which the tasks of that job read the token.
    token_file: Option<PathBuf>,
}

impl Crew {
    /// Starts the workers of `spec`, which connect to `address`.
    pub(crate) fn start(
        spec: &FleetSpec,
        worker: &WorkerProgram,
        address: SocketAddr,
        token: &Token,
    ) -> Result<Self, FleetError> {
        let mut crew = Self::default();
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
                    crew.ssh(&host, &program, worker, address.port(), token)?;
                }
            }
            FleetSpec::Slurm(words) => {
                let mut command = Command::new("srun");
                command.args(words).arg(&worker.program).args(connect(&worker.reached_by()));
                command.env(TOKEN_VARIABLE, token.secret()).stdin(Stdio::null()).process_group(0);
                crew.add(command, "srun".to_string(), false)?;
            }
            FleetSpec::HyperQueue(words) => crew.submit(words, worker, &connect(&worker.reached_by()), token)?,
        }
        Ok(crew)
    }

    fn add(&mut self, mut command: Command, name: String, is_local: bool) -> Result<(), FleetError> {
        let child = spawn(&mut command)?;
        let command = is_local.then_some(command);
        self.started.push(Started { child, command, again: 0, name });
        Ok(())
    }

    /// Starts a worker on another host. The token goes through the standard input of `ssh`, since
    /// arguments are visible to others.
    fn ssh(
        &mut self,
        host: &str,
        program: &str,
        worker: &WorkerProgram,
        port: u16,
        token: &Token,
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
        let line = format!("{program} worker --connect {address}:{port} {options}");
        // The user's shell there may be one with another language.
        let script = format!("read -r {TOKEN_VARIABLE} && export {TOKEN_VARIABLE} && exec {line}");
        let script = format!("exec sh -c {}", join(&mut [script.as_str()].into_iter())?);
        let (ssh, first) = worker.ssh.split_first().map_or(("ssh", &[][..]), |(ssh, first)| (ssh.as_str(), first));
        let mut command = Command::new(ssh);
        command.args(first).args(["-o", "BatchMode=yes", "--", host, &script]);
        command.stdin(Stdio::piped()).process_group(0);
        let mut child = spawn(&mut command)?;
        if let Some(mut stdin) = child.stdin.take() {
            writeln!(stdin, "{}", token.secret())?;
        }
        self.started.push(Started { child, command: None, again: 0, name: format!("ssh {host}") });
        Ok(())
    }

    /// Submits a job to HyperQueue. It hands no environment to tasks, so that they read the token from
    /// a file of this user, which must be on a file system that the hosts share.
    fn submit(
        &mut self,
        words: &[String],
        worker: &WorkerProgram,
        connect: &[String],
        token: &Token,
    ) -> Result<(), FleetError> {
        let file = token_file(token)?;
        self.token_file = Some(file.clone());
        let mut command = Command::new("hq");
        command.args(["submit", "--output-mode", "quiet"]);
        // Workers tell the coordinator what there is to say; files of their output would lie in the
        // folder of the problem.
        for stream in ["--stdout", "--stderr"] {
            if !words.iter().any(|word| word.starts_with(stream)) {
                command.args([stream, "none"]);
            }
        }
        command.args(words).arg("--").arg(&worker.program);
        command.args(connect).arg("--token-file").arg(file);
        let start = |source| FleetError::Start { program: "hq".to_string(), source };
        let output = command.stdin(Stdio::null()).output().map_err(start)?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_string();
        if !output.status.success() || said.is_empty() {
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_string();
            return Err(start(std::io::Error::other(reason)));
        }
        self.job = Some(said);
        Ok(())
    }

    /// Ends a worker of this host that hangs. [`look`](Self::look) starts it again. Returns false if it
    /// is none that was started here.
    pub(crate) fn end(&mut self, process: u32) -> bool {
        let is_it = |started: &&mut Started| started.command.is_some() && started.child.id() == process;
        self.started.iter_mut().find(is_it).is_some_and(|started| started.child.kill().is_ok())
    }

    /// Notices processes that ended by themselves. Starts workers of this host again, unless they keep
    /// ending. Returns a sentence about each.
    pub(crate) fn look(&mut self) -> Vec<String> {
        let mut notes = Vec::new();
        self.started.retain_mut(|started| {
            let Ok(Some(status)) = started.child.try_wait() else { return true };
            let (name, ending) = (&started.name, ending(status));
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
}

impl Drop for Crew {
    /// Ends everything that was started. Workers end by themselves when their connection does.
    fn drop(&mut self) {
        if let Some(job) = &self.job {
            let _ = Command::new("hq").args(["job", "cancel", job]).stdout(Stdio::null()).status();
        }
        if let Some(file) = &self.token_file {
            let _ = std::fs::remove_file(file);
        }
        let step = Duration::from_millis(20);
        let mut left = PATIENCE.as_millis() / step.as_millis();
        while left > 0 && self.started.iter_mut().any(|started| !matches!(started.child.try_wait(), Ok(Some(_)))) {
            thread::sleep(step);
            left -= 1;
        }
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            for started in &mut self.started {
                if !matches!(started.child.try_wait(), Ok(Some(_))) {
                    let id = i32::try_from(started.child.id()).unwrap_or_default();
                    let _ = kill(Pid::from_raw(id), signal);
                    thread::sleep(step);
                }
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

/// The beginning of the names of token files.
const TOKEN_FILE: &str = ".tunesmith-fleet-";

/// Writes the token into a file of the working folder that nobody else may read. Removes those that runs
/// of this host left when they were killed.
fn token_file(token: &Token) -> Result<PathBuf, FleetError> {
    use std::os::unix::fs::OpenOptionsExt;
    let of_host = format!("{TOKEN_FILE}{}-", own_name());
    for entry in std::fs::read_dir(".")?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix(&of_host).and_then(|process| process.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let path = std::path::absolute(format!("{of_host}{}", std::process::id()))?;
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all(token.secret().as_bytes())?;
    Ok(path)
}
