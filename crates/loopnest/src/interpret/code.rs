//! Expressions that are ready to run: the types of their operations are found once.

use super::value::{Value, binary, call};
use crate::error::{NestError, Place};
use crate::ir::{Access, Affine, Expr, Function, Nest, Operation, Operator, Type};

/// An expression ready to run.
pub(super) enum Code {
    Index(Affine),
    Number(f64),
    Load(Access, Option<Place>),
    Neg(Box<Code>),
    Binary(Operator, Type, Box<Code>, Box<Code>),
    Call(Function, Type, Vec<Code>),
    Convert { from: Type, to: Type, inner: Box<Code> },
}

/// The machine on which code runs.
pub(super) trait Machine {
    fn index(&self, sum: &Affine) -> i128;
    fn load(&mut self, access: &Access) -> Result<Value, NestError>;
    fn count(&mut self, operation: Operation, kind: Type);
}

impl Code {
    /// Returns the code that computes `expr` as a value of type `context`.
    pub(super) fn new(nest: &Nest, expr: &Expr, context: Type) -> Self {
        let own = Code::unconverted(nest, expr, context);
        match nest.converted_from(expr, context) {
            Some(from) => Code::Convert { from, to: context, inner: Box::new(own) },
            None => own,
        }
    }

    fn unconverted(nest: &Nest, expr: &Expr, context: Type) -> Self {
        let kind = nest.operation_type(expr, context);
        let part = |part: &Expr| Code::new(nest, part, kind);
        match expr {
            Expr::Index(sum) => Code::Index(sum.clone()),
            Expr::Number(number) => Code::Number(*number),
            Expr::Load(access, place) => Code::Load(access.clone(), *place),
            Expr::Neg(inner) => Code::Neg(Box::new(part(inner))),
            Expr::Binary(operator, left, right) => {
                Code::Binary(*operator, kind, Box::new(part(left)), Box::new(part(right)))
            }
            Expr::Call(function, arguments) => Code::Call(*function, kind, arguments.iter().map(part).collect()),
        }
    }

    pub(super) fn run(&self, machine: &mut impl Machine) -> Result<Value, NestError> {
        Ok(match self {
            Code::Index(sum) => Value::Integer(machine.index(sum) as i64),
            Code::Number(number) => Value::Float(*number),
            Code::Load(access, place) => machine.load(access).map_err(|error| error.at(*place))?,
            Code::Neg(inner) => match inner.run(machine)? {
                Value::Integer(number) => Value::Integer(number.wrapping_neg()),
                Value::Float(number) => Value::Float(-number),
            },
            Code::Binary(operator, kind, left, right) => {
                let (left, right) = (left.run(machine)?, right.run(machine)?);
                machine.count(Operation::of(*operator), *kind);
                binary(*operator, *kind, left, right)
            }
            Code::Convert { from, to, inner } => {
                let value = inner.run(machine)?;
                machine.count(Operation::Convert(*from), *to);
                value.convert(*to)
            }
            Code::Call(function, kind, arguments) => {
                let arguments =
                    arguments.iter().map(|argument| argument.run(machine)).collect::<Result<Vec<_>, _>>()?;
                machine.count(Operation::of_function(*function), *kind);
                call(*function, *kind, &arguments)
            }
        })
    }
}
