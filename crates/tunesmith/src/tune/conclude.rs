//! The last stage: the outcome of a finished run.

use super::ground::Ground;
use super::learned::Learned;
use super::ready::Preparation;
use super::settings::Settings;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;
use tunesmith_core::{Cuts, Evaluation, FailureKind, Resample, Role, Run, common_failures};
use tunesmith_cost::Limit;
use tunesmith_propose::ProposalReport;
use tunesmith_space::ConfigId;
use tunesmith_store::DriftLine;
use tunesmith_study::outcome::{
    Candidate, DefaultComparison, ModelledLimit, Outcome, RegretClaim, SecondsOfRun, Unscored, Valued,
};

/// A run that has ended.
pub(super) struct Finished {
    pub(super) run: Run,
    /// The proposals of a program.
    pub(super) proposals: Option<ProposalReport>,
    /// Notes to the user about the counter model and the counters.
    pub(super) notes: Vec<String>,
    /// True if the stop conditions saw recorded time.
    pub(super) is_simulated: bool,
    /// The device's name.
    pub(super) device: String,
    pub(super) preparation: Preparation,
    pub(super) journal: PathBuf,
}

impl Finished {
    /// Makes the outcome of the run, whose wall time is `wall`.
    pub(super) fn conclude(
        self,
        ground: &Ground<'_>,
        settings: &Settings,
        learned: &Learned<'_>,
        wall: Duration,
    ) -> Outcome {
        let run = &self.run;
        let candidates = |configs: &[ConfigId]| -> Vec<Candidate> {
            configs.iter().filter_map(|config| self.candidate(*config, ground, settings)).collect()
        };
        let best = run.verdict.winner.and_then(|config| self.candidate(config, ground, settings));
        let verdict = &run.verdict;
        Outcome {
            problem: ground.problem.spec().name().to_string(),
            strategy: settings.strategy.clone(),
            seed: settings.seed,
            objective: settings.metric().objective().clone(),
            stop_reason: run.stop_reason.clone(),
            evaluations: run.progress.evaluations,
            resumed: run.resumed,
            failed: FailureKind::ALL.map(|kind| (kind, run.history.failed(kind))).into(),
            unscored: Unscored::of(without_score(run), settings.objective()),
            common_failures: common_failures(uncut(run).filter_map(|evaluation| evaluation.failure.as_ref())),
            cut: Cuts::of(evaluations(run).filter_map(Evaluation::cut)),
            default: ground.default_id().and_then(|config| self.candidate(config, ground, settings)),
            ties: candidates(&verdict.ties),
            not_compared: candidates(&verdict.not_compared),
            equal_code: candidates(&verdict.equal_code),
            state: run.state(),
            front: tunesmith_study::front_of_run(run, &ground.space, settings.objective()),
            verified: ground.verified(),
            partly_verified: ground.problem.partly_verified(ground.verified()),
            comparison: verdict.comparison.as_ref().map(|known| DefaultComparison::new(&ground.space, known)),
            search_best: verdict.leader.and_then(|config| self.candidate(config, ground, settings)),
            by_final: verdict.by_final,
            finalists: finalists(run),
            failed_again: candidates(&verdict.failed),
            drift: run.drift.as_ref().map(DriftLine::from),
            limit: learned.estimates.limit.as_ref().map(|limit| modelled(limit, best.as_ref())),
            best,
            regret: run.progress.regret.iter().map(RegretClaim::from).collect(),
            space_size: ground.size,
            wall_seconds: wall.as_secs_f64(),
            simulated_seconds: self.is_simulated.then_some(run.progress.elapsed.as_secs_f64()),
            seconds: self.seconds(ground.building, wall),
            proposals: self.proposals.map(|report| report.in_values(settings.metric().objective())),
            notes: self.notes,
            device: self.device,
            out: self.journal,
        }
    }

    /// Returns the measurements of `config`, or `None` if it was not evaluated.
    fn candidate(&self, config: ConfigId, ground: &Ground<'_>, settings: &Settings) -> Option<Candidate> {
        let evaluation = &self.run.history.of(config)?.evaluation;
        let valued = Valued { run: &self.run, objective: settings.objective().metric() };
        Some(Candidate::new(&ground.space, evaluation, &self.run.resamples, Some(&valued)))
    }

    /// Divides the wall time into the parts of the space, the loop and the device, and the rest.
    fn seconds(&self, space: Duration, wall: Duration) -> SecondsOfRun {
        let parts = &self.run.seconds;
        let compile = parts.compile + self.preparation.probing;
        let verify = parts.verify + self.preparation.preparing;
        let explained = space + parts.search + compile + parts.run + verify + parts.store;
        SecondsOfRun {
            space: space.as_secs_f64(),
            search: parts.search.as_secs_f64(),
            compile: compile.as_secs_f64(),
            run: parts.run.as_secs_f64(),
            verify: verify.as_secs_f64(),
            store: parts.store.as_secs_f64(),
            other: wall.saturating_sub(explained).as_secs_f64(),
        }
    }
}

fn evaluations(run: &Run) -> impl Iterator<Item = &Evaluation> {
    run.history.iter().map(|scored| &*scored.evaluation)
}

/// Returns the evaluations that no limit from the best time cut.
fn uncut(run: &Run) -> impl Iterator<Item = &Evaluation> {
    evaluations(run).filter(|evaluation| !evaluation.is_cut())
}

/// Returns the evaluations without a score. Only these can lack a value of the objective.
fn without_score(run: &Run) -> impl Iterator<Item = &Evaluation> {
    run.history.iter().filter(|scored| scored.score.is_none()).map(|scored| &*scored.evaluation)
}

/// Returns the number of configurations in the final re-measurement.
fn finalists(run: &Run) -> usize {
    let competed = |again: &&Resample| [Role::Selection, Role::Confirmation].contains(&again.role);
    run.resamples.iter().filter(competed).map(|again| again.config).collect::<HashSet<ConfigId>>().len()
}

fn modelled(limit: &Limit, best: Option<&Candidate>) -> ModelledLimit {
    let best_ms = best.and_then(|best| best.time_ms);
    let withdrawal = best_ms.and_then(|best_ms| limit.withdrawal(best_ms));
    let share = best_ms.filter(|_| withdrawal.is_none()).map(|best_ms| limit.ms / best_ms);
    ModelledLimit { time_ms: limit.ms, bound: limit.bound, share, withdrawal }
}
