//! The loop itself.

use super::regret::Estimating;
use super::watch::Watching;
use super::{Run, Seconds, Tuner, Verdict};
use crate::judge::drift::Drift;
use crate::{
    Completion, Error, Evaluation, Event, History, Improvement, Progress, Request, Resample, Role, Scored, Spent,
    StopReason, Told, View,
};
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;
use tunesmith_space::ConfigId;

/// A strategy that asks only what it knows already so many times in a row will not ask anything new.
const MAX_REPEATS: u64 = 10_000;

/// The state of the loop. Requests are answered in the order of `queue`, whether they were submitted to the
/// evaluator or are known from the resumed journal: a resumed run must tell in the same order as an uninterrupted one.
pub(super) struct Running<'a> {
    pub(super) tuner: Tuner<'a>,
    budget: Option<u64>,
    first: VecDeque<Request>,
    queue: VecDeque<Pending>,
    in_flight: HashSet<Request>,
    pub(super) told: History,
    recorded: HashMap<Request, Evaluation>,
    resumed: usize,
    /// Evaluations made in this part of the run.
    pub(super) measured: usize,
    /// What was measured again, in the order made.
    pub(super) resamples: Vec<Resample>,
    /// The visits of the journal's final that were not taken over yet.
    pub(super) recorded_final: VecDeque<Resample>,
    pub(super) watching: Watching,
    pub(super) estimating: Estimating,
    /// Whether this part of the run measured anything, be it again.
    pub(super) added: bool,
    /// What the user was told last.
    noted: String,
    pub(super) verdict: Verdict,
    /// What the probes show, once the search is over.
    pub(super) drift: Option<Drift>,
    configs: HashSet<ConfigId>,
    pub(super) progress: Progress,
    /// When this part of the run started, on the clock.
    started: Duration,
    /// How long the earlier parts took, so that `time 60s` means the whole run.
    earlier: Duration,
    repeats: u64,
    pub(super) seconds: Seconds,
}

struct Pending {
    request: Request,
    source: Source,
}

/// Where the answer to a request comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// It is or will be measured.
    Evaluator,
    /// The resumed journal has it.
    Journal,
    /// It was asked before in this run.
    Told,
}

impl<'a> Running<'a> {
    pub(super) fn new(mut tuner: Tuner<'a>) -> Self {
        let recorded = std::mem::take(&mut tuner.recorded);
        let again = std::mem::take(&mut tuner.resamples);
        let (resamples, recorded_final): (Vec<_>, Vec<_>) =
            again.into_iter().partition(|resample| resample.role == Role::Reference);
        let clocks = resamples.iter().chain(&recorded_final).map(|resample| resample.clock);
        let earlier = recorded.iter().map(|evaluation| evaluation.clock).chain(clocks).max().unwrap_or_default();
        let space_size = tuner.space.len().map_or(f64::INFINITY, |size| size as f64);
        let mut running = Self {
            budget: tuner.stop.evaluation_limit(space_size),
            first: std::mem::take(&mut tuner.first).into(),
            queue: VecDeque::new(),
            in_flight: HashSet::new(),
            told: History::default(),
            recorded: HashMap::new(),
            resumed: recorded.len(),
            measured: 0,
            resamples,
            recorded_final: recorded_final.into(),
            watching: Watching::default(),
            estimating: Estimating::of(&tuner.stop),
            added: false,
            noted: String::new(),
            verdict: Verdict::default(),
            drift: None,
            configs: HashSet::new(),
            progress: Progress { space_size, elapsed: earlier, limit: tuner.limit, ..Progress::default() },
            started: tuner.simulated.as_ref().unwrap_or(&tuner.clock).now(),
            earlier,
            repeats: 0,
            seconds: Seconds::default(),
            tuner,
        };
        for evaluation in recorded {
            running.count(&evaluation, running.tuner.objective.score(&evaluation));
            running.recorded.insert(evaluation.request, evaluation);
        }
        running
    }

    /// Searches and holds the final.
    pub(super) fn search_and_compare(&mut self) -> Result<StopReason, Error> {
        let reason = self.until_stopped()?;
        self.take_over_recorded();
        self.judge_probes();
        // An interrupted run ends at once; resumed, it comes to its final.
        let in_full = reason != StopReason::Interrupted && self.hold_final()?;
        self.verdict = self.judge();
        // A run that was judged before and brought nothing new needs no other line.
        if self.verdict.by_final
            && self.added
            && let Some(store) = &mut self.tuner.store
        {
            store.append_verdict(&self.verdict, self.drift.as_ref())?;
        }
        Ok(if in_full { reason } else { StopReason::Interrupted })
    }

    fn until_stopped(&mut self) -> Result<StopReason, Error> {
        for observer in &mut self.tuner.observers {
            observer.notice(&Event::Started {
                space: self.tuner.space,
                stop: &self.tuner.stop,
                progress: &self.progress,
            });
        }
        loop {
            self.progress.elapsed = self.elapsed();
            self.estimate_regret();
            if let Some(reason) = self.ended() {
                return Ok(reason);
            }
            self.fill_queue()?;
            match self.queue.pop_front() {
                None => return Ok(StopReason::Finished),
                Some(pending) => {
                    if !self.answer(&pending)? {
                        return Ok(StopReason::Interrupted);
                    }
                }
            }
        }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.earlier + (self.now() - self.started)
    }

    /// The time of the run, which is simulated on a recording.
    pub(super) fn now(&self) -> Duration {
        self.tuner.simulated.as_ref().unwrap_or(&self.tuner.clock).now()
    }

    fn ended(&self) -> Option<StopReason> {
        if self.tuner.interrupt.is_raised() {
            return Some(StopReason::Interrupted);
        }
        if self.repeats > MAX_REPEATS {
            return Some(StopReason::Repeating(self.repeats));
        }
        self.tuner.stop.check(&self.progress).or_else(|| self.is_exhausted().then_some(StopReason::Exhausted))
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.tuner.space.len() == Some(self.configs.len() as u128)
    }

    /// Asks until the room is used up, the searcher waits, or what is in flight already reaches the stop condition.
    fn fill_queue(&mut self) -> Result<(), Error> {
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

    /// How many requests may be added to the queue.
    ///
    /// Counted from what was told, not from what a resumed journal holds: the searcher must be given the same room
    /// as in the run that wrote the journal, or it would not go the same way.
    fn room_left(&self) -> usize {
        let fresh = self.queue.iter().filter(|pending| pending.source != Source::Told).count();
        let expected = (self.told.len() + fresh) as u64;
        let free = self.tuner.room.saturating_sub(self.queue.len());
        (0..free).take_while(|more| self.tuner.stop.check_at(&self.progress, expected + *more as u64).is_none()).count()
    }

    fn ask(&mut self, room: usize) -> Vec<Request> {
        if !self.first.is_empty() {
            return self.first.drain(..room.min(self.first.len())).collect();
        }
        let started = self.tuner.clock.now();
        let view = View::new(self.tuner.space, &self.told, &self.in_flight, self.budget);
        let requests = self.tuner.searcher.ask(&view, room, &mut self.tuner.rng);
        self.seconds.search += self.tuner.clock.now() - started;
        requests
    }

    fn enqueue(&mut self, request: Request) -> Result<(), Error> {
        let source = if self.told.get(request).is_some() || self.in_flight.contains(&request) {
            Source::Told
        } else if self.recorded.contains_key(&request) {
            Source::Journal
        } else {
            self.tuner.evaluator.submit(request)?;
            Source::Evaluator
        };
        self.in_flight.insert(request);
        self.queue.push_back(Pending { request, source });
        Ok(())
    }

    /// Answers the oldest request. `false` when the run was interrupted meanwhile.
    fn answer(&mut self, pending: &Pending) -> Result<bool, Error> {
        let request = pending.request;
        self.in_flight.remove(&request);
        self.repeats = if pending.source == Source::Told { self.repeats + 1 } else { 0 };
        match pending.source {
            Source::Told => {}
            Source::Journal => {
                if let Some(evaluation) = self.recorded.remove(&request) {
                    let score = self.tuner.objective.score(&evaluation);
                    self.told.insert(evaluation, score);
                }
            }
            Source::Evaluator => {
                let Some(evaluation) = self.evaluate(request)? else { return Ok(false) };
                self.keep(evaluation)?;
                self.tell(request);
                self.watch()?;
                return Ok(true);
            }
        }
        self.tell(request);
        Ok(true)
    }

    fn evaluate(&mut self, request: Request) -> Result<Option<Evaluation>, Error> {
        let bar = self.bar_ms(request);
        self.tuner.evaluator.race(bar);
        let Some(completion) = self.tuner.evaluator.next(&self.tuner.interrupt)? else { return Ok(None) };
        self.add_spent(completion.spent);
        self.progress.elapsed = self.elapsed();
        let Completion { failure, measurement, unprofiled, .. } = completion;
        if let Some(reason) = unprofiled {
            self.note_once(&format!("no counters are read: {reason}"));
        }
        Ok(Some(Evaluation { request, failure, measurement, clock: self.progress.elapsed }))
    }

    /// Tells the observers `text`, unless they were told so last.
    fn note_once(&mut self, text: &str) {
        if self.noted != text {
            self.tuner.observers.iter_mut().for_each(|observer| observer.notice(&Event::Noted { text }));
            text.clone_into(&mut self.noted);
        }
    }

    /// Stores, scores and counts a new evaluation and shows it to the observers.
    fn keep(&mut self, evaluation: Evaluation) -> Result<(), Error> {
        let started = self.tuner.clock.now();
        if let Some(store) = &mut self.tuner.store {
            store.append(&evaluation)?;
        }
        self.seconds.store += self.tuner.clock.now() - started;
        let score = self.tuner.objective.score(&evaluation);
        let request = evaluation.request;
        self.count(&evaluation, score);
        self.measured += 1;
        self.added = true;
        self.told.insert(evaluation, score);
        if let Some(scored) = self.told.get(request) {
            let event = Event::Evaluated { scored, best: self.told.best(), progress: &self.progress };
            self.tuner.observers.iter_mut().for_each(|observer| observer.notice(&event));
        }
        Ok(())
    }

    fn count(&mut self, evaluation: &Evaluation, score: Option<f64>) {
        self.configs.insert(evaluation.request.config);
        self.progress.evaluations += 1;
        if let Some(score) = score.filter(|new| self.progress.best().is_none_or(|old| *new < old)) {
            let Progress { evaluations, .. } = self.progress;
            self.progress.improvements.push(Improvement { evaluations, elapsed: evaluation.clock, score });
        }
    }

    fn tell(&mut self, request: Request) {
        let Some(Scored { evaluation, score }) = self.told.get(request) else { return };
        let started = self.tuner.clock.now();
        let view = View::new(self.tuner.space, &self.told, &self.in_flight, self.budget);
        self.tuner.searcher.tell(&view, &Told { evaluation, score: *score });
        self.seconds.search += self.tuner.clock.now() - started;
    }

    pub(super) fn add_spent(&mut self, spent: Spent) {
        self.seconds.compile += spent.compile;
        self.seconds.run += spent.run;
        self.seconds.verify += spent.verify;
    }

    pub(super) fn notify(&mut self, event: &Event<'_>) {
        self.tuner.observers.iter_mut().for_each(|observer| observer.notice(event));
    }

    /// What the journal held and the searcher did not ask again belongs to the run as well.
    fn take_over_recorded(&mut self) {
        let mut rest: Vec<Evaluation> = std::mem::take(&mut self.recorded).into_values().collect();
        rest.sort_by_key(|evaluation| evaluation.clock);
        for evaluation in rest {
            let score = self.tuner.objective.score(&evaluation);
            self.told.insert(evaluation, score);
        }
    }

    pub(super) fn finish(mut self, stop_reason: StopReason, started: Duration) -> Run {
        self.notify(&Event::Finished { reason: &stop_reason });
        self.seconds.total = self.tuner.clock.now() - started;
        Run {
            verdict: self.verdict,
            drift: self.drift,
            history: self.told,
            stop_reason,
            progress: self.progress,
            resumed: self.resumed,
            resamples: self.resamples,
            seconds: self.seconds,
        }
    }
}
