//! The work of a worker, from its connection to its end.

use super::{Assignment, Served, WorkerOptions, compiling, failed, measuring, unexpected};
use crate::FleetError;
use crate::bundle::{check, keep};
use crate::secure::{Listening, Speaking, join};
use crate::wire::{
    FROM_COORDINATOR, FileEntry, FromCoordinator, FromWorker, Introduction, PROTOCOL, hear, read_content, say,
};
use std::collections::BTreeMap;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;
use tunesmith::{Machine, Problem};
use tunesmith_core::{Interrupt, SystemClock};
use tunesmith_kernel::data::Scratch;
use tunesmith_space::Value;
use tunesmith_store::WorkerRole;

/// The name of the folder with the problem's files, in the worker's own.
const PROBLEM: &str = "problem";

/// A worker that has proved the token, and the folder of its own.
struct Joined {
    listening: Listening,
    /// The problem's files. Dropping this removes them.
    folder: Scratch,
    problem: String,
    sizes: Vec<(String, Value)>,
    device: Option<String>,
}

/// Serves the coordinator until it ends the run or vanishes, or until `interrupt` is raised. Raises
/// `interrupt` itself when the coordinator is gone, so that a measurement ends at once. `tell` gets a
/// sentence about each stage.
///
/// # Errors
/// The coordinator cannot be reached, does not know the token or refuses this worker; or the device
/// fails.
pub fn work(
    options: &WorkerOptions,
    machine: &Machine,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(&str),
) -> Result<Served, FleetError> {
    pin(&options.cpus)?;
    let socket = connect(&options.address)?;
    socket.set_nodelay(true)?;
    let (listening, mut speaking) = join(socket, &options.token, &SystemClock::new())?;
    tell(&connected(&options.address));
    let served = serve(options, machine, interrupt, tell, (listening, speaking.clone()));
    if let Err(error) = &served {
        // The coordinator names this worker and the reason. It may be gone already.
        let _ = say(&mut speaking, &FromWorker::Unable { reason: error.to_string() });
    }
    speaking.hang_up();
    served
}

/// Maximum time for a connection to one address of the coordinator's host.
const REACH: Duration = Duration::from_secs(20);

/// Connects to the first address of `host` that answers.
fn connect(host: &str) -> Result<TcpStream, FleetError> {
    let failed = |source| FleetError::Connect { address: host.to_string(), source };
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in host.to_socket_addrs().map_err(failed)? {
        match TcpStream::connect_timeout(&address, REACH) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

/// Returns what a worker says once it is connected.
fn connected(address: &str) -> String {
    format!("connected to {address}")
}

/// Returns true if a line is what a worker says that is connected to this port, whatever a shell wrote before it.
pub(crate) fn is_connected(line: &str, port: u16) -> bool {
    let address = line.rsplit_once(&connected("")).map(|(_, address)| address);
    address.and_then(|address| address.rsplit_once(':')).is_some_and(|(_, own)| own.parse() == Ok(port))
}

/// Receives the problem, and does the work that the role asks for.
fn serve(
    options: &WorkerOptions,
    machine: &Machine,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(&str),
    (listening, mut speaking): (Listening, Speaking),
) -> Result<Served, FleetError> {
    // The folder is removed when `joined` is dropped.
    let joined = receive(listening, &mut speaking, options)?;
    let problem = joined.folder.path().join(PROBLEM).join(&joined.problem);
    let problem = Problem::load(&problem, &joined.sizes).map_err(|error| failed(error.into()))?;
    let machine = with_device(machine, joined.device)?;
    let assignment = Assignment { problem, machine, listening: joined.listening, interrupt, options, tell };
    match options.role {
        WorkerRole::Measures => measuring::serve(assignment, &mut speaking),
        WorkerRole::Compiles => compiling::serve(assignment, &mut speaking),
    }
}

/// Returns the machine with the device that its user names, or else the coordinator's.
fn with_device(machine: &Machine, device: Option<String>) -> Result<Machine, FleetError> {
    let device = match (&machine.device, device) {
        (Some(own), _) => Some(own.clone()),
        (None, Some(named)) => {
            Some(named.parse().map_err(|error: tunesmith::device::ChoiceError| failed(error.into()))?)
        }
        (None, None) => None,
    };
    Ok(Machine { device, ..machine.clone() })
}

/// Runs this process on `cpus` alone, and with it all that it starts.
fn pin(cpus: &[usize]) -> Result<(), FleetError> {
    if cpus.is_empty() {
        return Ok(());
    }
    let wrong = |error: nix::Error| FleetError::Spec {
        text: format!("{cpus:?}"),
        reason: format!("these processors cannot be used: {error}"),
    };
    let mut set = nix::sched::CpuSet::new();
    cpus.iter().try_for_each(|cpu| set.set(*cpu)).map_err(wrong)?;
    nix::sched::sched_setaffinity(nix::unistd::Pid::from_raw(0), &set).map_err(wrong)
}

/// Says who this worker is, and receives the problem's files into a folder of its own.
fn receive(mut listening: Listening, speaking: &mut Speaking, options: &WorkerOptions) -> Result<Joined, FleetError> {
    let of_system = |name: &str| {
        let path = Path::new("/proc/sys/kernel").join(name);
        tunesmith_files::system_text(path).unwrap_or_default().trim().to_string()
    };
    let who = Introduction {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_string(),
        host: of_system("hostname"),
        process: std::process::id(),
        role: options.role,
        machine: of_system("random/boot_id"),
        cpus: options.cpus.clone(),
    };
    say(speaking, &FromWorker::Join(who))?;
    let (file, sizes, device, files) = match hear(&mut listening, FROM_COORDINATOR)? {
        FromCoordinator::Problem { file, sizes, device, files } => (file, sizes, device, files),
        FromCoordinator::End { reason } => return Err(FleetError::Refused(reason.unwrap_or_default())),
        _ => return Err(unexpected()),
    };
    check(&files)?;
    if !files.iter().any(|entry| entry.path == file) {
        return Err(FleetError::Protocol("the problem is not among its files".to_string()));
    }
    // This also removes what workers left here that were killed.
    let folder = Scratch::beneath(&std::env::temp_dir())?;
    let place = folder.path().join(PROBLEM);
    std::fs::create_dir(&place)?;
    fetch(&mut listening, speaking, &files, &place)?;
    let sizes = sizes.iter().filter_map(|(name, json)| Some((name.clone(), Value::of_document(json)?))).collect();
    Ok(Joined { listening, folder, problem: file, sizes, device })
}

/// Fetches each content once, and writes it to every path that has it.
fn fetch(
    listening: &mut Listening,
    speaking: &mut Speaking,
    files: &[FileEntry],
    folder: &Path,
) -> Result<(), FleetError> {
    let wanted: BTreeMap<&str, u64> = files.iter().map(|file| (file.digest.as_str(), file.bytes)).collect();
    say(speaking, &FromWorker::Want { digests: wanted.keys().map(|digest| (*digest).to_string()).collect() })?;
    for _ in 0..wanted.len() {
        let (digest, bytes) = match hear(listening, FROM_COORDINATOR)? {
            FromCoordinator::Content { digest, bytes } => (digest, bytes),
            FromCoordinator::End { reason } => return Err(FleetError::Refused(reason.unwrap_or_default())),
            _ => return Err(unexpected()),
        };
        if wanted.get(digest.as_str()) != Some(&bytes) {
            return Err(FleetError::Protocol("a file came that was not asked for".to_string()));
        }
        let content = read_content(listening, bytes)?;
        files.iter().filter(|file| file.digest == digest).try_for_each(|file| keep(folder, file, &content))?;
    }
    Ok(())
}
