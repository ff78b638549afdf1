//! Python's operators on [`Datum`]s, exact to the last bit.
//!
//! Integers have 128 bits. A result that does not fit is an error, never a wrong number.

use super::datum::Datum;
use super::datum::MAX_ELEMENTS;
use super::operator::{BinaryOp, UnaryOp};

/// The fault of an operation, with an optional remedy. The caller adds the position.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) remedy: Option<&'static str>,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Fault {
        Fault { message: message.into(), remedy: None }
    }

    pub(crate) fn remedy(self, remedy: &'static str) -> Fault {
        Fault { remedy: Some(remedy), ..self }
    }
}

const OVERFLOW: &str = "the result does not fit into 128 bits";
const ZERO: &str = "division by zero";
const GUARD: &str = "test the divisor first, as in `d != 0 and n % d == 0`";

/// Computes `left op right`.
pub(crate) fn binary(op: BinaryOp, left: &Datum, right: &Datum) -> Result<Datum, Fault> {
    match (op, left, right) {
        (BinaryOp::BitAnd, Datum::Bool(a), Datum::Bool(b)) => return Ok(Datum::Bool(a & b)),
        (BinaryOp::BitOr, Datum::Bool(a), Datum::Bool(b)) => return Ok(Datum::Bool(a | b)),
        (BinaryOp::BitXor, Datum::Bool(a), Datum::Bool(b)) => return Ok(Datum::Bool(a ^ b)),
        (BinaryOp::Add, Datum::Str(a), Datum::Str(b)) => {
            return Ok(Datum::Str(format!("{a}{b}").into()));
        }
        (BinaryOp::Add, Datum::List(a), Datum::List(b)) => {
            return Ok(Datum::List(a.iter().chain(b.iter()).cloned().collect()));
        }
        (BinaryOp::Multiply, Datum::Str(_) | Datum::List(_), _) => return repeat(left, right),
        (BinaryOp::Multiply, _, Datum::Str(_) | Datum::List(_)) => return repeat(right, left),
        _ => {}
    }
    match (left.arithmetic(), right.arithmetic()) {
        (Datum::Int(a), Datum::Int(b)) => integers(op, a, b),
        (Datum::Int(a), Datum::Float(b)) => floats(op, a as f64, b),
        (Datum::Float(a), Datum::Int(b)) => floats(op, a, b as f64),
        (Datum::Float(a), Datum::Float(b)) => floats(op, a, b),
        _ => Err(mismatch(op, left, right)),
    }
}

fn mismatch(op: BinaryOp, left: &Datum, right: &Datum) -> Fault {
    let (left, right) = (left.type_name(), right.type_name());
    Fault::new(format!("`{}` does not work between {left} and {right}", op.symbol()))
}

/// Repeats a string or list `times` times. A negative number counts as zero.
fn repeat(value: &Datum, times: &Datum) -> Result<Datum, Fault> {
    let Datum::Int(times) = times.arithmetic() else { return Err(mismatch(BinaryOp::Multiply, value, times)) };
    let times = usize::try_from(times.max(0)).unwrap_or(usize::MAX);
    let fits = |length: usize| length.checked_mul(times).is_some_and(|length| length <= MAX_ELEMENTS);
    match value {
        Datum::Str(text) if fits(text.len()) => {
            Ok(Datum::Str(text.repeat(if text.is_empty() { 0 } else { times }).into()))
        }
        Datum::List(items) if fits(items.len()) => {
            let times = if items.is_empty() { 0 } else { times };
            Ok(Datum::List(std::iter::repeat_n(&items[..], times).flatten().cloned().collect()))
        }
        _ => Err(Fault::new(format!("the result of `*` has more than {MAX_ELEMENTS} elements"))),
    }
}

/// Computes `op operand`.
pub(crate) fn unary(op: UnaryOp, operand: &Datum) -> Result<Datum, Fault> {
    match (op, operand.arithmetic()) {
        (UnaryOp::Plus, value @ (Datum::Int(_) | Datum::Float(_))) => Ok(value),
        (UnaryOp::Minus, Datum::Int(value)) => value.checked_neg().map(Datum::Int).ok_or_else(|| Fault::new(OVERFLOW)),
        (UnaryOp::Minus, Datum::Float(value)) => Ok(Datum::Float(-value)),
        (UnaryOp::Invert, Datum::Int(value)) => Ok(Datum::Int(!value)),
        _ => Err(Fault::new(format!("a sign or `~` does not work on {}", operand.type_name()))),
    }
}

fn integers(op: BinaryOp, a: i128, b: i128) -> Result<Datum, Fault> {
    let fits = |value: Option<i128>| value.map(Datum::Int).ok_or_else(|| Fault::new(OVERFLOW));
    match op {
        BinaryOp::Add => fits(a.checked_add(b)),
        BinaryOp::Subtract => fits(a.checked_sub(b)),
        BinaryOp::Multiply => fits(a.checked_mul(b)),
        BinaryOp::Divide => nonzero(b).map(|b| Datum::Float(true_division(a, b))),
        BinaryOp::FloorDivide => fits(floor_division(a, nonzero(b)?)),
        BinaryOp::Modulo => Ok(Datum::Int(floor_modulo(a, nonzero(b)?))),
        BinaryOp::Power => power(a, b),
        BinaryOp::BitAnd => Ok(Datum::Int(a & b)),
        BinaryOp::BitOr => Ok(Datum::Int(a | b)),
        BinaryOp::BitXor => Ok(Datum::Int(a ^ b)),
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight if b < 0 => Err(Fault::new("a shift by a negative number")),
        BinaryOp::ShiftLeft => shift_left(a, b),
        BinaryOp::ShiftRight => Ok(Datum::Int(a >> b.min(127))),
    }
}

fn nonzero(divisor: i128) -> Result<i128, Fault> {
    if divisor == 0 { Err(Fault::new(ZERO).remedy(GUARD)) } else { Ok(divisor) }
}

/// Divides and rounds towards minus infinity. Returns `None` only for a division by zero and for
/// the one quotient that overflows.
pub(crate) fn floor_division(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// Returns the remainder of [`floor_division`]. It has the divisor's sign.
pub(crate) fn floor_modulo(a: i128, b: i128) -> i128 {
    let remainder = a.checked_rem(b).unwrap_or(0);
    if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder }
}

fn shift_left(a: i128, by: i128) -> Result<Datum, Fault> {
    let shifted = (by < 128).then(|| a << by).filter(|shifted| shifted >> by == a);
    match shifted {
        Some(shifted) => Ok(Datum::Int(shifted)),
        None if a == 0 => Ok(Datum::Int(0)),
        None => Err(Fault::new(OVERFLOW)),
    }
}

fn power(base: i128, exponent: i128) -> Result<Datum, Fault> {
    if exponent < 0 {
        return float_power(base as f64, exponent as f64);
    }
    let value = match base {
        0 | 1 => Some(if exponent == 0 { 1 } else { base }),
        -1 => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        _ => u32::try_from(exponent).ok().and_then(|exponent| base.checked_pow(exponent)),
    };
    value.map(Datum::Int).ok_or_else(|| Fault::new(OVERFLOW))
}

/// Computes `a / b` and rounds once, as Python does, even for operands with more bits than a float.
fn true_division(a: i128, b: i128) -> f64 {
    const EXACT: u128 = 1 << 53;
    let (dividend, divisor) = (a.unsigned_abs(), b.unsigned_abs());
    if dividend <= EXACT && divisor <= EXACT {
        return a as f64 / b as f64;
    }
    // Long division to at least 55 bits. The remainder becomes a sticky last bit, so the conversion
    // rounds once.
    let wanted = 56 + i64::from(dividend.leading_zeros()) - i64::from(divisor.leading_zeros());
    let shift = u32::try_from(wanted.max(0)).unwrap_or(0);
    let mut quotient = dividend / divisor;
    let mut remainder = dividend % divisor;
    for _ in 0..shift {
        // The remainder is below the divisor, at most 2^127, so doubling fits into 128 bits.
        remainder <<= 1;
        quotient <<= 1;
        if remainder >= divisor {
            remainder -= divisor;
            quotient |= 1;
        }
    }
    quotient |= u128::from(remainder != 0);
    let magnitude = quotient as f64 * 0.5_f64.powi(i32::try_from(shift).unwrap_or(0));
    if (a < 0) == (b < 0) { magnitude } else { -magnitude }
}

fn floats(op: BinaryOp, a: f64, b: f64) -> Result<Datum, Fault> {
    let divisor = || {
        if b == 0.0 { Err(Fault::new(ZERO).remedy(GUARD)) } else { Ok(b) }
    };
    match op {
        BinaryOp::Add => Ok(Datum::Float(a + b)),
        BinaryOp::Subtract => Ok(Datum::Float(a - b)),
        BinaryOp::Multiply => Ok(Datum::Float(a * b)),
        BinaryOp::Divide => Ok(Datum::Float(a / divisor()?)),
        BinaryOp::FloorDivide => Ok(Datum::Float(float_division(a, divisor()?).0)),
        BinaryOp::Modulo => Ok(Datum::Float(float_division(a, divisor()?).1)),
        BinaryOp::Power => float_power(a, b),
        _ => Err(Fault::new(format!("`{}` needs integers", op.symbol())).remedy("convert with `int(..)`")),
    }
}

/// Computes the quotient and remainder as CPython does (`float_divmod`), signed zeros included.
pub(crate) fn float_division(a: f64, b: f64) -> (f64, f64) {
    let mut remainder = a % b;
    let mut quotient = (a - remainder) / b;
    if remainder == 0.0 {
        remainder = 0.0_f64.copysign(b);
    } else if (b < 0.0) != (remainder < 0.0) {
        remainder += b;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return (0.0_f64.copysign(a / b), remainder);
    }
    let floor = quotient.floor();
    (if quotient - floor > 0.5 { floor + 1.0 } else { floor }, remainder)
}

fn float_power(base: f64, exponent: f64) -> Result<Datum, Fault> {
    if base == 0.0 && exponent < 0.0 {
        return Err(Fault::new("zero cannot be raised to a negative power"));
    }
    if base < 0.0 && base.is_finite() && exponent.is_finite() && exponent.fract() != 0.0 {
        return Err(Fault::new("a negative number to a fractional power is not real"));
    }
    let value = base.powf(exponent);
    if value.is_infinite() && base.is_finite() && exponent.is_finite() {
        return Err(Fault::new("the result of `**` is too large for a float"));
    }
    Ok(Datum::Float(value))
}
