//! `tunesmith worker`, `tunesmith fleet`, and the fleet of `tune --fleet`.

use super::workers::summary;
use super::{interrupt, interruptible_machine, journal, sizes, unless};
use crate::args::{FleetStatusArgs, TuneArgs, WorkerArgs};
use crate::workers::{LiveReport, Workers};
use crate::{Ending, output};
use std::path::Path;
use std::rc::Rc;
use tunesmith::core::Refusal;
use tunesmith::report::{count_table, counted};
use tunesmith::runner::RemoteDevice;
use tunesmith::{DeviceChoice, Error, Machine, Problem, device::WhichDevice};
use tunesmith_fleet::lease::Terms;
use tunesmith_fleet::{
    Fleet, FleetError, FleetOptions, FleetReport, FleetSpec, FleetStatus, Pools, ServedUntil, SharedReport,
    TOKEN_VARIABLE, Token, WorkerOptions, WorkerProgram, WorkerReport, WorkerRole, status, work,
};

pub(crate) fn worker(args: &WorkerArgs) -> Result<Ending, Error> {
    let interrupt = interrupt();
    let machine = unless(args.no_sandbox, interruptible_machine(args.device.as_deref(), &interrupt)?);
    let machine = Machine { jobs: args.jobs, ..machine };
    let token = token(args.token_file.as_deref())?.ok_or_else(|| no_token("this worker"))?;
    let pause = args.pause.unwrap_or_default();
    let role = if args.compile_only { WorkerRole::Compiles } else { WorkerRole::Measures };
    let options = WorkerOptions { address: args.connect.clone(), token, cpus: args.cpus.clone(), role, pause };
    let served = work(&options, &machine, &interrupt, &mut output::note)?;
    let answers = counted(served.answers, "answer");
    Ok(match served.ending {
        ServedUntil::Over => {
            output::note(&format!("the run has ended; {answers}"));
            Ending::Done
        }
        ServedUntil::SetAside(reason) => {
            output::note(&format!("the coordinator set this worker aside: {reason}"));
            Ending::WrongRequest
        }
        ServedUntil::Gone(reason) => {
            output::note(&format!("the coordinator is gone ({reason}); {answers}"));
            Ending::NothingCorrect
        }
        ServedUntil::Interrupted => Ending::Interrupted,
    })
}

impl LiveReport for SharedReport {
    fn now(&self) -> FleetReport {
        Self::now(self)
    }

    fn keep_beside(&self, journal: &Path) {
        Self::keep_beside(self, journal);
    }
}

/// Starts the workers that the options of `tune` name, if they name some.
pub(super) fn workers(args: &TuneArgs, problem: &Problem, machine: &Machine) -> Result<Option<Workers>, Error> {
    let Some(text) = &args.fleet else { return Ok(None) };
    let fleet = fleet(args, text, problem, machine)?;
    let report = Rc::new(fleet.report());
    if args.pools {
        let mut pools = Pools::new(fleet);
        return Ok(Some(Workers { report, next: Box::new(move || pools.next_run()) }));
    }
    let mut fleet = Some(fleet);
    let next = move || fleet.take().map(|fleet| Box::new(fleet) as Box<dyn RemoteDevice>);
    Ok(Some(Workers { report, next: Box::new(next) }))
}

/// Starts the fleet that `text` describes.
fn fleet(args: &TuneArgs, text: &str, problem: &Problem, machine: &Machine) -> Result<Fleet, Error> {
    let spec: FleetSpec = text.parse()?;
    let named = token(args.token_file.as_deref())?;
    let token = match (named, &spec) {
        (Some(token), _) => token,
        (None, FleetSpec::Listen(_)) => return Err(no_token("a fleet of workers that connect")),
        (None, _) => Token::fresh()?,
    };
    let program =
        std::env::current_exe().map_err(|source| FleetError::Start { program: "tunesmith".to_string(), source })?;
    let options = FleetOptions {
        token,
        problem: args.problem.problem.clone(),
        sizes: sizes(&args.problem),
        device: args.device.clone(),
        worker: WorkerProgram {
            program,
            options: shared(args),
            each: each(&spec, problem, machine),
            ssh: ssh()?,
            address: args.fleet_address.clone(),
        },
        spec,
        terms: args.fleet_lease.map_or_else(Terms::default, |least| Terms { first: least, least, ..Terms::default() }),
        patience: args.fleet_wait.unwrap_or(FleetOptions::PATIENCE),
        pools: args.pools,
        interrupt: interrupt(),
    };
    // A port that the system chose is not known otherwise.
    let tells_port = matches!(&options.spec, FleetSpec::Listen(address) if !args.quiet || address.ends_with(":0"));
    let fleet = Fleet::start(options)?;
    if tells_port {
        let port = fleet.port();
        output::note(&format!("waiting for workers: tunesmith worker --connect HOST:{port} --token-file FILE"));
    }
    Ok(fleet)
}

/// Returns the options of every worker.
fn shared(args: &TuneArgs) -> Vec<String> {
    let jobs = args.jobs.map(|jobs| ["--jobs".to_string(), jobs.to_string()]);
    let sandbox = args.no_sandbox.then(|| "--no-sandbox".to_string());
    let pause = args.fleet_pause.map(|pause| ["--pause".to_string(), pause.as_secs_f64().to_string()]);
    jobs.into_iter().flatten().chain(sandbox).chain(pause.into_iter().flatten()).collect()
}

/// Returns the options of each worker of this host: a device of its own, or else a processor.
fn each(spec: &FleetSpec, problem: &Problem, machine: &Machine) -> Vec<Vec<String>> {
    let FleetSpec::Local(count) = spec else { return Vec::new() };
    let own = problem
        .spec()
        .kernels()
        .first()
        .filter(|_| problem.spec().command().is_none())
        .map(|kernel| kernel.language.into());
    let device = machine.device.clone().or(problem.spec().tuning().device.clone()).or(own);
    let processors = available();
    let option = |at: usize| match &device {
        Some(DeviceChoice::Kernels(backend, WhichDevice::Best)) if backend.has_several() => {
            vec!["--device".to_string(), format!("{}:{at}", backend.name())]
        }
        Some(DeviceChoice::Kernels(backend, _)) if !backend.may_use_processor() => Vec::new(),
        Some(DeviceChoice::Synthetic(_) | DeviceChoice::Replay { .. }) => Vec::new(),
        _ => match processors.get(at % processors.len().max(1)) {
            Some(processor) => vec!["--cpus".to_string(), processor.to_string()],
            None => Vec::new(),
        },
    };
    (0..*count).map(option).collect()
}

/// Returns the processors that this process may use.
fn available() -> Vec<usize> {
    let list = super::status_field("Cpus_allowed_list:").unwrap_or_default();
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some(first.trim().parse::<usize>().ok()?..=last.trim().parse::<usize>().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
}

#[allow(clippy::disallowed_methods)] // the command line is where the environment is read
/// Returns the token of the file, or else of the environment.
fn token(file: Option<&Path>) -> Result<Option<Token>, Error> {
    if let Some(file) = file {
        return Ok(Some(Token::read(file)?));
    }
    let text = std::env::var(TOKEN_VARIABLE).ok().filter(|text| !text.trim().is_empty());
    Ok(text.map(|text| Token::parse(&text)).transpose()?)
}

/// The variable of the environment that names the command for other hosts.
const SSH_VARIABLE: &str = "TUNESMITH_SSH";

#[allow(clippy::disallowed_methods)] // the command line is where the environment is read
/// Returns the command that runs a script on another host, and its first arguments.
fn ssh() -> Result<Vec<String>, Error> {
    let text = std::env::var(SSH_VARIABLE).ok().filter(|text| !text.trim().is_empty());
    let words = text.as_deref().map_or(Some(vec!["ssh".to_string()]), shlex::split);
    let wrong = || Refusal::new(format!("a quotation mark of {SSH_VARIABLE} has no end"), None);
    Ok(words.filter(|words| !words.is_empty()).ok_or_else(wrong)?)
}

fn no_token(who: &str) -> Error {
    let remedy = format!(
        "write `openssl rand -hex 32 > token && chmod 600 token` and name it with --token-file, or set {TOKEN_VARIABLE}"
    );
    Refusal::new(format!("{who} needs the token that both sides know"), Some(remedy)).into()
}

pub(crate) fn fleet_status(args: &FleetStatusArgs) -> Result<Ending, Error> {
    let path = journal(&args.run)?;
    let none = || {
        let remedy = "`tune --fleet` measures on several devices".to_string();
        Refusal::new(format!("one device measured the run in `{}`, no fleet", path.display()), Some(remedy))
    };
    let status = status(&path)?.ok_or_else(none)?;
    if args.json {
        output::json(&status);
        return Ok(Ending::Done);
    }
    let FleetStatus { is_running, has_state, report } = &status;
    let source = if *has_state { "" } else { "; its state is lost, the journal tells this" };
    let life = match is_running {
        Some(true) => "the run goes on",
        Some(false) => "the run does not go on",
        None => "nobody knows whether the run goes on",
    };
    output::print(&format!("{}: {life}{source}\n{}\n{}\n", path.display(), table(report), summary(report)));
    if *is_running == Some(true) {
        let waiting = counted(report.waiting, "request");
        output::print(&format!("{} held, {waiting} without a worker\n", counted(report.held(), "lease")));
    }
    for worker in report.workers.iter().filter(|worker| worker.reason.is_some()) {
        let reason = worker.reason.as_deref().unwrap_or_default();
        output::print(&format!("{} is {}: {reason}\n", worker.name, worker.state.word()));
    }
    Ok(Ending::Done)
}

/// Returns the workers as a table.
fn table(report: &FleetReport) -> String {
    let header = ["role", "done", "checks", "level", "second", "lost", "leases", "busy", "state", "worker"];
    let row = |worker: &WorkerReport| {
        let busy = if report.seconds > 0.0 { worker.busy / report.seconds } else { 0.0 };
        let level = worker.level.map_or("-".to_string(), |level| format!("{level:.3}"));
        let done = worker.evaluations + worker.compiled;
        let counts = [worker.role.word().to_string(), done.to_string(), worker.checks.to_string(), level];
        let lost = [worker.second.to_string(), worker.lost.to_string(), worker.holds.to_string()];
        let rest = [format!("{:.0} %", busy.min(1.0) * 100.0), worker.state.word().to_string()];
        let name = if worker.device.is_empty() { worker.name.clone() } else { worker_on(worker) };
        let mut cells = counts.into_iter().chain(lost).chain(rest).chain([name]);
        [(); 10].map(|()| cells.next().unwrap_or_default())
    };
    count_table(header, &report.workers.iter().map(row).collect::<Vec<_>>())
}

fn worker_on(worker: &WorkerReport) -> String {
    format!("{} on {}", worker.name, worker.device)
}
