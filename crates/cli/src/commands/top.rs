//! `tunesmith top`.

use crate::args::TopArgs;
use crate::{Ending, output};
use tunesmith::report::{TopRow, top_table};
use tunesmith::{Error, Target, TopConfig};

pub(crate) fn top(args: &TopArgs) -> Result<Ending, Error> {
    let top = tunesmith::top(&args.run, args.n)?;
    let ending = if top.correct == 0 { Ending::NothingCorrect } else { Ending::Done };
    if args.json {
        output::json(&top);
        return Ok(ending);
    }
    let unverified = if top.verified == Some(false) { ", unverified" } else { "" };
    let (evaluations, correct) = (top.evaluations, top.correct);
    let infeasible = if top.infeasible > 0 { format!(", {} infeasible", top.infeasible) } else { String::new() };
    output::print(&format!("{}: {evaluations} evaluations, {correct} correct{infeasible}{unverified}\n", top.problem));
    if top.nothing_better {
        output::print("nothing better than the default was found: it is the best\n");
    }
    if top.correct > 0 && top.objective != Target::Time {
        output::print(&format!("objective: {}\n", top.objective));
    }
    if top.correct > 0 {
        let rows: Vec<TopRow> = top.configs.iter().map(row).collect();
        output::print(&format!("{}\n", top_table(&rows)));
    }
    Ok(ending)
}

fn row(config: &TopConfig) -> TopRow {
    TopRow {
        value: config.value,
        time_ms: config.time_ms,
        ci95_ms: config.ci95_ms,
        speedup: config.speedup,
        config: config.arguments(),
    }
}
