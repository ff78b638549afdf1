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
mod task;

pub use options::{JournalOptions, Search};
pub(crate) use rehearse::{Rehearsal, rehearse};
pub use rematch::{VerifyOptions, verify_winner};
pub use session::{Session, Starting};
pub use task::TuningTask;

use crate::{Error, Outcome};
use ground::Ground;
use learned::Learned;
use ready::Ready;
use settings::Settings;
use settled::settled;

/// Does the tuning of `task` in the surroundings `session`.
///
/// Evaluates the default configuration first, then the start configuration if one is given, then
/// the requests of the strategy. Every evaluation is in the journal before the strategy learns of
/// it.
///
/// # Errors
/// The request is wrong, found before anything is measured. Or a device or the disk fails, after
/// all measurements so far were written.
pub fn tune(task: &TuningTask<'_>, session: &mut Session<'_>) -> Result<Outcome, Error> {
    let began = session.clock.now();
    let settled = settled(task, session)?;
    let task = TuningTask { problem: &settled.problem, ..task.clone() };
    let mut ground = Ground::open(&task, session)?;
    ground.warnings.extend(settled.note);
    let settings = Settings::new(&ground, &task)?;
    let learned = Learned::new(&ground, &settings)?;
    let ready = Ready::open(&ground, &settings, &learned, session)?;
    ready.announce(&ground, &settings, &learned, session);
    let finished = ready.run(&ground, &settings, &learned, session)?;
    Ok(finished.conclude(&ground, &settings, &learned, session.clock.now() - began))
}
