//! A run that stops before it runs anything: what `check` does.

use super::ground::Ground;
use super::learned::Learned;
use super::ready;
use super::session::Session;
use super::settings::Settings;
use super::task::TuningTask;
use crate::Error;
use tunesmith_device::Doubt;
use tunesmith_problem::Key;
use tunesmith_space::ConfigId;
use tunesmith_store::{Journal, arguments};

/// The findings about a run that could start.
pub(crate) struct Rehearsal {
    /// The default configuration, or the first example of an alternative, that does not compile.
    pub(crate) uncompiled: Option<Uncompiled>,
    /// True if outputs are compared with correct results. `None` if there are no outputs.
    pub(crate) verified: Option<bool>,
    /// Parameters that do not do what their user means.
    pub(crate) doubts: Vec<Doubt>,
}

/// A configuration that does not compile.
pub(crate) struct Uncompiled {
    /// The configuration.
    pub(crate) config: String,
    /// Its alternative, unless it is the default.
    pub(crate) alternative: Option<Key>,
    /// The compiler's message.
    pub(crate) message: String,
    /// Number of others that compile, among those tried.
    pub(crate) others: usize,
}

/// Number of other configurations to compile if the default does not.
const OTHERS: u128 = 4;

/// Does everything that [`tune`](super::tune) does before it writes a journal or runs anything.
///
/// # Errors
/// Those of `tune`: the request is wrong, or the device fails.
pub(crate) fn rehearse(task: &TuningTask<'_>) -> Result<Rehearsal, Error> {
    let mut session = Session::default();
    let ground = Ground::open(task, &mut session)?;
    let settings = Settings::new(&ground, task)?;
    Learned::new(&ground, &settings)?;
    let mut runner = ready::runner(&ground, &settings, session.clock)?;
    let probes = ground.probes();
    let Some(&probe) = probes.first() else {
        return Ok(Rehearsal { uncompiled: None, verified: ground.verified(), doubts: Vec::new() });
    };
    let tried =
        probes.iter().map(|probe| Ok((*probe, runner.preflight(*probe)?))).collect::<Result<Vec<_>, Error>>()?;
    // A mismatch between the problem and its kernel says more than one with the reference.
    runner.compile_reference()?;
    let failed = tried.into_iter().find_map(|(probe, message)| Some((probe, message?)));
    let mut compiles = |config: &ConfigId| runner.preflight(*config).is_ok_and(|message| message.is_none());
    let uncompiled = failed.map(|(failing, message)| {
        let step = (ground.size / OTHERS).max(1);
        let others = (0..OTHERS).filter_map(|at| ground.space.id(at * step)).filter(|config| *config != failing);
        let others = others.filter(|config| compiles(config)).count();
        let config = arguments(&Journal::config(&ground.space, &ground.space.unrank(failing)));
        let alternative = (failing != probe).then(|| task.problem.configuration_key(&ground.space, failing));
        Uncompiled { config, alternative, message, others }
    });
    let doubts = runner.doubts(probe, uncompiled.as_ref().map(|uncompiled| uncompiled.message.as_str()));
    Ok(Rehearsal { uncompiled, verified: ground.verified(), doubts })
}
