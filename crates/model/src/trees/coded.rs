//! Shallow trees over bytes. Every question of a tree is asked of many rows at once, by
//! instructions that work on many bytes.

use super::flat::LANES;
use super::tree::{Node, Test, Tree};
use crate::table::{Column, Kind};

/// Maximum depth. Deeper trees ask more questions of every row than a walk does.
const DEEPEST: usize = 6;

/// The code of a missing value.
const MISSING: u8 = u8::MAX;

/// Trees whose questions compare bytes, and the coding of numbers as bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Coded {
    columns: Vec<Coding>,
    trees: Vec<CodedTree>,
}

/// The rule that codes the numbers of a column as bytes.
#[derive(Clone, Debug, PartialEq)]
enum Coding {
    /// Codes a number as the number of thresholds below it. The thresholds are sorted, and infinity
    /// fills the rest. Their number has `digits` binary digits.
    Thresholds { sorted: Box<[f64; 256]>, digits: u8 },
    /// Codes a level as itself.
    Level,
}

/// A complete binary tree. Node `2 i + 1` follows node `i` for a yes, node `2 i + 2` for a no.
#[derive(Clone, Debug, PartialEq)]
struct CodedTree {
    depth: usize,
    questions: Vec<Question>,
    /// The value of each leaf, those of a yes first.
    values: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq)]
enum Question {
    /// Answers no if `code + shift > limit`, as bytes that wrap around. `shift` is 1 if missing
    /// values go with the yes.
    Above { column: usize, shift: u8, limit: u8 },
    /// Holds, for each code, all bits set if the answer is no.
    Outside { column: usize, no: Box<[u8; 256]> },
}

/// A byte for each row of a block.
pub(super) type Bytes = [u8; LANES];

/// The working memory for a block of rows.
#[derive(Debug)]
pub(super) struct Scratch {
    codes: Vec<Bytes>,
    ways: [Bytes; 1 << (DEEPEST - 1)],
}

impl Coded {
    /// Returns the trees over `columns`. Returns `None` if bytes cannot tell their questions apart,
    /// or if a tree is too deep.
    pub(super) fn new(trees: &[Tree], columns: &[Column]) -> Option<Self> {
        if trees.iter().any(|tree| tree.depth() > DEEPEST) {
            return None;
        }
        let thresholds = thresholds(trees, columns.len());
        let coding = |(column, sorted): (&Column, &Vec<f64>)| match &column.kind {
            Kind::Ordinal => Coding::thresholds(sorted),
            Kind::Categorical(levels) => (levels.len() < usize::from(MISSING)).then_some(Coding::Level),
        };
        let codings = columns.iter().zip(&thresholds).map(coding).collect::<Option<_>>()?;
        let trees = trees.iter().map(|tree| CodedTree::new(tree, &thresholds)).collect();
        Some(Self { columns: codings, trees })
    }

    pub(super) fn scratch(&self) -> Scratch {
        Scratch { codes: vec![[0; LANES]; self.columns.len()], ways: [[0; LANES]; 1 << (DEEPEST - 1)] }
    }

    /// Passes the values of each tree for the rows of `block` to `add`, tree by tree.
    pub(super) fn each(&self, block: &[[f64; LANES]], scratch: &mut Scratch, mut add: impl FnMut(&[f64; LANES])) {
        for ((coding, values), codes) in self.columns.iter().zip(block).zip(&mut scratch.codes) {
            coding.encode(values, codes);
        }
        for tree in &self.trees {
            let leaves = tree.leaves(&scratch.codes, &mut scratch.ways);
            let mut values = [0.0; LANES];
            for (value, leaf) in values.iter_mut().zip(leaves) {
                *value = tree.values[usize::from(leaf)];
            }
            add(&values);
        }
    }
}

/// Returns the thresholds of each column in the trees, ascending.
fn thresholds(trees: &[Tree], columns: usize) -> Vec<Vec<f64>> {
    let mut all = vec![Vec::new(); columns];
    for node in trees.iter().flat_map(|tree| &tree.nodes) {
        if let Node::Split { column, test: Test::AtMost(threshold), .. } = node {
            all[*column].push(*threshold + 0.0);
        }
    }
    for sorted in &mut all {
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.dedup();
    }
    all
}

impl Coding {
    fn thresholds(sorted: &[f64]) -> Option<Self> {
        let mut filled = Box::new([f64::INFINITY; 256]);
        filled.get_mut(..sorted.len())?.copy_from_slice(sorted);
        let codes = sorted.len() + 1;
        (codes <= usize::from(MISSING))
            .then(|| Self::Thresholds { sorted: filled, digits: codes.next_power_of_two().trailing_zeros() as u8 })
    }

    fn encode(&self, values: &[f64; LANES], codes: &mut Bytes) {
        match self {
            Self::Thresholds { sorted, digits } => {
                *codes = [0; LANES];
                // A binary search digit by digit, without a jump that a processor could mispredict.
                for digit in (0..*digits).rev() {
                    let middle = (1 << digit) - 1;
                    for (code, value) in codes.iter_mut().zip(values) {
                        *code |= u8::from(*value > sorted[usize::from(*code + middle)]) << digit;
                    }
                }
                for (code, value) in codes.iter_mut().zip(values) {
                    *code |= if value.is_nan() { MISSING } else { 0 };
                }
            }
            Self::Level => {
                for (code, value) in codes.iter_mut().zip(values) {
                    *code = if value.is_nan() { MISSING } else { *value as u8 };
                }
            }
        }
    }
}

impl CodedTree {
    fn new(tree: &Tree, thresholds: &[Vec<f64>]) -> Self {
        let depth = tree.depth();
        let inner = (1 << depth) - 1;
        // Below a leaf that is not at the bottom, all answers lead to its value.
        let always = Question::Above { column: 0, shift: 0, limit: u8::MAX };
        let mut coded = Self { depth, questions: vec![always; inner], values: vec![0.0; inner + 1] };
        coded.place(tree, 0, 0, depth, thresholds);
        coded
    }

    /// Places the node `from` of `tree`, with `below` levels under it, at `to`.
    fn place(&mut self, tree: &Tree, from: usize, to: usize, below: usize, thresholds: &[Vec<f64>]) {
        match &tree.nodes[from] {
            Node::Leaf { value, .. } => {
                let first = ((to + 1) << below) - (1 << self.depth);
                self.values[first..first + (1 << below)].fill(*value);
            }
            Node::Split { column, test, missing, yes, .. } => {
                self.questions[to] = Question::new(*column, test, *missing, &thresholds[*column]);
                self.place(tree, *yes, 2 * to + 1, below - 1, thresholds);
                self.place(tree, yes + 1, 2 * to + 2, below - 1, thresholds);
            }
        }
    }

    /// Returns the leaf of each row. From the bottom up, each question chooses between the leaves
    /// of its sides.
    fn leaves(&self, codes: &[Bytes], ways: &mut [Bytes; 1 << (DEEPEST - 1)]) -> Bytes {
        let Some(above) = self.depth.checked_sub(1) else { return [0; LANES] };
        let bottom = &self.questions[(1 << above) - 1..];
        for (index, (question, way)) in bottom.iter().zip(ways.iter_mut()).enumerate() {
            let no = question.no(codes);
            for (leaf, no) in way.iter_mut().zip(no) {
                *leaf = (2 * index) as u8 | (no & 1);
            }
        }
        for level in (0..above).rev() {
            for index in 0..1 << level {
                let no = self.questions[(1 << level) - 1 + index].no(codes);
                let (yes_leaves, no_leaves) = (ways[2 * index], ways[2 * index + 1]);
                for lane in 0..LANES {
                    let (yes, other) = (yes_leaves[lane], no_leaves[lane]);
                    ways[index][lane] = yes ^ ((yes ^ other) & no[lane]);
                }
            }
        }
        ways[0]
    }
}

impl Question {
    fn new(column: usize, test: &Test, missing: bool, sorted: &[f64]) -> Self {
        match test {
            Test::AtMost(threshold) => {
                let shift = u8::from(missing);
                let below = sorted.partition_point(|known| known < threshold) as u8;
                Self::Above { column, shift, limit: below + shift }
            }
            Test::OneOf(levels) => {
                let mut no = Box::new([u8::MAX; 256]);
                levels.iter().filter(|level| **level < usize::from(MISSING)).for_each(|level| no[*level] = 0);
                no[usize::from(MISSING)] = if missing { 0 } else { u8::MAX };
                Self::Outside { column, no }
            }
        }
    }

    /// Returns all bits set for the rows whose answer is no.
    fn no(&self, codes: &[Bytes]) -> Bytes {
        let mut answers = [0; LANES];
        match self {
            Self::Above { column, shift, limit } => {
                for (answer, code) in answers.iter_mut().zip(&codes[*column]) {
                    *answer = if code.wrapping_add(*shift) > *limit { u8::MAX } else { 0 };
                }
            }
            Self::Outside { column, no } => {
                for (answer, code) in answers.iter_mut().zip(&codes[*column]) {
                    *answer = no[usize::from(*code)];
                }
            }
        }
        answers
    }
}
