//! Subscripts: C's indices as one affine sum for each axis.

use crate::Finding;
use crate::source::{Source, parts};
use crate::sum::Sum;
use std::collections::BTreeMap;
use tree_sitter::Node;

/// The meaning of names in integer expressions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Integers {
    /// The value of each name that stands for an integer: sizes, loops, constants, and variables
    /// that are set once.
    pub(crate) known: BTreeMap<String, Sum>,
}

impl Integers {
    /// Returns the value of an integer expression.
    ///
    /// # Errors
    ///
    /// Fails with the place of the part that is no sum or product of known integers.
    pub(crate) fn sum(&self, source: &Source<'_>, node: Node<'_>) -> Result<Sum, Finding> {
        let field = |name: &str| node.child_by_field_name(name);
        match node.kind() {
            "parenthesized_expression" => match parts(node)[..] {
                [inner] => self.sum(source, inner),
                _ => Err(self.refused(source, node)),
            },
            "number_literal" => {
                let digits = source.of(node).trim_end_matches(['u', 'U', 'l', 'L']);
                digits.parse().map(Sum::constant).map_err(|_| self.refused(source, node))
            }
            "identifier" => {
                let known = self.known.get(source.of(node)).cloned();
                known.ok_or_else(|| {
                    let text = format!("`{}` is neither a size nor a loop", source.of(node));
                    let remedy =
                        "indices and bounds are sums of loops and of integer parameters that keep their values";
                    Finding::at(node, text, Some(remedy))
                })
            }
            "cast_expression" => {
                field("value").map_or_else(|| Err(self.refused(source, node)), |own| self.sum(source, own))
            }
            "unary_expression" => match (source.field(node, "operator"), field("argument")) {
                ("-", Some(own)) => {
                    Sum::default().minus(&self.sum(source, own)?).ok_or_else(|| too_large(source, node))
                }
                ("+", Some(own)) => self.sum(source, own),
                _ => Err(self.refused(source, node)),
            },
            "binary_expression" => {
                let (Some(left), Some(right)) = (field("left"), field("right")) else {
                    return Err(self.refused(source, node));
                };
                let operator = source.field(node, "operator");
                if !["+", "-", "*"].contains(&operator) {
                    return Err(self.refused(source, node));
                }
                let (left, right) = (self.sum(source, left)?, self.sum(source, right)?);
                let result = match operator {
                    "+" => left.plus(&right),
                    "-" => left.minus(&right),
                    _ => left.times(&right),
                };
                result.ok_or_else(|| too_large(source, node))
            }
            _ => Err(self.refused(source, node)),
        }
    }

    /// Returns the value of an expression without products of names.
    pub(crate) fn affine(&self, source: &Source<'_>, node: Node<'_>) -> Result<Sum, Finding> {
        let sum = self.sum(source, node)?;
        if sum.is_affine() { Ok(sum) } else { Err(self.refused(source, node)) }
    }

    fn refused(&self, source: &Source<'_>, node: Node<'_>) -> Finding {
        let text = format!("`{}` is not affine", source.snippet(node));
        let remedy = "indices and bounds are sums of loops and sizes, each times a whole number";
        Finding::at(node, text, Some(remedy))
    }

    /// Splits the index of a flat array: `(i*m + j)*l + k` into `i`, `j` and `k`, and the axes into
    /// `m` and `l`. `is_loop` tells loops from sizes.
    ///
    /// # Errors
    ///
    /// Fails with the place of a part that is not affine.
    pub(crate) fn flat(
        &self,
        source: &Source<'_>,
        node: Node<'_>,
        is_loop: &impl Fn(&str) -> bool,
    ) -> Result<(Vec<Sum>, Vec<Sum>), Finding> {
        let sum = self.sum(source, node)?;
        if sum.is_affine() {
            return Ok((vec![sum], Vec::new()));
        }
        let mut rest = Sum::default();
        let mut row: Option<(Node<'_>, Sum)> = None;
        for (term, is_negative) in summands(source, node) {
            match self.product(source, term, is_loop)? {
                Some(found) if row.is_none() && !is_negative => row = Some(found),
                Some(_) => {
                    let remedy =
                        "write an index with several axes as `(i*m + j)*l + k`, or declare the array with them";
                    return Err(Finding { remedy: Some(remedy.to_string()), ..self.refused(source, node) });
                }
                None => {
                    let own = self.sum(source, term)?;
                    let sum = if is_negative { rest.minus(&own) } else { rest.plus(&own) };
                    rest = sum.ok_or_else(|| too_large(source, node))?;
                }
            }
        }
        match row.filter(|_| rest.is_affine()) {
            Some((outer, stride)) if stride.is_affine() => {
                let (mut subscripts, mut axes) = self.flat(source, outer, is_loop)?;
                subscripts.push(rest);
                axes.push(stride);
                Ok((subscripts, axes))
            }
            _ => Err(self.refused(source, node)),
        }
    }

    /// Returns the factors of `row*stride`, where the stride is a sum of sizes that is not constant.
    fn product<'a>(
        &self,
        source: &Source<'_>,
        node: Node<'a>,
        is_loop: &impl Fn(&str) -> bool,
    ) -> Result<Option<(Node<'a>, Sum)>, Finding> {
        let node = inner(node);
        let sides = (node.child_by_field_name("left"), node.child_by_field_name("right"));
        let (Some(left), Some(right), "*") = (sides.0, sides.1, source.field(node, "operator")) else {
            return Ok(None);
        };
        if self.sum(source, node)?.is_affine() {
            return Ok(None);
        }
        for (row, stride) in [(left, right), (right, left)] {
            let stride = self.sum(source, stride)?;
            if stride.as_constant().is_none() && !stride.names().any(is_loop) {
                return Ok(Some((row, stride)));
            }
        }
        Err(self.refused(source, node))
    }
}

pub(crate) fn too_large(source: &Source<'_>, node: Node<'_>) -> Finding {
    let text = format!("`{}` has too many terms or numbers beyond 64 bits", source.snippet(node));
    Finding::at(node, text, None)
}

/// Returns the expression within parentheses.
pub(crate) fn inner(node: Node<'_>) -> Node<'_> {
    match (node.kind(), &parts(node)[..]) {
        ("parenthesized_expression", [inside]) => inner(*inside),
        _ => node,
    }
}

/// Returns the parts of a sum, each with true if it is subtracted.
fn summands<'a>(source: &Source<'_>, node: Node<'a>) -> Vec<(Node<'a>, bool)> {
    let node = inner(node);
    let sides = (node.child_by_field_name("left"), node.child_by_field_name("right"));
    let operator = source.field(node, "operator");
    match (sides, operator) {
        ((Some(left), Some(right)), "+" | "-") => {
            let flipped = |(part, is_negative): (Node<'a>, bool)| (part, is_negative != (operator == "-"));
            summands(source, left).into_iter().chain(summands(source, right).into_iter().map(flipped)).collect()
        }
        _ => vec![(node, false)],
    }
}
