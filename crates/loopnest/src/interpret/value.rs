//! Values, and operations on them as a device computes them.

use super::half;
use crate::ir::{Function, Operator, Type};

/// The content of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A value of an integer type.
    Integer(i64),
    /// A value of a floating-point type. Half and single precision are kept rounded.
    Float(f64),
}

impl Value {
    /// Returns the value as a floating-point number.
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Integer(number) => number as f64,
            Value::Float(number) => number,
        }
    }

    /// Returns the value converted to a type, rounded as in C. A value is rounded to single precision
    /// before it is rounded to half precision.
    pub fn convert(self, to: Type) -> Value {
        match (self, to) {
            (value, Type::F16) => Value::Float(half::decoded(half::encoded(value.as_f64() as f32)).into()),
            (value, Type::F32) => Value::Float(f64::from(value.as_f64() as f32)),
            (value, Type::F64) => Value::Float(value.as_f64()),
            (Value::Integer(number), to) => Value::Integer(wrapped(number, to)),
            // C truncates to an integer. Beyond the type's range, it says nothing.
            (Value::Float(number), to) => Value::Integer(wrapped(number as i64, to)),
        }
    }
}

/// Returns the integer with the lowest bits of `number`, as many as the type has.
fn wrapped(number: i64, to: Type) -> i64 {
    match to {
        Type::I8 => i64::from(number as i8),
        Type::U8 => i64::from(number as u8),
        Type::I16 => i64::from(number as i16),
        Type::U16 => i64::from(number as u16),
        Type::I32 => i64::from(number as i32),
        Type::I64 | Type::F16 | Type::F32 | Type::F64 => number,
    }
}

/// Computes `left operator right` in `kind`.
///
/// Sums, products, quotients and roots are computed in double precision and then rounded. This
/// gives the result of single precision.
pub(super) fn binary(operator: Operator, kind: Type, left: Value, right: Value) -> Value {
    let exponent = right;
    let (left, right) = (left.convert(kind), right.convert(kind));
    let result = match (left, right) {
        (Value::Integer(one), Value::Integer(two)) => Value::Integer(match operator {
            Operator::Add => one.wrapping_add(two),
            Operator::Sub => one.wrapping_sub(two),
            Operator::Mul => one.wrapping_mul(two),
            Operator::Div => one.checked_div(two).unwrap_or(0),
            Operator::Pow => one.wrapping_pow(u32::try_from(two).unwrap_or(0)),
        }),
        _ => {
            let (one, two) = (left.as_f64(), right.as_f64());
            Value::Float(match operator {
                Operator::Add => one + two,
                Operator::Sub => one - two,
                Operator::Mul => one * two,
                Operator::Div => one / two,
                Operator::Pow => return power(kind, left, exponent),
            })
        }
    };
    result.convert(kind)
}

/// Computes a power. Powers with small integer exponents are products, rounded one by one as in
/// generated code.
fn power(kind: Type, base: Value, exponent: Value) -> Value {
    match exponent {
        Value::Integer(times @ 1..=8) => (1..times).fold(base, |product, _| binary(Operator::Mul, kind, product, base)),
        _ => Value::Float(base.as_f64().powf(exponent.convert(kind).as_f64())).convert(kind),
    }
}

/// Computes a function of its arguments in `kind`.
pub(super) fn call(function: Function, kind: Type, arguments: &[Value]) -> Value {
    let arguments: Vec<Value> = arguments.iter().map(|argument| argument.convert(kind)).collect();
    let x = arguments[0].as_f64();
    let pick = |first: bool| if first { arguments[0] } else { arguments[1] };
    match function {
        Function::Rsqrt => Value::Float(1.0 / x.sqrt()),
        Function::Sqrt => Value::Float(x.sqrt()),
        Function::Exp => Value::Float(x.exp()),
        Function::Log => Value::Float(x.ln()),
        Function::Sin => Value::Float(x.sin()),
        Function::Cos => Value::Float(x.cos()),
        Function::Tanh => Value::Float(x.tanh()),
        Function::Abs => match arguments[0] {
            Value::Integer(number) => Value::Integer(number.wrapping_abs()),
            Value::Float(number) => Value::Float(number.abs()),
        },
        // As `fmin` and `fmax`: a number, if the other argument is none.
        Function::Min => pick(x <= arguments[1].as_f64() || arguments[1].as_f64().is_nan()),
        Function::Max => pick(x >= arguments[1].as_f64() || arguments[1].as_f64().is_nan()),
        Function::Select(comparison) => {
            let holds = match (arguments[0], arguments[1]) {
                (Value::Integer(one), Value::Integer(other)) => comparison.holds(&one, &other),
                (one, other) => comparison.holds(&one.as_f64(), &other.as_f64()),
            };
            arguments[if holds { 2 } else { 3 }]
        }
    }
    .convert(kind)
}
