//! The binary `tunesmith`.

use std::process::ExitCode;
use tunesmith::device::worker::WorkerCommand;

fn main() -> ExitCode {
    tunesmith::enter_if_worker();
    ExitCode::from(tunesmith_cli::run(std::env::args_os(), WorkerCommand::current()))
}
