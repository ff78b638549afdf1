//! The rules by which a portfolio chooses one of its configurations.

use super::{Axes, Coverage, DecisionTree, Measure, Neighbours};

/// Chooses one of several members for the sizes of an input. Allocates nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// By questions about the [`Measure`]s of the input. A tree without questions is one
    /// configuration for all inputs.
    Tree(DecisionTree),
    /// By the measured inputs nearby.
    Near(Neighbours),
}

impl Rule {
    /// Returns the rule that chooses `member` for every input.
    pub fn always(member: usize) -> Self {
        Self::Tree(DecisionTree::leaf(member))
    }

    /// Returns the member for an input with these sizes.
    pub fn choose(&self, sizes: &[f64]) -> usize {
        let measure = |at| Measure::all(sizes.len()).nth(at).map_or(f64::NAN, |measure| measure.of(sizes));
        match self {
            Self::Tree(tree) => tree.choose_by(measure),
            Self::Near(neighbours) => neighbours.choose(sizes),
        }
    }

    /// Returns true if the rule chooses the same member for all inputs.
    pub fn is_one_for_all(&self) -> bool {
        matches!(self, Self::Tree(tree) if tree.depth() == 0)
    }

    /// Returns the members that the rule can choose. Every answer of a tree has inputs. Of the inputs
    /// nearby, a member is never chosen if another one is at least as fast for all of them.
    fn chosen(&self) -> Vec<usize> {
        match self {
            Self::Tree(tree) => tree.chosen(),
            Self::Near(near) => near.undominated(),
        }
    }

    /// Returns the same rule over `members` alone, which are known by their places from then on. It
    /// never chooses any other.
    fn among(&self, members: &[usize]) -> Self {
        match self {
            Self::Tree(tree) => Self::Tree(tree.among(members)),
            Self::Near(near) => Self::Near(near.among(members)),
        }
    }

    /// Returns a description for users, where the sizes have these names.
    pub fn describe(&self, names: &[String]) -> String {
        match self {
            Self::Tree(tree) if tree.depth() == 0 => "the same for all inputs".to_string(),
            Self::Tree(tree) => {
                let asked: Vec<String> = Measure::all(names.len())
                    .enumerate()
                    .filter(|(at, _)| tree.asks(*at))
                    .map(|(_, measure)| measure.text(names))
                    .collect();
                format!("a tree of depth {} over {}", tree.depth(), asked.join(", "))
            }
            Self::Near(near) => {
                let axes = match near.axes() {
                    Axes::Sizes => names.join(", "),
                    Axes::Product => Measure::Product.text(names),
                };
                if near.is_nearest() {
                    return format!("that of the nearest measured input in {axes}");
                }
                format!("by the measured inputs nearby in {axes}, with a reach of {} doublings", near.reach())
            }
        }
    }
}

/// A rule with the inputs that it covers, and the answer for all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Chooser {
    /// The rule.
    pub rule: Rule,
    /// The inputs that it was made from.
    pub coverage: Coverage,
    /// The member for inputs far outside of them: the one whose largest cost is least. Files of
    /// earlier versions have none; the rule then answers for all inputs.
    pub robust: Option<usize>,
}

impl Chooser {
    /// Returns the member for an input with these sizes.
    pub fn choose(&self, sizes: &[f64]) -> usize {
        self.far(sizes).unwrap_or_else(|| self.rule.choose(sizes))
    }

    /// Returns the most robust member if the input is far outside of the covered ones.
    pub fn far(&self, sizes: &[f64]) -> Option<usize> {
        self.robust.filter(|_| self.coverage.is_far(sizes))
    }

    /// Returns the members that it can choose, in ascending order.
    pub(crate) fn chosen(&self) -> Vec<usize> {
        // Without sizes, no input is far.
        let far = self.other_for_far().filter(|_| self.coverage.ranges().next().is_some());
        let mut chosen: Vec<usize> = self.rule.chosen().into_iter().chain(far).collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Returns the same chooser over `members` alone, which contain all that it can choose.
    pub(crate) fn among(&self, members: &[usize]) -> Self {
        let robust = self.robust.and_then(|robust| members.iter().position(|member| *member == robust));
        Self { rule: self.rule.among(members), coverage: self.coverage.clone(), robust }
    }

    /// Returns the most robust member, unless the rule chooses it for every input anyway.
    pub fn other_for_far(&self) -> Option<usize> {
        self.robust.filter(|robust| !self.rule.is_one_for_all() || self.rule.choose(&[]) != *robust)
    }
}
