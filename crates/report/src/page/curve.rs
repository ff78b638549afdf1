//! The best so far.

use super::record::{Evaluations, even};
use tunesmith_core::Objective;

/// Maximum number of steps that are drawn.
const DRAWN: usize = 1000;

/// Returns the positions of the evaluations that were better than all before them.
pub(super) fn steps(evaluations: &Evaluations, objective: &Objective) -> Vec<usize> {
    let mut best = None;
    let values = evaluations.values.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?)));
    let improves = |(at, value): (usize, f64)| {
        let is_better = best.is_none_or(|best| objective.is_better(value, best));
        best = if is_better { Some(value) } else { best };
        is_better.then_some(at)
    };
    values.filter_map(improves).collect()
}

/// Returns the steps to draw: all, or of thousands an even sample with the last.
pub(super) fn drawn(evaluations: &Evaluations, objective: &Objective) -> Vec<usize> {
    let steps = steps(evaluations, objective);
    even(steps.len(), DRAWN).map(|at| steps[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::{Direction, Source};

    #[test]
    fn only_what_is_better_than_all_before_is_a_step() {
        let values = vec![None, Some(4.0), Some(5.0), Some(2.0), None, Some(2.0), Some(9.0)];
        let evaluations = Evaluations { values, ..Evaluations::default() };
        assert_eq!(steps(&evaluations, &Objective::time()), [1, 3]);
        let maximise = Objective::new("rate", Direction::Maximise, None, Source::Printed);
        assert_eq!(steps(&evaluations, &maximise), [1, 2, 6]);
        assert_eq!(steps(&Evaluations::default(), &maximise), [0; 0]);
    }
}
