//! `tunesmith export`.

use super::{interrupt, interruptible_machine};
use crate::args::ExportArgs;
use crate::{Ending, output};
use tunesmith::{Error, ExportOptions, Exported, ExportedPortfolio, GuardOptions};

pub(crate) fn export(args: &ExportArgs) -> Result<Ending, Error> {
    let options = ExportOptions {
        runs: args.runs.clone(),
        format: args.form.clone(),
        most: args.most,
        keep: args.keep,
        problem_size: args.problem_size.clone(),
        out: args.out.clone(),
        guard: args.guard.then(|| guard(args)).transpose()?,
    };
    let Some(exported) = tunesmith::export(&options)? else { return Ok(Ending::Interrupted) };
    exported.notes.iter().for_each(|note| output::note(note));
    if args.json {
        output::json(&exported);
    } else {
        output::print(&text(&exported));
    }
    Ok(Ending::Done)
}

fn guard(args: &ExportArgs) -> Result<GuardOptions, Error> {
    let interrupt = interrupt();
    let machine = interruptible_machine(args.device.as_deref(), &interrupt)?;
    Ok(GuardOptions { problem: args.problem.clone(), machine, interrupt })
}

fn text(exported: &Exported) -> String {
    let mut text: String = exported.portfolios.iter().map(portfolio).collect();
    if exported.entries > 0 {
        text += &format!("{} entries\n", exported.entries);
    }
    text + &format!("wrote {}\n", exported.out.display())
}

fn portfolio(portfolio: &ExportedPortfolio) -> String {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let ExportedPortfolio { kernel, device, inputs, candidates, configurations, depth, features, .. } = portfolio;
    let asked = if features.is_empty() { String::new() } else { format!(" over {}", features.join(", ")) };
    let default = portfolio.regret_default.map_or(String::new(), |share| format!("; default {}", percent(share)));
    let guarded = portfolio.guarded.map_or(String::new(), |found| {
        format!("  guard    {} choices confirmed faster than the default, {} refused\n", found.confirmed, found.refused)
    });
    format!(
        "{kernel} on {device}: {configurations} of {candidates} configurations for {inputs} inputs, a tree of depth {depth}{asked}\n  \
         regret   best of them {}, the tree {} (worst {}), inputs held out of training {}{default}\n{guarded}",
        percent(portfolio.regret_portfolio),
        percent(portfolio.regret_tree),
        percent(portfolio.regret_worst),
        percent(portfolio.regret_held_out),
    )
}
