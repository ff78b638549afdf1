//! The findings of a run so far.

use crate::judge::drift::{Probe, level};
use crate::judge::measure::Measure;
use crate::verdict::Leaders;
use crate::{
    Claim, Depth, Evaluation, Evidence, History, ObjectiveFunction, Repeat, Request, Resample, Role, Scored, Trial,
    Verdict, non_dominated, statistics,
};
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;
use tunesmith_space::ConfigId;

/// The most ties that are verified again. A final has no more. Without a final, the search may
/// leave hundreds, and the verdict rests on the first.
const MOST_TIES: usize = 7;

/// The most members of a front that are verified again.
const MOST_MEMBERS: usize = 32;

/// All measurements that were told, and the conclusions from them. Nothing here measures or reads a
/// clock.
pub(super) struct Findings<'a> {
    pub(super) objective: &'a dyn ObjectiveFunction,
    /// The evaluations that were told to the searcher.
    pub(super) told: History,
    /// The later measurements, in the order made.
    pub(super) resamples: Vec<Resample>,
    /// The configuration with which the winner is compared.
    pub(super) default: Option<ConfigId>,
    latest: RefCell<Option<Latest>>,
    probes: RefCell<Probes>,
}

/// The probes of the reference among the first later measurements, so that none is looked at twice:
/// every evaluation asks for them.
#[derive(Default)]
struct Probes {
    found: Vec<Probe>,
    /// The number of later measurements that were looked at.
    seen: usize,
}

/// Puts later measurements into the order made. Of the same time, a verification comes last: it
/// follows the final.
pub(super) fn in_order_made(resamples: &mut [Resample]) {
    resamples.sort_by_key(|again| (again.clock, again.role == Role::Verification));
}

/// The latest verdict, with the numbers of evaluations and later measurements it rests on. Both only
/// grow. A verdict on a million evaluations takes some tenths of a second.
struct Latest {
    told: usize,
    resamples: usize,
    verdict: Rc<Verdict>,
}

impl<'a> Findings<'a> {
    /// Starts with the reference measurements of a resumed journal.
    pub(super) fn new(
        objective: &'a dyn ObjectiveFunction,
        resamples: Vec<Resample>,
        default: Option<ConfigId>,
    ) -> Self {
        let (latest, probes) = (RefCell::default(), RefCell::default());
        Self { objective, told: History::default(), resamples, default, latest, probes }
    }

    /// Returns the scores of the samples, or `None` if the configuration failed.
    pub(super) fn scores_of(&self, resample: &Resample) -> Option<Vec<f64>> {
        if resample.failure.is_some() {
            return None;
        }
        self.objective.samples(resample.config, &resample.measurement).ok()
    }

    /// Returns the reference configuration and the time of its launch.
    ///
    /// The reference is the first correct configuration. It is the default configuration if that one is
    /// correct, unless another was compiled before it.
    pub(super) fn reference(&self) -> Option<(ConfigId, Duration)> {
        let first = self.told.iter().find(|scored| scored.score.is_some())?;
        let launch = statistics::median(&first.evaluation.measurement.times_ms)? / 1e3;
        Some((first.evaluation.request.config, Duration::try_from_secs_f64(launch).ok()?))
    }

    /// Returns the answer of `ask` to the probes of the reference so far, in the order made.
    pub(super) fn of_probes<T>(&self, ask: impl FnOnce(&[Probe]) -> T) -> T {
        let mut probes = self.probes.borrow_mut();
        let of_reference = self.resamples[probes.seen..].iter().filter(|again| again.role == Role::Reference);
        let new = of_reference.filter_map(|again| Some(Probe { clock: again.clock, scores: self.scores_of(again)? }));
        probes.found.extend(new.collect::<Vec<_>>());
        probes.seen = self.resamples.len();
        ask(&probes.found)
    }

    /// Returns how many times worse scores are now than at `clock`, by the last three probes, or 1 if
    /// there are fewer. The ratio may be noise: it only ever makes racing more careful.
    pub(super) fn change_since(&self, clock: Duration) -> f64 {
        self.of_probes(|probes| {
            let Some(recent) = probes.len().checked_sub(3).map(|start| &probes[start..]) else { return 1.0 };
            let now = statistics::median(&recent.iter().flat_map(|probe| probe.scores.clone()).collect::<Vec<_>>());
            let then = level(probes, clock);
            now.zip(then).map_or(1.0, |(now, then)| Measure::Ratio.between(then, now))
        })
    }

    /// Returns the best of the search, at most `most` and the default, corrected for drift.
    /// Configurations that failed in a later measurement are left out.
    pub(super) fn leaders(&self, most: usize) -> Leaders<ConfigId> {
        let trials = self.trials();
        let launch = |at: usize| {
            let launch = statistics::median(&trials[at].evaluation.measurement.times_ms).unwrap_or_default() / 1e3;
            Duration::try_from_secs_f64(launch).unwrap_or_default()
        };
        self.judged(&trials, &self.resamples, |evidence| evidence.leaders(most, launch))
    }

    /// Returns the evaluation that counts for every configuration, in the order made.
    fn trials(&self) -> Vec<&Scored> {
        let is_timed = |request: Request| request.depth == Depth::Timed;
        let counts = |scored: &&Scored| {
            let request = scored.evaluation.request;
            is_timed(request) || self.told.get(Request::timed(request.config)).is_none()
        };
        self.told.iter().filter(counts).collect()
    }

    /// Asks the evidence of `trials` and `resamples` a question.
    fn judged<T>(
        &self,
        trials: &[&Scored],
        resamples: &[Resample],
        ask: impl FnOnce(&Evidence<'_, ConfigId>) -> T,
    ) -> T {
        let trial = |scored: &&Scored| {
            let Scored { evaluation, score, .. } = scored;
            Trial { config: evaluation.request.config, score: *score, clock: evaluation.clock }
        };
        let samples = |at: usize| {
            let evaluation = &trials[at].evaluation;
            self.objective.samples(evaluation.request.config, &evaluation.measurement).unwrap_or_default()
        };
        let lowest = |at: usize| statistics::median_interval(&samples(at), 0.95).map(|(lowest, _)| lowest);
        let code = |at: usize| trials[at].evaluation.measurement.compile.as_ref()?.code.clone();
        let repeats = resamples.iter().map(|resample| self.repeat(resample)).collect();
        let (samples, lowest, code) = (&samples, &lowest, &code);
        let trials = trials.iter().map(trial).collect();
        ask(&Evidence { trials, samples, lowest, code, repeats, default: self.default })
    }

    fn repeat(&self, resample: &Resample) -> Repeat<ConfigId> {
        let Resample { role, config, clock, .. } = *resample;
        Repeat { config, role, scores: self.scores_of(resample), clock }
    }

    /// Returns the recorded time at which the search ended.
    pub(super) fn searched_until(&self) -> Duration {
        let evaluations = self.told.iter().map(|scored| scored.evaluation.clock);
        let probes = self.resamples.iter().filter(|resample| resample.role == Role::Reference);
        evaluations.chain(probes.map(|resample| resample.clock)).max().unwrap_or_default()
    }

    /// Returns true if the final of all these evaluations was held in full. Only then are its winners
    /// verified. Verifications of an earlier final outlive further evaluations, and say nothing about
    /// the later one.
    pub(super) fn has_verified(&self) -> bool {
        let searched_until = self.searched_until();
        self.resamples.iter().any(|again| again.role == Role::Verification && again.clock >= searched_until)
    }

    /// Takes over the visits of a recorded final. The later measurements stay in the order made: a
    /// journal separates them by their roles, and the verdict names failures in their order.
    pub(super) fn take_over_final(&mut self, recorded: impl IntoIterator<Item = Resample>) {
        self.resamples.extend(recorded);
        in_order_made(&mut self.resamples);
        self.probes = RefCell::default();
    }

    /// Replaces the evaluation of a configuration that was cut or put aside.
    pub(super) fn replace_unfinished(&mut self, evaluation: Evaluation) {
        let (score, aspects) = (self.objective.score(&evaluation), self.objective.aspects(&evaluation));
        self.told.insert_with(evaluation, score, aspects);
        // The numbers that it is known by have not changed.
        self.latest = RefCell::default();
    }

    /// Returns the verdict on all measurements.
    pub(super) fn verdict(&self) -> Rc<Verdict> {
        let mut latest = self.latest.borrow_mut();
        let (told, resamples) = (self.told.len(), self.resamples.len());
        if let Some(known) = latest.as_ref().filter(|known| (known.told, known.resamples) == (told, resamples)) {
            return Rc::clone(&known.verdict);
        }
        let verdict = Rc::new(self.judged(&self.trials(), &self.resamples, |evidence| evidence.verdict()));
        *latest = Some(Latest { told, resamples, verdict: Rc::clone(&verdict) });
        verdict
    }

    /// Returns true if a final re-measurement has begun.
    pub(super) fn has_final(&self) -> bool {
        has_final(&self.resamples)
    }

    /// Returns the next configuration to verify before the verdict may name it: the winner, then
    /// its ties, then the members of the front. Returns `None` if all of them are verified or `exempt`.
    pub(super) fn unconfirmed(&self, exempt: &HashSet<ConfigId>) -> Option<(ConfigId, Claim)> {
        let verdict = self.verdict();
        let verified = self.resamples.iter().filter(|resample| resample.role == Role::Verification);
        // A winner is verified in more launches than a tie, so that it may come a second time.
        let suffices = |resample: &&Resample, claim| claim == Claim::Tie || !resample.is_of_tie();
        let is_verified =
            |config, claim| verified.clone().any(|resample| resample.config == config && suffices(&resample, claim));
        let is_left = |(config, claim): &(ConfigId, Claim)| !is_verified(*config, *claim) && !exempt.contains(config);
        let winner = verdict.winner.iter().map(|config| (*config, Claim::Best));
        let ties = verdict.ties.iter().take(MOST_TIES).map(|config| (*config, Claim::Tie));
        let front = || self.front(&verdict).into_iter().take(MOST_MEMBERS).map(|config| (config, Claim::Best));
        winner.chain(ties).find(is_left).or_else(|| front().find(is_left))
    }

    /// Returns the configurations that no other one dominates, in the order made. Those that failed
    /// later are left out. Empty if there is one objective.
    pub(super) fn front(&self, verdict: &Verdict) -> Vec<ConfigId> {
        let objectives = |scored: &Scored| {
            let config = scored.evaluation.request.config;
            let aspects =
                scored.aspects.as_ref().filter(|_| scored.score.is_some() && !verdict.failed.contains(&config))?;
            (!aspects.objectives.is_empty()).then(|| (config, aspects.objectives.clone()))
        };
        let (configs, points): (Vec<_>, Vec<_>) = self.trials().into_iter().filter_map(objectives).unzip();
        non_dominated(&points).into_iter().map(|at| configs[at]).collect()
    }
}

/// Returns true if a visit of a final re-measurement is among later measurements.
pub(super) fn has_final(resamples: &[Resample]) -> bool {
    resamples.iter().any(|resample| resample.role.stage().is_some())
}
