//! Expressions: the values that instructions compute.

use super::affine::Affine;
use crate::error::Place;
use std::fmt;

/// The type of an array's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// 8-bit signed integer.
    I8,
    /// 8-bit unsigned integer.
    U8,
    /// 16-bit signed integer.
    I16,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
    /// Half precision (IEEE 754 binary16). Operations on it are computed in single precision.
    F16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Type {
    /// Every type with its name in the text form.
    pub const ALL: [(&'static str, Type); 9] = [
        ("i8", Type::I8),
        ("u8", Type::U8),
        ("i16", Type::I16),
        ("u16", Type::U16),
        ("i32", Type::I32),
        ("i64", Type::I64),
        ("f16", Type::F16),
        ("f32", Type::F32),
        ("f64", Type::F64),
    ];

    /// Returns the size in bits.
    pub fn bits(self) -> u32 {
        match self {
            Type::I8 | Type::U8 => 8,
            Type::I16 | Type::U16 | Type::F16 => 16,
            Type::I32 | Type::F32 => 32,
            Type::I64 | Type::F64 => 64,
        }
    }

    /// Returns true if it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::F32 | Type::F64)
    }

    /// Returns the type in which operations on values of this type are computed: integers of 8 and
    /// 16 bits are widened to 32, as in C, and half precision to single precision.
    pub fn promoted(self) -> Type {
        match self {
            Type::F16 => Type::F32,
            other if other.bits() < 32 => Type::I32,
            other => other,
        }
    }

    /// Returns the type of an operation on both: floating point before integer, then the wider one.
    pub fn join(self, other: Type) -> Type {
        match (self.is_float(), other.is_float()) {
            (true, false) => self,
            (false, true) => other,
            _ => self.max(other),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Type::ALL.iter().find(|(_, known)| known == self).map_or("", |(name, _)| name);
        formatter.write_str(name)
    }
}

/// An array or scalar of the nest, by its place in [`Nest::arrays`](super::Nest::arrays).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayId(pub(crate) usize);

/// A cell of an array, such as `a[i, 2*j + 1]`. A scalar has no subscripts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// The array.
    pub array: ArrayId,
    /// One subscript for each axis.
    pub subscripts: Vec<Affine>,
}

/// An operation on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// `a + b`.
    Add,
    /// `a - b`. It counts as an addition.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`, in floating point.
    Div,
    /// `a ** b`.
    Pow,
}

/// A comparison of two values. The others are these with the values exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Comparison {
    /// `a < b`.
    Less,
    /// `a <= b`.
    AtMost,
    /// `a == b`.
    Equal,
}

impl Comparison {
    /// Returns its symbol in the text form, and in C.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Less => "<",
            Comparison::AtMost => "<=",
            Comparison::Equal => "==",
        }
    }

    /// Returns true if it holds between two values.
    pub fn holds<T: PartialOrd>(self, left: &T, right: &T) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::Equal => left == right,
        }
    }
}

/// A function in the text form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Function {
    /// `1 / sqrt(x)`.
    Rsqrt,
    /// Square root.
    Sqrt,
    /// Exponential.
    Exp,
    /// Natural logarithm.
    Log,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Hyperbolic tangent.
    Tanh,
    /// Absolute value.
    Abs,
    /// The lesser of two values.
    Min,
    /// The greater of two values.
    Max,
    /// `select(a < b, x, y)`: `x` if the comparison of `a` and `b` holds, and `y` otherwise. Its
    /// arguments are `a`, `b`, `x` and `y`, all computed in one type.
    Select(Comparison),
}

impl Function {
    /// Every function with its name and its number of arguments, one for all comparisons.
    pub const ALL: [(&'static str, Function, usize); 11] = [
        ("rsqrt", Function::Rsqrt, 1),
        ("sqrt", Function::Sqrt, 1),
        ("exp", Function::Exp, 1),
        ("log", Function::Log, 1),
        ("sin", Function::Sin, 1),
        ("cos", Function::Cos, 1),
        ("tanh", Function::Tanh, 1),
        ("abs", Function::Abs, 1),
        ("min", Function::Min, 2),
        ("max", Function::Max, 2),
        ("select", Function::Select(Comparison::Less), 4),
    ];

    /// Returns its name in the text form.
    pub fn name(self) -> &'static str {
        Function::ALL.iter().find(|(_, known, _)| *known == self.counted()).map_or("", |(name, _, _)| name)
    }

    /// Returns the function as which it is counted: all comparisons are one.
    pub fn counted(self) -> Self {
        match self {
            Function::Select(_) => Function::Select(Comparison::Less),
            other => other,
        }
    }
}

/// A value computed from cells, indices and numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// An integer: a number, or a sum of loop indices and sizes. As in a subscript, its arithmetic
    /// is free.
    Index(Affine),
    /// A floating-point number. It takes the type of the other operand.
    Number(f64),
    /// The value of a cell, with its place in the text.
    Load(Access, Option<Place>),
    /// `-x`. It costs nothing.
    Neg(Box<Expr>),
    /// An operation on two values.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// A function of one or two values.
    Call(Function, Vec<Expr>),
}

impl Expr {
    /// Returns `left operator right`.
    pub fn binary(operator: Operator, left: Expr, right: Expr) -> Self {
        Expr::Binary(operator, Box::new(left), Box::new(right))
    }

    /// Returns the direct parts of an expression.
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Index(_) | Expr::Number(_) | Expr::Load(..) => Vec::new(),
            Expr::Neg(inner) => vec![inner],
            Expr::Binary(_, left, right) => vec![left, right],
            Expr::Call(_, arguments) => arguments.iter().collect(),
        }
    }

    /// Returns the exponent of a power that is computed by multiplications: an integer from 1 to 8.
    pub(crate) fn small_power(&self) -> Option<i128> {
        match self {
            Expr::Binary(Operator::Pow, _, exponent) => match exponent.as_ref() {
                Expr::Index(sum) => sum.as_constant().filter(|times| (1..=8).contains(times)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns every load in the expression, from left to right, with its place in the text.
    pub fn loads(&self) -> Vec<(&Access, Option<Place>)> {
        match self {
            Expr::Load(access, place) => vec![(access, *place)],
            _ => self.children().into_iter().flat_map(Expr::loads).collect(),
        }
    }

    /// Returns every sum of sizes, indices and looked-up values in the expression, subscripts
    /// included.
    pub(crate) fn sums(&self) -> Vec<&Affine> {
        match self {
            Expr::Index(sum) => vec![sum],
            Expr::Load(access, _) => access.subscripts.iter().collect(),
            _ => self.children().into_iter().flat_map(Expr::sums).collect(),
        }
    }

    /// Returns the expression with `change` applied to every part, innermost first.
    pub fn map(self, change: &mut impl FnMut(Expr) -> Expr) -> Expr {
        let mapped = match self {
            Expr::Neg(inner) => Expr::Neg(Box::new(inner.map(change))),
            Expr::Binary(operator, left, right) => Expr::binary(operator, left.map(change), right.map(change)),
            Expr::Call(function, arguments) => {
                Expr::Call(function, arguments.into_iter().map(|argument| argument.map(change)).collect())
            }
            leaf => leaf,
        };
        change(mapped)
    }

    /// Returns the expression with `change` applied to every affine part, subscripts included.
    pub fn map_affine(self, change: &impl Fn(&Affine) -> Affine) -> Expr {
        self.map(&mut |part| match part {
            Expr::Index(affine) => Expr::Index(change(&affine)),
            Expr::Load(access, place) => Expr::Load(access.map(change), place),
            other => other,
        })
    }
}

impl Access {
    /// Returns the access with `change` applied to every subscript.
    pub fn map(&self, change: &impl Fn(&Affine) -> Affine) -> Access {
        Access { array: self.array, subscripts: self.subscripts.iter().map(change).collect() }
    }
}
