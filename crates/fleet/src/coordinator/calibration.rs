//! Schedules the probes by which workers are compared: times of one configuration, the reference, on
//! every worker.

use crate::comparison::{self, FEWEST};
use crate::lease::{JobId, WorkerId};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tunesmith_core::{Failure, statistics};
use tunesmith_space::ConfigId;

/// Number of samples of a probe.
pub(super) const SAMPLES: usize = 3;

/// Evaluations of a worker between two of its probes, at least.
const EVERY: u64 = 4;

/// Share of a worker's time for probes, at most, after its first ones.
const SHARE: f64 = 0.05;

/// Number of probes in a row that may fail on a worker.
const MOST_FAILURES: u32 = 2;

/// The probes of all workers.
#[derive(Debug, Default)]
pub(super) struct Calibration {
    reference: Option<ConfigId>,
    /// The configuration that becomes the reference if it is correct. `None` once it was evaluated.
    preferred: Option<ConfigId>,
    /// True if the device takes no further samples of a configuration.
    is_over: bool,
    workers: BTreeMap<WorkerId, Probes>,
    open: BTreeMap<JobId, WorkerId>,
    closed: BTreeSet<JobId>,
}

/// The probes of one worker.
#[derive(Debug, Default)]
struct Probes {
    times: Vec<f64>,
    joined: Duration,
    /// Minimum time that a probe took.
    cost: Option<Duration>,
    /// Number of its answers at the latest probe.
    answered: u64,
    failures: u32,
    /// Its probe that was asked for and has not been answered.
    open: Option<JobId>,
}

/// The meaning of a probe.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Judged {
    /// The worker is as far as is known like the others. Its level is known after a few probes.
    Alike(Option<f64>),
    /// Its times are those of the others times this.
    Deviates(f64),
    /// The reference fails on it, for this reason.
    Fails(String),
}

impl Calibration {
    /// Prefers `config`, which is being evaluated, for the reference.
    pub(super) fn prefer(&mut self, config: ConfigId) {
        self.preferred = Some(config);
    }

    /// Takes the preferred configuration as the reference if it is correct and has times. After it has
    /// failed, takes the next one that is. `times_ms` is empty if `config` is not correct. Returns true
    /// if it is this one.
    pub(super) fn learn(&mut self, config: ConfigId, times_ms: &[f64]) -> bool {
        let is_preferred = self.preferred.is_none_or(|preferred| preferred == config);
        self.preferred = self.preferred.filter(|_| !is_preferred);
        let is_first = is_preferred && self.reference.is_none() && !times_ms.is_empty();
        if is_first {
            self.reference = Some(config);
        }
        is_first
    }

    /// Returns the reference, once it is known.
    pub(super) fn reference(&self) -> Option<ConfigId> {
        self.reference
    }

    pub(super) fn join(&mut self, worker: WorkerId, now: Duration) {
        self.workers.insert(worker, Probes { joined: now, ..Probes::default() });
    }

    /// Forgets a worker. The others are no longer compared with it.
    pub(super) fn leave(&mut self, worker: WorkerId) {
        self.workers.remove(&worker);
        self.open.retain(|_, own| *own != worker);
    }

    /// Returns true if a worker with so many answers is to measure the reference. `is_open` tells
    /// whether a job is open: a probe may have ended without an answer.
    pub(super) fn is_due(
        &mut self,
        worker: WorkerId,
        answered: u64,
        now: Duration,
        is_open: impl Fn(JobId) -> bool,
    ) -> bool {
        let is_alone = self.workers.len() < 2;
        let Some(probes) = self.workers.get_mut(&worker) else { return false };
        if let Some(lapsed) = probes.open.take_if(|job| !is_open(*job)) {
            self.open.remove(&lapsed);
        }
        if self.is_over || is_alone || probes.open.is_some() {
            return false;
        }
        if probes.times.len() < FEWEST {
            return true;
        }
        let made = u32::try_from(probes.times.len() + 1).unwrap_or(u32::MAX);
        let cost = probes.cost.unwrap_or_default().saturating_mul(made);
        answered >= probes.answered + EVERY && cost <= now.saturating_sub(probes.joined).mul_f64(SHARE)
    }

    /// Records that a worker with so many answers was asked for a probe.
    pub(super) fn asked(&mut self, job: JobId, worker: WorkerId, answered: u64) {
        self.open.insert(job, worker);
        let probes = self.workers.entry(worker).or_default();
        (probes.answered, probes.open) = (answered, Some(job));
    }

    /// Returns true if a job was a probe. It is closed now.
    pub(super) fn close(&mut self, job: JobId) -> bool {
        let Some(worker) = self.open.remove(&job) else { return false };
        if let Some(probes) = self.workers.get_mut(&worker) {
            probes.open.take_if(|open| *open == job);
        }
        self.closed.insert(job);
        true
    }

    /// Returns true if a closed job was a probe.
    pub(super) fn was_probe(&self, job: JobId) -> bool {
        self.closed.contains(&job) || self.open.contains_key(&job)
    }

    /// Judges a worker by a probe that `took` this time.
    pub(super) fn judge(
        &mut self,
        worker: WorkerId,
        failure: Option<Failure>,
        times_ms: &[f64],
        took: Duration,
    ) -> Judged {
        let Some(own) = self.workers.get_mut(&worker) else { return Judged::Alike(None) };
        if let Some(failure) = failure {
            own.failures += 1;
            let is_too_much = own.failures >= MOST_FAILURES;
            return if is_too_much { Judged::Fails(failure.headline().to_string()) } else { Judged::Alike(None) };
        }
        let Some(time) = statistics::median(times_ms) else {
            // A recording or a formula has one time for a configuration, whoever looks it up.
            self.is_over = true;
            return Judged::Alike(None);
        };
        own.failures = 0;
        own.times.push(time);
        own.cost = Some(own.cost.map_or(took, |cost| cost.min(took)));
        let probes: Vec<&[f64]> = self.workers.values().map(|probes| probes.times.as_slice()).collect();
        let at = self.workers.keys().position(|id| *id == worker).unwrap_or_default();
        match comparison::deviation(&probes, at) {
            Some(level) => Judged::Deviates(level),
            None => Judged::Alike(comparison::level(&probes, at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::FailureKind;
    use tunesmith_space::{Parameter, Space, Values};

    const SECOND: Duration = Duration::from_secs(1);

    fn config() -> ConfigId {
        let space = Space::builder().parameter(Parameter::new("X", Values::list(0..9)).unwrap()).build().unwrap();
        space.id(3).unwrap()
    }

    /// Returns two workers that joined at once, with a reference.
    fn two() -> Calibration {
        let mut calibration = Calibration::default();
        [1, 2].into_iter().for_each(|id| calibration.join(WorkerId(id), Duration::ZERO));
        assert!(!calibration.learn(config(), &[]), "without times there is nothing to compare");
        assert!(calibration.learn(config(), &[1.0]) && !calibration.learn(config(), &[1.0]));
        calibration
    }

    #[test]
    fn the_preferred_configuration_is_the_reference_unless_it_fails() {
        let space = Space::builder().parameter(Parameter::new("X", Values::list(0..9)).unwrap()).build().unwrap();
        let [default, other] = [3, 5].map(|rank| space.id(rank).unwrap());
        let mut calibration = Calibration::default();
        calibration.prefer(default);
        assert!(!calibration.learn(other, &[1.0]), "the default is still being measured");
        assert!(calibration.learn(default, &[2.0]));
        assert_eq!(calibration.reference(), Some(default));
        let mut calibration = Calibration::default();
        calibration.prefer(default);
        assert!(!calibration.learn(default, &[]), "it is not correct");
        assert!(calibration.learn(other, &[1.0]));
    }

    fn due(calibration: &mut Calibration, answered: u64, now: Duration) -> bool {
        calibration.is_due(WorkerId(1), answered, now, |_| true)
    }

    /// Makes a probe of the first worker. Returns its judgement.
    fn probe(calibration: &mut Calibration, job: u64, answered: u64, time: Result<f64, &str>) -> Judged {
        calibration.asked(JobId(job), WorkerId(1), answered);
        assert!(!due(calibration, answered + 100, SECOND * 10_000), "one probe at a time");
        assert!(calibration.close(JobId(job)) && !calibration.close(JobId(job)) && calibration.was_probe(JobId(job)));
        let failure = time.err().map(|text| Failure::new(FailureKind::Runtime, text));
        calibration.judge(WorkerId(1), failure, &Vec::from_iter(time.ok()), SECOND)
    }

    #[test]
    fn a_worker_is_probed_when_it_joins_and_then_within_its_share_of_the_time() {
        let mut calibration = two();
        for job in 0..3 {
            assert!(due(&mut calibration, 0, Duration::ZERO));
            assert_eq!(probe(&mut calibration, job, 0, Ok(1.0)), Judged::Alike(None), "the other has no probes");
        }
        // Four probes of a second are a twentieth of 80 seconds.
        assert!(!due(&mut calibration, 3, SECOND * 80) && !due(&mut calibration, 4, SECOND * 79));
        assert!(due(&mut calibration, 4, SECOND * 80));
        calibration.leave(WorkerId(2));
        assert!(!due(&mut calibration, 4, SECOND * 80), "alone, it is compared with nobody");
    }

    #[test]
    fn a_probe_that_ended_without_an_answer_is_made_again() {
        let mut calibration = two();
        calibration.asked(JobId(7), WorkerId(1), 0);
        assert!(!calibration.is_due(WorkerId(1), 0, SECOND, |_| true));
        assert!(calibration.is_due(WorkerId(1), 0, SECOND, |job| job != JobId(7)));
    }

    #[test]
    fn a_reference_that_fails_twice_in_a_row_is_a_fault_of_the_worker() {
        let mut calibration = two();
        assert_eq!(probe(&mut calibration, 1, 0, Err("boom")), Judged::Alike(None));
        assert_eq!(probe(&mut calibration, 2, 0, Ok(1.0)), Judged::Alike(None));
        assert_eq!(probe(&mut calibration, 3, 0, Err("boom")), Judged::Alike(None));
        assert_eq!(probe(&mut calibration, 4, 0, Err("boom")), Judged::Fails("boom".to_string()));
    }

    #[test]
    fn a_device_without_further_samples_is_not_probed_again() {
        let mut calibration = two();
        calibration.asked(JobId(1), WorkerId(1), 0);
        assert!(calibration.close(JobId(1)));
        assert_eq!(calibration.judge(WorkerId(1), None, &[], SECOND), Judged::Alike(None));
        assert!(!due(&mut calibration, 100, SECOND * 10_000));
    }
}
