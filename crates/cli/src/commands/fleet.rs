//! `tunesmith worker`, and the fleet of `tune --fleet`.

use super::{interrupt, interruptible_machine, sizes, unless};
use crate::args::{TuneArgs, WorkerArgs};
use crate::{Ending, output};
use std::path::Path;
use tunesmith::core::Refusal;
use tunesmith::report::counted;
use tunesmith::{DeviceChoice, Error, Machine, Problem, WhichDevice};
use tunesmith_fleet::lease::Terms;
use tunesmith_fleet::{
    Fleet, FleetError, FleetOptions, FleetReport, FleetSpec, ServedUntil, TOKEN_VARIABLE, Token, WorkerOptions,
    WorkerProgram, work,
};

pub(crate) fn worker(args: &WorkerArgs) -> Result<Ending, Error> {
    let interrupt = interrupt();
    let machine = unless(args.no_sandbox, interruptible_machine(args.device.as_deref(), &interrupt)?);
    let machine = Machine { jobs: args.jobs, ..machine };
    let token = token(args.token_file.as_deref())?.ok_or_else(|| no_token("this worker"))?;
    let pause = args.pause.unwrap_or_default();
    let options = WorkerOptions { address: args.connect.clone(), token, cpus: args.cpus.clone(), pause };
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

/// Starts the fleet that the options of `tune` name, if they name one.
pub(super) fn fleet(args: &TuneArgs, problem: &Problem, machine: &Machine) -> Result<Option<Fleet>, Error> {
    let Some(text) = &args.fleet else { return Ok(None) };
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
        worker: WorkerProgram { program, options: shared(args), each: each(&spec, problem, machine) },
        spec,
        terms: Terms::default(),
        patience: args.fleet_wait.unwrap_or(FleetOptions::PATIENCE),
        is_timed: args.objective.is_empty() && problem.tuning.objective.is_none(),
    };
    Ok(Some(Fleet::start(options)?))
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
    let own = problem.kernels.first().filter(|_| problem.command.is_none()).map(|kernel| kernel.language.into());
    let device = machine.device.clone().or(problem.tuning.device.clone()).or(own);
    let processors = available();
    let option = |at: usize| match &device {
        Some(DeviceChoice::Cuda(WhichDevice::Best)) => vec!["--device".to_string(), format!("cuda:{at}")],
        Some(DeviceChoice::Hip(WhichDevice::Best)) => vec!["--device".to_string(), format!("hip:{at}")],
        Some(DeviceChoice::OpenCl(WhichDevice::Best)) => vec!["--device".to_string(), format!("opencl:{at}")],
        Some(DeviceChoice::Cuda(_) | DeviceChoice::Hip(_)) => Vec::new(),
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
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
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

fn no_token(who: &str) -> Error {
    let remedy = format!(
        "write `openssl rand -hex 32 > token && chmod 600 token` and name it with --token-file, or set {TOKEN_VARIABLE}"
    );
    Refusal::new(format!("{who} needs the token that both sides know"), Some(remedy)).into()
}

/// Says what a fleet brought.
pub(super) fn summary(report: &FleetReport) -> String {
    let evaluations: u64 = report.workers.iter().map(|worker| worker.evaluations).sum();
    let lost: u64 = report.workers.iter().map(|worker| worker.lost).sum();
    let lost = if lost > 0 { format!("; {} issued anew", counted(lost, "lease")) } else { String::new() };
    let (workers, measured) = (counted(report.workers.len(), "worker"), counted(evaluations, "measurement"));
    format!("{workers} made {measured}, {:.1} times the work of one in the same time{lost}", report.speedup)
}
