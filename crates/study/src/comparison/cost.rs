//! The costs of configurations, in which searches are compared.

/// The scale of costs, which are positive and of which less is better. The cost of the best divided by that of
/// another configuration is the share of the optimum that it reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Costs {
    /// A positive value to minimise, such as a time, is its own cost.
    Value,
    /// A positive value to maximise costs its reciprocal.
    Reciprocal,
    /// Values of zero or of both signs have no ratio. The best costs 1 and the worst 2, with the values between
    /// at equal distances.
    Range { best: f64, worst: f64 },
}

impl Costs {
    /// Returns the scale for the scores of the correct configurations, ascending.
    pub(super) fn of(scores: &[f64]) -> Self {
        match scores {
            [best, ..] if *best > 0.0 => Self::Value,
            [.., worst] if *worst < 0.0 => Self::Reciprocal,
            [best, .., worst] => Self::Range { best: *best, worst: *worst },
            [only] => Self::Range { best: *only, worst: *only },
            [] => Self::Value,
        }
    }

    /// Returns the cost of a score.
    pub(super) fn cost(self, score: f64) -> f64 {
        match self {
            Self::Value => score,
            Self::Reciprocal => -1.0 / score,
            Self::Range { best, worst } if worst > best => 1.0 + (score - best) / (worst - best),
            Self::Range { .. } => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(scores: &[f64]) -> Vec<f64> {
        let costs = Costs::of(scores);
        let share = |score: &f64| costs.cost(scores[0]) / costs.cost(*score);
        // Reciprocals are rounded.
        scores.iter().map(|score| (share(score) * 1e12).round() / 1e12).collect()
    }

    #[test]
    fn shares_are_ratios_where_there_are_ratios_and_else_places_between_the_ends() {
        assert_eq!(shares(&[2.0, 4.0, 8.0]), [1.0, 0.5, 0.25]);
        assert_eq!(shares(&[-100.0, -50.0, -10.0]), [1.0, 0.5, 0.1], "100, 50 and 10, maximised");
        assert_eq!(shares(&[-2.5, -1.0, 0.5]), [1.0, 0.666_666_666_667, 0.5]);
        assert_eq!(shares(&[0.0, 1.0]), [1.0, 0.5]);
        assert_eq!(shares(&[0.0]), [1.0]);
    }
}
