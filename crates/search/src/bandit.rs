//! OpenTuner's bandit over strategies.

use crate::options::{OptionSpec, Options, StrategyError};
use crate::techniques::{MEANING, Techniques};
use std::collections::VecDeque;
use tunesmith_core::{Request, Rng, Searcher, Told, View};

/// Several strategies that share one budget by merit. It is the multi-armed bandit with a sliding
/// window and credit by area under the curve of Ansel et al., "OpenTuner: an extensible framework
/// for program autotuning", PACT 2014, section 4.2. ATF uses it too.
///
/// The next request comes from the technique t with the largest
///
/// AUC_t + C sqrt(2 log2 |H| / H_t)
///
/// H is the window: the last |H| requests, at most `window`. H_t of them are requests of t. AUC_t
/// is 2 / (H_t (H_t + 1)) times a sum: the H_t requests are numbered from 1 for the oldest, and the
/// sum adds the numbers of those that found a new best. It is the area under the curve that rises
/// at each new best, so recent ones count more. A technique without requests in the window comes
/// first. Among equal techniques, the one named first comes first. The defaults are OpenTuner's
/// window of 500 and C of 0.05, and ATF's techniques.
///
/// Every technique is told every evaluation. A technique that has nothing to ask is passed over and
/// leaves no mark in the window. The search ends when no technique has anything to ask. Requests in
/// flight count as requests without a new best, so with room for more than one request the
/// techniques take turns.
///
/// Cost per evaluation: the cost of the techniques, and one pass over the window.
pub struct Bandit {
    techniques: Techniques,
    window: usize,
    exploration: f64,
    /// The last requests: the technique, and true if the request found a new best.
    uses: VecDeque<(usize, bool)>,
    best: Option<f64>,
}

impl Bandit {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec { name: "techniques", default: "pattern+torczon+annealing", meaning: MEANING },
        OptionSpec {
            name: "window",
            default: "500",
            meaning: "a whole number from 1 to 1000000: the latest requests that techniques are judged by",
        },
        OptionSpec {
            name: "exploration",
            default: "0.05",
            meaning: "a number from 0: C, the weight of techniques that were used less",
        },
    ];

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        Ok(Self {
            techniques: Techniques::from_options("bandit", options)?,
            window: options.count("window", 1, 1_000_000)?,
            exploration: options.number("exploration", |number| number >= 0.0)?,
            uses: VecDeque::new(),
            best: None,
        })
    }

    /// Returns the techniques from the most to the least promising.
    fn order(&self) -> Vec<usize> {
        let waiting = self.techniques.waiting().map(|technique| (technique, false));
        let uses = self.uses.iter().copied().chain(waiting);
        let scores = scores(self.techniques.len(), self.exploration, uses);
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        order
    }
}

/// Returns the merit of each of `count` techniques after `uses`, the oldest first.
fn scores(count: usize, exploration: f64, uses: impl Iterator<Item = (usize, bool)>) -> Vec<f64> {
    let mut length = 0.0_f64;
    let mut own = vec![(0.0_f64, 0.0_f64); count];
    for (technique, improved) in uses {
        length += 1.0;
        let (uses, area) = &mut own[technique];
        *uses += 1.0;
        *area += if improved { *uses } else { 0.0 };
    }
    let score = |(uses, area): (f64, f64)| match uses {
        0.0 => f64::INFINITY,
        _ => 2.0 * area / (uses * (uses + 1.0)) + exploration * (2.0 * length.log2() / uses).sqrt(),
    };
    own.into_iter().map(score).collect()
}

impl Searcher for Bandit {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Propose one at a time: only earlier requests count as known.
        let asked = self.techniques.ask(self.order(), view, rng);
        asked.map(|(_, request)| request).into_iter().collect()
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        let improved = told.score.is_some_and(|score| self.best.is_none_or(|best| score < best));
        if improved {
            self.best = told.score;
        }
        let Some(technique) = self.techniques.tell(view, told) else { return };
        self.uses.push_back((technique, improved));
        if self.uses.len() > self.window {
            self.uses.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merit_is_the_area_under_the_curve_of_new_bests_and_what_was_left_untried() {
        // Technique 0 found a new best with its first and third of three requests. Technique 1
        // found none with one request.
        let uses = [(0, true), (1, false), (0, false), (0, true)];
        let found = scores(3, 0.05, uses.into_iter());
        let expected = [2.0 * (1.0 + 3.0) / 12.0 + 0.05 * (4.0_f64 / 3.0).sqrt(), 0.05 * 2.0, f64::INFINITY];
        found.iter().zip(expected).for_each(|(found, expected)| {
            assert!(found == &expected || (found - expected).abs() < 1e-12, "{found} instead of {expected}");
        });
    }

    #[test]
    fn of_two_techniques_with_as_many_bests_the_one_with_later_ones_is_preferred() {
        let uses = [(0, true), (0, false), (1, false), (1, true)];
        let merit = scores(2, 0.05, uses.into_iter());
        assert!(merit[1] > merit[0]);
    }
}
