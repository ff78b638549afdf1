//! The answers of workers: those that count, second ones, and probes.

use super::calibration::{Judged, SAMPLES};
use super::{Ended, Fleet, Work};
use crate::hall::Connection;
use crate::lease::{Answered, JobId, Whom, WorkerId};
use crate::wire::{Answer, Task};
use std::time::Duration;
use tunesmith_core::{Depth, MadeBy, Request, SecondAnswer};

impl Fleet {
    pub(super) fn answered(&mut self, connection: Connection, worker: WorkerId, job: JobId, answer: Box<Answer>) {
        let is_other = |work: &Work| work.task.config() != answer.entry.index;
        if self.leases.work(job).is_some_and(is_other) {
            return self.turn_away(connection, "it answered for another configuration".to_string());
        }
        match self.leases.answer(worker, job, self.door.now()) {
            Answered::First { took, .. } if self.calibration.close(job) => {
                self.compare(connection, worker, &answer, took);
            }
            Answered::First { work, took } => {
                let is_evaluation = matches!(work.task, Task::Evaluate { .. });
                let is_reference = is_evaluation && self.learn_reference(&work, &answer);
                let by = MadeBy { name: self.name(worker), took };
                self.ended.push_back((job, work, Ended::Answered(answer, by)));
                if is_reference {
                    self.probe_all();
                } else if is_evaluation {
                    self.probe(worker);
                }
            }
            Answered::Second => self.keep_second(worker, job, &answer),
            Answered::Unasked => self.turn_away(connection, format!("it answered lease {} of another", job.0)),
        }
    }

    /// Returns true if this is the configuration that workers are compared by.
    fn learn_reference(&mut self, work: &Work, answer: &Answer) -> bool {
        let is_correct = matches!(answer.entry.failure(), Ok(None));
        self.calibration.learn(work.config, if is_correct { &answer.entry.times_ms } else { &[] })
    }

    fn keep_second(&mut self, worker: WorkerId, job: JobId, answer: &Answer) {
        let by = self.name(worker);
        self.note(format!("{by} answered lease {} a second time; the first answer counts", job.0));
        if self.calibration.was_probe(job) {
            return;
        }
        let rank = answer.entry.index.parse().ok();
        let Some(config) = self.space.as_ref().zip(rank).and_then(|(space, rank)| space.id(rank)) else { return };
        let Some(depth) = Depth::from_word(&answer.entry.depth) else { return };
        let Ok(failure) = answer.entry.failure() else { return };
        let request = Request { config, depth };
        self.seconds.add(SecondAnswer { request, failure, measurement: answer.entry.measurement(), by });
    }

    /// Asks every worker for a probe.
    pub(super) fn probe_all(&mut self) {
        let workers: Vec<WorkerId> = self.members.values().filter_map(|member| member.id).collect();
        workers.into_iter().for_each(|worker| self.probe(worker));
    }

    /// Asks a worker to measure the reference, if that is due.
    fn probe(&mut self, worker: WorkerId) {
        let Some(config) = self.calibration.reference() else { return };
        let (answered, now) = (self.leases.counts(worker).answered, self.door.now());
        let leases = &self.leases;
        if !leases.is_usable(worker)
            || !self.calibration.is_due(worker, answered, now, |job| leases.work(job).is_some())
        {
            return;
        }
        let task = Task::Resample { config: config.rank().to_string(), samples: SAMPLES };
        let job = self.leases.add(Work { task, config }, Whom::Only(worker));
        self.calibration.asked(job, worker, answered);
    }

    /// Compares a worker with the others by a probe. Sets it aside if it deviates.
    fn compare(&mut self, connection: Connection, worker: WorkerId, answer: &Answer, took: Duration) {
        let Ok(failure) = answer.entry.failure() else {
            return self.turn_away(connection, "its answer cannot be read".to_string());
        };
        let level = match self.calibration.judge(worker, failure, &answer.entry.times_ms, took) {
            Judged::Alike(level) => level,
            Judged::Fails(reason) => {
                return self.turn_away(connection, format!("the reference configuration fails on it: {reason}"));
            }
            Judged::Deviates(level) => {
                let made = self.leases.counts(worker).answered;
                self.set_level(connection, level);
                return self.turn_away(connection, deviates(level, made));
            }
        };
        if let Some(level) = level {
            self.set_level(connection, level);
        }
        self.probe(worker);
    }

    fn set_level(&self, connection: Connection, level: f64) {
        self.report.change(|report| {
            if let Some(worker) = report.worker(connection) {
                worker.level = Some(level);
            }
        });
    }
}

/// Says how a worker deviates that made so many measurements.
fn deviates(level: f64, made: u64) -> String {
    let change = if level > 1.0 {
        format!("{:.0} % more time", (level - 1.0) * 100.0)
    } else {
        format!("{:.0} % less time", (1.0 - level) * 100.0)
    };
    format!(
        "it takes {change} than the others for the same configuration; its {made} measurements stay in the journal, \
         and the final is held without it"
    )
}
