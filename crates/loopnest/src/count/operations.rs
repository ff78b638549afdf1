//! The operations of an expression by kind and type.

use crate::ir::{Expr, Nest, Operation, Operator, Type};
use std::collections::BTreeMap;

/// Counts the floating-point operations and the conversions of an expression by kind and type.
pub(super) fn count_operations(
    nest: &Nest,
    expr: &Expr,
    context: Type,
    counts: &mut BTreeMap<(Operation, Type), i128>,
) {
    count_conversion(nest, expr, context, counts);
    let kind = nest.operation_type(expr, context);
    let operation = match expr {
        Expr::Binary(operator, ..) => Some(Operation::of(*operator)),
        Expr::Call(function, _) => Some(Operation::of_function(*function)),
        _ => None,
    };
    if let Some(operation) = operation.filter(|_| kind.is_float()) {
        *counts.entry((operation, kind)).or_default() += 1;
    }
    expr.children().into_iter().for_each(|child| count_operations(nest, child, kind, counts));
}

/// Counts the operations and the conversions of an expression by kind and type. Small powers count as
/// multiplications. A sum and one product among its parts count as one fused operation.
pub(super) fn count_arithmetic(
    nest: &Nest,
    expr: &Expr,
    context: Type,
    counts: &mut BTreeMap<(Operation, Type), i128>,
) {
    count_conversion(nest, expr, context, counts);
    let kind = nest.operation_type(expr, context);
    let is_fused = fused_part(nest, expr, kind).is_some();
    let own = if is_fused { Some((Operation::Fma, 1)) } else { Operation::outermost(expr) };
    if let Some((operation, times)) = own.filter(|(_, times)| *times > 0) {
        *counts.entry((operation, kind)).or_default() += times;
    }
    expr.children().into_iter().for_each(|child| count_arithmetic(nest, child, kind, counts));
    if is_fused {
        *counts.entry((Operation::Mul, kind)).or_default() -= 1;
        counts.retain(|_, times| *times != 0);
    }
}

/// Counts the conversion of the value of an expression to the type that is wanted.
fn count_conversion(nest: &Nest, expr: &Expr, to: Type, counts: &mut BTreeMap<(Operation, Type), i128>) {
    if let Some(from) = nest.converted_from(expr, to) {
        *counts.entry((Operation::Convert(from), to)).or_default() += 1;
    }
}

/// Returns the place of the product that is fused with a sum or difference, if one of its parts is a
/// product. All of today's processors and GPUs fuse them.
pub(super) fn fused_part(nest: &Nest, sum: &Expr, kind: Type) -> Option<usize> {
    let is_product = |part: &Expr| {
        let part = if let Expr::Neg(inner) = part { inner } else { part };
        let multiplies = matches!(Operation::outermost(part), Some((Operation::Mul, times)) if times > 0);
        multiplies && nest.operation_type(part, kind) == kind
    };
    match sum {
        Expr::Binary(Operator::Add | Operator::Sub, left, right) if kind.is_float() => {
            [left, right].into_iter().position(|part| is_product(part))
        }
        _ => None,
    }
}
