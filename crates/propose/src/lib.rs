//! Configurations proposed from outside: by a script, a heuristic, or a client of a language model.
//!
//! A program of the user talks with the tuner line by line ([`Partner`]). [`Proposals`] is a
//! strategy: it gives turns to the partner and to another strategy, by what each of them brought.
//! The page `docs/proposals.md` describes the lines.

mod command;
mod partner;
mod proposal_turns;
mod proposals;
mod protocol;
mod refused;
mod tally;
mod turns;

pub use command::ProposeCommand;
pub use partner::Partner;
pub use proposal_turns::ProposalTurns;
pub use proposals::{Proposals, Proposing};
pub use protocol::{MOST, ProblemLine};
pub use refused::{Fault, FaultKind};
pub use tally::{ProposalReport, Tally};
pub use tunesmith_backend::host::Heard;
