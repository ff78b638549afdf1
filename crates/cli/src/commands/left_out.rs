//! The commands that this program was built without.

use crate::Ending;
use tunesmith::Error;
use tunesmith::core::Refusal;

/// Refuses a command, or an option of one.
fn refused(what: &str) -> Error {
    let remedy = "build it with `cargo build --release --features full`; published binaries have it";
    Refusal::new(format!("this program was built without `{what}`"), Some(remedy.to_string())).into()
}

#[cfg(not(feature = "fleet"))]
pub(crate) mod fleet {
    use super::refused;
    use crate::Ending;
    use crate::args::{FleetStatusArgs, TuneArgs, WorkerArgs};
    use crate::workers::Workers;
    use tunesmith::{Error, Machine, Problem};

    pub(crate) fn worker(_: &WorkerArgs) -> Result<Ending, Error> {
        Err(refused("worker"))
    }

    pub(crate) fn fleet_status(_: &FleetStatusArgs) -> Result<Ending, Error> {
        Err(refused("fleet"))
    }

    pub(crate) fn workers(args: &TuneArgs, _: &Problem, _: &Machine) -> Result<Option<Workers>, Error> {
        if args.fleet.is_some() { Err(refused("--fleet")) } else { Ok(None) }
    }
}

#[cfg(not(feature = "nest-import"))]
pub(crate) fn nest(_: &crate::args::NestCommand) -> Result<Ending, Error> {
    Err(refused("nest import"))
}

#[cfg(not(feature = "watch"))]
pub(crate) fn watch(_: &crate::args::WatchArgs) -> Result<Ending, Error> {
    Err(refused("watch"))
}
