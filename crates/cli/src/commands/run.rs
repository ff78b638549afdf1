//! `tunesmith run`.

use super::{command, explain, interrupt, interruptible_machine, journal, load, pairs, unless};
use crate::args::RunArgs;
use crate::{Ending, output};
use tunesmith::core::Refusal;
use tunesmith::device::KernelPlan;
use tunesmith::report::{counted, message, milliseconds};
use tunesmith::{
    Diagnostic, Error, Problem,
    run_one::{OneRun, RunOptions, plan_one, run_one},
    runner::OnePlan,
    study::ModelChoice,
};

pub(crate) fn run(args: &RunArgs) -> Result<Ending, Error> {
    let problem = load(&args.problem)?;
    let interrupt = interrupt();
    let machine = unless(args.no_sandbox, interruptible_machine(args.device.as_deref(), &interrupt)?);
    let model = args.model.as_deref().map(ModelChoice::from_text);
    let options = RunOptions { config: config(args)?, profile: args.profile, model };
    if args.show_source || args.show_command {
        match plan_one(&problem, &machine, &options)? {
            OnePlan::Script(script) => output::exact(&script),
            OnePlan::Kernels(kernels) => kernels.iter().for_each(|kernel| show(args, kernel)),
        }
        return Ok(Ending::Done);
    }
    let Some(run) = run_one(&problem, &machine, &options, &interrupt)? else { return Ok(Ending::Interrupted) };
    if let Some(reason) = &run.no_profile {
        output::note(&format!("no profile: {reason}"));
    }
    if args.json {
        output::json(&run.document());
    } else {
        output::print(&text(&problem, &run));
    }
    Ok(if run.candidate.time_ms.is_some() { Ending::Done } else { Ending::NothingCorrect })
}

/// Returns the values that the command names: those of `--config`, and else those of the best
/// configuration of `--best`.
fn config(args: &RunArgs) -> Result<Vec<(String, String)>, Error> {
    let named = pairs(&args.config);
    let Some(run) = &args.best else { return Ok(named) };
    let top = tunesmith::top(&journal(run)?, 1)?;
    let Some(best) = top.configs.first() else {
        let text = format!("`{}` has no best configuration: none was correct", run.display());
        return Err(Refusal::new(text, Some(format!("tunesmith explain {} says why", run.display()))).into());
    };
    let is_named = |name: &String| named.iter().any(|(own, _)| own == name);
    let others: Vec<(String, String)> = best.pairs().into_iter().filter(|(name, _)| !is_named(name)).collect();
    Ok([others, named].concat())
}

fn show(args: &RunArgs, KernelPlan { build, .. }: &KernelPlan) {
    if args.show_source {
        output::exact(&build.source);
    }
    if args.show_command {
        output::exact(&format!("{}\n", command(build.command.iter().map(String::as_str))));
    }
}

/// Returns the line of the problem file that a failure is about, and the remedy.
fn place(about: &Diagnostic) -> String {
    let help = about.remedy.iter().map(|remedy| format!("  help: {remedy}\n"));
    help.fold(format!("  {}:{}: {}\n", about.file.display(), about.line, about.text), |text, line| text + &line)
}

fn text(problem: &Problem, run: &OneRun) -> String {
    let candidate = &run.candidate;
    let mut text = format!("{}\n{}\n", candidate.arguments(), candidate.status_word());
    if let Some(failure) = &candidate.failure {
        text += &format!("{}\n", message(&failure.message));
        text += &problem.about_failure(failure).map(|about| place(&about)).unwrap_or_default();
    }
    if let (Some(time), Some((low, high))) = (candidate.time_ms, candidate.ci95_ms) {
        let samples = counted(candidate.times_ms.len(), "sample");
        let (time, low, high) = (milliseconds(time), milliseconds(low), milliseconds(high));
        text += &format!("{time}, the median of {samples} (95 %: {low} to {high})\n");
    }
    for (kernel, time) in &candidate.parts_ms {
        text += &format!("  {} in `{kernel}`\n", milliseconds(*time));
    }
    for (name, value) in &candidate.values {
        text += &format!("{name} = {value}\n");
    }
    for (rate, unit) in [(run.rates.gflops, "GFLOP/s"), (run.rates.gbytes, "GB/s")] {
        text += &rate.map(|rate| format!("{rate:.2} {unit}\n")).unwrap_or_default();
    }
    if let Some(compile) = run.compile_ms {
        text += &format!("compiled in {}\n", milliseconds(compile));
    }
    for (name, value) in &run.resources {
        text += &format!("{name} = {value}\n");
    }
    text + &run.profile.as_ref().map(explain::page).unwrap_or_default()
}
