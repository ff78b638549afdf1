//! The answers of the evaluator: they are kept as they come, and told one by one.

use super::bench::Evaluated;
use super::queue::AnswerFrom;
use super::race::{bar_ms, bound};
use super::running::Running;
use crate::{Completion, Error, Evaluation, Event, Request, Start, Waited};

impl Running<'_> {
    /// Tells the searcher the next answer of the evaluator, whose oldest request is `oldest`. Waits for
    /// one if none is there. A change of the room ends the wait. Returns `false` if the run was
    /// interrupted meanwhile.
    pub(super) fn answer_new(&mut self, oldest: Request) -> Result<bool, Error> {
        if self.arrived.is_empty() {
            self.note_idle();
            let limit = self.compile_limit();
            self.bench.evaluator.limit_compilation(limit);
            let bar = self.begin_next(oldest)?;
            match self.bench.wait(bar, self.room.to_follow())? {
                Waited::Answered(completion) => self.keep_arrived(*completion, oldest)?,
                Waited::Room(room) => {
                    self.room.change(room);
                    return Ok(true);
                }
                Waited::Interrupted => return Ok(false),
            }
        }
        let Some(evaluation) = self.arrived.pop_front() else { return Ok(true) };
        let request = evaluation.request;
        self.queue.answered(request);
        self.count(evaluation);
        self.tell(request);
        self.watch()?;
        Ok(true)
    }

    /// Stores that the evaluation begins that the evaluator makes next, or else that of `oldest`, and sets the bound of
    /// its time. Returns its bar in milliseconds, if there is one.
    pub(super) fn begin_next(&mut self, oldest: Request) -> Result<Option<f64>, Error> {
        let next = self.bench.evaluator.upcoming(&self.bench.interrupt)?.unwrap_or(oldest);
        self.start(next)?;
        let bar = self.racing.as_ref().and_then(|racing| bar_ms(racing, &self.findings, next));
        self.bench.bound(|| bound(&self.findings, next.config, self.findings.told.best_score()));
        Ok(bar)
    }

    /// Waits for an answer after the search, which is that of `oldest` unless the evaluator says otherwise, and keeps
    /// it. A configuration that does not reach `bar` milliseconds gets fewer samples. Returns `None` if interrupted.
    pub(super) fn keep_answer(&mut self, bar: Option<f64>, oldest: Request) -> Result<Option<Evaluation>, Error> {
        let Waited::Answered(completion) = self.bench.wait(bar, None)? else { return Ok(None) };
        let evaluated = self.bench.evaluated(*completion, oldest);
        let evaluation = self.keep_annotated(evaluated)?;
        self.progress.elapsed = evaluation.clock;
        self.bench.sync()?;
        self.bench.pass_on(&mut self.observers)?;
        Ok(Some(evaluation))
    }

    /// Stores that the evaluation of `request` begins.
    pub(super) fn start(&mut self, request: Request) -> Result<(), Error> {
        let start = Start { request, role: None };
        match self.bench.start(start) {
            Err(error) if !self.renew_store()? => Err(error),
            Err(_) => self.bench.start(start),
            Ok(()) => Ok(()),
        }
    }

    /// Keeps an answer and all others that are there, and syncs them at once. The searcher learns of
    /// them one by one: a resumed run must ask between them as this one does.
    fn keep_arrived(&mut self, first: Completion, oldest: Request) -> Result<(), Error> {
        let mut next = Some(first);
        while let Some(completion) = next {
            let evaluated = self.bench.evaluated(completion, oldest);
            self.keep(evaluated)?;
            next = self.bench.evaluator.ready()?;
        }
        self.bench.sync()
    }

    /// Stores a new evaluation of a request in the queue.
    fn keep(&mut self, evaluated: Evaluated) -> Result<(), Error> {
        let request = evaluated.0.request;
        let has_arrived = self.arrived.iter().any(|arrived| arrived.request == request);
        if has_arrived || !self.queue.is_submitted(request) {
            return Err(Error::Device("it answered a request that is not in flight".into()));
        }
        let evaluation = self.keep_annotated(evaluated)?;
        self.arrived.push_back(evaluation);
        Ok(())
    }

    /// Annotates a new evaluation and stores it.
    fn keep_annotated(&mut self, (mut evaluation, unprofiled): Evaluated) -> Result<Evaluation, Error> {
        evaluation.measurement.rooms = self.room.take_changes();
        if let Some(annotator) = self.annotator {
            annotator.annotate(&mut evaluation);
        }
        if let Some(reason) = unprofiled {
            self.observers.note_once(&format!("no counters are read: {reason}"));
        }
        if let Err(error) = self.bench.keep(&evaluation) {
            if !self.renew_store()? {
                return Err(error);
            }
            self.bench.keep(&evaluation)?;
        }
        Ok(evaluation)
    }

    /// Scores and counts a new evaluation, and shows it to the observers.
    pub(super) fn count(&mut self, evaluation: Evaluation) {
        self.progress.elapsed = evaluation.clock;
        // A final of fewer evaluations decides nothing.
        self.final_round.recorded.clear();
        let score = self.findings.objective.score(&evaluation);
        let request = evaluation.request;
        let is_known = self.findings.told.of(request.config).is_some() || self.recorded.contains_config(request.config);
        self.configs += usize::from(!is_known);
        self.progress.count(&evaluation, score);
        self.compile_times.add(&evaluation);
        if let Some(reserve) = &mut self.reserve {
            reserve.count(&evaluation, score);
        }
        if let Some(doomed) = &mut self.doomed {
            doomed.add(&evaluation, score, self.findings.objective);
        }
        let aspects = self.findings.objective.aspects(&evaluation);
        let told = &mut self.findings.told;
        told.insert_with(evaluation, score, aspects);
        if let Some(scored) = told.get(request) {
            self.observers.notice(&Event::Evaluated { scored, best: told.best(), progress: &self.progress });
        }
    }

    /// Repeats the changes of the room before the next answer of the resumed journal. After each, asks
    /// as the earlier part of the run did.
    pub(super) fn repeat_rooms(&mut self) -> Result<(), Error> {
        if !self.room.follows || self.recorded.first().is_none() {
            return Ok(());
        }
        if matches!(self.queue.next(&self.recorded), None | Some((_, AnswerFrom::Told))) {
            return Ok(());
        }
        let Some(next) = self.recorded.first().filter(|next| Some(next.request) != self.room.repeated) else {
            return Ok(());
        };
        let changes = next.measurement.rooms.clone();
        self.room.repeated = Some(next.request);
        for room in changes {
            self.room.now = room.max(1);
            self.fill_queue()?;
        }
        Ok(())
    }

    /// Notes that a part of the evaluator lastingly has nothing to do. At the end of a run that is no
    /// news.
    pub(super) fn note_idle(&mut self) {
        let in_flight = self.queue.fresh();
        let expected = (self.findings.told.len() + in_flight) as u64;
        if self.stop.check_at(&self.progress, expected).is_some() {
            return;
        }
        let idle = self.room.busy.count(in_flight).and_then(|most| self.bench.evaluator.idle(most));
        if let Some(note) = idle {
            self.observers.note_once(&note);
        }
    }
}
