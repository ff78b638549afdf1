//! `tunesmith run`.

use super::{command, compilers, explain, interrupt, load, pairs};
use crate::args::RunArgs;
use crate::{Ending, output};
use tunesmith::device::KernelPlan;
use tunesmith::report::milliseconds;
use tunesmith::{Error, ModelChoice, OneRun, Plan, RunOptions, TuneOptions, plan, run_one};

pub(crate) fn run(args: &RunArgs) -> Result<Ending, Error> {
    let problem = load(&args.problem)?;
    let tune = TuneOptions {
        device: args.device.clone(),
        model: args.model.as_deref().map(ModelChoice::from_text),
        compilers: compilers(),
        ..TuneOptions::default()
    };
    let options = RunOptions { config: pairs(&args.config), profile: args.profile, tune };
    if args.show_source || args.show_command {
        match plan(&problem, &options)? {
            Plan::Script(script) => output::print(&script),
            Plan::Kernels(kernels) => kernels.iter().for_each(|kernel| show(args, kernel)),
        }
        return Ok(Ending::Done);
    }
    let Some(run) = run_one(&problem, &options, &interrupt())? else { return Ok(Ending::Interrupted) };
    if let Some(reason) = &run.no_profile {
        output::note(&format!("no profile: {reason}"));
    }
    if args.json {
        output::json(&run);
    } else {
        output::print(&text(&run));
    }
    Ok(if run.candidate.time_ms.is_some() { Ending::Done } else { Ending::NothingCorrect })
}

fn show(args: &RunArgs, KernelPlan { build, .. }: &KernelPlan) {
    if args.show_source {
        output::print(&build.source);
    }
    if args.show_command {
        output::print(&format!("{}\n", command(build.command.iter().map(String::as_str))));
    }
}

fn text(run: &OneRun) -> String {
    let candidate = &run.candidate;
    let mut text = format!("{}\n{}\n", candidate.arguments(), candidate.status);
    if let Some(message) = &candidate.message {
        text += &format!("{message}\n");
    }
    if let (Some(time), Some((low, high))) = (candidate.time_ms, candidate.ci95_ms) {
        let samples = candidate.times_ms.len();
        let (time, low, high) = (milliseconds(time), milliseconds(low), milliseconds(high));
        text += &format!("{time}, the median of {samples} samples (95 %: {low} to {high})\n");
    }
    for (kernel, time) in &candidate.parts_ms {
        text += &format!("  {} in `{kernel}`\n", milliseconds(*time));
    }
    for (name, value) in &candidate.values {
        text += &format!("{name} = {value}\n");
    }
    for (rate, unit) in [(run.gflops, "GFLOP/s"), (run.gbytes, "GB/s")] {
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
