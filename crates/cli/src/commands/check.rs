//! `tunesmith check`.

use super::{machine, sizes};
use crate::args::CheckArgs;
use crate::{Ending, output, render};
use serde_json::{Value as Json, json};
use tunesmith::{Check, Diagnostic, Error, Level, Problem, problem::ConstraintReport, report};

pub(crate) fn check(args: &CheckArgs) -> Result<Ending, Error> {
    let sizes = sizes(&args.problem);
    // A device that does not exist is one more message. The rest is still checked.
    let (machine, wrong_device) = match machine(args.device.as_deref()) {
        Ok(machine) => (machine, None),
        Err(error) => (machine(None)?, Some(error)),
    };
    let mut check = tunesmith::check(&args.problem.problem, &sizes, &machine)?;
    check.messages.extend(wrong_device.map(|error| about_the_whole(args, &error)));
    if args.json {
        let messages: Vec<Json> = check.messages.iter().map(message).collect();
        let mut document = json!({ "ok": check.is_ok(), "messages": messages, "space": check.space });
        if let Some(Json::Object(report)) =
            check.constraints.as_ref().and_then(|report| serde_json::to_value(report).ok())
        {
            document.as_object_mut().into_iter().for_each(|document| document.extend(report.clone()));
        }
        output::json(&document);
    } else {
        print(args, &check, &sizes);
    }
    Ok(if check.is_ok() { Ending::Done } else { Ending::WrongRequest })
}

/// Returns an error as a message about the whole file.
fn about_the_whole(args: &CheckArgs, error: &Error) -> Diagnostic {
    Diagnostic {
        level: Level::Error,
        file: args.problem.problem.clone(),
        line: 1,
        column: 1,
        span: 0..0,
        text: error.to_string(),
        remedy: error.remedy().map(str::to_string),
        brief: None,
    }
}

fn message(message: &Diagnostic) -> Json {
    json!({
        "level": message.level.to_string(),
        "file": message.file,
        "line": message.line,
        "column": message.column,
        "text": message.text,
        "remedy": message.remedy,
    })
}

fn print(args: &CheckArgs, check: &Check, sizes: &[(String, tunesmith::space::Value)]) {
    // The messages point into the text. A problem that loads holds it; otherwise the error does.
    let source = match Problem::load(&args.problem.problem, sizes) {
        Ok(problem) => problem.source_file().clone(),
        Err(error) => error.source_file,
    };
    render::messages(&check.messages, Some(&source));
    if let Some(space) = &check.space {
        let (size, cartesian) = (report::count(&space.size), report::count(&space.cartesian));
        let (size, cartesian) = (report::counted(size, "configuration"), report::counted(cartesian, "combination"));
        output::print(&format!("{size} of {cartesian}\n"));
    }
    if let Some(report) = check.constraints.as_ref().filter(|report| !report.constraints.is_empty()) {
        output::print(&effects(report));
    }
    if check.is_ok() {
        output::print(&format!("ok; next: tunesmith tune {}\n", args.problem.problem.display()));
    }
}

/// Returns what each constraint removes, alone and from the combinations that those before it
/// leave.
fn effects(report: &ConstraintReport) -> String {
    let count = |count: &Option<String>| count.as_deref().map_or_else(|| "?".to_string(), report::count);
    let rows: Vec<[String; 3]> = report
        .constraints
        .iter()
        .map(|row| [count(&row.removed_alone), count(&row.removed_in_order), row.name.clone()])
        .collect();
    format!("{}\n", report::count_table(["removes alone", "removes in order", "constraint"], &rows))
}
