//! The turns at which configurations were proposed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tunesmith_core::{Annotator, Evaluation, Request};

/// The turn of each proposal, counted from 0 among all requests of [`Proposals`](crate::Proposals). As the
/// [annotator](tunesmith_core::Tuner::annotator) of the run it adds them to the evaluations, so that the journal has
/// them and a resumed run can repeat them. Clones share the turns.
#[derive(Clone, Debug, Default)]
pub struct ProposalTurns(Arc<Mutex<HashMap<Request, u64>>>);

impl ProposalTurns {
    /// Notes that `request` was proposed at `turn`.
    pub(crate) fn note(&self, request: Request, turn: u64) {
        self.turns().insert(request, turn);
    }

    fn turns(&self) -> MutexGuard<'_, HashMap<Request, u64>> {
        // No panic leaves a map half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Annotator for ProposalTurns {
    fn annotate(&self, evaluation: &mut Evaluation) {
        evaluation.proposed = self.turns().get(&evaluation.request).copied();
    }
}
