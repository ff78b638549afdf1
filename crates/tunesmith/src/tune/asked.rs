//! The searcher of a run: the strategy, or the strategy and the program that competes with it.

use super::ground::Ground;
use super::settings::Settings;
use crate::Error;
use tunesmith_core::{Run, Searcher};
use tunesmith_propose::{Partner, ProblemLine, ProposalReport, ProposalTurns, Proposals, Proposing};
use tunesmith_store::{Header, Resumed};

/// The searcher that the tuner asks.
pub(super) enum Asked {
    Strategy(Box<dyn Searcher>),
    Proposals(Box<Proposals>),
}

impl Asked {
    /// Lets the program of the settings compete with `strategy`, if there is one or the resumed part
    /// of the run had one. Starts the program.
    pub(super) fn new(
        strategy: Box<dyn Searcher>,
        ground: &Ground<'_>,
        settings: &Settings,
        header: &Header,
        resumed: &Resumed,
    ) -> Result<Self, Error> {
        let has_proposals = resumed.evaluations.iter().any(|evaluation| evaluation.proposed.is_some());
        if settings.propose.is_none() && !has_proposals {
            return Ok(Self::Strategy(strategy));
        }
        let command = settings.propose.as_ref();
        let partner = command.map(|command| command.start(ground.machine)).transpose()?;
        let device = header.identity.get("device").and_then(serde_json::Value::as_str).unwrap_or_default();
        let objective = settings.metric().objective().to_string();
        Ok(Self::Proposals(Box::new(Proposals::new(
            strategy,
            Proposing {
                partner: partner.map(|partner| Box::new(partner) as Box<dyn Partner>),
                patience: command.map(|command| command.patience).unwrap_or_default(),
                problem: ProblemLine { header, device, objective: &objective },
                default: ground.default_id(),
                recorded: &resumed.evaluations,
            },
        ))))
    }

    /// Returns the turns of the proposals, if there are proposals.
    pub(super) fn turns(&self) -> Option<ProposalTurns> {
        match self {
            Self::Strategy(_) => None,
            Self::Proposals(proposals) => Some(proposals.turns()),
        }
    }

    pub(super) fn searcher(&mut self) -> &mut dyn Searcher {
        match self {
            Self::Strategy(strategy) => strategy.as_mut(),
            Self::Proposals(proposals) => proposals.as_mut(),
        }
    }

    /// Ends the conversation with the program. Returns what it brought to `run`.
    pub(super) fn report(self, run: &Run) -> Option<ProposalReport> {
        match self {
            Self::Strategy(_) => None,
            Self::Proposals(proposals) => Some(proposals.finish().report(run)),
        }
    }
}
