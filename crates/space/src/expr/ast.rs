//! The tree of an expression.

use std::ops::Range;

use super::builtin::Builtin;
use super::closure::Closure;
use super::datum::Datum;
use super::operator::{BinaryOp, CompareOp, UnaryOp};

/// A part of an expression and its range in the text.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
    /// The number of tree levels below and including this part. The parser bounds it, so walks may
    /// recurse.
    pub(crate) height: usize,
}

impl Node {
    pub(crate) fn new(kind: Kind, span: Range<usize>) -> Node {
        let mut height = 0;
        kind.each_child(&mut |child| height = height.max(child.height));
        Node { kind, span, height: height + 1 }
    }
}

impl Node {
    /// Returns true if the value is a computed number, or if the node joins conditions and one of
    /// them is.
    pub(super) fn is_number(&self) -> bool {
        match &self.kind {
            Kind::Binary(BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor, left, right) => {
                left.is_number() || right.is_number()
            }
            Kind::And(parts) | Kind::Or(parts) => parts.iter().any(Node::is_number),
            Kind::Unary(..) | Kind::Binary(..) => true,
            Kind::Call(function, _) => !matches!(
                function,
                Builtin::Bool | Builtin::Any | Builtin::All | Builtin::Range | Builtin::List | Builtin::Set
            ),
            _ => false,
        }
    }
}

/// The kind of a part of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Literal(Datum),
    /// An index into the expression's names.
    Name(usize),
    /// The variable of an enclosing comprehension, counted from the outermost.
    Local(usize),
    Unary(UnaryOp, Box<Node>),
    Binary(BinaryOp, Box<Node>, Box<Node>),
    /// `a < b <= c`: the first operand, then each operator with its operand.
    Compare(Box<Node>, Vec<(CompareOp, Node)>),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Conditional(Box<Conditional>),
    List(Vec<Node>),
    Call(Builtin, Vec<Node>),
    Closure(Closure, Vec<Node>),
    Comprehension(Box<Comprehension>),
}

impl Kind {
    /// Calls `visit` on every direct part. The parts come in the order of the text if Python
    /// evaluates them in that order.
    pub(crate) fn each_child<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        match self {
            Kind::Literal(_) | Kind::Name(_) | Kind::Local(_) => {}
            Kind::Unary(_, operand) | Kind::Not(operand) => visit(operand),
            Kind::Binary(_, left, right) => {
                visit(left);
                visit(right);
            }
            Kind::Compare(first, rest) => {
                visit(first);
                rest.iter().for_each(|(_, operand)| visit(operand));
            }
            Kind::And(parts) | Kind::Or(parts) | Kind::List(parts) | Kind::Call(_, parts) | Kind::Closure(_, parts) => {
                parts.iter().for_each(visit);
            }
            Kind::Conditional(parts) => {
                visit(&parts.condition);
                visit(&parts.then);
                visit(&parts.otherwise);
            }
            Kind::Comprehension(parts) => {
                visit(&parts.source);
                visit(&parts.item);
                parts.condition.iter().for_each(visit);
            }
        }
    }
}

impl Kind {
    /// Returns the same kind with `map` applied to every direct part.
    pub(crate) fn map_children(&self, map: &mut dyn FnMut(&Node) -> Node) -> Kind {
        match self {
            Kind::Literal(_) | Kind::Name(_) | Kind::Local(_) => self.clone(),
            Kind::Unary(op, operand) => Kind::Unary(*op, Box::new(map(operand))),
            Kind::Not(operand) => Kind::Not(Box::new(map(operand))),
            Kind::Binary(op, left, right) => Kind::Binary(*op, Box::new(map(left)), Box::new(map(right))),
            Kind::Compare(first, rest) => {
                Kind::Compare(Box::new(map(first)), rest.iter().map(|(op, operand)| (*op, map(operand))).collect())
            }
            Kind::And(parts) => Kind::And(parts.iter().map(map).collect()),
            Kind::Or(parts) => Kind::Or(parts.iter().map(map).collect()),
            Kind::List(parts) => Kind::List(parts.iter().map(map).collect()),
            Kind::Call(builtin, parts) => Kind::Call(*builtin, parts.iter().map(map).collect()),
            Kind::Closure(closure, parts) => Kind::Closure(closure.clone(), parts.iter().map(map).collect()),
            Kind::Conditional(parts) => Kind::Conditional(Box::new(Conditional {
                condition: map(&parts.condition),
                then: map(&parts.then),
                otherwise: map(&parts.otherwise),
            })),
            Kind::Comprehension(parts) => Kind::Comprehension(Box::new(Comprehension {
                item: map(&parts.item),
                source: map(&parts.source),
                condition: parts.condition.as_ref().map(map),
            })),
        }
    }
}

/// `then if condition else otherwise`.
#[derive(Clone, Debug)]
pub(crate) struct Conditional {
    pub(crate) condition: Node,
    pub(crate) then: Node,
    pub(crate) otherwise: Node,
}

/// `[item for variable in source if condition]`.
#[derive(Clone, Debug)]
pub(crate) struct Comprehension {
    pub(crate) item: Node,
    pub(crate) source: Node,
    pub(crate) condition: Option<Node>,
}
