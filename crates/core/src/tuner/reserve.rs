//! The time that a run keeps for its final.

use crate::judge::drift::SAMPLES;
use crate::judge::finals::Finals;
use crate::{Evaluation, Resample, Role, statistics};
use std::time::Duration;

/// The number of launches of a probe, and of a visit of the final: one is untimed.
const LAUNCHES: u32 = SAMPLES as u32 + 1;

/// The time that a run of limited time keeps for its final: the final's share, or the time of the
/// longest final, if that is shorter. Probes of the reference show what a visit of the final takes.
#[derive(Debug)]
pub(super) struct Reserve {
    rule: Finals,
    /// The time of the run.
    total: Duration,
    /// The time of a launch of the reference, which is the first correct configuration.
    reference: Option<Duration>,
    /// The best score, and the time of a launch of its configuration.
    best: Option<(f64, Duration)>,
    /// The shortest probe.
    probe: Option<Duration>,
}

impl Reserve {
    pub(super) fn new(rule: Finals, total: Duration) -> Self {
        Self { rule, total, reference: None, best: None, probe: None }
    }

    /// Takes an evaluation into account, which reached `score`.
    pub(super) fn count(&mut self, evaluation: &Evaluation, score: Option<f64>) {
        let median = statistics::median(&evaluation.measurement.times_ms);
        let launch = median.and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok());
        let Some((score, launch)) = score.zip(launch) else { return };
        self.reference.get_or_insert(launch);
        if self.best.is_none_or(|(best, _)| score < best) {
            self.best = Some((score, launch));
        }
    }

    /// Takes a probe into account, which `took` this long.
    pub(super) fn probed(&mut self, took: Duration) {
        self.probe = Some(self.probe.map_or(took, |before| before.min(took)));
    }

    /// Takes the probes of a resumed journal into account. Each has taken at most the time since the
    /// measurement before it.
    pub(super) fn resume(&mut self, evaluations: &[Box<Evaluation>], resamples: &[Resample]) {
        let clocks = || evaluations.iter().map(|one| one.clock).chain(resamples.iter().map(|again| again.clock));
        for probe in resamples.iter().filter(|again| again.role == Role::Reference) {
            let before = clocks().filter(|clock| *clock < probe.clock).max();
            self.probed(probe.clock - before.unwrap_or_default());
        }
    }

    /// Returns the time to keep.
    pub(super) fn time(&self) -> Duration {
        let share = self.rule.reserve(self.total);
        let (Some(reference), Some((_, best)), Some(probe)) = (self.reference, self.best, self.probe) else {
            return share;
        };
        let launches = |launch: Duration| launch.saturating_mul(LAUNCHES);
        // A probe and a visit differ in the time of their launches alone.
        let visit = launches(best) + probe.saturating_sub(launches(reference));
        share.min(self.rule.longest(visit, probe))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measurement, Request};
    use tunesmith_space::{Parameter, Space, Values};

    fn space() -> Space {
        Space::builder().parameter(Parameter::new("N", Values::list(0..2)).unwrap()).build().unwrap()
    }

    /// Returns the reserve of a run of `seconds` after two evaluations, of 4 ms and of 1 ms a launch.
    fn reserve(seconds: u64) -> Reserve {
        let mut reserve = Reserve::new(Finals::default(), Duration::from_secs(seconds));
        for (rank, ms) in [(0, 4.0), (1, 1.0)] {
            let request = Request::timed(space().id(rank).unwrap());
            let measurement = Measurement { times_ms: vec![ms; 3], ..Measurement::default() };
            let clock = Duration::from_secs(1);
            reserve.count(&Evaluation { request, failure: None, measurement, clock, proposed: None }, Some(ms));
        }
        reserve
    }

    #[test]
    fn a_long_run_keeps_the_time_of_the_longest_final_once_a_probe_shows_it() {
        let mut long = reserve(600);
        assert_eq!(long.time(), Duration::from_secs(100), "a share, as long as nothing is known");
        long.probed(Duration::from_millis(26));
        // 10 ms are no launches. Eight finalists have 11 and 17 visits of 14 ms, the default 17 of 26 ms.
        assert_eq!(long.time(), Duration::from_millis(8 * 28 * 14 + 17 * 26));
        let mut short = reserve(6);
        short.probed(Duration::from_millis(26));
        assert_eq!(short.time(), Duration::from_secs(1), "its share");
    }

    #[test]
    fn a_resumed_run_knows_the_probes_of_its_journal() {
        let probe = |ms: u64| Resample {
            role: Role::Reference,
            config: space().id(0).unwrap(),
            failure: None,
            measurement: Measurement::default(),
            clock: Duration::from_millis(ms),
        };
        let mut resumed = reserve(600);
        resumed.resume(&[], &[probe(1000), probe(1026), probe(2000)]);
        assert_eq!(resumed.probe, Some(Duration::from_millis(26)));
    }
}
