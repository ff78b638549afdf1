//! `tunesmith tune`.

use super::{
    Tuned, command, describe_sandbox, fleet, interrupt, interruptible_machine, load, pairs, tune_inputs, unless,
    workers,
};
use crate::args::TuneArgs;
use crate::live::{Live, Refresher};
use crate::progress::Display;
use crate::workers::{LiveReport, Workers};
use crate::{Ending, output, render};
use serde::Serialize;
use std::path::PathBuf;
use std::rc::Rc;
use tunesmith::core::{Event, FailureKind, Interrupt, Objective, Observer};
use tunesmith::report::{
    Baseline, FailureLine, SpeedupSource, Summary, Winner, amount, count, counted, milliseconds, quantity,
};
use tunesmith::store::FleetReport;
use tunesmith::{
    Candidate, Error, JournalOptions, Machine, Outcome, Problem, Search, Session, Starting, StopReason, Target,
    TuningTask, UNVERIFIED,
    core::Basis,
    outcome::{CommonFailure, OutcomeDocument, Rates},
    propose::{ProposalReport, ProposeCommand},
    runner::RemoteDevice,
    study::{FrontMember, ModelChoice},
};

pub(crate) fn tune(args: &TuneArgs) -> Result<Ending, Error> {
    let problem = load(&args.problem)?;
    let live = args.live.map(Live::open).transpose()?;
    let interrupt = interrupt();
    let machine = unless(args.no_sandbox, interruptible_machine(args.device.as_deref(), &interrupt)?);
    let machine = Machine { jobs: args.jobs, ..machine };
    let journal = JournalOptions { out: args.out.clone(), resume: args.resume, ..JournalOptions::default() };
    let task = TuningTask::new(&problem).machine(machine).search(search(args)?).journal(journal);
    task.journal.check_resumed()?;
    if args.inputs {
        return tune_inputs::tune_inputs(&task, args, &interrupt);
    }
    let run = Run { args, interrupt: &interrupt, live: live.as_ref() };
    match fleet::workers(args, &problem, &task.machine)? {
        None => Ok(run.tune(&task, None)?.0),
        Some(workers) => run.tune_with(workers, task),
    }
}

/// The device of workers, and the report about them.
type Measuring = (Rc<dyn LiveReport>, Box<dyn RemoteDevice>);

/// The parts that the searches of one command share.
struct Run<'a> {
    args: &'a TuneArgs,
    interrupt: &'a Interrupt,
    live: Option<&'a Live>,
}

impl Run<'_> {
    /// Searches once with the workers, or with each pool of them in turn. What one has measured is history for the
    /// next.
    fn tune_with(&self, mut workers: Workers, mut task: TuningTask<'_>) -> Result<Ending, Error> {
        let mut ending = Ending::Done;
        let first = task.journal.out.clone();
        for number in 1.. {
            let Some(device) = (workers.next)().filter(|_| number == 1 || !self.interrupt.is_raised()) else { break };
            if let Some(out) = first.as_ref().filter(|_| number > 1) {
                task.journal.out = Some(out.with_extension(format!("{number}.jsonl")));
            }
            let (ended, out) = self.tune(&task, Some((workers.report.clone(), device)))?;
            ending = if ended == Ending::Done { ending } else { ended };
            task.search.history.push(out);
        }
        Ok(ending)
    }

    /// Makes one search, and says what it found. Returns its journal.
    fn tune(&self, task: &TuningTask<'_>, workers: Option<Measuring>) -> Result<(Ending, PathBuf), Error> {
        let Run { args, interrupt, .. } = *self;
        let report = workers.as_ref().map(|(report, _)| report.clone());
        let outcome = self.observed(task, workers)?;
        let report = report.map(|report| report.now());
        if let StopReason::Doomed { failure, .. } = &outcome.stop_reason {
            output::note(&format!("{}\n{failure}\n{GO_ON}", outcome.stop_reason));
        } else if let StopReason::NoValue(_) = &outcome.stop_reason {
            output::note(&format!("{}; {GO_ON}", outcome.stop_reason));
        } else if !args.quiet {
            ended(&outcome);
        }
        if args.json {
            output::json(&Document {
                outcome: outcome.document(),
                sandbox: describe_sandbox(&task.machine),
                fleet: report,
            });
        } else {
            let mut summary = summary(task.problem, args, &outcome);
            summary.notes.extend(report.map(|report| ("fleet", workers::summary(&report))));
            output::print(&summary.render());
        }
        let out = outcome.out.clone();
        let ending = match outcome {
            _ if interrupt.is_raised() => Ending::Interrupted,
            Outcome { stop_reason: StopReason::NoValue(_), .. } => Ending::WrongRequest,
            Outcome { best: None, .. } => Ending::NothingCorrect,
            _ => Ending::Done,
        };
        Ok((ending, out))
    }

    /// Tunes with what the user wants to see meanwhile: progress, notes, the report in a browser.
    fn observed(&self, task: &TuningTask<'_>, workers: Option<Measuring>) -> Result<Outcome, Error> {
        let Run { args, interrupt, live } = *self;
        let (report, remote) = workers.unzip();
        let mut display = Display::default();
        display.fleet.clone_from(&report);
        let mut refresher = live.map(Refresher::new);
        let (unverified, served) = (display.unverified.clone(), refresher.as_ref().map(|live| live.journal.clone()));
        let mut on_start = |starting: &Starting<'_>| {
            unverified.set(starting.verified == Some(false));
            report.iter().for_each(|report| report.keep_beside(starting.journal));
            served.iter().for_each(|known| *known.borrow_mut() = Some(starting.journal.to_path_buf()));
            if args.quiet { warn(task.problem, starting) } else { announce(task.problem, starting) }
        };
        let mut notes = |event: &Event<'_>| {
            if let Event::Noted { text } = event {
                output::note(text);
            }
        };
        if let Some(live) = live {
            output::note(&format!("report: {} (until the run ends)", live.url()));
        }
        let on_start: Option<&mut dyn FnMut(&Starting<'_>)> = Some(&mut on_start);
        let mut session = Session { interrupt: interrupt.clone(), on_start, remote, ..Session::default() };
        session.observers.push(if args.quiet { &mut notes } else { &mut display });
        session.observers.extend(refresher.as_mut().map(|refresher| refresher as &mut dyn Observer));
        let outcome = tunesmith::tune(task, &mut session)?;
        if let Some(refresher) = &refresher {
            refresher.finish(outcome.out.clone());
        }
        Ok(outcome)
    }
}

/// The advice for a run that gave up.
const GO_ON: &str = "--keep-going searches all the same";

/// Ends the progress with the answer of the verdict, which may differ from the best so far.
fn ended(outcome: &Outcome) {
    let Some(best) = &outcome.best else { return };
    let value = outcome.objective.beside_time(best.value).flatten().map(|value| amount(value, &outcome.objective));
    let Some(value) = value.or_else(|| best.time_ms.map(milliseconds)) else { return };
    let by = if outcome.by_final { " in the final" } else { "" };
    output::note(&format!("best {value}{by}: {}", best.arguments()));
}

/// The JSON form of an outcome, and the sandbox in which it was measured.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    outcome: OutcomeDocument<'a>,
    sandbox: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fleet: Option<FleetReport>,
}

/// Parses the options of the search.
fn search(args: &TuneArgs) -> Result<Search, Error> {
    Ok(Search {
        strategy: args.strategy.as_deref().map(str::parse).transpose()?,
        stop: args.stop.as_deref().map(str::parse).transpose()?,
        objective: objective(&args.objective)?,
        seed: args.seed,
        room: args.room,
        start: pairs(&args.start),
        history: args.history.clone(),
        model: args.model.as_deref().map(ModelChoice::from_text),
        profile: args.profile,
        keep_going: args.keep_going,
        propose: args.propose.as_ref().map(|command| ProposeCommand {
            patience: args.propose_wait.unwrap_or(ProposeCommand::PATIENCE),
            ..ProposeCommand::new(command)
        }),
    })
}

/// Warns of the parts that are left out, quiet or not.
fn warn(problem: &Problem, starting: &Starting<'_>) {
    render::messages(starting.warnings, Some(problem.source_file()));
    starting.assumptions.iter().for_each(|assumption| output::note(&format!("note: the recording: {assumption}")));
    starting.remarks.iter().for_each(|remark| output::note(&format!("note: {remark}")));
    starting.left_out.iter().for_each(render::left_out);
    if starting.verified == Some(false) {
        output::note(&format!("{UNVERIFIED}; {}", problem.verification_remedy()));
    }
    if let Some(text) = problem.partly_verified(starting.verified) {
        output::note(&text);
    }
}

fn announce(problem: &Problem, starting: &Starting<'_>) {
    warn(problem, starting);
    let Starting { device, strategy, space, history, journal, resumed, .. } = starting;
    let size = counted(count(&space.size().to_string()), "configuration");
    let resumed = if *resumed > 0 { format!(", {} resumed", counted(resumed, "evaluation")) } else { String::new() };
    output::note(&format!("{}: {size} on {device}, strategy {strategy}{resumed}", problem.spec().name()));
    if !history.is_empty() {
        let names: Vec<String> = history.iter().map(|file| file.display().to_string()).collect();
        output::note(&format!("history: {}", names.join(", ")));
    }
    output::note(&format!("journal: {}", journal.display()));
}

fn summary(problem: &Problem, args: &TuneArgs, outcome: &Outcome) -> Summary {
    let failure = |CommonFailure { kind, count, message }: &CommonFailure| FailureLine {
        kind: *kind,
        count: *count,
        message: message.clone(),
    };
    Summary {
        stop_reason: outcome.stop_reason.to_string(),
        evaluations: outcome.evaluations,
        resumed: outcome.resumed,
        space_size: outcome.space_size.to_string(),
        seconds: outcome.wall_seconds,
        best: outcome.best.as_ref().and_then(|best| winner(problem, best)),
        default: baseline(outcome),
        no_default: no_default(outcome),
        no_value: outcome.unscored.as_ref().map(|unscored| unscored.reason.clone()),
        ties: outcome.ties.len(),
        not_compared: outcome.not_compared.len(),
        equal_code: outcome.equal_code.len(),
        finalists: outcome.finalists,
        notes: notes(outcome),
        failures: outcome.common_failures.iter().map(failure).collect(),
        cut: outcome.cut,
        journal: Some(outcome.out.display().to_string()),
        next: next_commands(args, outcome),
    }
}

/// Returns the objective that the options name. Several make a front.
fn objective(options: &[String]) -> Result<Option<Target>, Error> {
    if options.is_empty() {
        return Ok(None);
    }
    let parts = options.iter().map(|text| text.parse()).collect::<Result<Vec<Target>, _>>()?;
    Ok(Some(Target::joined(parts)?))
}

/// Most members of a front that the summary lists. `top` lists all of them.
const LISTED: usize = 20;

/// Returns the lines about the front.
fn front(outcome: &Outcome) -> Vec<(&'static str, String)> {
    if outcome.front.is_empty() {
        return Vec::new();
    }
    let members = counted(outcome.front.len(), "configuration");
    let text = format!("{members} that no other one dominates; the best has the least geometric mean");
    let value = |(name, value): (&String, &f64)| format!("{name} {}", quantity(*value));
    let member = |member: &FrontMember| {
        let values: Vec<String> = member.objectives.iter().map(value).collect();
        ("", format!("{}  {}", values.join(", "), member.arguments()))
    };
    std::iter::once(("front", text)).chain(outcome.front.iter().take(LISTED).map(member)).collect()
}

/// Returns the notes that a reader of the measurements needs.
fn notes(outcome: &Outcome) -> Vec<(&'static str, String)> {
    let value = outcome.best.as_ref().and_then(|best| Some((best.value?, best.value_ci95))).map(|(value, interval)| {
        let amount = |value| amount(value, &outcome.objective);
        let text = |(low, high)| format!("  (95 %: {} to {})", amount(low), amount(high));
        let interval = interval.map_or_else(String::new, text);
        ("objective", format!("{}: {}{interval}", outcome.objective, amount(value)))
    });
    let value = outcome.objective.beside_time(value).flatten();
    let unscored =
        outcome.unscored.as_ref().map(|unscored| (unscored.count, &unscored.reason)).map(|(count, reason)| {
            ("unscored", format!("{count} correct configurations have no value of the objective: {reason}"))
        });
    let failed = outcome.failed_again.first().map(|first| {
        let message = first.failure.as_ref().map(|failure| failure.headline()).unwrap_or_default();
        let (count, status) = (outcome.failed_again.len(), first.status_word());
        ("unstable", format!("{count} failed when measured again; {}: {status}: {message}", first.arguments()))
    });
    let drift = outcome.drift.filter(|drift| drift.drifted).map(|drift| {
        let percent = drift.change * 100.0;
        let text = format!("the device's speed changed by {percent:.1} % during the run; scores were corrected for it");
        ("drift", text)
    });
    let regret = outcome.regret.iter().map(|claim| {
        let percent = |share: f64| (share * 1e4).floor() / 1e2;
        let (regret, probability) = (percent(claim.regret), percent(claim.probability));
        let text = format!("within {regret} % of the optimum with a probability of {probability} %");
        ("regret", format!("{text}, estimated after {}", counted(claim.evaluations, "evaluation")))
    });
    let limit = outcome.limit.as_ref().and_then(|limit| {
        let share = limit.share.map(|share| {
            let (percent, time) = (share * 100.0, milliseconds(limit.time_ms));
            format!("{percent:.0} % of the modelled limit, {time} ({})", limit.bound)
        });
        Some(("limit", limit.withdrawal.clone().or(share)?))
    });
    let unverified = (outcome.verified == Some(false)).then(|| UNVERIFIED.to_string());
    let unverified = unverified.or_else(|| outcome.partly_verified.clone()).map(|text| ("verify", text));
    let changed = changed(outcome).map(|text| ("changed", text));
    let proposals = outcome.proposals.as_ref().map(|report| ("proposals", proposals(report, &outcome.objective)));
    value
        .into_iter()
        .chain(unverified)
        .chain(changed)
        .chain(unscored)
        .chain(failed)
        .chain(drift)
        .chain(limit)
        .chain(regret)
        .chain(front(outcome))
        .chain(proposals)
        .collect()
}

/// Says what the proposals brought.
fn proposals(report: &ProposalReport, objective: &Objective) -> String {
    let ProposalReport { proposed, valid, evaluated, is_best, best, best_of_others, .. } = report;
    let value =
        |value: &Option<f64>| value.map_or_else(|| "none was correct".to_string(), |value| amount(value, objective));
    if *evaluated == 0 {
        return format!("{proposed} made, {valid} valid, none evaluated");
    }
    let which = if *is_best { "one of them is the best" } else { "none of them is the best" };
    let (theirs, others) = (value(best), value(best_of_others));
    format!(
        "{proposed} made, {valid} valid, {evaluated} evaluated; {which} (their best: {theirs}; the strategy's: {others})"
    )
}

fn winner(problem: &Problem, best: &Candidate) -> Option<Winner> {
    let rates = Rates::new(problem, best);
    Some(Winner {
        time_ms: best.time_ms?,
        ci95_ms: best.ci95_ms,
        config: best.arguments(),
        gflops: rates.gflops,
        gbytes: rates.gbytes,
    })
}

/// Returns the configuration that the best is compared with.
fn baseline(outcome: &Outcome) -> Option<Baseline> {
    let default = outcome.default.as_ref().filter(|default| default.failure.is_none())?;
    let source = match outcome.comparison.as_ref().map(|comparison| comparison.basis) {
        Some(Basis::Final) => SpeedupSource::Final,
        Some(Basis::Different) => SpeedupSource::Different,
        Some(Basis::Search) | None => SpeedupSource::Search,
    };
    let gain = outcome.speedup().map(|found| (found.gain, found.ci95));
    Some(Baseline { objective: outcome.objective.clone(), value: default.value?, source, gain })
}

/// Returns the reason why there is no default to compare with.
fn no_default(outcome: &Outcome) -> Option<String> {
    match &outcome.default {
        None => Some("the constraints exclude the default configuration; name one (`default` in [tuning])".to_string()),
        Some(default) => {
            let failure = default.failure.as_ref()?;
            let what = if failure.kind == FailureKind::Infeasible { "breaks a limit" } else { "failed" };
            Some(format!("the default configuration {what} ({})", failure.headline()))
        }
    }
}

/// Returns the sentence that says that the final decided otherwise than the search.
fn changed(outcome: &Outcome) -> Option<String> {
    let (best, searched) = (outcome.best.as_ref()?, outcome.search_best.as_ref()?);
    if best.index == searched.index {
        return None;
    }
    let time = |candidate: &Candidate| candidate.time_ms.map(milliseconds);
    let first = searched.first_time_ms.map(milliseconds)?;
    let (config, best_time) = (searched.arguments(), time(best)?);
    Some(match time(searched).filter(|_| !searched.final_times_ms.is_empty()) {
        Some(again) => format!(
            "{config} was the best of the search with {first}; measured again in turn it took {again}, the best {best_time}"
        ),
        None => {
            format!("{config} was the best of the search with {first}, the best took {best_time}: no sure difference")
        }
    })
}

/// Returns the commands that a user is likely to want next.
fn next_commands(args: &TuneArgs, outcome: &Outcome) -> Vec<String> {
    let journal = outcome.out.display().to_string();
    let mut resume = vec!["--resume"];
    // Without `--out`, the latest journal beside the problem is resumed.
    if args.out.is_some() {
        resume.extend(["--out", &journal]);
    }
    if args.profile {
        resume.push("--profile");
    }
    resume.extend(args.fleet.iter().flat_map(|spec| ["--fleet", spec]));
    resume.extend(args.propose.iter().flat_map(|command| ["--propose", command]));
    let more = format!("evaluations {}", outcome.evaluations * 2);
    let top = command(["tunesmith", "top", &journal]);
    match &outcome.best {
        Some(_) if outcome.stop_reason == StopReason::Interrupted => vec![Tuned::of(args).again("tune", &resume)],
        Some(_) if u128::from(outcome.evaluations) == outcome.space_size => vec![top],
        Some(_) => {
            resume.extend(["--stop", &more]);
            vec![top, Tuned::of(args).again("tune", &resume)]
        }
        None => ["run", "check"].map(|subcommand| Tuned::of(args).again(subcommand, &[])).into(),
    }
}
