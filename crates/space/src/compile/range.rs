//! The range of a result, derived from the ranges of its operands.

use super::cell::{Class, MAGNITUDE};
use super::graph::{Graph, Id, Op};

/// Returns the class of `op` applied to `args`, or `None` if the result is not known to fit into a
/// cell.
pub(super) fn class(graph: &Graph, op: Op, args: &[Id]) -> Option<Class> {
    match op {
        Op::FloatAdd | Op::FloatSubtract | Op::FloatMultiply | Op::FloatDivide | Op::ToFloat => {
            float_class(graph, op, args)
        }
        Op::FloatModulo | Op::FloatFloorDivide => {
            let (a, b) = (float_range(graph, args[0])?, float_range(graph, args[1])?);
            // The quotient of finite numbers may overflow. The remainder never exceeds the divisor.
            let largest = if op == Op::FloatModulo { magnitude(b) } else { magnitude(a) / smallest(b)? + 1.0 };
            finite(-largest, largest)
        }
        Op::Select => hull(graph.term(args[1]).class, graph.term(args[2]).class).filter(|class| !is_wide(*class)),
        _ => {
            let ranges: Vec<(i64, i64)> = args.iter().map(|&arg| graph.int_range(arg)).collect::<Option<_>>().or_else(
                // Comparisons of floats give truth values, whatever the ranges of the operands.
                || matches!(op, Op::FloatLess | Op::FloatLessEqual | Op::FloatEqual).then(Vec::new),
            )?;
            // A product that may not fit into a cell has only the uses that `product` describes.
            let wide = ranges.iter().any(|range| range.1 == i64::MAX);
            if wide && !matches!(op, Op::LessEqual | Op::Product) { None } else { int_class(op, &ranges) }
        }
    }
}

/// Returns true if `op` itself may fail on `args`.
pub(super) fn fails(graph: &Graph, op: Op, args: &[Id]) -> bool {
    match op {
        Op::FloorDivide | Op::Modulo => graph.int_range(args[1]).is_none_or(|(low, high)| low <= 0 && high >= 0),
        _ => false,
    }
}

fn int_class(op: Op, ranges: &[(i64, i64)]) -> Option<Class> {
    let lows = || ranges.iter().map(|range| range.0);
    let highs = || ranges.iter().map(|range| range.1);
    let truth = |certain: bool, possible: bool| Some(Class::Int(i64::from(certain), i64::from(possible)));
    match op {
        Op::Sum => {
            let total = ranges.iter().map(|&range| i128::from(int_magnitude(range))).sum::<i128>();
            (total < i128::from(MAGNITUDE)).then(|| Class::Int(lows().sum(), highs().sum()))
        }
        Op::Product => product(ranges),
        Op::Min => Some(Class::Int(lows().min()?, highs().min()?)),
        Op::Max => Some(Class::Int(lows().max()?, highs().max()?)),
        Op::And => truth(lows().all(|low| low != 0), highs().all(|high| high != 0)),
        Op::Or => truth(lows().any(|low| low != 0), highs().any(|high| high != 0)),
        Op::Not => truth(ranges[0] == (0, 0), ranges[0].0 == 0),
        Op::FloorDivide => Some(floor_divide(ranges[0], ranges[1])),
        Op::Modulo => Some(modulo(ranges[0], ranges[1])),
        Op::LessEqual => truth(ranges[0].1 <= ranges[1].0, ranges[0].0 <= ranges[1].1),
        Op::Equal => {
            let single = ranges[0] == ranges[1] && ranges[0].0 == ranges[0].1;
            truth(single, ranges[0].0 <= ranges[1].1 && ranges[1].0 <= ranges[0].1)
        }
        Op::Bit | Op::Union => Some(Class::Int(1, MAGNITUDE - 1)),
        Op::Disjoint | Op::FloatLess | Op::FloatLessEqual | Op::FloatEqual => truth(false, true),
        _ => None,
    }
}

fn int_magnitude((low, high): (i64, i64)) -> i64 {
    low.abs().max(high.abs())
}

/// Returns true if a class is that of a product that may not fit into a cell.
pub(super) fn is_wide(class: Class) -> bool {
    matches!(class, Class::Int(_, i64::MAX))
}

/// Returns the class of a product. The magnitudes must fit too, so that the product fits in any
/// order of its factors. A product of positive numbers that may not fit has no upper end. Its only
/// use is the comparison with a limit, factor by factor.
fn product(ranges: &[(i64, i64)]) -> Option<Class> {
    let (mut low, mut high, mut largest) = (1_i128, 1_i128, 1_i128);
    for &range in ranges {
        largest = largest.saturating_mul(i128::from(int_magnitude(range).max(1)));
        let (a, b) = (i128::from(range.0), i128::from(range.1));
        let corners = [low, high].map(|end| [end.saturating_mul(a), end.saturating_mul(b)]);
        low = corners.as_flattened().iter().copied().min()?;
        high = corners.as_flattened().iter().copied().max()?;
    }
    let positive = ranges.iter().all(|range| range.0 >= 1);
    match largest < i128::from(MAGNITUDE) {
        true => Some(Class::Int(low as i64, high as i64)),
        false if positive => Some(Class::Int(low.min(i128::from(MAGNITUDE)) as i64, i64::MAX)),
        false => None,
    }
}

fn floor_divide(a: (i64, i64), b: (i64, i64)) -> Class {
    if b.0 <= 0 && b.1 >= 0 {
        let largest = int_magnitude(a).max(1);
        return Class::Int(-largest, largest);
    }
    let quotient = |a: i64, b: i64| a.div_euclid(b) - i64::from(b < 0 && a.rem_euclid(b) != 0);
    let corners = [quotient(a.0, b.0), quotient(a.0, b.1), quotient(a.1, b.0), quotient(a.1, b.1)];
    let low = corners.into_iter().fold(i64::MAX, i64::min);
    Class::Int(low, corners.into_iter().fold(i64::MIN, i64::max))
}

fn modulo(a: (i64, i64), b: (i64, i64)) -> Class {
    if b.0 > 0 && a.0 >= 0 {
        return if a.1 < b.0 { Class::Int(a.0, a.1) } else { Class::Int(0, a.1.min(b.1 - 1)) };
    }
    Class::Int((b.0 + 1).min(0), (b.1 - 1).max(0))
}

fn hull(a: Class, b: Class) -> Option<Class> {
    match (a, b) {
        (Class::Int(a, b), Class::Int(c, d)) => Some(Class::Int(a.min(c), b.max(d))),
        (Class::Float(a, b), Class::Float(c, d)) => Some(Class::Float(a.min(c), b.max(d))),
        (Class::Datum, Class::Datum) => Some(Class::Datum),
        _ => None,
    }
}

fn float_range(graph: &Graph, id: Id) -> Option<(f64, f64)> {
    match graph.term(id).class {
        Class::Float(low, high) => Some((low, high)),
        Class::Int(..) | Class::Datum => None,
    }
}

fn magnitude((low, high): (f64, f64)) -> f64 {
    low.abs().max(high.abs())
}

/// Returns the smallest magnitude in a range, or `None` if the range contains zero.
fn smallest((low, high): (f64, f64)) -> Option<f64> {
    (low > 0.0 || high < 0.0).then(|| low.abs().min(high.abs()))
}

fn finite(low: f64, high: f64) -> Option<Class> {
    (low.is_finite() && high.is_finite()).then_some(Class::Float(low, high))
}

/// Bounds a float operation. Rounding is monotone, so the rounded results at the ends of the ranges
/// bound all rounded results between them.
fn float_class(graph: &Graph, op: Op, args: &[Id]) -> Option<Class> {
    if op == Op::ToFloat {
        // Up to 2^53 the conversion is exact.
        let (low, high) = graph.int_range(args[0])?;
        return (int_magnitude((low, high)) <= 1 << 53).then_some(Class::Float(low as f64, high as f64));
    }
    let (a, b) = (float_range(graph, args[0])?, float_range(graph, args[1])?);
    let corners = |f: fn(f64, f64) -> f64| {
        let corners = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
        let low = corners.into_iter().fold(f64::INFINITY, f64::min);
        finite(low, corners.into_iter().fold(f64::NEG_INFINITY, f64::max))
    };
    match op {
        Op::FloatAdd => corners(|a, b| a + b),
        Op::FloatSubtract => corners(|a, b| a - b),
        Op::FloatMultiply => corners(|a, b| a * b),
        _ => smallest(b).and_then(|_| corners(|a, b| a / b)),
    }
}
