//! Compares two runs of one seed.
//!
//! Faults of the tuner, its disk and its machine take nothing from what is measured. They do take
//! time, and the number of rounds of a final depends on time. So two finals of one seed may crown
//! different configurations, but only if nothing tells these apart: their times differ by less than
//! the noise, and no final calls better what the other calls worse.

use super::truth::Truth;
use tunesmith_core::{Measurement, Run, Verdict};
use tunesmith_space::ConfigId;

/// The result of a run that came to its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Morning {
    pub(super) verdict: Verdict,
    /// The evaluations by configuration, then the later measurements in the order made.
    pub(super) deliveries: Vec<Delivery>,
    /// True if no message was lost and nobody ended a process: then nothing fails that is innocent.
    pub(super) is_exact: bool,
    /// True if slow configurations are abandoned. The bar depends on time, and the search on the bar.
    pub(super) is_racing: bool,
}

/// A measurement that the judge was given.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Delivery {
    config: ConfigId,
    /// The purpose: `evaluation`, or the role of a later measurement.
    purpose: &'static str,
    status: &'static str,
    times_ms: Vec<f64>,
}

/// The word for the purpose of an evaluation.
const EVALUATION: &str = "evaluation";

impl Morning {
    /// Takes the result out of a run.
    pub(super) fn new(run: &Run, is_exact: bool, is_racing: bool) -> Self {
        let delivery = |config, purpose, status, measurement: &Measurement| Delivery {
            config,
            purpose,
            status,
            times_ms: measurement.times_ms.clone(),
        };
        let evaluations = run.history.iter().map(|scored| &scored.evaluation);
        let mut deliveries: Vec<Delivery> = evaluations
            .map(|one| delivery(one.request.config, EVALUATION, one.status_word(), &one.measurement))
            .collect();
        deliveries.sort_by_key(|delivery| delivery.config);
        deliveries.extend(run.resamples.iter().map(|again| {
            let status = again.failure.as_ref().map_or("correct", |failure| failure.kind.word());
            delivery(again.config, again.role.word(), status, &again.measurement)
        }));
        Self { verdict: run.verdict.clone(), deliveries, is_exact, is_racing }
    }

    /// Returns the evaluated configurations with their statuses.
    fn statuses(&self) -> impl Iterator<Item = (ConfigId, &'static str)> {
        self.evaluations().map(|delivery| (delivery.config, delivery.status))
    }

    fn evaluations(&self) -> impl Iterator<Item = &Delivery> {
        self.deliveries.iter().filter(|delivery| delivery.purpose == EVALUATION)
    }

    /// Returns true if the run evaluated `config`.
    fn knows(&self, config: ConfigId) -> bool {
        self.evaluations().any(|delivery| delivery.config == config)
    }

    /// Returns true if the run says that its winner is better than `other`: it compared them often enough,
    /// and `other` is no tie. A final compares those that take turns in it.
    fn beats(&self, other: ConfigId) -> bool {
        let takes_turns = |delivery: &&Delivery| matches!(delivery.purpose, "selection" | "confirmation" | "baseline");
        let compared: Vec<&Delivery> = match self.verdict.by_final {
            true => self.deliveries.iter().filter(takes_turns).collect(),
            false => self.evaluations().collect(),
        };
        let Verdict { ties, not_compared, .. } = &self.verdict;
        let is_undecided = ties.contains(&other) || not_compared.contains(&other);
        compared.iter().any(|delivery| delivery.config == other) && !is_undecided
    }
}

/// Compares a run with that of the same seed without faults. Returns true if it has another winner.
///
/// 1. The same deliveries give the same verdict.
/// 2. The same configurations have the same statuses, unless racing led the search elsewhere.
/// 3. Either both finals decide, or none does: a final that was cut goes on.
/// 4. If both runs know both winners and these differ, they are within the noise of each other, and
///    at most one of the runs calls its own better.
///
/// Only the first rule holds where innocent configurations may fail.
///
/// # Errors
/// A rule is broken.
pub(super) fn compare(calm: &Morning, troubled: &Morning, truth: &Truth) -> Result<bool, String> {
    let broken = |what: &str| Err(format!("{what}: {calm:?} and {troubled:?}"));
    if calm.deliveries == troubled.deliveries && !is_same(&calm.verdict, &troubled.verdict) {
        return broken("the same deliveries give two verdicts");
    }
    if !troubled.is_exact {
        return Ok(false);
    }
    if !troubled.is_racing && !calm.statuses().eq(troubled.statuses()) {
        return broken("faults change what was evaluated");
    }
    let (one, other) = (calm.verdict.winner, troubled.verdict.winner);
    let (Some(one), Some(other)) = (one, other) else {
        // Without racing, the statuses are the same, so both runs know what is right.
        return if one == other || troubled.is_racing { Ok(false) } else { broken("only one run has a winner") };
    };
    if calm.verdict.by_final != troubled.verdict.by_final {
        return broken("only one of two finals decides");
    }
    if one == other || !calm.knows(other) || !troubled.knows(one) {
        return Ok(false);
    }
    if truth.is_surely_faster(one, other) || truth.is_surely_faster(other, one) {
        return broken("faults change the winner beyond the noise");
    }
    if calm.beats(other) && troubled.beats(one) {
        return broken("each of two winners beats the other");
    }
    Ok(true)
}

/// Returns true if two verdicts say the same. Levels of drift depend on the time of each measurement.
fn is_same(one: &Verdict, other: &Verdict) -> bool {
    Verdict { drift: None, ..one.clone() } == Verdict { drift: None, ..other.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::truth::space;
    use super::*;

    /// Returns two configurations that differ by less than the noise, or by more, and their truth.
    fn pair(is_close: bool) -> (Truth, ConfigId, ConfigId) {
        let all: Vec<ConfigId> = (0..28).filter_map(|rank| space().id(rank)).collect();
        let pairs = || all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))).filter(|(a, b)| a < b);
        let found = (0..100).map(Truth::new).find_map(|truth| {
            let is_apart = |a, b| truth.is_surely_faster(a, b) || truth.is_surely_faster(b, a);
            let (a, b) = pairs().find(|(a, b)| is_apart(*a, *b) != is_close)?;
            Some((truth, a, b))
        });
        found.expect("one of a hundred seeds has such a pair")
    }

    /// Returns a run whose final visits both, `rounds` times.
    fn morning(winner: ConfigId, other: ConfigId, is_tie: bool, rounds: usize) -> Morning {
        let verdict = Verdict {
            winner: Some(winner),
            ties: if is_tie { vec![other] } else { Vec::new() },
            by_final: true,
            ..Verdict::default()
        };
        let of = |purpose| {
            let both = [winner.min(other), winner.max(other)];
            both.map(|config| Delivery { config, purpose, status: "correct", times_ms: vec![1.0] })
        };
        let mut deliveries = of(EVALUATION).to_vec();
        (0..rounds).for_each(|_| deliveries.extend(of("selection")));
        Morning { verdict, deliveries, is_exact: true, is_racing: false }
    }

    fn broken(calm: &Morning, troubled: &Morning, truth: &Truth) -> Option<String> {
        compare(calm, troubled, truth).err().map(|text| text.split(':').next().unwrap_or_default().to_owned())
    }

    #[test]
    fn another_winner_within_the_noise_is_right_after_other_rounds_and_only_if_one_run_calls_it_a_tie() {
        let (truth, a, b) = pair(true);
        let calm = morning(a, b, false, 5);
        assert_eq!(compare(&calm, &morning(a, b, false, 3), &truth), Ok(false));
        assert_eq!(compare(&calm, &morning(b, a, true, 3), &truth), Ok(true));
        let said = broken(&calm, &morning(b, a, false, 3), &truth);
        assert_eq!(said.as_deref(), Some("each of two winners beats the other"));
        // A run that measured the other one too seldom does not call its own better.
        let mut undecided = morning(b, a, false, 3);
        undecided.verdict.not_compared = vec![a];
        assert_eq!(compare(&calm, &undecided, &truth), Ok(true));
        let said = broken(&calm, &morning(b, a, true, 5), &truth);
        assert_eq!(said.as_deref(), Some("the same deliveries give two verdicts"));
    }

    #[test]
    fn another_winner_beyond_the_noise_is_wrong_even_if_it_is_called_a_tie() {
        let (truth, a, b) = pair(false);
        let said = broken(&morning(a, b, true, 5), &morning(b, a, true, 3), &truth);
        assert_eq!(said.as_deref(), Some("faults change the winner beyond the noise"));
        let racing = Morning { is_racing: true, ..morning(b, a, true, 3) };
        assert_eq!(broken(&morning(a, b, true, 5), &racing, &truth), said);
    }

    #[test]
    fn a_final_that_was_cut_must_go_on() {
        let (truth, a, b) = pair(false);
        let calm = morning(a, b, false, 5);
        let mut cut = morning(a, b, false, 2);
        cut.verdict.by_final = false;
        assert_eq!(broken(&calm, &cut, &truth).as_deref(), Some("only one of two finals decides"));
    }

    #[test]
    fn only_racing_may_lead_the_search_elsewhere() {
        let (truth, a, b) = pair(true);
        let calm = morning(a, b, false, 5);
        let mut elsewhere = morning(a, b, false, 5);
        elsewhere.deliveries.retain(|delivery| delivery.config == a);
        let said = broken(&calm, &elsewhere, &truth);
        assert_eq!(said.as_deref(), Some("faults change what was evaluated"));
        elsewhere.is_racing = true;
        assert_eq!(compare(&calm, &elsewhere, &truth), Ok(false));
    }

    #[test]
    fn where_innocents_fail_the_same_deliveries_still_give_the_same_verdict() {
        let (truth, a, b) = pair(false);
        let foul = |rounds| Morning { is_exact: false, ..morning(b, a, false, rounds) };
        let calm = morning(a, b, false, 5);
        assert_eq!(compare(&calm, &foul(3), &truth), Ok(false));
        assert_eq!(broken(&calm, &foul(5), &truth).as_deref(), Some("the same deliveries give two verdicts"));
    }
}
