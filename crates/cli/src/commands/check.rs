//! `tunesmith check`.

use super::{compilers, sizes};
use crate::args::CheckArgs;
use crate::{Ending, output, render};
use serde_json::{Value as Json, json};
use tunesmith::{Check, Diagnostic, Error, Problem, TuneOptions, report};

pub(crate) fn check(args: &CheckArgs) -> Result<Ending, Error> {
    let sizes = sizes(&args.problem);
    let options = TuneOptions { compilers: compilers(), device: args.device.clone(), ..TuneOptions::default() };
    let check = tunesmith::check(&args.problem.problem, &sizes, &options)?;
    if args.json {
        let messages: Vec<Json> = check.messages.iter().map(message).collect();
        output::json(&json!({ "ok": check.is_ok(), "messages": messages, "space": check.space }));
    } else {
        print(args, &check, &sizes);
    }
    Ok(if check.is_ok() { Ending::Done } else { Ending::WrongRequest })
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
    // The messages point into the text, which only a problem that loads, or the error of one that does not, holds.
    let source = match Problem::load(&args.problem.problem, sizes) {
        Ok(problem) => problem.source_file,
        Err(error) => error.source_file,
    };
    render::messages(&check.messages, Some(&source));
    if let Some(space) = &check.space {
        let (size, cartesian) = (report::count(&space.size), report::count(&space.cartesian));
        output::print(&format!("{size} configurations of {cartesian} combinations\n"));
    }
    if check.is_ok() {
        output::print(&format!("ok; next: tunesmith tune {}\n", args.problem.problem.display()));
    }
}
