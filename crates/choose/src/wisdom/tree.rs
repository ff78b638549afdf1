//! A small decision tree over inputs that chooses one of a few configurations.

/// A binary tree that chooses one of several members by the sizes of an input. A choice costs the
/// tree's depth and allocates nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionTree {
    nodes: Vec<Node>,
}

/// A node of a [`DecisionTree`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    /// Compares a feature with a threshold.
    Split {
        /// Number of the feature.
        feature: usize,
        /// The threshold.
        below: f64,
        /// The node for inputs below the threshold.
        then: usize,
        /// The node for all other inputs, including those that lack the feature.
        otherwise: usize,
    },
    /// The answer: the number of a member.
    Choose(usize),
}

/// The nodes do not form a tree.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// There is no node.
    #[error("the tree has no nodes")]
    Empty,
    /// A node leads to itself, back, or nowhere.
    #[error("node {node} leads to node {to}: nodes lead to later nodes of the tree")]
    Link {
        /// The node.
        node: usize,
        /// The node that it leads to.
        to: usize,
    },
    /// A node asks for a feature that does not exist.
    #[error("node {node} asks for feature {feature} of {features}")]
    Feature {
        /// The node.
        node: usize,
        /// The feature.
        feature: usize,
        /// Number of features.
        features: usize,
    },
    /// A node chooses a member that does not exist.
    #[error("node {node} chooses configuration {member} of {members}")]
    Member {
        /// The node.
        node: usize,
        /// The member.
        member: usize,
        /// Number of members.
        members: usize,
    },
}

/// Limits on the growth of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeOptions {
    /// Maximum number of questions on the way to an answer.
    pub depth: usize,
    /// Minimum number of inputs behind an answer.
    pub leaf: usize,
    /// Minimum gain of a question, in the mean cost of the inputs that it divides.
    pub gain: f64,
}

impl Default for TreeOptions {
    /// Five questions, which can tell 32 configurations apart. Two inputs, since one alone may be a
    /// stroke of luck. Half a per cent, since nobody would notice less.
    fn default() -> Self {
        Self { depth: 5, leaf: 2, gain: 0.005 }
    }
}

/// One way to divide inputs.
struct Division {
    cost: f64,
    feature: usize,
    below: f64,
}

impl DecisionTree {
    /// Returns the tree of `nodes`, the root first.
    ///
    /// # Errors
    /// A node does not lead to later nodes, or names a feature or member beyond `features` and
    /// `members`.
    pub fn new(nodes: Vec<Node>, features: usize, members: usize) -> Result<Self, TreeError> {
        if nodes.is_empty() {
            return Err(TreeError::Empty);
        }
        for (node, kind) in nodes.iter().enumerate() {
            match *kind {
                Node::Choose(member) if member >= members => return Err(TreeError::Member { node, member, members }),
                Node::Split { feature, .. } if feature >= features => {
                    return Err(TreeError::Feature { node, feature, features });
                }
                Node::Split { then, otherwise, .. } => {
                    let wrong = [then, otherwise].into_iter().find(|to| *to <= node || *to >= nodes.len());
                    if let Some(to) = wrong {
                        return Err(TreeError::Link { node, to });
                    }
                }
                Node::Choose(_) => {}
            }
        }
        Ok(Self { nodes })
    }

    /// Returns the members of all answers, each as often as it is one.
    pub(super) fn chosen(&self) -> Vec<usize> {
        let member = |node: &Node| if let Node::Choose(member) = node { Some(*member) } else { None };
        self.nodes.iter().filter_map(member).collect()
    }

    /// Returns the same tree over `members` alone, which contain all of its answers.
    pub(super) fn among(&self, members: &[usize]) -> Self {
        let node = |node: &Node| match *node {
            Node::Choose(own) => Node::Choose(members.iter().position(|member| *member == own).unwrap_or(0)),
            split => split,
        };
        Self { nodes: self.nodes.iter().map(node).collect() }
    }

    /// Returns the tree that chooses `member` without a question.
    pub fn leaf(member: usize) -> Self {
        Self { nodes: vec![Node::Choose(member)] }
    }

    /// Grows a tree whose choices are cheap. `inputs` has a row of features for each input, and
    /// `costs` the cost of each member for it.
    ///
    /// Every node takes the division with the least sum of the costs of the best member on either
    /// side, over all features and all thresholds. Thresholds are the middles between two inputs'
    /// values, which are as many doublings from one as from the other. Costs depth x features x inputs x (members + log inputs). Without inputs, the tree
    /// answers with the first member.
    pub fn fit(inputs: &[Vec<f64>], costs: &[Vec<f64>], options: TreeOptions) -> Self {
        let mut tree = Self { nodes: Vec::new() };
        tree.grow(inputs, costs, (0..inputs.len()).collect(), options.depth, options);
        tree
    }

    /// Adds the subtree of the inputs `of` and returns its root.
    fn grow(
        &mut self,
        inputs: &[Vec<f64>],
        costs: &[Vec<f64>],
        of: Vec<usize>,
        depth: usize,
        options: TreeOptions,
    ) -> usize {
        let (member, cost) = cheapest(&sum(costs, &of));
        let root = self.nodes.len();
        self.nodes.push(Node::Choose(member));
        let division = if depth == 0 { None } else { division(inputs, costs, &of, options.leaf) };
        let enough = |division: &Division| cost - division.cost >= options.gain * of.len() as f64;
        if let Some(Division { feature, below, .. }) = division.filter(enough) {
            let (low, high) = of.iter().partition(|input| inputs[**input][feature] < below);
            let then = self.grow(inputs, costs, low, depth - 1, options);
            let otherwise = self.grow(inputs, costs, high, depth - 1, options);
            self.nodes[root] = Node::Split { feature, below, then, otherwise };
        }
        root
    }

    /// Returns the nodes, the root first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the member for an input with these features. A missing feature or NaN is not below
    /// any threshold.
    pub fn choose(&self, features: &[f64]) -> usize {
        self.choose_by(|feature| features.get(feature).copied().unwrap_or(f64::NAN))
    }

    /// Returns the member for an input whose features `value` computes.
    pub fn choose_by(&self, value: impl Fn(usize) -> f64) -> usize {
        let mut at = 0;
        loop {
            match self.nodes[at] {
                Node::Choose(member) => return member,
                Node::Split { feature, below, then, otherwise } => {
                    at = if value(feature) < below { then } else { otherwise };
                }
            }
        }
    }

    /// Returns true if a question is about this feature.
    pub fn asks(&self, about: usize) -> bool {
        self.nodes.iter().any(|node| matches!(node, Node::Split { feature, .. } if *feature == about))
    }

    /// Returns the maximum number of questions on the way to an answer.
    pub fn depth(&self) -> usize {
        let mut depths = vec![0; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if let Node::Split { then, otherwise, .. } = node {
                depths[at] = 1 + depths[*then].max(depths[*otherwise]);
            }
        }
        depths[0]
    }
}

/// Returns the cost of every member for all of the inputs `of`.
fn sum(costs: &[Vec<f64>], of: &[usize]) -> Vec<f64> {
    let mut sum = vec![0.0; costs.first().map_or(0, Vec::len)];
    of.iter().for_each(|input| add(&mut sum, &costs[*input], 1.0));
    sum
}

fn add(sum: &mut [f64], row: &[f64], factor: f64) {
    sum.iter_mut().zip(row).for_each(|(sum, cost)| *sum += factor * cost);
}

/// Returns the cheapest member and its cost, the first of equal ones.
fn cheapest(sum: &[f64]) -> (usize, f64) {
    sum.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
}

/// Returns the division of the inputs `of` with the least cost and at least `leaf` of them on
/// either side.
fn division(inputs: &[Vec<f64>], costs: &[Vec<f64>], of: &[usize], leaf: usize) -> Option<Division> {
    let features = inputs.first().map_or(0, Vec::len);
    let best = (0..features).filter_map(|feature| division_by(feature, inputs, costs, of, leaf.max(1)));
    best.min_by(|a, b| a.cost.total_cmp(&b.cost))
}

/// Returns the same division by one feature.
fn division_by(feature: usize, inputs: &[Vec<f64>], costs: &[Vec<f64>], of: &[usize], leaf: usize) -> Option<Division> {
    let value = |input: usize| inputs[input][feature];
    let mut sorted = of.to_vec();
    sorted.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
    let (mut low, mut high) = (sum(costs, &[]), sum(costs, &sorted));
    let mut best: Option<Division> = None;
    for (count, pair) in sorted.windows(2).enumerate().map(|(at, pair)| (at + 1, pair)) {
        add(&mut low, &costs[pair[0]], 1.0);
        add(&mut high, &costs[pair[0]], -1.0);
        let large_enough = count >= leaf && sorted.len() - count >= leaf;
        let cost = cheapest(&low).1 + cheapest(&high).1;
        if let Some(below) = middle(value(pair[0]), value(pair[1])).filter(|_| large_enough)
            && best.as_ref().is_none_or(|best| cost < best.cost)
        {
            best = Some(Division { cost, feature, below });
        }
    }
    best
}

/// Returns a threshold between `low` and `high`, or `None` if they are equal or not numbers. It is
/// as many doublings from one as from the other, and a whole number where one lies between them.
fn middle(low: f64, high: f64) -> Option<f64> {
    let middle = if low > 0.0 { (low * high).sqrt() } else { low + (high - low) / 2.0 };
    let separates = |threshold: &f64| low < *threshold && *threshold <= high && threshold.is_finite();
    [middle.round(), middle, high].into_iter().find(separates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus as Rng;

    const ONE_QUESTION: TreeOptions = TreeOptions { depth: 1, leaf: 1, gain: 0.0 };

    /// Sizes are a few small integers, so that many inputs share one.
    fn random(rng: &mut Rng) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let inputs = rng.random_range(1..12);
        let features = |rng: &mut Rng| (0..3).map(|_| f64::from(rng.random_range(1..5))).collect();
        let costs = |rng: &mut Rng| (0..4).map(|_| rng.random_range(1.0..3.0)).collect();
        ((0..inputs).map(|_| features(rng)).collect(), (0..inputs).map(|_| costs(rng)).collect())
    }

    fn cost(tree: &DecisionTree, inputs: &[Vec<f64>], costs: &[Vec<f64>]) -> f64 {
        inputs.iter().zip(costs).map(|(input, costs)| costs[tree.choose(input)]).sum()
    }

    /// Returns the least cost of any tree with one question.
    fn exhaustive(inputs: &[Vec<f64>], costs: &[Vec<f64>]) -> f64 {
        let mut best = f64::INFINITY;
        for (feature, below, low, high) in (0..3usize)
            .flat_map(|feature| (0..6).map(move |at| (feature, f64::from(at) + 0.5)))
            .flat_map(|(feature, below)| (0..16usize).map(move |pair| (feature, below, pair / 4, pair % 4)))
        {
            let nodes =
                vec![Node::Split { feature, below, then: 1, otherwise: 2 }, Node::Choose(low), Node::Choose(high)];
            best = best.min(cost(&DecisionTree::new(nodes, 3, 4).unwrap(), inputs, costs));
        }
        best
    }

    #[test]
    fn one_question_is_the_best_there_is() {
        let mut rng = Rng::seed_from_u64(5);
        for _ in 0..200 {
            let (inputs, costs) = random(&mut rng);
            let tree = DecisionTree::fit(&inputs, &costs, ONE_QUESTION);
            assert!((cost(&tree, &inputs, &costs) - exhaustive(&inputs, &costs)).abs() < 1e-9);
        }
    }

    #[test]
    fn more_questions_never_cost_more_and_trees_keep_within_their_options() {
        let mut rng = Rng::seed_from_u64(6);
        for _ in 0..200 {
            let (inputs, costs) = random(&mut rng);
            let of = |depth| DecisionTree::fit(&inputs, &costs, TreeOptions { depth, leaf: 1, gain: 0.0 });
            let (few, many) = (of(1), of(4));
            assert!(many.depth() <= 4);
            assert!(cost(&many, &inputs, &costs) <= cost(&few, &inputs, &costs) + 1e-9);
            assert_eq!(DecisionTree::new(many.nodes().to_vec(), 3, 4).as_ref(), Ok(&many));
        }
    }

    #[test]
    fn features_that_are_missing_or_no_numbers_have_an_answer() {
        let nodes =
            vec![Node::Split { feature: 1, below: 8.0, then: 1, otherwise: 2 }, Node::Choose(0), Node::Choose(1)];
        let tree = DecisionTree::new(nodes, 2, 2).unwrap();
        assert_eq!((tree.choose(&[0.0, 4.0]), tree.choose(&[0.0, f64::NAN]), tree.choose(&[])), (0, 1, 1));
    }

    #[test]
    fn nodes_that_make_no_tree_are_refused() {
        let split = |then| Node::Split { feature: 0, below: 1.0, then, otherwise: 1 };
        assert_eq!(DecisionTree::new(vec![], 1, 1), Err(TreeError::Empty));
        assert_eq!(DecisionTree::new(vec![split(0), Node::Choose(0)], 1, 1), Err(TreeError::Link { node: 0, to: 0 }));
        assert_eq!(DecisionTree::new(vec![split(9), Node::Choose(0)], 1, 1), Err(TreeError::Link { node: 0, to: 9 }));
        assert!(matches!(DecisionTree::new(vec![split(1), Node::Choose(0)], 0, 1), Err(TreeError::Feature { .. })));
        assert!(matches!(DecisionTree::new(vec![Node::Choose(1)], 1, 1), Err(TreeError::Member { .. })));
    }
}
