//! Tunes a problem: the main job.

mod asked;
mod conclude;
mod ground;
mod header;
mod learned;
mod options;
mod ready;
mod rehearse;
mod rematch;
mod session;
mod settings;
mod settled;

pub use options::{JournalOptions, Search};
pub(crate) use rehearse::{Rehearsal, rehearse};
pub use rematch::{VerifyOptions, verify_winner};
pub use session::{Session, Starting};

use crate::{Error, Outcome, Problem};
use ground::Ground;
use learned::Learned;
use ready::Ready;
use settings::Settings;
use settled::settled;
use tunesmith_device::Machine;

/// Tunes `problem` on `machine`.
///
/// Evaluates the default configuration first, then the start configuration if one is given, then
/// the requests of the strategy. Every evaluation is in the journal before the strategy learns of
/// it.
///
/// # Errors
/// The request is wrong, found before anything is measured. Or a device or the disk fails, after
/// all measurements so far were written.
pub fn tune(
    problem: &Problem,
    machine: &Machine,
    search: &Search,
    journal: &JournalOptions,
    session: &mut Session<'_>,
) -> Result<Outcome, Error> {
    let began = session.clock.now();
    let settled = settled(problem, machine, search, journal, session)?;
    let mut ground = Ground::open(&settled.problem, machine, &search.start, session)?;
    ground.warnings.extend(settled.note);
    let settings = Settings::new(&ground, search, journal)?;
    let learned = Learned::new(&ground, &settings)?;
    let ready = Ready::open(&ground, &settings, &learned, session)?;
    ready.announce(&ground, &settings, &learned, session);
    let finished = ready.run(&ground, &settings, &learned, session)?;
    Ok(finished.conclude(&ground, &settings, &learned, session.clock.now() - began))
}
