//! `tunesmith top`.

use super::journal;
use crate::args::TopArgs;
use crate::{Ending, output};
use tunesmith::core::Objective;
use tunesmith::core::RunState;
use tunesmith::report::{Front, TopRow, counted, cuts, equal_code, top_table};
use tunesmith::{Error, Top};

pub(crate) fn top(args: &TopArgs) -> Result<Ending, Error> {
    let top = tunesmith::top(&journal(&args.run)?, args.n)?;
    let ending = if top.correct == 0 { Ending::NothingCorrect } else { Ending::Done };
    if args.json {
        output::json(&top);
        return Ok(ending);
    }
    let unverified = if top.verified == Some(false) { ", unverified" } else { "" };
    let (evaluations, correct) = (counted(top.evaluations, "evaluation"), top.correct);
    let infeasible = if top.infeasible > 0 { format!(", {} infeasible", top.infeasible) } else { String::new() };
    output::print(&format!("{}: {evaluations}, {correct} correct{infeasible}{unverified}\n", top.problem));
    if let Some(cut) = &top.cut {
        output::print(&format!("{}\n", cuts(cut)));
    }
    if top.nothing_better {
        output::print("nothing better than the default was found: it is the best\n");
    }
    if top.equal_code > 0 {
        output::print(&format!("{}\n", equal_code(top.equal_code)));
    }
    if let Some(remark) = top.state.and_then(RunState::remark) {
        output::print(&format!("{remark}\n"));
    }
    if let Some(objective) = top.objective.beside_time(&top.objective).filter(|_| top.correct > 0) {
        output::print(&format!("objective: {objective}\n"));
    }
    if top.correct > 0 {
        let rows: Vec<TopRow> = top.configs.iter().map(|found| found.row(&top.objective)).collect();
        output::print(&format!("{}\n", top_table(&rows)));
    }
    if !top.front.is_empty() {
        output::print(&format!("\nthe front: no other configuration dominates these\n{}\n", front(&top).table()));
    }
    Ok(ending)
}

/// Returns the front as a report shows it.
fn front(top: &Top) -> Front {
    let name = |part: &Objective| part.quantity().to_string();
    let members = top.front.iter().map(|member| (member.objectives.clone(), member.arguments()));
    Front { objectives: top.objective.parts().iter().map(name).collect(), members: members.collect() }
}
