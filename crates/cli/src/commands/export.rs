//! `tunesmith export`.

use super::{interrupt, interruptible_machine, journals};
use crate::args::ExportArgs;
use crate::{Ending, output};
use tunesmith::choose::Judgement;
use tunesmith::report::counted;
use tunesmith::{
    Error,
    export::{ExportOptions, Exported, ExportedPortfolio, GuardOptions},
};

pub(crate) fn export(args: &ExportArgs) -> Result<Ending, Error> {
    let measuring = (args.guard || args.judge).then(|| measuring(args.device.as_deref())).transpose()?;
    let options = ExportOptions {
        runs: journals(&args.runs)?,
        format: args.form.clone(),
        most: args.most,
        keep: args.keep,
        problem_size: args.problem_size.clone(),
        out: args.out.clone(),
        problem: args.problem.clone(),
        guard: measuring.clone().filter(|_| args.guard),
        judge: measuring.filter(|_| args.judge),
        seed: args.seed,
        force: args.force,
    };
    let Some(exported) = tunesmith::export::export(&options)? else { return Ok(Ending::Interrupted) };
    exported.notes.iter().for_each(|note| output::note(note));
    if args.json {
        output::json(&exported);
    } else {
        output::print(&text(&exported));
    }
    Ok(Ending::Done)
}

/// Returns the machine that measures choices.
pub(super) fn measuring(device: Option<&str>) -> Result<GuardOptions, Error> {
    let interrupt = interrupt();
    let machine = interruptible_machine(device, &interrupt)?;
    Ok(GuardOptions { machine, interrupt })
}

fn text(exported: &Exported) -> String {
    let mut text: String = exported.portfolios.iter().map(portfolio).collect();
    if exported.entries > 0 {
        text += &format!("{}\n", counted(exported.entries, "entry"));
    }
    text + &format!("wrote {}\n", exported.out.display())
}

fn portfolio(portfolio: &ExportedPortfolio) -> String {
    let ExportedPortfolio { kernel, device, configurations, rule, .. } = portfolio;
    let (candidates, inputs) = (counted(portfolio.candidates, "configuration"), counted(portfolio.inputs, "input"));
    if let (Some(only), 1) = (&portfolio.only, portfolio.inputs) {
        return format!(
            "{kernel} on {device}: the best of {candidates}{}\n  {only}\n{}",
            portfolio.regret_default.map_or(String::new(), speedup),
            guarded(portfolio)
        );
    }
    let held_out = match (portfolio.regret_held_out, portfolio.regret_held_out_worst, portfolio.regret_fixed) {
        (Some(mean), Some(worst), Some(fixed)) => format!(
            "  held out {} (worst {}), one configuration for all {}{}\n",
            percent(mean),
            percent(worst),
            percent(fixed),
            portfolio.held_out_over_default.map_or(String::new(), over_default)
        ),
        _ => String::new(),
    };
    let default = portfolio.regret_default.map_or(String::new(), |share| format!("; default {}", percent(share)));
    format!(
        "{kernel} on {device}: {configurations} of {candidates} for {inputs}, {rule}\n  \
         regret   best of them {}, chosen {} (worst {}){default}\n{held_out}{}{}",
        percent(portfolio.regret_portfolio),
        percent(portfolio.regret_tree),
        percent(portfolio.regret_worst),
        covers(portfolio),
        guarded(portfolio) + &judged(portfolio.judgement.as_ref()),
    )
}

/// Returns how much faster the best is than the default with this regret.
fn speedup(regret_default: f64) -> String {
    match regret_default > 0.0 {
        true => format!(", {:.2} times the default", 1.0 + regret_default),
        false => ", the default".to_string(),
    }
}

/// Returns a line with what a guard confirmed.
fn guarded(portfolio: &ExportedPortfolio) -> String {
    portfolio.guarded.map_or(String::new(), |found| {
        let confirmed = counted(found.confirmed, "choice");
        format!("  guard    {confirmed} confirmed faster than the default, {} refused\n", found.refused)
    })
}

/// Returns a line with the judgement at fresh sizes, or one that says that there is none.
fn judged(judgement: Option<&Judgement>) -> String {
    match judgement {
        Some(judgement) => format!("  judged   {judgement}\n"),
        None => "  judged   no: --judge measures the choices against the default at 20 fresh sizes\n".to_string(),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn over_default(share: f64) -> String {
    match share > 0.0 {
        true => format!("; at most {} worse than the default", percent(share)),
        false => "; never worse than the default".to_string(),
    }
}

/// Returns a line with the ranges of the measured sizes.
fn covers(portfolio: &ExportedPortfolio) -> String {
    let number = |number: f64| (number * 1000.0).round() / 1000.0;
    let range = |(name, (low, high)): &(String, (f64, f64))| format!("{name} {} to {}", number(*low), number(*high));
    let all: Vec<String> = portfolio.covers.iter().map(range).collect();
    if all.is_empty() { String::new() } else { format!("  covers   {}\n", all.join(", ")) }
}
