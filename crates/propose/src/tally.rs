//! Counts what the proposals of a run brought.

use crate::refused::{Fault, FaultKind};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use tunesmith_core::{Objective, Run, Scored};

/// The counts of a conversation.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Number of requests for configurations.
    pub requests: u64,
    /// Number of configurations that were proposed.
    pub proposed: u64,
    /// Number of them that could be evaluated.
    pub valid: u64,
    faults: BTreeMap<FaultKind, u64>,
    /// The end of the conversation, if it came before that of the run.
    pub ended: Option<String>,
    noted: HashSet<String>,
    notes: Vec<String>,
}

impl Tally {
    /// Counts a fault. The first of each kind becomes a note to the user.
    pub(crate) fn fault(&mut self, fault: &Fault) {
        *self.faults.entry(fault.kind).or_default() += 1;
        self.note_once(fault.kind.word(), format!("the proposals cannot all be used: {}", fault.text));
    }

    /// Notes the end of the conversation.
    pub(crate) fn end(&mut self, how: String) {
        self.note_once("end", format!("the program of --propose {how}; the search goes on without it"));
        self.ended = Some(how);
    }

    /// Notes `text` to the user, unless there was a note on `subject` before.
    pub(crate) fn note_once(&mut self, subject: &str, text: String) {
        if self.noted.insert(subject.to_string()) {
            self.notes.push(text);
        }
    }

    /// Returns and forgets the notes to the user.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Returns what the proposals brought to `run`.
    pub fn report(&self, run: &Run) -> ProposalReport {
        let is_proposed = |scored: &&Scored| scored.evaluation.proposed.is_some();
        let best = |proposed: bool| {
            let scores = run.history.iter().filter(|scored| is_proposed(scored) == proposed);
            scores.filter_map(|scored| scored.score).min_by(f64::total_cmp)
        };
        let winner = run.verdict.winner.and_then(|winner| run.history.of(winner));
        ProposalReport {
            requests: self.requests,
            proposed: self.proposed,
            valid: self.valid,
            evaluated: run.history.iter().filter(is_proposed).count(),
            refused: self.faults.iter().map(|(kind, count)| (kind.word(), *count)).collect(),
            ended: self.ended.clone(),
            is_best: winner.is_some_and(|winner| is_proposed(&winner)),
            best: best(true),
            best_of_others: best(false),
        }
    }
}

/// The balance of a run's proposals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProposalReport {
    /// Number of requests for configurations in this part of the run.
    pub requests: u64,
    /// Number of configurations that were proposed in this part of the run.
    pub proposed: u64,
    /// Number of them that could be evaluated.
    pub valid: u64,
    /// Number of proposals that were evaluated, earlier parts of a resumed run included.
    pub evaluated: usize,
    /// Numbers of faults by kind.
    pub refused: BTreeMap<&'static str, u64>,
    /// The end of the conversation, if it came before that of the run.
    pub ended: Option<String>,
    /// True if the best configuration of the run was proposed.
    pub is_best: bool,
    /// The best score of the search's samples among the proposals, or the [value](Self::in_values) of it.
    pub best: Option<f64>,
    /// The best score of the search's samples among all others: the strategy's, the default and the
    /// start configuration.
    pub best_of_others: Option<f64>,
}

impl ProposalReport {
    /// Returns the report with values of `objective` in place of scores.
    #[must_use]
    pub fn in_values(self, objective: &Objective) -> Self {
        let value = |score: Option<f64>| score.map(|score| objective.value(score));
        Self { best: value(self.best), best_of_others: value(self.best_of_others), ..self }
    }
}
