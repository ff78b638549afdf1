//! The command-line tool `tunesmith`: options in, text or JSON out. The work is done in the
//! library `tunesmith`.
//!
//! [`run`] is the whole command, for the binary and for front ends that offer the same command.
//! [`machine`] is the machine as the command line sees it. This crate alone reads the environment.

mod args;
mod commands;
mod ending;
mod live;
mod output;
mod output_stream;
mod progress;
mod render;
#[cfg(feature = "watch")]
mod screen;
mod workers;

use args::{Cli, Command, FleetCommand};
use clap::Parser;
use ending::Ending;
use output_stream::OutputStream;
use std::ffi::OsString;
use tunesmith::device::worker::WorkerCommand;

pub use commands::machine;

/// Runs the command with these arguments, of which the first is the name of the program. Workers are
/// started by `worker`. Returns the exit code. Ends the process after printing help.
pub fn run(arguments: impl IntoIterator<Item = OsString>, worker: WorkerCommand) -> u8 {
    commands::start_workers_by(worker);
    let mut cli = Cli::try_parse_from(arguments).unwrap_or_else(|error| args::explained(error).exit());
    match delivered(&mut cli.command) {
        Ok(ending) => ending.code(),
        Err(error) if error.is_interruption() => Ending::Interrupted.code(),
        Err(error) => {
            render::error(&error);
            // A question that was interrupted looks like a missing answer.
            let interrupted = commands::is_interrupted().then_some(Ending::Interrupted.code());
            interrupted.unwrap_or(if error.is_request() { 2 } else { 3 })
        }
    }
}

/// Executes the command, and writes its output to standard output if it is told so.
fn delivered(command: &mut Command) -> Result<Ending, tunesmith::Error> {
    let stream = OutputStream::of(command)?;
    let ending = execute(command)?;
    if let (Some(stream), Ending::Done) = (stream, ending) {
        stream.deliver()?;
    }
    Ok(ending)
}

fn execute(command: &Command) -> Result<Ending, tunesmith::Error> {
    match command {
        Command::Devices(args) => commands::devices(args),
        Command::Init(args) => commands::init(args),
        Command::Check(args) => commands::check(args),
        Command::Space(args) => commands::space(args),
        Command::Tune(args) => commands::tune(args),
        Command::Worker(args) => commands::worker(args),
        Command::Fleet(FleetCommand::Status(args)) => commands::fleet_status(args),
        Command::Run(args) => commands::run(args),
        Command::Top(args) => commands::top(args),
        Command::Watch(args) => commands::watch(args),
        Command::Report(args) => commands::report(args),
        Command::Compare(args) => commands::compare(args),
        Command::Explain(args) => commands::explain(args),
        Command::Calibrate(args) => commands::calibrate(args),
        Command::Estimate(args) => commands::estimate(args),
        Command::Train(command) => commands::train(command),
        Command::Predict(args) => commands::predict(args),
        Command::Suite(command) => commands::suite(command),
        Command::Convert(args) => commands::convert(args),
        Command::Count(args) => commands::count(args),
        Command::Nest(command) => commands::nest(command),
        Command::Export(args) => commands::export(args),
        Command::VerifyWinner(args) => commands::verify_winner(args),
        Command::Completions(args) => commands::completions(args),
        Command::Man(args) => commands::man(args),
    }
}
