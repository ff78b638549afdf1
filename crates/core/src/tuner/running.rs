//! The loop itself.

use super::Tuner;
use super::bench::{Bench, Resampled};
use super::clocks::Clocks;
use super::compile_times::CompileTimes;
use super::doomed::Doomed;
use super::final_round::FinalRound;
use super::findings::{Findings, in_order_made};
use super::observers::Observers;
use super::pending::Pending;
use super::queue::{AnswerFrom, Queue};
use super::race::own_bound;
use super::regret::Estimating;
use super::reserve::Reserve;
use super::room::Room;
use super::run::{Run, Seconds};
use super::watch::Watching;
use crate::judge::drift::SAMPLES;
use crate::judge::racing::Racing;
use crate::searcher::MAX_REPEATS;
use crate::{
    Annotator, Error, Evaluation, Event, Progress, Request, Resample, Rng, Role, Scored, Searcher, Stop, StopReason,
    Told, Verdict, View,
};
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;
use std::time::Duration;
use tunesmith_space::{ConfigId, Space};

/// The state of the loop.
pub(super) struct Running<'a> {
    space: &'a Space,
    pub(super) asking: Asking<'a>,
    pub(super) stop: Stop,
    pub(super) queue: Queue,
    /// The evaluations of the resumed journal that the searcher has not asked for again.
    pub(super) recorded: Pending,
    /// The answers that are kept and not told yet, in the order kept.
    pub(super) arrived: VecDeque<Evaluation>,
    pub(super) room: Room,
    pub(super) racing: Option<Racing>,
    watching: Watching,
    pub(super) compile_times: CompileTimes,
    estimating: Estimating<'a>,
    pub(super) bench: Bench<'a>,
    pub(super) annotator: Option<&'a dyn Annotator>,
    pub(super) findings: Findings<'a>,
    /// Watches for faults that concern every configuration. `None` once something was correct.
    pub(super) doomed: Option<Doomed>,
    pub(super) final_round: FinalRound,
    pub(super) observers: Observers<'a>,
    pub(super) progress: Progress,
    /// The time that is kept for the final, if a time limits the run.
    pub(super) reserve: Option<Reserve>,
    /// Number of configurations that count as evaluated.
    pub(super) configs: usize,
    resumed: usize,
    /// Number of answers in a row that told nothing new.
    repeats: u64,
}

/// The searcher and its inputs.
pub(super) struct Asking<'a> {
    pub(super) searcher: &'a mut dyn Searcher,
    rng: Rng,
    budget: Option<u64>,
    /// The time of the search without the final's share, if time alone limits the run. It does not
    /// follow the reserve, so that a resumed run asks the same.
    pub(super) time: Option<Duration>,
    /// Requests that precede those of the searcher.
    first: VecDeque<Request>,
}

/// Returns the requests that precede those of the searcher: the default is the first.
fn first(default: Option<ConfigId>, others: Vec<Request>) -> VecDeque<Request> {
    let default = default.map(Request::timed);
    let others = others.into_iter().filter(|request| Some(*request) != default);
    default.into_iter().chain(others).collect()
}

impl<'a> Running<'a> {
    pub(super) fn new(tuner: Tuner<'a>) -> Self {
        let Tuner { space, objective, stop, recorded, .. } = tuner;
        let (resamples, recorded_final): (Vec<_>, Vec<_>) =
            tuner.resamples.into_iter().partition(|resample| resample.role.outlives_evaluations());
        let clocks = resamples.iter().chain(&recorded_final).map(|resample| resample.clock);
        let earlier = recorded.iter().map(|evaluation| evaluation.clock).chain(clocks).max().unwrap_or_default();
        let space_size = space.len().map_or(f64::INFINITY, |size| size as f64);
        if objective.has_common_times() {
            tuner.evaluator.share_bounds();
        }
        let budget = stop.evaluation_limit(space_size);
        let time = stop.time_limit();
        // A recording or a function has nothing to measure again.
        let finals = tuner.judging.finals.filter(|_| tuner.evaluator.has_limits());
        let reserve = finals.zip(time).map(|(rule, time)| Reserve::new(rule, time));
        let share = reserve.as_ref().map_or(Duration::ZERO, Reserve::time);
        let mut running = Self {
            space,
            asking: Asking {
                searcher: tuner.searcher,
                rng: tuner.rng,
                budget,
                time: time.filter(|_| budget.is_none()).map(|time| time.saturating_sub(share)),
                first: first(tuner.baseline, tuner.first),
            },
            queue: Queue::default(),
            resumed: recorded.len(),
            recorded: Pending::new(Vec::new()),
            arrived: VecDeque::new(),
            room: Room::new(tuner.room, tuner.follows_room, recorded.is_empty()),
            racing: tuner.judging.racing,
            watching: Watching::new(tuner.judging.drift),
            compile_times: CompileTimes::default(),
            estimating: Estimating::new(&stop, tuner.regret),
            stop,
            bench: Bench {
                evaluator: tuner.evaluator,
                keeper: tuner.keeper,
                objective,
                interrupt: tuner.interrupt,
                durable: tuner.durable,
                started: None,
                clocks: Clocks::new(tuner.clock, tuner.simulated, earlier),
                seconds: Seconds::default(),
                latest: Duration::ZERO,
            },
            annotator: tuner.annotator,
            findings: Findings::new(objective, resamples, tuner.baseline),
            doomed: (!tuner.keep_going).then(Doomed::default),
            final_round: FinalRound { rule: tuner.judging.finals, seed: tuner.seed, recorded: recorded_final.into() },
            observers: Observers::new(tuner.observers),
            progress: Progress { space_size, elapsed: earlier, limit: tuner.limit, ..Progress::default() },
            reserve,
            configs: 0,
            repeats: 0,
        };
        running.resume(recorded);
        running
    }

    /// Counts the evaluations of the resumed journal.
    fn resume(&mut self, recorded: Vec<Box<Evaluation>>) {
        for evaluation in &recorded {
            let score = self.findings.objective.score(evaluation);
            self.doomed = self.doomed.take().filter(|_| score.is_none());
            self.progress.count(evaluation, score);
            self.compile_times.add(evaluation);
            if let Some(reserve) = &mut self.reserve {
                reserve.count(evaluation, score);
            }
        }
        if let Some(reserve) = &mut self.reserve {
            reserve.resume(&recorded, &self.findings.resamples);
        }
        self.renew_reserve();
        self.findings.told.reserve(recorded.len());
        self.recorded = Pending::new(recorded);
        self.configs = self.recorded.configs();
    }

    /// Keeps as much time for the final as it needs by what is known now.
    fn renew_reserve(&mut self) {
        self.progress.reserve = self.reserve.as_ref().map_or(Duration::ZERO, Reserve::time);
    }

    /// Searches, holds the final and judges. `started` is the real time at which the run began.
    pub(super) fn run(mut self, started: Duration) -> Result<Run, Error> {
        let measured = self.measure();
        // An error ends the run, but nothing that was measured is lost with a store.
        if measured.is_err() {
            self.renew_store()?;
        }
        self.forget_start(&measured)?;
        let stop_reason = measured?;
        let verdict = self.findings.verdict();
        // After an interruption, the final is not over. A resumed run comes to its verdict.
        if stop_reason != StopReason::Interrupted {
            self.keep_verdict(&verdict)?;
        }
        self.observers.notice(&Event::Finished { reason: &stop_reason });
        let total = self.bench.clocks.real() - started;
        let front = self.findings.front(&verdict);
        let Findings { told, resamples, .. } = self.findings;
        Ok(Run {
            drift: verdict.drift,
            verdict: Rc::unwrap_or_clone(verdict),
            history: told,
            front,
            stop_reason,
            progress: self.progress,
            resumed: self.resumed,
            resamples,
            seconds: Seconds { total, ..self.bench.seconds },
        })
    }

    /// Forgets what has begun, unless it may have caused the end of the run.
    fn forget_start(&mut self, measured: &Result<StopReason, Error>) -> Result<(), Error> {
        match measured {
            Ok(_) => self.bench.forget_start(),
            Err(Error::Lost(_)) if self.bench.started.is_some() => Ok(()),
            // The error has another cause, of which the user hears.
            Err(_) => {
                let _ = self.bench.forget_start();
                Ok(())
            }
        }
    }

    /// Searches and holds the final.
    fn measure(&mut self) -> Result<StopReason, Error> {
        let reason = self.search()?;
        // What is still in flight would compile beside the final.
        self.bench.evaluator.cancel();
        self.bench.evaluator.limit_compilation(None);
        while let Some(evaluation) = self.arrived.pop_front() {
            self.count(evaluation);
        }
        self.take_over_recorded();
        // An interrupted run ends at once. After it is resumed, it comes to its final.
        let in_full = reason != StopReason::Interrupted
            && self.evaluate_default()?
            && self.take_up(&reason)?
            && self.hold_final()?
            && self.confirm_winners()?
            && self.measure_cut()?;
        Ok(if in_full { reason } else { StopReason::Interrupted })
    }

    /// Stores the verdict, if there was a final. A final of which every finalist failed decides nothing.
    fn keep_verdict(&mut self, verdict: &Verdict) -> Result<(), Error> {
        let has_final = self.findings.has_final();
        let append = |bench: &mut Bench<'_>| match bench.keeper.store() {
            Some(store) if has_final => store.append_verdict(verdict, verdict.drift.as_ref()),
            _ => Ok(()),
        };
        match append(&mut self.bench) {
            Err(error) if !self.renew_store()? => return Err(error),
            Err(_) => append(&mut self.bench)?,
            Ok(()) => {}
        }
        self.bench.sync()
    }

    /// Keeps everything measured so far in another place, if the store lost what it kept. Returns
    /// true if it did.
    pub(super) fn renew_store(&mut self) -> Result<bool, Error> {
        let Some(store) = self.bench.keeper.store().filter(|store| store.is_lost()) else { return Ok(false) };
        let told = self.findings.told.iter().map(|scored| &*scored.evaluation);
        let all: Vec<&Evaluation> = told.chain(&self.arrived).chain(self.recorded.iter()).collect();
        // A resumed final takes the journal's visits one by one. Those to come are kept, too.
        let mut resamples: Vec<Resample> =
            self.findings.resamples.iter().chain(&self.final_round.recorded).cloned().collect();
        in_order_made(&mut resamples);
        let sentence = store.renew(&all, &resamples)?;
        self.bench.sync()?;
        self.observers.note_once(&sentence);
        Ok(true)
    }

    /// Asks and answers until the run ends.
    fn search(&mut self) -> Result<StopReason, Error> {
        let (space, stop, objective) = (self.space, &self.stop, &self.findings.objective.objective());
        self.observers.notice(&Event::Started { space, objective, stop, progress: &self.progress });
        loop {
            self.progress.elapsed = self.bench.clocks.elapsed();
            self.bench.pass_on(&mut self.observers)?;
            self.estimate_regret();
            if let Some(reason) = self.ended() {
                return Ok(reason);
            }
            self.fill_queue()?;
            self.repeat_rooms()?;
            match self.queue.next(&self.recorded) {
                None => return Ok(StopReason::Finished),
                Some((request, from)) => {
                    if !self.answer(request, from)? {
                        return Ok(StopReason::Interrupted);
                    }
                }
            }
        }
    }

    fn estimate_regret(&mut self) {
        let told = &self.findings.told;
        if self.estimating.is_due(told.len(), self.is_exhausted()) {
            let started = self.bench.clocks.real();
            self.progress.regret = self.estimating.estimate(self.space, told);
            self.bench.seconds.search += self.bench.clocks.real() - started;
        }
    }

    fn ended(&self) -> Option<StopReason> {
        if self.bench.interrupt.is_raised() {
            return Some(StopReason::Interrupted);
        }
        if let Some(reason) = self.doomed.as_ref().and_then(Doomed::reason) {
            return Some(reason);
        }
        if self.repeats > MAX_REPEATS {
            return Some(StopReason::Repeating(self.repeats));
        }
        self.stop.check(&self.progress).or_else(|| self.is_exhausted().then_some(StopReason::Exhausted))
    }

    fn is_exhausted(&self) -> bool {
        self.space.len() == Some(self.configs as u128)
    }

    /// Asks until the room is used up, the searcher waits, or the requests in flight already reach
    /// the stop condition.
    pub(super) fn fill_queue(&mut self) -> Result<(), Error> {
        loop {
            let requests = match self.room_left() {
                0 => return Ok(()),
                room => self.ask(room),
            };
            if requests.is_empty() {
                return Ok(());
            }
            for request in requests {
                self.enqueue(request)?;
            }
        }
    }

    /// Returns the number of requests that may be added to the queue.
    ///
    /// It is counted from the told evaluations, not from the resumed journal. The searcher must
    /// have the same room as in the run that wrote the journal, or it would search differently.
    fn room_left(&self) -> usize {
        let expected = (self.findings.told.len() + self.queue.fresh()) as u64;
        let free = self.room.now.saturating_sub(self.queue.len());
        (0..free).take_while(|more| self.stop.check_at(&self.progress, expected + *more as u64).is_none()).count()
    }

    fn ask(&mut self, room: usize) -> Vec<Request> {
        if !self.asking.first.is_empty() {
            let first = &mut self.asking.first;
            return first.drain(..room.min(first.len())).collect();
        }
        let started = self.bench.clocks.real();
        let Asking { searcher, rng, budget, time, .. } = &mut self.asking;
        let view = View::new(self.space, &self.findings.told, self.queue.in_flight(), *budget).within(*time);
        let requests = searcher.ask(&view, room, rng);
        self.bench.seconds.search += self.bench.clocks.real() - started;
        self.asking.searcher.take_notes().iter().for_each(|note| self.observers.note_once(note));
        requests
    }

    fn enqueue(&mut self, request: Request) -> Result<(), Error> {
        let from = if self.findings.told.get(request).is_some() || self.queue.in_flight().contains(&request) {
            AnswerFrom::Told
        } else if self.recorded.contains(request) {
            AnswerFrom::Journal
        } else {
            self.bench.evaluator.submit(request)?;
            AnswerFrom::Evaluator
        };
        self.queue.push(request, from);
        Ok(())
    }

    /// Answers `request`, or if its answer comes from the evaluator, whichever request the evaluator
    /// answers. A change of the room ends the wait for the evaluator without an answer. Returns `false`
    /// if the run was interrupted meanwhile.
    fn answer(&mut self, request: Request, from: AnswerFrom) -> Result<bool, Error> {
        self.repeats = if from == AnswerFrom::Told { self.repeats + 1 } else { 0 };
        match from {
            AnswerFrom::Told => {}
            AnswerFrom::Journal => {
                if let Some(evaluation) = self.recorded.take(request) {
                    self.take_over(evaluation);
                }
            }
            AnswerFrom::Evaluator => return self.answer_new(request),
        }
        self.queue.answered(request);
        self.tell(request);
        Ok(true)
    }

    pub(super) fn tell(&mut self, request: Request) {
        let Some(Scored { evaluation, score, .. }) = self.findings.told.get(request) else { return };
        let started = self.bench.clocks.real();
        let Asking { budget, time, .. } = self.asking;
        let view = View::new(self.space, &self.findings.told, self.queue.in_flight(), budget).within(time);
        self.asking.searcher.tell(&view, &Told { evaluation, score: *score });
        self.bench.seconds.search += self.bench.clocks.real() - started;
    }

    /// Measures the reference again if it is due.
    pub(super) fn watch(&mut self) -> Result<(), Error> {
        let Some(reference) = self.watching.due(&self.findings, self.progress.elapsed) else { return Ok(()) };
        let started = self.bench.clocks.now();
        self.bench.bound(|| own_bound(&self.findings, reference));
        let over = match self.bench.resample(reference, Role::Reference, SAMPLES)? {
            Resampled::Kept(resample) => {
                self.progress.elapsed = resample.clock;
                let failed = resample.failure.is_some();
                self.findings.resamples.push(*resample);
                failed
            }
            // An interrupt ends the loop at its next step.
            Resampled::NothingToAdd | Resampled::Interrupted => true,
        };
        let took = self.bench.clocks.now() - started;
        self.watching.probed(took, over);
        if let Some(reserve) = self.reserve.as_mut().filter(|_| !over) {
            reserve.probed(took);
        }
        self.renew_reserve();
        Ok(())
    }

    /// Takes over the journal's evaluations that the searcher did not ask for again. They belong to
    /// the run, too.
    fn take_over_recorded(&mut self) {
        self.recorded.take_rest().for_each(|evaluation| self.take_over(evaluation));
    }

    fn take_over(&mut self, evaluation: Box<Evaluation>) {
        let objective = self.findings.objective;
        let (score, aspects) = (objective.score(&evaluation), objective.aspects(&evaluation));
        self.findings.told.insert_with(evaluation, score, aspects);
    }

    /// Evaluates the default, unless the run has done so or has nothing to compare with it. Returns
    /// `false` if interrupted.
    fn evaluate_default(&mut self) -> Result<bool, Error> {
        let Some(default) = self.findings.default else { return Ok(true) };
        let is_known = self.findings.told.of(default).is_some();
        // The default comes first, so that nothing waits before it. A resumed journal may lack it.
        if is_known || self.findings.told.best().is_none() || self.queue.len() > 0 {
            return Ok(true);
        }
        self.enqueue(Request::timed(default))?;
        while let Some((request, from)) = self.queue.next(&self.recorded) {
            if !self.answer(request, from)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Holds the final, if there is one. Returns `false` if interrupted.
    pub(super) fn hold_final(&mut self) -> Result<bool, Error> {
        if self.final_round.rule.is_none() {
            return Ok(true);
        }
        let in_full = self.final_round.hold(&mut self.findings, &mut self.bench, &mut self.observers);
        self.progress.elapsed = self.progress.elapsed.max(self.bench.latest);
        in_full
    }

    /// Verifies the winner and its ties until none is left that was not verified. One that fails
    /// has lost its place, and the next one is verified in its stead. Returns `false` if
    /// interrupted.
    pub(super) fn confirm_winners(&mut self) -> Result<bool, Error> {
        let mut exempt = HashSet::new();
        while let Some((config, claim)) = self.findings.unconfirmed(&exempt) {
            self.bench.bound(|| own_bound(&self.findings, config));
            let (resampled, notes) = self.bench.confirm(config, claim)?;
            self.bench.pass_on(&mut self.observers)?;
            notes.iter().for_each(|note| self.observers.note_once(note));
            match resampled {
                Resampled::Kept(resample) => self.findings.resamples.push(*resample),
                Resampled::NothingToAdd => {
                    exempt.insert(config);
                }
                Resampled::Interrupted => return Ok(false),
            }
        }
        self.progress.elapsed = self.progress.elapsed.max(self.bench.latest);
        Ok(true)
    }
}
