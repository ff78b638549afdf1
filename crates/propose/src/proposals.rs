//! The strategy that lets a partner compete with another strategy.

use crate::partner::Partner;
use crate::proposal_turns::ProposalTurns;
use crate::protocol::{self, Answer, MOST, ProblemLine};
use crate::refused::Fault;
use crate::tally::Tally;
use crate::turns::{Side, Turns};
use serde_json::Value as Json;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;
use tunesmith_backend::host::Heard;
use tunesmith_core::{Evaluation, Request, Rng, Searcher, Told, View};
use tunesmith_space::ConfigId;

/// Maximum number of answers at a turn of which nothing can be used.
const TRIES: usize = 3;
/// Maximum number of unasked lines before the conversation ends.
const MOST_UNASKED: u32 = 100;

/// A strategy and a partner that take turns (docs/proposals.md tells the rule).
///
/// The partner is asked for the next configurations as soon as the last ones were used, and thinks
/// while others are evaluated. At its turn the search waits for it, but only for `patience` in all
/// until it answers again. Otherwise the strategy goes on, and the answer is used when it comes.
///
/// The journal keeps the [turn](Self::turns) of every proposal. A resumed run takes them from there, and asks the
/// partner nothing until all recorded evaluations were told.
pub struct Proposals {
    strategy: Box<dyn Searcher>,
    /// `None` once the conversation has ended.
    partner: Option<Box<dyn Partner>>,
    patience: Duration,
    /// True if the partner used up the patience and has not answered since.
    is_late: bool,
    /// The number of the request that is not answered yet.
    awaited: Option<u64>,
    unasked: u32,
    default: Option<ConfigId>,
    first_line: Option<FirstLine>,
    /// The valid proposals that wait for their turn.
    queue: VecDeque<ConfigId>,
    /// Everything that was ever proposed.
    proposed: HashSet<ConfigId>,
    /// The side that asked for a request. The default and the start configuration have none.
    asked: HashMap<Request, Side>,
    /// Everything that was told.
    told: HashSet<Request>,
    /// The turns of the proposals that were asked.
    turn_of: ProposalTurns,
    turn: u64,
    turns: Turns,
    replay: Replay,
    tally: Tally,
}

/// The facts for the first line. It is written when the budget is known.
struct FirstLine(Box<dyn Fn(Option<u64>) -> String + Send>);

/// The journal of a resumed run.
#[derive(Debug, Default)]
struct Replay {
    /// The proposals by turn.
    proposals: HashMap<u64, Request>,
    /// The evaluations that were not told yet.
    untold: HashSet<Request>,
    /// True once the strategy has asked for something that is not recorded.
    is_over: bool,
}

/// The partner of a search, and what it is told.
pub struct Proposing<'a> {
    /// The partner. Without one, only the proposals of a resumed run are used.
    pub partner: Option<Box<dyn Partner>>,
    /// Maximum time to wait for an answer at the partner's turn.
    pub patience: Duration,
    /// The facts of the first line.
    pub problem: ProblemLine<'a>,
    /// The configuration whose values unnamed parameters take.
    pub default: Option<ConfigId>,
    /// The evaluations of a resumed journal.
    pub recorded: &'a [Box<Evaluation>],
}

impl Proposals {
    /// Lets a partner compete with `strategy`.
    pub fn new(strategy: Box<dyn Searcher>, proposing: Proposing<'_>) -> Self {
        let Proposing { partner, patience, problem, default, recorded } = proposing;
        let of_turn = |evaluation: &Evaluation| Some((evaluation.proposed?, evaluation.request));
        let (header, device, objective) =
            (problem.header.clone(), problem.device.to_string(), problem.objective.to_string());
        let line = move |budget| {
            let facts = ProblemLine { header: &header, device: &device, objective: &objective };
            protocol::problem(&facts, budget)
        };
        Self {
            strategy,
            first_line: partner.is_some().then(|| FirstLine(Box::new(line))),
            partner,
            patience,
            is_late: false,
            awaited: None,
            unasked: 0,
            default,
            queue: VecDeque::new(),
            proposed: HashSet::new(),
            asked: HashMap::new(),
            told: HashSet::new(),
            turn_of: ProposalTurns::default(),
            turn: 0,
            turns: Turns::default(),
            replay: Replay {
                proposals: recorded.iter().filter_map(|evaluation| of_turn(evaluation)).collect(),
                untold: recorded.iter().map(|evaluation| evaluation.request).collect(),
                is_over: false,
            },
            tally: Tally::default(),
        }
    }

    /// Returns the turns of the proposals, for the [annotator](tunesmith_core::Tuner::annotator) of the run.
    pub fn turns(&self) -> ProposalTurns {
        self.turn_of.clone()
    }

    /// Ends the conversation: the partner is told, and has a moment to end by itself. Returns the
    /// counts.
    pub fn finish(mut self) -> Tally {
        if let Some(mut partner) = self.partner.take() {
            const FAREWELL: Duration = Duration::from_millis(200);
            if partner.say(protocol::end()) {
                while !matches!(partner.hear(FAREWELL), None | Some(Heard::Ended(_) | Heard::TooLong)) {}
            }
        }
        self.tally
    }

    fn is_replaying(&self) -> bool {
        !self.replay.is_over && !self.replay.untold.is_empty()
    }

    /// Passes a line on. A partner that does not read ends the conversation.
    fn say(&mut self, view: &View<'_>, line: String) {
        let first = self.first_line.take().map(|first| first.0(view.budget()));
        let Some(partner) = &mut self.partner else { return };
        let heard = first.is_none_or(|first| partner.say(first)) && partner.say(line);
        if !heard {
            self.end("does not read its input".to_string());
        }
    }

    fn end(&mut self, how: String) {
        self.tally.end(how);
        (self.partner, self.awaited) = (None, None);
    }

    /// Asks the partner for configurations, if it has none left and nothing is awaited.
    fn request(&mut self, view: &View<'_>) {
        if self.partner.is_some() && self.awaited.is_none() && self.queue.is_empty() && !self.is_replaying() {
            self.tally.requests += 1;
            self.awaited = Some(self.tally.requests);
            self.say(view, protocol::request(self.tally.requests));
        }
    }

    /// Takes what the partner has said. Waits for an answer for at most `limit`.
    fn listen(&mut self, view: &View<'_>, limit: Duration) {
        let mut limit = limit;
        while let Some(said) = self.partner.as_mut().and_then(|partner| partner.hear(limit)) {
            match said {
                Heard::Line(line) => self.heard(view, &line),
                Heard::TooLong => self.end("wrote a line of more than a megabyte".to_string()),
                Heard::Ended(how) => self.end(how),
            }
            // What follows an answer is there already, or nobody waits for it.
            limit = Duration::ZERO;
        }
    }

    fn heard(&mut self, view: &View<'_>, line: &str) {
        let Some(request) = self.awaited.take() else {
            self.tally.fault(&Fault::unasked(line));
            self.unasked += 1;
            if self.unasked > MOST_UNASKED {
                self.end(format!("wrote {} lines that answer no request", self.unasked));
            }
            return;
        };
        self.is_late = false;
        match protocol::answer(line) {
            Err(problem) => self.tally.fault(&Fault::line(line, &problem)),
            Ok(Answer::Done) => {
                self.tally.ended = Some("is done".to_string());
                self.partner = None;
            }
            Ok(Answer::Configs(configs)) => {
                self.tally.proposed += configs.len() as u64;
                for (at, json) in configs.iter().enumerate() {
                    if let Err(fault) = self.propose(view, at, json) {
                        self.tally.fault(&fault);
                        self.say(view, protocol::refused(request, json, &fault.text));
                    }
                }
            }
        }
    }

    /// Queues the configuration at position `at` of an answer.
    fn propose(&mut self, view: &View<'_>, at: usize, json: &Json) -> Result<(), Fault> {
        if at >= MOST {
            return Err(Fault::surplus(MOST));
        }
        let config = protocol::configuration(view.space(), self.default, json)?;
        if view.is_measured(config) || !self.proposed.insert(config) {
            return Err(Fault::duplicate());
        }
        self.tally.valid += 1;
        self.queue.push_back(config);
        Ok(())
    }

    /// Returns the partner's next proposal that is still new. Waits for it at its turn, if
    /// `may_wait`.
    fn next_proposal(&mut self, view: &View<'_>, may_wait: bool) -> Option<Request> {
        self.listen(view, Duration::ZERO);
        self.drop_known(view);
        self.request(view);
        if may_wait {
            self.wait(view);
        }
        self.queue.pop_front().map(Request::timed)
    }

    /// Waits for a proposal. Asks again if none of an answer can be used.
    fn wait(&mut self, view: &View<'_>) {
        for _ in 0..TRIES {
            if !self.queue.is_empty() || self.awaited.is_none() || self.is_late {
                return;
            }
            let before = self.tally.proposed;
            self.listen(view, self.patience);
            self.is_late = self.awaited.is_some();
            if self.is_late {
                let text = "the program of --propose is slow; the strategy goes on, and uses answers when they come";
                self.tally.note_once("late", text.to_string());
            }
            if self.tally.proposed == before {
                return;
            }
            self.request(view);
        }
    }

    /// Drops proposals that the strategy has asked for since.
    fn drop_known(&mut self, view: &View<'_>) {
        self.queue.retain(|config| !view.is_measured(*config));
    }

    /// Returns the request of this turn and the side that makes it.
    fn take_turn(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<(Request, Side)> {
        let recorded = self.replay.proposals.get(&self.turn).copied();
        let is_partners = self.turns.is_partners();
        if is_partners {
            let proposal = recorded.or_else(|| self.next_proposal(view, true));
            if let Some(request) = proposal {
                return Some((request, Side::Partner));
            }
        }
        // Strategies that look ahead would take several turns at once.
        match self.strategy.ask(view, 1, rng).first().copied() {
            Some(request) => {
                self.replay.is_over |= !self.replay.untold.contains(&request) && !view.is_known(request);
                Some((request, Side::Strategy))
            }
            // The strategy waits for an answer, or has nothing left to ask.
            None => Some((recorded.or_else(|| self.next_proposal(view, false))?, Side::Partner)),
        }
    }
}

impl Searcher for Proposals {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        let Some((request, side)) = self.take_turn(view, rng) else { return Vec::new() };
        self.turns.used(side);
        if side == Side::Partner {
            self.turn_of.note(request, self.turn);
            self.proposed.insert(request.config);
        }
        self.asked.insert(request, side);
        self.turn += 1;
        // It thinks while this request is evaluated.
        self.listen(view, Duration::ZERO);
        self.request(view);
        vec![request]
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        let request = told.evaluation.request;
        self.replay.untold.remove(&request);
        let side = self.asked.remove(&request);
        // A strategy that asks again for something known is told again, and alone.
        if self.told.insert(request) {
            let is_best = self.turns.told(side, told.score);
            let proposed = side == Some(Side::Partner);
            self.say(view, protocol::evaluation(view.space(), told.evaluation, told.score, proposed, is_best));
        }
        self.strategy.tell(view, told);
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.tally.take_notes()
    }
}
