//! The change of a value while one of its numbers grows and all others stay.

use super::ast::{Kind, Node};
use super::operator::{BinaryOp, UnaryOp};
use super::{Builtin, Datum, Evaluator, Expr};
use crate::value::Value;
use std::ops::Range;

/// The change of a value while a number grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It stays.
    None,
    /// It grows or stays, nowhere falls.
    Grows,
    /// It falls or stays, nowhere grows.
    Falls,
    /// Nothing is certain.
    Unknown,
}

impl Change {
    fn opposite(self) -> Self {
        match self {
            Self::Grows => Self::Falls,
            Self::Falls => Self::Grows,
            other => other,
        }
    }

    /// Returns the change of a value that grows with both of two.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, one) | (one, Self::None) => one,
            (one, other) if one == other => one,
            _ => Self::Unknown,
        }
    }
}

/// The sign of a value, as far as it is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Always above 0.
    Positive,
    /// Always below 0.
    Negative,
    /// Always 0.
    Zero,
    /// Not certain.
    Unknown,
}

impl Sign {
    fn of(number: f64) -> Self {
        match number {
            number if number > 0.0 => Self::Positive,
            number if number < 0.0 => Self::Negative,
            0.0 => Self::Zero,
            _ => Self::Unknown,
        }
    }

    fn opposite(self) -> Self {
        match self {
            Self::Positive => Self::Negative,
            Self::Negative => Self::Positive,
            other => other,
        }
    }

    fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::Unknown }
    }
}

/// The change and the sign of a value while a number grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trend {
    /// The change.
    pub change: Change,
    /// The sign.
    pub sign: Sign,
}

impl Trend {
    /// The trend of a positive number that grows.
    pub const GROWS: Self = Self { change: Change::Grows, sign: Sign::Positive };
    /// The trend of a value of which nothing is certain.
    pub const UNKNOWN: Self = Self { change: Change::Unknown, sign: Sign::Unknown };

    fn opposite(self) -> Self {
        Self { change: self.change.opposite(), sign: self.sign.opposite() }
    }

    /// Returns the trend of the sum, the least or the largest of two values.
    fn joined(self, other: Self) -> Self {
        Self { change: self.change.and(other.change), sign: self.sign.and(other.sign) }
    }

    fn times(self, other: Self) -> Self {
        let sign = match (self.sign, other.sign) {
            (Sign::Zero, _) | (_, Sign::Zero) => return Self { change: Change::None, sign: Sign::Zero },
            (Sign::Unknown, _) | (_, Sign::Unknown) => Sign::Unknown,
            (one, other) => {
                if one == other {
                    Sign::Positive
                } else {
                    Sign::Negative
                }
            }
        };
        // Of a factor with an unknown sign, only a multiple is certain: by a constant.
        let change = match (self, other) {
            (Self { change: Change::None, sign }, one) | (one, Self { change: Change::None, sign }) => match sign {
                Sign::Positive => one.change,
                Sign::Negative => one.change.opposite(),
                Sign::Zero => Change::None,
                Sign::Unknown if one.change == Change::None => Change::None,
                Sign::Unknown => Change::Unknown,
            },
            (one, other) => match (one.size(), other.size(), sign) {
                (Some(one), Some(other), Sign::Positive) => one.and(other),
                (Some(one), Some(other), _) => one.and(other).opposite(),
                _ => Change::Unknown,
            },
        };
        Self { change, sign }
    }

    /// Returns the change of the absolute value, if the sign is certain.
    fn size(self) -> Option<Change> {
        match self.sign {
            Sign::Positive => Some(self.change),
            Sign::Negative => Some(self.change.opposite()),
            Sign::Zero => Some(Change::None),
            Sign::Unknown => None,
        }
    }

    fn reciprocal(self) -> Self {
        match self.sign {
            Sign::Positive | Sign::Negative => Self { change: self.change.opposite(), ..self },
            Sign::Zero | Sign::Unknown => Self::UNKNOWN,
        }
    }

    /// Returns the trend of a function that grows with its argument. `sign` is that of its value.
    fn through(self, sign: Sign) -> Self {
        Self { sign, ..self }
    }
}

/// The meaning of a name while a number grows.
#[derive(Clone, Debug)]
pub enum Course {
    /// It has this value.
    Stays(Value),
    /// It changes.
    Changes(Trend),
}

/// Returns the meaning of a name, or `None` if nothing is known about it.
type Scope<'a> = dyn Fn(&str) -> Option<Course> + 'a;

impl Expr {
    /// Returns the trend of the value. `scope` gives the meaning of the names. What the rules of
    /// arithmetic do not prove is unknown.
    ///
    /// Where the value cannot be computed, it has no trend: only values are compared.
    pub fn trend(&self, scope: &dyn Fn(&str) -> Option<Course>) -> Trend {
        Finder { expr: self, scope }.trend(self.root())
    }
}

struct Finder<'a> {
    expr: &'a Expr,
    scope: &'a Scope<'a>,
}

impl Finder<'_> {
    fn trend(&self, node: &Node) -> Trend {
        if let Some(value) = self.constant(node) {
            return match value {
                Datum::Int(int) => Trend { change: Change::None, sign: Sign::of(int as f64) },
                Datum::Float(float) => Trend { change: Change::None, sign: Sign::of(float) },
                Datum::Bool(truth) => Trend { change: Change::None, sign: Sign::of(f64::from(u8::from(truth))) },
                Datum::Str(_) | Datum::List(_) => Trend::UNKNOWN,
            };
        }
        match &node.kind {
            Kind::Name(index) => match (self.scope)(&self.expr.names()[*index].text) {
                Some(Course::Changes(trend)) => trend,
                _ => Trend::UNKNOWN,
            },
            Kind::Unary(UnaryOp::Plus, operand) => self.trend(operand),
            Kind::Unary(UnaryOp::Minus, operand) => self.trend(operand).opposite(),
            Kind::Binary(op, left, right) => self.binary(*op, left, right),
            Kind::Call(function, parts) => self.call(*function, parts),
            Kind::Conditional(parts) => match self.constant(&parts.condition) {
                Some(condition) if condition.truthy() => self.trend(&parts.then),
                Some(_) => self.trend(&parts.otherwise),
                None => Trend::UNKNOWN,
            },
            _ => Trend::UNKNOWN,
        }
    }

    /// Returns the value of a part that does not change.
    fn constant(&self, node: &Node) -> Option<Datum> {
        let lookup = |index: usize, span: &Range<usize>| {
            let name = &self.expr.names()[index].text;
            match (self.scope)(name) {
                Some(Course::Stays(value)) => Ok(Datum::from(&value)),
                _ => Err(super::unknown_name(name, span)),
            }
        };
        // A part that is not evaluated, such as the branch not taken, may hold what changes: but then
        // the condition that decides does not.
        Evaluator::new(&lookup).evaluate(node).ok()
    }

    fn binary(&self, op: BinaryOp, left: &Node, right: &Node) -> Trend {
        let (one, other) = (self.trend(left), self.trend(right));
        match op {
            BinaryOp::Add => one.joined(other),
            BinaryOp::Subtract => one.joined(other.opposite()),
            BinaryOp::Multiply => one.times(other),
            BinaryOp::Divide => one.times(other.reciprocal()),
            BinaryOp::FloorDivide => one.times(other.reciprocal()).through(Sign::Unknown),
            BinaryOp::Power => self.power(left, right),
            _ => Trend::UNKNOWN,
        }
    }

    fn power(&self, base: &Node, exponent: &Node) -> Trend {
        let (one, other) = (self.trend(base), self.trend(exponent));
        let number = |node: &Node| self.constant(node).and_then(|value| float(&value));
        let change = match (one.sign, number(base), number(exponent)) {
            (Sign::Positive, _, Some(exponent)) => match Sign::of(exponent) {
                Sign::Positive => one.change,
                Sign::Negative => one.change.opposite(),
                Sign::Zero => Change::None,
                Sign::Unknown => Change::Unknown,
            },
            (Sign::Positive, Some(base), None) => match Sign::of(base - 1.0) {
                Sign::Positive => other.change,
                Sign::Negative => other.change.opposite(),
                Sign::Zero => Change::None,
                Sign::Unknown => Change::Unknown,
            },
            _ => return Trend::UNKNOWN,
        };
        Trend { change, sign: Sign::Positive }
    }

    fn call(&self, function: Builtin, parts: &[Node]) -> Trend {
        let all = || parts.iter().map(|part| self.trend(part));
        match (function, parts) {
            (Builtin::Min | Builtin::Max, [_, _, ..]) => all().reduce(Trend::joined).unwrap_or(Trend::UNKNOWN),
            (Builtin::Pow, [base, exponent]) => self.power(base, exponent),
            (Builtin::CeilDiv, [left, right]) => {
                self.trend(left).times(self.trend(right).reciprocal()).through(Sign::Unknown)
            }
            (Builtin::Float, [one]) => self.trend(one),
            (Builtin::Floor | Builtin::Ceil | Builtin::Round | Builtin::Int | Builtin::Log2, [one]) => {
                self.trend(one).through(Sign::Unknown)
            }
            (Builtin::Sqrt, [one]) => self.trend(one),
            (Builtin::Abs, [one]) => {
                let one = self.trend(one);
                let sign = if one.sign == Sign::Zero { Sign::Zero } else { Sign::Positive };
                one.size().map_or(Trend::UNKNOWN, |change| Trend { change, sign })
            }
            _ => Trend::UNKNOWN,
        }
    }
}

fn float(datum: &Datum) -> Option<f64> {
    match datum {
        Datum::Int(int) => Some(*int as f64),
        Datum::Float(float) => Some(*float),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(text: &str) -> Change {
        let scope = |name: &str| match name {
            "t" => Some(Course::Changes(Trend::GROWS)),
            "TWO" => Some(Course::Stays(Value::Int(2))),
            "LESS" => Some(Course::Stays(Value::Int(-3))),
            "ON" => Some(Course::Stays(Value::Bool(true))),
            _ => None,
        };
        Expr::parse(text).unwrap().trend(&scope).change
    }

    #[test]
    fn a_value_grows_or_falls_where_arithmetic_proves_it() {
        let grows = [
            "t",
            "t + 1",
            "TWO * t",
            "t * t",
            "t - TWO",
            "t / TWO",
            "-1 / t",
            "t ** 2",
            "TWO ** t",
            "0.5 ** -t",
            "min(t, 3000)",
            "max(t, TWO)",
            "sqrt(t)",
            "log2(t)",
            "floor(t)",
            "t // 2",
            "abs(t)",
            "abs(-t)",
            "LESS * -t",
            "t if ON else -t",
            "-t if TWO == 3 else t",
            "t - 1 / t",
            "t * 3 + t * t",
            "round(t)",
            "ceildiv(t, 2)",
            "int(t)",
            "float(t)",
            "pow(t, 0.5)",
            "(t + 1) * t",
            "1 - 1 / t",
        ];
        let falls = [
            "-t",
            "6000 / t / 1e6",
            "1 / (t * t)",
            "t ** -1",
            "LESS * t",
            "1 - t",
            "TWO / (t + TWO)",
            "0.5 ** t",
            "min(-t, 5)",
            "-sqrt(t)",
            "1000 - t * 2",
            "TWO // t",
        ];
        grows.iter().for_each(|text| assert_eq!(change(text), Change::Grows, "{text}"));
        falls.iter().for_each(|text| assert_eq!(change(text), Change::Falls, "{text}"));
        ["TWO", "TWO * LESS", "0 * t", "t ** 0", "1 ** t"].iter().for_each(|text| {
            assert_eq!(change(text), Change::None, "{text}");
        });
    }

    #[test]
    fn nothing_is_certain_of_other_names_and_of_what_turns() {
        let unknown = [
            "joules",
            "t * joules",
            "t + joules",
            "t % 2000",
            "t - t",
            "t - 2 * t",
            "(t - 5) * (t - 7)",
            "(t - 5) ** 2",
            "abs(t - 5)",
            "t if t < 5 else -t",
            "1 / (t - 5)",
            "t + 1 / t",
            "t & 7",
            "t < 5",
            "min([t, 1])",
            "sum([t, -t])",
            "TWO * joules",
            "LESS ** t",
            "max(t, joules)",
            "t * (t - 5)",
            "-t * (3 - t)",
        ];
        unknown.iter().for_each(|text| assert_eq!(change(text), Change::Unknown, "{text}"));
    }

    /// Compares every certain change with values of the expression.
    #[test]
    fn what_is_certain_is_true_of_values() {
        let parts = ["t", "TWO", "LESS", "(t + 1)", "(1 - t)", "(1 / t)", "(-t)", "0.5"];
        let texts = parts.iter().flat_map(|a| {
            let pair = move |b: &&str| {
                let ops = ["+", "-", "*", "/", "**", "//"];
                ops.map(|op| format!("{a} {op} {b}")).into_iter().chain([format!("min({a}, {b})")]).collect::<Vec<_>>()
            };
            parts.iter().flat_map(pair)
        });
        for text in texts {
            let expr = Expr::parse(&text).unwrap();
            let at = |t: f64| {
                let scope = |name: &str| match name {
                    "t" => Some(Value::Float(t)),
                    "TWO" => Some(Value::Int(2)),
                    _ => Some(Value::Int(-3)),
                };
                expr.evaluate(&scope).ok().and_then(|value| value.as_float()).filter(|value| value.is_finite())
            };
            let values: Vec<f64> = (1..60).filter_map(|step| at(0.11 * f64::from(step))).collect();
            let holds = |is: fn(f64, f64) -> bool| values.windows(2).all(|pair| is(pair[0], pair[1]));
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs();
            match change(&text) {
                Change::Grows => assert!(values.windows(2).all(|p| p[0] <= p[1] || close(p[0], p[1])), "{text}"),
                Change::Falls => assert!(values.windows(2).all(|p| p[0] >= p[1] || close(p[0], p[1])), "{text}"),
                Change::None => assert!(holds(|a, b| a == b), "{text}"),
                Change::Unknown => {}
            }
        }
    }
}
