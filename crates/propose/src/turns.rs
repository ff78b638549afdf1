//! Whose turn it is. Pure decisions.

/// Shares the turns between the strategy and the partner.
///
/// - The strategy has the first turn. Until [`FIRST`] proposals were evaluated, turns alternate.
/// - Then the partner's share follows what both brought: the rate of evaluations that were the best
///   so far, `(improvements + 1) / (evaluations + 2)` for each of the two. The partner's share is its
///   part of the sum of both rates, but at least [`LEAST`] and at most one half.
/// - A turn that the partner does not use goes to the strategy. At most one unused turn is kept, so
///   that a partner that was late never gets several turns in a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    /// The turns that the partner has saved, from 0 to 1 and a share.
    credit: f64,
    strategy: Yield,
    partner: Yield,
    best: Option<f64>,
}

/// The yield of one side.
#[derive(Clone, Copy, Debug, Default)]
struct Yield {
    evaluations: u32,
    improvements: u32,
}

/// Number of evaluated proposals until which turns alternate.
const FIRST: u32 = 8;
/// Minimum share of the partner: a partner that learns late is not shut out.
const LEAST: f64 = 0.1;
/// Maximum share of the partner: the strategy never has less than half of the turns.
const MOST: f64 = 0.5;

/// The side that asked for an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Strategy,
    Partner,
}

impl Yield {
    fn rate(self) -> f64 {
        f64::from(self.improvements + 1) / f64::from(self.evaluations + 2)
    }
}

impl Turns {
    /// Returns the share of the turns that the partner has.
    pub(crate) fn share(&self) -> f64 {
        if self.partner.evaluations < FIRST {
            return MOST;
        }
        let (partner, strategy) = (self.partner.rate(), self.strategy.rate());
        (partner / (partner + strategy)).clamp(LEAST, MOST)
    }

    /// Returns true if the next turn is the partner's.
    pub(crate) fn is_partners(&self) -> bool {
        // A sum of shares may miss 1 by rounding.
        self.credit + self.share() >= 1.0 - 1e-9
    }

    /// Notes who used a turn.
    pub(crate) fn used(&mut self, by: Side) {
        self.credit += self.share();
        match by {
            Side::Partner => self.credit -= 1.0,
            Side::Strategy => self.credit = self.credit.min(1.0),
        }
    }

    /// Notes an evaluation, which `side` asked for. `None` stands for the default and the start
    /// configuration. Returns true if it is the best so far.
    pub(crate) fn told(&mut self, side: Option<Side>, score: Option<f64>) -> bool {
        let is_best = score.is_some_and(|score| self.best.is_none_or(|best| score < best));
        if is_best {
            self.best = score;
        }
        let brought = match side {
            None => return is_best,
            Some(Side::Strategy) => &mut self.strategy,
            Some(Side::Partner) => &mut self.partner,
        };
        brought.evaluations += 1;
        brought.improvements += u32::from(is_best);
        is_best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the sides of `count` turns, if the partner always has a proposal. `score` gives the
    /// score of the side's evaluation at a turn.
    fn played(count: usize, score: impl Fn(Side, usize) -> f64) -> Vec<Side> {
        let mut turns = Turns::default();
        let play = |turn| {
            let side = if turns.is_partners() { Side::Partner } else { Side::Strategy };
            turns.used(side);
            turns.told(Some(side), Some(score(side, turn)));
            side
        };
        (0..count).map(play).collect()
    }

    fn of_partner(sides: &[Side]) -> usize {
        sides.iter().filter(|side| **side == Side::Partner).count()
    }

    #[test]
    fn turns_alternate_at_first_and_the_strategy_begins() {
        let sides = played(16, |_, _| 1.0);
        let expected = [Side::Strategy, Side::Partner].repeat(8);
        assert_eq!(sides, expected);
    }

    #[test]
    fn a_partner_that_brings_everything_never_has_more_than_half() {
        let sides = played(400, |side, turn| if side == Side::Partner { 1.0 / (turn + 1) as f64 } else { 9.0 });
        assert_eq!(of_partner(&sides), 200);
        assert!(sides.windows(2).all(|pair| pair != [Side::Partner, Side::Partner]));
    }

    #[test]
    fn a_partner_that_brings_nothing_keeps_a_tenth() {
        let sides = played(1000, |side, turn| if side == Side::Strategy { 1.0 / (turn + 1) as f64 } else { 9.0 });
        assert!((90..=120).contains(&of_partner(&sides)), "{}", of_partner(&sides));
        assert!(sides[900..].contains(&Side::Partner));
    }

    #[test]
    fn turns_that_were_not_used_are_not_made_up_for() {
        let mut turns = Turns::default();
        (0..100).for_each(|_| turns.used(Side::Strategy));
        assert!(turns.is_partners());
        turns.used(Side::Partner);
        let next: Vec<bool> = (0..4)
            .map(|_| {
                let is_partners = turns.is_partners();
                turns.used(if is_partners { Side::Partner } else { Side::Strategy });
                is_partners
            })
            .collect();
        assert_eq!(
            of_partner(&next.iter().map(|is| if *is { Side::Partner } else { Side::Strategy }).collect::<Vec<_>>()),
            2
        );
    }

    #[test]
    fn the_default_is_nobodys_but_has_to_be_beaten() {
        let mut turns = Turns::default();
        assert!(turns.told(None, Some(1.0)));
        assert!(!turns.told(Some(Side::Partner), Some(1.0)) && !turns.told(Some(Side::Strategy), None));
        assert!(turns.told(Some(Side::Strategy), Some(0.5)));
    }
}
