//! `tunesmith verify-winner`.

use super::{interrupt, interruptible_machine, journal, unless};
use crate::args::VerifyWinnerArgs;
use crate::{Ending, output};
use tunesmith::core::Objective;
use tunesmith::report::amount;
use tunesmith::store::arguments;
use tunesmith::{
    Error,
    study::{Place, Remeasured, WinnerCheck},
    tune::{VerifyOptions, verify_winner as measure},
};

pub(crate) fn verify_winner(args: &VerifyWinnerArgs) -> Result<Ending, Error> {
    let interrupt = interrupt();
    let machine = interruptible_machine(args.device.as_deref(), &interrupt)?;
    let options = VerifyOptions {
        run: journal(&args.run)?,
        problem: args.problem.clone(),
        machine: unless(args.no_sandbox, machine),
        rivals: args.rivals,
        tolerance: args.tolerance / 100.0,
        any_environment: args.any_environment,
        interrupt,
    };
    let Some(check) = measure(&options)? else { return Ok(Ending::Interrupted) };
    if args.json {
        output::json(&check);
    } else {
        output::print(&text(&check));
    }
    Ok(if check.ok { Ending::Done } else { Ending::Unconfirmed })
}

fn text(check: &WinnerCheck) -> String {
    let mut text = format!("{} on {}\n", check.problem, check.device);
    let rows: Vec<[String; 4]> = check.configs.iter().map(|subject| row(subject, &check.objective)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    for [place, before, now, config] in &rows {
        text += &format!("  {place:<0$}  {before:<1$}  {now:<2$}  {config}\n", widths[0], widths[1], widths[2]);
    }
    for changed in &check.environment {
        text += &format!("changed: {changed}\n");
    }
    for regression in &check.regressions {
        text += &format!("regression: {regression}\n");
    }
    let better = check.objective.comparative();
    let as_good = check.objective.positive();
    let confirmed = format!("ok: the winner is as {as_good} as in the run, and nothing is {better} beyond doubt\n");
    text + match (check.ok, check.regressions.is_empty()) {
        (true, _) => &confirmed,
        (false, true) => "not confirmed: the environment has changed; tune again, or name --any-environment\n",
        (false, false) => "not confirmed: tune again\n",
    }
}

fn row(subject: &Remeasured, objective: &Objective) -> [String; 4] {
    let place = match subject.place {
        Place::Winner => "winner",
        Place::RunnerUp => "runner-up",
        Place::Default => "default",
    };
    let before =
        subject.before.map_or_else(String::new, |before| format!("{} before", amount(before.value, objective)));
    let now = match subject.now.map(|now| (amount(now.value, objective), now.value_ci95)) {
        Some((value, Some((low, high)))) => {
            format!("{value} now ({} to {})", amount(low, objective), amount(high, objective))
        }
        Some((value, None)) => format!("{value} now"),
        None => "failed now".to_string(),
    };
    [place.to_string(), before, now, arguments(&subject.config)]
}
