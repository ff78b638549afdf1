//! `tunesmith suite`.

use super::{command, interrupt, interruptible_machine, unless};
use crate::args::{SuiteArgs, SuiteCheckArgs, SuiteCommand, SuiteListArgs, SuiteTuneArgs, SuiteVerifyArgs};
use crate::{Ending, output};
use serde_json::json;
use tunesmith::report::{count, count_table, counted, message, milliseconds};
use tunesmith::{DeviceChoice, Error, Search};
use tunesmith_suite::{
    CheckedFile, Library, ListedFile, ListedProblem, Suite, SuiteRow, SuiteTable, SuiteTune, Verified, VerifyOptions,
    check_suite, list_suite, tune_suite, verify_suite,
};

pub(crate) fn suite(command: &SuiteCommand) -> Result<Ending, Error> {
    match command {
        SuiteCommand::List(args) => list(args),
        SuiteCommand::Check(args) => check(args),
        SuiteCommand::Verify(args) => verify(args),
        SuiteCommand::Tune(args) => tune(args),
    }
}

fn open(args: &SuiteArgs) -> Result<Suite, Error> {
    Suite::open(&args.suite, &args.names)
}

fn list(args: &SuiteListArgs) -> Result<Ending, Error> {
    let problems = list_suite(&open(&args.suite)?)?;
    if args.suite.json {
        output::json(&json!({ "problems": problems }));
    } else {
        let rows: Vec<[String; 4]> = problems.iter().flat_map(listed).collect();
        let header = ["configurations", "parameters", "backends", "problem"];
        output::print(&format!("{}\n", count_table(header, &rows)));
    }
    Ok(Ending::Done)
}

/// Returns the rows of a problem: one for each of its files, the first with its title.
fn listed(problem: &ListedProblem) -> Vec<[String; 4]> {
    let row = |(number, file): (usize, &ListedFile)| {
        let paper = if problem.paper.is_empty() { String::new() } else { format!(" ({})", problem.paper) };
        let title = if number == 0 { format!(": {}{paper}", problem.title) } else { String::new() };
        let backends = if file.backends.is_empty() { "-".to_string() } else { file.backends.join(" ") };
        let name = format!("{}/{}{title}", problem.name, file.file);
        [count(&file.configurations), file.parameters.to_string(), backends, name]
    };
    problem.files.iter().enumerate().map(row).collect()
}

fn check(args: &SuiteCheckArgs) -> Result<Ending, Error> {
    let suite = open(&args.suite)?;
    let machine = interruptible_machine(args.device.as_deref(), &interrupt())?;
    let mut show = |file: &CheckedFile| {
        if !args.suite.json {
            output::print(&checked(file));
        }
    };
    let files = check_suite(&suite, &machine, &mut show)?;
    let is_ok = files.iter().all(CheckedFile::is_ok);
    if args.suite.json {
        output::json(&json!({ "ok": is_ok, "files": files }));
    }
    Ok(if is_ok { Ending::Done } else { Ending::WrongRequest })
}

fn checked(file: &CheckedFile) -> String {
    let status = if file.is_ok() { "ok" } else { "wrong" };
    let size = file.configurations.as_deref().map_or_else(|| "?".to_string(), count);
    let place = match &file.device {
        Some(device) => format!(" on {device}"),
        None => "; no device here runs it, so only the file and its space are checked".to_string(),
    };
    let lines = file.faults.iter().map(|fault| ("error", fault));
    let lines = lines.chain(file.brief_warnings.iter().map(|warning| ("warning", warning)));
    let lines: String = lines.map(|(level, text)| format!("  {level}: {}\n", message(text))).collect();
    let size = counted(size, "configuration");
    format!("{status}: {}/{}: {size}{place}\n{lines}", file.name, file.file)
}

fn verify(args: &SuiteVerifyArgs) -> Result<Ending, Error> {
    let suite = open(&args.suite)?;
    let interrupt = interrupt();
    let machine = unless(args.no_sandbox, interruptible_machine(args.device.as_deref(), &interrupt)?);
    let options = VerifyOptions { samples: args.samples, seed: args.seed, compile_only: args.compile_only.clone() };
    let mut show = |verified: &Verified| {
        let text = verified_text(verified, args);
        if args.suite.json { output::note(text.trim_end()) } else { output::print(&text) }
    };
    let verified = verify_suite(&suite, &machine, &options, &interrupt, &mut output::note, &mut show)?;
    let Some(problems) = verified else { return Ok(Ending::Interrupted) };
    if args.suite.json {
        output::json(&json!({ "problems": problems }));
    }
    Ok(if problems.iter().all(Verified::is_ok) { Ending::Done } else { Ending::NothingCorrect })
}

fn verified_text(verified: &Verified, args: &SuiteVerifyArgs) -> String {
    let Verified { name, device, sampled, correct, refused, wrong, .. } = verified;
    let word = if verified.compile_only { "compile" } else { "correct" };
    let counts = format!("{sampled} sampled, {correct} {word}, {refused} refused, {wrong} wrong");
    let mut text = format!("{name} on {device}: {counts}\n");
    for reason in &verified.reasons {
        text += &format!("  refused {}: {}\n", reason.count, message(&reason.reason));
    }
    if let Some(wrong) = &verified.first_wrong {
        let again = reproduce(verified, &wrong.config, args);
        let (config, status) = (&wrong.config, wrong.status);
        text += &format!("  first wrong: {config}: {status}: {}\n  again: {again}\n", message(&wrong.message));
    }
    if let Some(error) = &verified.error {
        text += &format!("  error: {}\n", message(error));
    }
    text
}

/// Returns the command that shows the wrong configuration again.
fn reproduce(verified: &Verified, config: &str, args: &SuiteVerifyArgs) -> String {
    let file = verified.file.display().to_string();
    if !verified.compile_only {
        return command(["tunesmith", "run", &file, "--device", &verified.device, "--config", config]);
    }
    let (samples, seed) = (args.samples.to_string(), args.seed.to_string());
    let suite = args.suite.suite.display().to_string();
    let head = ["tunesmith", "suite", "verify", &verified.name, "--suite", &suite, "--compile-only", &verified.device];
    command(head.into_iter().chain(["--samples", &samples, "--seed", &seed]))
}

fn tune(args: &SuiteTuneArgs) -> Result<Ending, Error> {
    let suite = open(&args.suite)?;
    let interrupt = interrupt();
    let machine = unless(args.no_sandbox, interruptible_machine(None, &interrupt)?);
    let search = Search {
        strategy: args.strategy.as_deref().map(str::parse).transpose()?,
        stop: args.stop.as_deref().map(str::parse).transpose()?,
        seed: args.seed,
        ..Search::default()
    };
    let devices: Vec<DeviceChoice> = args.device.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    let against: Vec<Library> = args.against.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
    let options = SuiteTune { devices, search, against, out: args.out.clone(), inputs: args.inputs };
    let mut show = |row: &SuiteRow| {
        let time = row.tuned_ms.map_or_else(|| "none correct".to_string(), milliseconds);
        let evaluations = counted(row.evaluations, "evaluation");
        output::note(&format!("{} on {}: {time} after {evaluations}", titled(row), row.device));
        row.notes.iter().for_each(|note| output::note(&format!("  {note}")));
    };
    let table = tune_suite(&suite, &machine, &options, &interrupt, &mut output::note, &mut show)?;
    let Some(table) = table else {
        output::note("interrupted; the same command goes on");
        return Ok(Ending::Interrupted);
    };
    if args.suite.json {
        output::json(&table);
    } else {
        output::print(&markdown(&table, &options.against));
    }
    let is_done = table.failed.is_empty() && table.rows.iter().all(|row| row.tuned_ms.is_some());
    Ok(if is_done { Ending::Done } else { Ending::NothingCorrect })
}

/// Returns the table in Markdown. A library's column has its time, and its time over ours.
fn markdown(table: &SuiteTable, against: &[Library]) -> String {
    let libraries = against.iter().map(|library| library.name());
    let head = ["problem", "device", "naive", "default", "tuned", "GFLOP/s", "speed-up", "evaluations"];
    let head: Vec<&str> = head.into_iter().chain(libraries).collect();
    let mut text = format!("| {} |\n|---|---|{}\n", head.join(" | "), "---:|".repeat(head.len() - 2));
    for row in &table.rows {
        text += &format!("| {} |\n", cells(row, against).join(" | "));
    }
    for failure in &table.failed {
        text += &format!("\n{failure}\n");
    }
    text
}

/// Returns the name of a row's problem, with the input if it is one of several.
fn titled(row: &SuiteRow) -> String {
    row.input.as_ref().map_or_else(|| row.name.clone(), |input| format!("{} {input}", row.name))
}

fn cells(row: &SuiteRow, against: &[Library]) -> Vec<String> {
    let dash = || "-".to_string();
    let time = |time: Option<f64>| time.map_or_else(dash, milliseconds);
    let number = |number: Option<f64>| number.map_or_else(dash, |number| format!("{number:.2}"));
    let library = |library: &Library| {
        let Some((theirs, ours)) = row.against_ms.get(library.name()).copied().zip(row.tuned_ms) else { return dash() };
        format!("{} ({:.0} %)", milliseconds(theirs), theirs / ours * 100.0)
    };
    let own = [
        titled(row),
        row.device.clone(),
        time(row.naive_ms),
        time(row.default_ms),
        time(row.tuned_ms),
        number(row.gflops),
        number(row.speedup),
        row.evaluations.to_string(),
    ];
    own.into_iter().chain(against.iter().map(library)).collect()
}
