//! Faults that concern every configuration, seen in the first evaluations.

use crate::{Evaluation, Failure, FailureKind, ObjectiveFunction, StopReason};

/// Number of configurations that fail in the same way before a run gives up. Single failures are
/// the business of a search. Ten alike at its beginning mean a fault of the problem.
const ALIKE: usize = 10;

/// The evaluations of this part of a run so far, none of which has a score.
#[derive(Debug, Default)]
pub(super) struct Doomed {
    state: State,
}

#[derive(Debug, Default)]
enum State {
    /// Nothing is known yet.
    #[default]
    Open,
    /// All evaluations failed like the first one.
    Alike { first: Failure, count: usize },
    /// The first correct evaluation lacks what the objective needs.
    NoValue(String),
    /// The failures differ, or something has a score.
    Mixed,
}

impl Doomed {
    /// Adds an evaluation.
    pub(super) fn add(&mut self, evaluation: &Evaluation, score: Option<f64>, objective: &dyn ObjectiveFunction) {
        let lacks = || objective.lacks(evaluation.request.config, &evaluation.measurement);
        self.state = match (std::mem::take(&mut self.state), &evaluation.failure) {
            (State::Mixed, _) => State::Mixed,
            // Nothing is known of what was put aside.
            (state, Some(failure)) if failure.aside.is_some() => state,
            // What breaks a limit is correct: a search may have to go far until one is kept.
            (_, Some(failure)) if failure.kind == FailureKind::Infeasible => State::Mixed,
            (_, None) if score.is_none() => lacks().map_or(State::Mixed, State::NoValue),
            (State::Open, Some(failure)) => State::Alike { first: failure.clone(), count: 1 },
            (State::Alike { first, count }, Some(failure)) if is_alike(&first, failure) => {
                State::Alike { first, count: count + 1 }
            }
            _ => State::Mixed,
        };
    }

    /// Returns the reason to end the run, if there is one.
    pub(super) fn reason(&self) -> Option<StopReason> {
        match &self.state {
            State::Alike { first, count } if *count >= ALIKE => {
                Some(StopReason::Doomed { count: *count, failure: first.clone() })
            }
            State::NoValue(reason) => Some(StopReason::NoValue(reason.clone())),
            _ => None,
        }
    }
}

/// Returns true if both are of one kind with the same headline, whatever the numbers in it.
fn is_alike(one: &Failure, other: &Failure) -> bool {
    one.kind == other.kind && blanked(one.headline()) == blanked(other.headline())
}

/// Returns a text in which every number is one `#`. Addresses count as numbers.
fn blanked(text: &str) -> String {
    let mut blanked = String::with_capacity(text.len());
    let mut before = ' ';
    let mut in_number = false;
    for c in text.chars() {
        let is_part = c.is_alphanumeric() || c == '.' || (matches!(c, '-' | '+') && matches!(before, 'e' | 'E'));
        let begins = c.is_ascii_digit() && !before.is_alphanumeric();
        in_number = if in_number { is_part } else { begins };
        match in_number {
            true if begins && !blanked.ends_with('#') => blanked.push('#'),
            true => {}
            false => blanked.push(c),
        }
        before = c;
    }
    blanked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureKind;

    #[test]
    fn numbers_and_addresses_do_not_tell_failures_apart_but_words_and_kinds_do() {
        let failure = |text: &str| Failure::new(FailureKind::Runtime, text);
        let alike = |one: &str, other: &str| is_alike(&failure(one), &failure(other));
        assert!(alike("c[12] is 3.5, not 4e-7", "c[999] is 0.25, not 1"));
        assert!(alike("signal 11 at 0x7ffe01", "signal 6 at 0x00"));
        assert!(alike("the same\nand more 1", "the same\nand others"));
        assert!(!alike("tile2 is bad", "tile3 is bad") && !alike("a", "b") && !alike("a 1", "a"));
        assert!(!is_alike(&failure("a"), &Failure::new(FailureKind::Compile, "a")));
    }
}
