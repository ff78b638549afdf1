//! Splits conditions into conjuncts. The smaller a conjunct, the earlier it excludes values.

use std::ops::Range;

use super::Conjunct;
use crate::expr::{Kind, Node};

/// Collects the parts of `node` that must all hold: operands of `and`, links of comparison chains,
/// and negated operands of a negated `or`.
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
        Kind::Not(operand) => split_negation(constraint, *operand, span, into),
        kind => push(constraint, Node { kind, span, height }, into),
    }
}

/// Collects the parts of `not operand`, whose range in the text is `span`.
fn split_negation(constraint: usize, operand: Node, span: Range<usize>, into: &mut Vec<Conjunct>) {
    match operand.kind {
        Kind::Not(inner) => split(constraint, *inner, into),
        Kind::Or(parts) => {
            for part in parts {
                let span = part.span.clone();
                split_negation(constraint, part, span, into);
            }
        }
        _ => push(constraint, Node::new(Kind::Not(Box::new(operand)), span), into),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;

    fn parts(text: &str) -> Vec<&str> {
        let mut conjuncts = Vec::new();
        split(0, Expr::parse(text).unwrap().root().clone(), &mut conjuncts);
        conjuncts.into_iter().map(|conjunct| &text[conjunct.node.span]).collect()
    }

    #[test]
    fn conjunctions_chains_and_negated_disjunctions_are_split() {
        assert_eq!(parts("a and b and (c and d)"), ["a", "b", "c", "d"]);
        assert_eq!(parts("1 <= a < b"), ["1 <= a", "a < b"]);
        assert_eq!(parts("not (a or not (b and c))"), ["a", "b", "c"]);
    }

    #[test]
    fn alternatives_stay_whole() {
        assert_eq!(parts("a or b and c"), ["a or b and c"]);
        assert_eq!(parts("not (a and b)"), ["not (a and b)"]);
    }
}
