//! The functions that expressions may call.

use std::ops::Range;

use super::arithmetic::{self, Fault};
use super::datum::{Datum, MAX_ELEMENTS};
use super::error::ExprError;
use super::operator::{BinaryOp, UnaryOp};

/// A function that expressions may call. All are Python's, except [`Builtin::CeilDiv`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Builtin {
    Min,
    Max,
    Abs,
    Round,
    Len,
    Int,
    Float,
    Bool,
    /// `ceildiv(a, b)`: the quotient rounded up, `-(-a // b)`.
    CeilDiv,
    Range,
    /// `list(..)`, `tuple(..)`: the list itself.
    List,
    /// `set(..)` and `{..}`: a list that keeps one of equal elements.
    Set,
    Sum,
    Any,
    All,
    Pow,
    Floor,
    Ceil,
    Sqrt,
    Log2,
    Gcd,
}

/// Name, function, and the fewest and most arguments. The functions of Python's module `math` may
/// have the prefix `math.`.
const TABLE: &[(&str, Builtin, usize, usize)] = &[
    ("min", Builtin::Min, 1, usize::MAX),
    ("max", Builtin::Max, 1, usize::MAX),
    ("abs", Builtin::Abs, 1, 1),
    ("round", Builtin::Round, 1, 2),
    ("len", Builtin::Len, 1, 1),
    ("int", Builtin::Int, 1, 1),
    ("float", Builtin::Float, 1, 1),
    ("bool", Builtin::Bool, 1, 1),
    ("ceildiv", Builtin::CeilDiv, 2, 2),
    ("range", Builtin::Range, 1, 3),
    ("list", Builtin::List, 1, 1),
    ("tuple", Builtin::List, 1, 1),
    ("set", Builtin::Set, 1, 1),
    ("sum", Builtin::Sum, 1, 1),
    ("any", Builtin::Any, 1, 1),
    ("all", Builtin::All, 1, 1),
    ("pow", Builtin::Pow, 2, 2),
    ("floor", Builtin::Floor, 1, 1),
    ("ceil", Builtin::Ceil, 1, 1),
    ("sqrt", Builtin::Sqrt, 1, 1),
    ("log2", Builtin::Log2, 1, 1),
    ("gcd", Builtin::Gcd, 2, 2),
];

impl Builtin {
    /// Returns the function called `name`.
    pub(super) fn find(name: &str, span: &Range<usize>) -> Result<Builtin, ExprError> {
        let plain = name.strip_prefix("math.").unwrap_or(name);
        let known = TABLE.iter().find(|entry| entry.0 == plain).map(|entry| entry.1);
        if let Some(builtin) = known.filter(|builtin| plain == name || builtin.is_in_math()) {
            return Ok(builtin);
        }
        let error = ExprError::new(format!("there is no function `{name}`"), span.clone());
        let similar = crate::suggest::closest(plain, TABLE.iter().map(|entry| entry.0));
        Err(match similar {
            Some(similar) => error.remedy(format!("did you mean `{similar}`?")),
            None => error.remedy(format!("there are {}", TABLE.iter().map(|e| e.0).collect::<Vec<_>>().join(", "))),
        })
    }

    /// Returns true if Python's `math` has the function with the same meaning. `math.pow` is
    /// different: it always gives floats.
    fn is_in_math(self) -> bool {
        matches!(self, Builtin::Floor | Builtin::Ceil | Builtin::Sqrt | Builtin::Log2 | Builtin::Gcd)
    }

    /// Returns the function's name.
    pub(crate) fn name(self) -> &'static str {
        TABLE.iter().find(|entry| entry.1 == self).map_or("", |entry| entry.0)
    }

    /// Returns an error if the number of arguments is wrong.
    pub(super) fn check_count(self, count: usize, span: &Range<usize>) -> Result<(), ExprError> {
        let Some(&(name, _, fewest, most)) = TABLE.iter().find(|entry| entry.1 == self) else {
            return Ok(());
        };
        if (fewest..=most).contains(&count) {
            return Ok(());
        }
        let wanted = match most {
            usize::MAX => format!("at least {fewest}"),
            _ if fewest == most => fewest.to_string(),
            _ => format!("{fewest} to {most}"),
        };
        Err(ExprError::new(format!("`{name}` takes {wanted} arguments, not {count}"), span.clone()))
    }

    /// Calls the function. The parser has checked the number of arguments.
    pub(crate) fn call(self, arguments: &[Datum]) -> Result<Datum, Fault> {
        let first = &arguments[0];
        match self {
            Builtin::Min => extreme(self, arguments, std::cmp::Ordering::Less),
            Builtin::Max => extreme(self, arguments, std::cmp::Ordering::Greater),
            Builtin::Abs => abs(first),
            Builtin::Round => round(first, arguments.get(1)),
            Builtin::Len => length(first),
            Builtin::Int => int(first),
            Builtin::Float => number(first, self).map(Datum::Float),
            Builtin::Bool => Ok(Datum::Bool(first.truthy())),
            Builtin::CeilDiv => ceildiv(first, &arguments[1]),
            Builtin::Range => range(arguments),
            Builtin::List => elements(first, self).map(|items| Datum::List(items.into())),
            Builtin::Set => set(elements(first, self)?),
            Builtin::Sum => {
                elements(first, self)?.iter().try_fold(Datum::Int(0), |a, b| arithmetic::binary(BinaryOp::Add, &a, b))
            }
            Builtin::Any => Ok(Datum::Bool(elements(first, self)?.iter().any(Datum::truthy))),
            Builtin::All => Ok(Datum::Bool(elements(first, self)?.iter().all(Datum::truthy))),
            Builtin::Pow => arithmetic::binary(BinaryOp::Power, first, &arguments[1]),
            Builtin::Floor => rounded(first, self, f64::floor),
            Builtin::Ceil => rounded(first, self, f64::ceil),
            Builtin::Sqrt => in_domain(number(first, self)?, |x| x >= 0.0, self).map(|x| Datum::Float(x.sqrt())),
            Builtin::Log2 => in_domain(number(first, self)?, |x| x > 0.0, self).map(|x| Datum::Float(x.log2())),
            Builtin::Gcd => gcd(first, &arguments[1]),
        }
    }

    fn wrong(self, argument: &Datum) -> Fault {
        Fault::new(format!("`{}` does not work on {}", self.name(), argument.type_name()))
    }
}

/// Returns the items of a list or the characters of a string.
fn elements(list: &Datum, builtin: Builtin) -> Result<Vec<Datum>, Fault> {
    match list {
        Datum::List(items) => Ok(items.to_vec()),
        Datum::Str(text) => Ok(text.chars().map(|c| Datum::Str(c.to_string().into())).collect()),
        other => Err(builtin.wrong(other)),
    }
}

/// Keeps the first of equal items, in their order.
fn set(items: Vec<Datum>) -> Result<Datum, Fault> {
    // Equal items may differ in type, so every item is compared with every other.
    const MOST: usize = 4096;
    if items.len() > MOST {
        return Err(Fault::new(format!("a set of more than {MOST} elements")).remedy("write a list"));
    }
    let mut distinct: Vec<Datum> = Vec::with_capacity(items.len());
    for item in items {
        if !distinct.iter().any(|other| other.equals(&item)) {
            distinct.push(item);
        }
    }
    Ok(Datum::List(distinct.into()))
}

/// Returns the first of the smallest (or largest) arguments. A single argument must be a list; its
/// elements are then compared.
fn extreme(builtin: Builtin, arguments: &[Datum], wanted: std::cmp::Ordering) -> Result<Datum, Fault> {
    let items = if arguments.len() == 1 { &elements(&arguments[0], builtin)? } else { arguments };
    let (first, rest) =
        items.split_first().ok_or_else(|| Fault::new(format!("`{}` of an empty list", builtin.name())))?;
    let mut best = first;
    for item in rest {
        let order = item.order(best).map_err(|()| {
            Fault::new(format!("`{}` cannot order {} and {}", builtin.name(), item.type_name(), best.type_name()))
        })?;
        if order == Some(wanted) {
            best = item;
        }
    }
    Ok(best.clone())
}

fn abs(value: &Datum) -> Result<Datum, Fault> {
    match value.arithmetic() {
        Datum::Int(int) if int < 0 => arithmetic::unary(UnaryOp::Minus, &Datum::Int(int)),
        Datum::Int(int) => Ok(Datum::Int(int)),
        Datum::Float(float) => Ok(Datum::Float(float.abs())),
        _ => Err(Builtin::Abs.wrong(value)),
    }
}

fn length(value: &Datum) -> Result<Datum, Fault> {
    match value {
        Datum::List(items) => Ok(Datum::Int(items.len() as i128)),
        Datum::Str(text) => Ok(Datum::Int(text.chars().count() as i128)),
        other => Err(Builtin::Len.wrong(other)),
    }
}

fn number(value: &Datum, builtin: Builtin) -> Result<f64, Fault> {
    match value.arithmetic() {
        Datum::Int(int) => Ok(int as f64),
        Datum::Float(float) => Ok(float),
        _ => Err(builtin.wrong(value)),
    }
}

fn in_domain(value: f64, inside: fn(f64) -> bool, builtin: Builtin) -> Result<f64, Fault> {
    if inside(value) { Ok(value) } else { Err(Fault::new(format!("`{}` of {value:?}", builtin.name()))) }
}

/// Converts a whole float to an integer.
fn whole(value: f64) -> Result<Datum, Fault> {
    // 2^126 keeps clear of the ends of i128.
    if value.abs() < 2.0_f64.powi(126) {
        Ok(Datum::Int(value as i128))
    } else {
        Err(Fault::new(format!("{value:?} does not fit into an integer")))
    }
}

fn int(value: &Datum) -> Result<Datum, Fault> {
    match value.arithmetic() {
        Datum::Float(float) => whole(float.trunc()),
        Datum::Int(int) => Ok(Datum::Int(int)),
        _ => Err(Builtin::Int.wrong(value)),
    }
}

fn rounded(value: &Datum, builtin: Builtin, to: fn(f64) -> f64) -> Result<Datum, Fault> {
    match value.arithmetic() {
        Datum::Float(float) => whole(to(float)),
        Datum::Int(int) => Ok(Datum::Int(int)),
        _ => Err(builtin.wrong(value)),
    }
}

/// Rounds half to even. With digits, the exact decimal value of a float decides.
fn round(value: &Datum, digits: Option<&Datum>) -> Result<Datum, Fault> {
    let number = value.arithmetic();
    let Some(digits) = digits else {
        return rounded(value, Builtin::Round, f64::round_ties_even);
    };
    let Datum::Int(digits) = digits.arithmetic() else {
        return Err(Fault::new("`round` needs a whole number of digits"));
    };
    match number {
        Datum::Int(int) if digits >= 0 => Ok(Datum::Int(int)),
        Datum::Int(int) => integer_to_tens(int, digits),
        Datum::Float(float) if !float.is_finite() => Ok(Datum::Float(float)),
        Datum::Float(float) if digits >= 0 => {
            // No float has 400 digits. Formatting rounds the exact value half to even.
            let places = usize::try_from(digits).unwrap_or(400).min(400);
            format!("{float:.places$}").parse().map(Datum::Float).map_err(|_| Builtin::Round.wrong(value))
        }
        Datum::Float(float) => float_to_tens(float, usize::try_from(-digits).unwrap_or(400).min(400)),
        _ => Err(Builtin::Round.wrong(value)),
    }
}

/// Rounds `value` to a multiple of `10 ** -digits`, half to even.
fn integer_to_tens(value: i128, digits: i128) -> Result<Datum, Fault> {
    let Some(unit) = u32::try_from(-digits).ok().and_then(|digits| 10_i128.checked_pow(digits)) else {
        return Ok(Datum::Int(0));
    };
    let below = arithmetic::floor_modulo(value, unit);
    let floor = value.checked_sub(below).ok_or_else(too_large)?;
    let up = below > unit - below || (below == unit - below && (floor / unit) % 2 != 0);
    let rounded = if up { floor.checked_add(unit) } else { Some(floor) };
    rounded.map(Datum::Int).ok_or_else(too_large)
}

/// Rounds `value` to a multiple of `10 ** places`, half to even. The exact decimal value decides.
fn float_to_tens(value: f64, places: usize) -> Result<Datum, Fault> {
    let magnitude = value.abs();
    let whole = format!("{:.0}", magnitude.trunc());
    let text = match whole.len().checked_sub(places) {
        None => "0".to_owned(),
        Some(0) => {
            let half = format!("{:0<places$}", "5");
            let up = whole > half || (whole == half && magnitude.fract() != 0.0);
            if up { format!("1e{places}") } else { "0".to_owned() }
        }
        Some(kept) => format!("{magnitude:.precision$e}", precision = kept - 1),
    };
    let rounded: f64 = text.parse().map_err(|_| too_large())?;
    if rounded.is_finite() { Ok(Datum::Float(rounded.copysign(value))) } else { Err(too_large()) }
}

fn too_large() -> Fault {
    Fault::new("the rounded number is too large")
}

fn ceildiv(a: &Datum, b: &Datum) -> Result<Datum, Fault> {
    let negated = arithmetic::unary(UnaryOp::Minus, a)?;
    arithmetic::unary(UnaryOp::Minus, &arithmetic::binary(BinaryOp::FloorDivide, &negated, b)?)
}

fn gcd(a: &Datum, b: &Datum) -> Result<Datum, Fault> {
    let (Datum::Int(a), Datum::Int(b)) = (a.arithmetic(), b.arithmetic()) else {
        return Err(Fault::new("`gcd` needs integers"));
    };
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).map(Datum::Int).map_err(|_| Fault::new("the result of `gcd` is too large"))
}

fn range(arguments: &[Datum]) -> Result<Datum, Fault> {
    let mut bounds = Vec::with_capacity(3);
    for argument in arguments {
        let Datum::Int(bound) = argument.arithmetic() else {
            return Err(Builtin::Range.wrong(argument).remedy("convert with `int(..)` or divide with `//`"));
        };
        bounds.push(bound);
    }
    let (start, stop, step) = match bounds[..] {
        [stop] => (0, stop, 1),
        [start, stop] => (start, stop, 1),
        [start, stop, step] => (start, stop, step),
        _ => return Err(Fault::new("`range` takes 1 to 3 arguments")),
    };
    if step == 0 {
        return Err(Fault::new("the step of `range` is zero"));
    }
    let mut items = Vec::new();
    let mut next = Some(start);
    while let Some(item) = next.filter(|&item| if step > 0 { item < stop } else { item > stop }) {
        if items.len() == MAX_ELEMENTS {
            return Err(Fault::new(format!("`range` has more than {MAX_ELEMENTS} elements")));
        }
        items.push(Datum::Int(item));
        next = item.checked_add(step);
    }
    Ok(Datum::List(items.into()))
}
