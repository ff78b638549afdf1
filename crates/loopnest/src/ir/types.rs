//! The type in which an operation is computed.

use super::expr::{Expr, Type};
use super::nest::Nest;

/// The type of an expression without its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    /// A sum of integers. It takes any type.
    Integer,
    /// A number with a decimal point. It takes any floating-point type.
    Float,
    /// The type of a cell in the expression.
    Typed(Type),
}

impl Own {
    fn join(self, other: Own) -> Own {
        match (self, other) {
            (Own::Typed(one), Own::Typed(two)) => Own::Typed(one.join(two)),
            (Own::Typed(one), Own::Integer) | (Own::Integer, Own::Typed(one)) => Own::Typed(one),
            (Own::Typed(one), Own::Float) | (Own::Float, Own::Typed(one)) if one.is_float() => Own::Typed(one),
            (Own::Integer, Own::Integer) => Own::Integer,
            _ => Own::Float,
        }
    }

    fn in_context(self, context: Type) -> Type {
        match self {
            Own::Typed(known) => known,
            Own::Integer if context.is_float() => Type::I32,
            Own::Integer => context.promoted(),
            Own::Float if !context.is_float() => Type::F32,
            Own::Float => context.promoted(),
        }
    }

    /// Returns the type of an operation on such values.
    fn promoted(self) -> Own {
        if let Own::Typed(known) = self { Own::Typed(known.promoted()) } else { self }
    }
}

fn own(nest: &Nest, expr: &Expr) -> Own {
    match expr {
        Expr::Index(_) => Own::Integer,
        Expr::Number(_) => Own::Float,
        Expr::Load(access, _) => Own::Typed(nest.array(access.array).element),
        Expr::Neg(inner) => own(nest, inner).promoted(),
        // Division and powers are computed in floating point. With an integer exponent, the base
        // decides the type.
        Expr::Binary(super::Operator::Div, left, right) => {
            own(nest, left).join(own(nest, right)).join(Own::Float).promoted()
        }
        Expr::Binary(_, left, right) => own(nest, left).join(own(nest, right)).promoted(),
        Expr::Call(
            super::Function::Abs | super::Function::Min | super::Function::Max | super::Function::Select(_),
            arguments,
        ) => arguments.iter().map(|argument| own(nest, argument)).reduce(Own::join).unwrap_or(Own::Float).promoted(),
        Expr::Call(_, arguments) => {
            arguments.iter().fold(Own::Float, |joined, argument| joined.join(own(nest, argument))).promoted()
        }
    }
}

/// Returns the type in which the outermost operation of `expr` is computed: see
/// [`Nest::operation_type`].
pub(super) fn operation_type(nest: &Nest, expr: &Expr, context: Type) -> Type {
    own(nest, expr).in_context(context)
}

/// Returns the type from which the value of `expr` is converted where it is wanted as `to`, or `None`
/// if it needs no conversion at run time. Numbers have any type. So do sums that depend on no loop,
/// and sums that are wanted as integers.
pub(super) fn converted_from(nest: &Nest, expr: &Expr, to: Type) -> Option<Type> {
    match expr {
        Expr::Number(_) => None,
        Expr::Index(sum) => (to.is_float() && nest.loops_of(sum).next().is_some()).then_some(Type::I32),
        _ => Some(operation_type(nest, expr, to)).filter(|own| *own != to),
    }
}
