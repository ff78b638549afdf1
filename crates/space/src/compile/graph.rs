//! Conditions as a graph of shared terms, with the known range of each term's values.
//!
//! Equal terms are one node: `bsx * bsy` in two constraints is computed, and carried, once. Every
//! value is one 64-bit cell. Whole numbers and truth values are stored as they are, floats by their
//! bits, and all other values by their number in [`Data`]. If the range of a term of whole numbers
//! is known to fit, machine arithmetic computes it. Every other term stays a piece of tree. The
//! evaluator of expressions, which defines the meaning, computes it.

use crate::hash::Map;
use std::cell::Cell;
use std::rc::Rc;

use super::cell::{Class, float_cell};
use super::data::Data;
use super::range;
use crate::bits::Bits;
use crate::expr::Node;
use crate::limits::{Bounds, Limits};

/// The number of a term in its graph. Terms come after their operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(pub(crate) u32);

/// The operation that makes a term from its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Op {
    /// A constant whole number.
    Constant(i64),
    /// A constant float, by its bits.
    FloatConstant(i64),
    /// A constant value of [`Data`].
    DatumConstant(i64),
    /// The value of the parameter at this place of the group.
    Parameter(u32),
    // Whole numbers and truth values.
    Sum,
    Product,
    Min,
    Max,
    And,
    Or,
    Not,
    FloorDivide,
    Modulo,
    LessEqual,
    Equal,
    /// The set that holds only the first operand, as a mask that begins with the second.
    Bit,
    Union,
    /// True if two sets have no common member.
    Disjoint,
    /// The second operand if the first is not zero, else the third. The operands may be of any
    /// class.
    Select,
    // Floats.
    ToFloat,
    FloatAdd,
    FloatSubtract,
    FloatMultiply,
    FloatDivide,
    FloatModulo,
    FloatFloorDivide,
    FloatLess,
    FloatLessEqual,
    FloatEqual,
    /// A piece of tree over the operands, by its number in [`Graph::trees`].
    Tree(u32),
}

/// A node of the graph.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) op: Op,
    pub(crate) args: Vec<Id>,
    pub(crate) class: Class,
    /// True if the cell may be [`ERROR`](super::cell::ERROR).
    pub(crate) fallible: bool,
    /// The parameters that the term depends on, by place in the group.
    pub(crate) parameters: Bits,
}

/// The number of an absent operand. No term has it.
const ABSENT: Id = Id(u32::MAX);

/// Terms over the parameters of one group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    terms: Vec<Term>,
    /// The terms with up to three operands, absent ones as [`ABSENT`]. `known_long` holds the terms
    /// with more.
    known: Map<(Op, [Id; 3]), Id>,
    known_long: Map<(Op, Vec<Id>), Id>,
    /// Pieces of tree. Their names are operand numbers.
    trees: Vec<Node>,
    /// Values that are neither whole numbers nor floats.
    pub(crate) data: Data,
    /// The steps that are left.
    pub(crate) steps: Steps,
}

/// The steps that the construction of a group may still take. Clones share them. None is left once the construction
/// is cancelled.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    left: Rc<Cell<u64>>,
    bounds: Bounds,
}

impl Steps {
    /// Allows the steps of `bounds`.
    pub(crate) fn new(bounds: &Bounds) -> Self {
        Steps { left: Rc::new(Cell::new(bounds.limits.steps)), bounds: bounds.clone() }
    }

    /// Takes `steps`.
    pub(crate) fn spend(&self, steps: u64) {
        self.left.set(self.left.get().saturating_sub(steps));
    }

    /// Returns true if no step is left.
    pub(crate) fn are_spent(&self) -> bool {
        self.left.get() == 0 || self.bounds.is_cancelled()
    }
}

impl Default for Steps {
    fn default() -> Self {
        Self::new(&Limits { steps: u64::MAX, ..Limits::default() }.into())
    }
}

impl Graph {
    pub(crate) fn term(&self, id: Id) -> &Term {
        &self.terms[id.0 as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.terms.len()
    }

    pub(crate) fn tree(&self, index: u32) -> &Node {
        &self.trees[index as usize]
    }

    /// Returns the cell of a constant.
    pub(crate) fn constant_of(&self, id: Id) -> Option<i64> {
        match self.term(id).op {
            Op::Constant(cell) | Op::FloatConstant(cell) | Op::DatumConstant(cell) => Some(cell),
            _ => None,
        }
    }

    /// Returns the range of a term of whole numbers.
    pub(crate) fn int_range(&self, id: Id) -> Option<(i64, i64)> {
        match self.term(id).class {
            Class::Int(low, high) => Some((low, high)),
            Class::Float(..) | Class::Datum => None,
        }
    }

    /// Returns the parameter at a place of the group. Its values have the class `class`.
    pub(crate) fn parameter(&mut self, place: usize, places: usize, class: Class) -> Id {
        let mut parameters = Bits::new(places);
        parameters.insert(place);
        let term = Term { op: Op::Parameter(place as u32), args: Vec::new(), class, fallible: false, parameters };
        self.insert(term)
    }

    /// Returns the constant with the cell `cell`.
    pub(crate) fn constant(&mut self, cell: i64, class: Class) -> Id {
        // Equal cells of different classes are different constants.
        let op = match class {
            Class::Int(..) => Op::Constant(cell),
            Class::Float(..) => Op::FloatConstant(cell),
            Class::Datum => Op::DatumConstant(cell),
        };
        self.insert(Term { op, args: Vec::new(), class, fallible: false, parameters: Bits::default() })
    }

    /// Returns the constant whole number `value`.
    pub(crate) fn int(&mut self, value: i64) -> Id {
        self.constant(value, Class::Int(value, value))
    }

    /// Returns the constant float `value`.
    pub(crate) fn float(&mut self, value: f64) -> Id {
        self.constant(float_cell(value), Class::Float(value, value))
    }

    /// Returns `op` applied to `args`, whose classes must suit it. Returns `None` if the result is
    /// not known to fit into a cell. A result with only one possible value becomes a constant.
    pub(crate) fn apply(&mut self, op: Op, args: &[Id]) -> Option<Id> {
        if let Some(known) = self.find(op, args) {
            return Some(known);
        }
        let class = range::class(self, op, args)?;
        let fallible = range::fails(self, op, args) || args.iter().any(|&arg| self.term(arg).fallible);
        match class {
            Class::Int(low, high) if low == high && !fallible => return Some(self.int(low)),
            _ => {}
        }
        Some(self.raw(op, args, class, fallible))
    }

    /// Returns a piece of tree applied to `args`. Every name in it is the number of an operand.
    pub(crate) fn apply_tree(&mut self, tree: Node, args: &[Id], class: Class) -> Id {
        self.trees.push(tree);
        let op = Op::Tree(self.trees.len() as u32 - 1);
        self.raw(op, args, class, true)
    }

    /// Returns the piece of tree of `id`, applied to other operands of the same classes.
    pub(crate) fn again(&mut self, id: Id, args: &[Id]) -> Id {
        let Term { op, class, fallible, .. } = *self.term(id);
        self.raw(op, args, class, fallible)
    }

    fn raw(&mut self, op: Op, args: &[Id], class: Class, fallible: bool) -> Id {
        let mut parameters = Bits::new(0);
        args.iter().for_each(|&arg| parameters.union(&self.terms[arg.0 as usize].parameters));
        self.insert(Term { op, args: args.to_vec(), class, fallible, parameters })
    }

    fn insert(&mut self, term: Term) -> Id {
        let next = Id(self.terms.len() as u32);
        let id = match short(&term.args) {
            Some(args) => *self.known.entry((term.op, args)).or_insert(next),
            None => *self.known_long.entry((term.op, term.args.clone())).or_insert(next),
        };
        if id == next {
            self.terms.push(term);
        }
        id
    }

    fn find(&self, op: Op, args: &[Id]) -> Option<Id> {
        match short(args) {
            Some(args) => self.known.get(&(op, args)).copied(),
            None => self.known_long.get(&(op, args.to_vec())).copied(),
        }
    }
}

/// Packs up to three operands into a key of fixed size. Returns `None` if there are more.
fn short(args: &[Id]) -> Option<[Id; 3]> {
    let mut key = [ABSENT; 3];
    key.get_mut(..args.len())?.copy_from_slice(args);
    Some(key)
}
