//! Relations between sums: the bounds of loops, and assumptions about sizes.

use super::cursor::Cursor;
use super::expression::{Expressions, is_readable, too_large};
use super::lexer::Kind;
use crate::error::{NestError, Place};
use crate::ir::{Affine, Congruence, Nest, Var};

/// `sum + sign * floor(numerator / divisor)`.
#[derive(Clone, Debug)]
struct Term {
    sum: Affine,
    floor: Option<(i128, Affine, i128)>,
}

/// One side of a comparison.
enum Side {
    One(Term),
    Least(Vec<Term>),
    Greatest(Vec<Term>),
}

/// A relation and its place in the text.
pub(super) enum Relation {
    /// The sum is not negative.
    AtLeastZero(Affine, Place),
    /// A size has a known remainder.
    Congruent(Congruence, Place),
}

/// Parses chains of comparisons joined by `and` or commas, up to any other token.
pub(super) fn relations(nest: &Nest, cursor: &mut Cursor) -> Result<Vec<Relation>, NestError> {
    let mut found = Vec::new();
    loop {
        chain(nest, cursor, &mut found)?;
        if !cursor.accept_word("and") && !cursor.accept(",") {
            return Ok(found);
        }
    }
}

fn chain(nest: &Nest, cursor: &mut Cursor, found: &mut Vec<Relation>) -> Result<(), NestError> {
    let mut place = cursor.place();
    let mut left = side(nest, cursor)?;
    if cursor.accept_word("mod") {
        found.push(Relation::Congruent(congruence(cursor, &left).map_err(|error| error.at(place))?, place));
        return Ok(());
    }
    let mut compared = false;
    while let Kind::Symbol(symbol @ ("<" | "<=" | ">" | ">=" | "=" | "==")) = *cursor.peek() {
        cursor.advance();
        compared = true;
        let next_place = cursor.place();
        let right = side(nest, cursor)?;
        let sums = match symbol {
            "<" => at_most(&left, &right, 1),
            "<=" => at_most(&left, &right, 0),
            ">" => at_most(&right, &left, 1),
            ">=" => at_most(&right, &left, 0),
            _ => at_most(&left, &right, 0).and_then(|mut sums| {
                sums.extend(at_most(&right, &left, 0)?);
                Ok(sums)
            }),
        };
        let readable = |sums: &Vec<Affine>| sums.iter().all(is_readable);
        let sums = sums.and_then(|sums| if readable(&sums) { Ok(sums) } else { Err(too_large("comparison")) });
        let sums = sums.map_err(|error| error.at(place))?;
        found.extend(sums.into_iter().map(|sum| Relation::AtLeastZero(sum, place)));
        (left, place) = (right, next_place);
    }
    if compared { Ok(()) } else { Err(cursor.unexpected("a comparison such as `<`")) }
}

/// Parses the rest of `size mod 16 = 0`.
fn congruence(cursor: &mut Cursor, left: &Side) -> Result<Congruence, NestError> {
    let wanted = || NestError::new("a remainder is written `n mod 16 = 0`, with one size and numbers");
    let Side::One(Term { sum, floor: None }) = left else { return Err(wanted()) };
    let mut terms = sum.terms();
    let (Some((Var::Size(size), 1)), None, 0) = (terms.next(), terms.next(), sum.offset()) else {
        return Err(wanted());
    };
    let modulus = cursor.integer("an integer")?;
    if !cursor.accept("=") {
        cursor.expect("==")?;
    }
    let remainder = cursor.integer("an integer")?;
    if modulus < 1 || remainder >= modulus {
        return Err(NestError::new("the remainder must be less than the divisor"));
    }
    Ok(Congruence { size, modulus, remainder })
}

fn side(nest: &Nest, cursor: &mut Cursor) -> Result<Side, NestError> {
    let least = matches!(cursor.peek(), Kind::Name(name) if name == "min");
    let greatest = matches!(cursor.peek(), Kind::Name(name) if name == "max");
    if !least && !greatest {
        return Ok(Side::One(term(nest, cursor)?));
    }
    cursor.advance();
    cursor.expect("(")?;
    let terms = cursor.list(|cursor| term(nest, cursor))?;
    cursor.expect(")")?;
    Ok(if least { Side::Least(terms) } else { Side::Greatest(terms) })
}

/// Parses a sum in which one summand may be `floor(sum / number)` or `ceil(sum / number)`.
fn term(nest: &Nest, cursor: &mut Cursor) -> Result<Term, NestError> {
    let mut whole = Term { sum: Affine::default(), floor: None };
    let mut sign = if cursor.accept("-") { -1 } else { 1 };
    loop {
        let place = cursor.place();
        match quotient(nest, cursor)? {
            Some((_, divisor)) if divisor < 1 => {
                return Err(NestError::new("the divisor must be a positive number").at(place));
            }
            Some((numerator, divisor)) if whole.floor.is_none() => whole.floor = Some((sign, numerator, divisor)),
            Some(_) => return Err(NestError::new("a bound has one `floor` or `ceil` at most").at(place)),
            None => {
                let summand = Expressions::new(nest).summand(cursor, "bound")?;
                whole.sum = &whole.sum + &summand.scaled(sign);
            }
        }
        sign = match cursor.peek() {
            Kind::Symbol("+") => 1,
            Kind::Symbol("-") => -1,
            _ => return Ok(whole),
        };
        cursor.advance();
    }
}

fn quotient(nest: &Nest, cursor: &mut Cursor) -> Result<Option<(Affine, i128)>, NestError> {
    let ceil = matches!(cursor.peek(), Kind::Name(name) if name == "ceil");
    if !ceil && !matches!(cursor.peek(), Kind::Name(name) if name == "floor") {
        return Ok(None);
    }
    cursor.advance();
    cursor.expect("(")?;
    let numerator = Expressions::new(nest).numerator(cursor)?;
    cursor.expect("/")?;
    let divisor = cursor.integer("an integer")?;
    cursor.expect(")")?;
    let numerator = if ceil { numerator.plus(divisor - 1) } else { numerator };
    Ok(Some((numerator, divisor)))
}

/// Maximum number of pairs of a term of `max` and a term of `min`. Each is a bound of its own.
const MOST_PAIRS: usize = 256;

/// Returns the sums that are not negative exactly if `left + margin <= right`.
fn at_most(left: &Side, right: &Side, margin: i128) -> Result<Vec<Affine>, NestError> {
    let lefts = match left {
        Side::One(term) => std::slice::from_ref(term),
        Side::Greatest(terms) => terms,
        Side::Least(_) => return Err(NestError::new("`min` stands on the greater side of a comparison")),
    };
    let rights = match right {
        Side::One(term) => std::slice::from_ref(term),
        Side::Least(terms) => terms,
        Side::Greatest(_) => return Err(NestError::new("`max` stands on the lesser side of a comparison")),
    };
    if lefts.len().saturating_mul(rights.len()) > MOST_PAIRS {
        return Err(NestError::new(format!("the comparison stands for more than {MOST_PAIRS} bounds")));
    }
    let pairs = lefts.iter().flat_map(|left| rights.iter().map(move |right| difference(left, right, margin)));
    pairs.collect()
}

fn difference(left: &Term, right: &Term, margin: i128) -> Result<Affine, NestError> {
    let slack = (&right.sum - &left.sum).plus(-margin);
    let (sign, numerator, divisor) = match (&left.floor, &right.floor) {
        (None, None) => return Ok(slack),
        (None, Some((sign, numerator, divisor))) => (*sign, numerator, *divisor),
        (Some((sign, numerator, divisor)), None) => (-sign, numerator, *divisor),
        _ => return Err(NestError::new("a comparison has one `floor` or `ceil` at most")),
    };
    // floor(e / d) >= -s is e >= -d s; floor(e / d) <= s is e <= d s + d - 1.
    let scaled = slack.scaled(divisor);
    Ok(if sign > 0 { &scaled + numerator } else { &scaled.plus(divisor - 1) - numerator })
}
