//! Splitting conditions into conjuncts: the more and the smaller, the earlier each excludes something.

use super::Conjunct;
use crate::expr::{Kind, Node};

/// The parts of `node` that must all hold for it to be true: operands of `and`, links of comparison chains, negated
/// operands of a negated `or`.
pub(super) fn split(constraint: usize, node: Node, into: &mut Vec<Conjunct>) {
    let Node { kind, span, height } = node;
    match kind {
        Kind::And(parts) => parts.into_iter().for_each(|part| split(constraint, part, into)),
        Kind::Compare(first, rest) if rest.len() > 1 => {
            let mut left = *first;
            for (op, right) in rest {
                let span = left.span.start..right.span.end;
                let link = Kind::Compare(Box::new(left), vec![(op, right.clone())]);
                split(constraint, Node::new(link, span), into);
                left = right;
            }
        }
        Kind::Not(operand) => split_negation(
            constraint,
            *operand,
            Node { kind: Kind::Literal(crate::expr::Datum::Bool(true)), span, height },
            into,
        ),
        kind => push(constraint, Node { kind, span, height }, into),
    }
}

fn split_negation(constraint: usize, operand: Node, whole: Node, into: &mut Vec<Conjunct>) {
    match operand.kind {
        Kind::Not(inner) => split(constraint, *inner, into),
        Kind::Or(parts) => parts.into_iter().for_each(|part| {
            let span = part.span.clone();
            split(constraint, Node::new(Kind::Not(Box::new(part)), span), into);
        }),
        _ => push(constraint, Node::new(Kind::Not(Box::new(operand)), whole.span), into),
    }
}

fn push(constraint: usize, node: Node, into: &mut Vec<Conjunct>) {
    let mut parameters = Vec::new();
    names(&node, &mut parameters);
    into.push(Conjunct { constraint, node, parameters });
}

fn names(node: &Node, into: &mut Vec<usize>) {
    match node.kind {
        Kind::Name(index) if !into.contains(&index) => into.push(index),
        _ => node.kind.each_child(&mut |child| names(child, into)),
    }
}
