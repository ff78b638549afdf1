//! Parses transformations.

use super::cursor::Cursor;
use super::lexer::Kind;
use crate::error::NestError;
use crate::ir::{AxisOrder, Memory, Tag};
use crate::transform::{Amount, Transformation, When};

/// The keywords of transformations.
pub(super) const KEYWORDS: [&str; 8] =
    ["split", "tag", "order", "prefetch", "precompute", "reduce", "pipeline", "layout"];

/// Parses one transformation.
pub(super) fn transformation(cursor: &mut Cursor) -> Result<Transformation, NestError> {
    let keyword = cursor.name("a transformation")?;
    match keyword.as_str() {
        "split" => split(cursor),
        "tag" => Ok(Transformation::Tag { index: cursor.name("the name of a loop")?, tag: tag(cursor)? }),
        "order" => Ok(Transformation::Order { loops: cursor.list(|cursor| cursor.name("the name of a loop"))? }),
        "prefetch" => prefetch(cursor),
        "precompute" => precompute(cursor),
        "reduce" => reduce(cursor),
        "pipeline" => pipeline(cursor),
        _ => {
            let array = cursor.name("the name of an array")?;
            let (order, padding) = layout(cursor)?;
            Ok(Transformation::Layout { array, order, padding })
        }
    }
}

/// Parses `when staged = 1`, or nothing.
pub(super) fn when(cursor: &mut Cursor) -> Result<Option<When>, NestError> {
    if !cursor.accept_word("when") {
        return Ok(None);
    }
    let parameter = cursor.name("the name of a parameter")?;
    cursor.expect("=")?;
    let value = match *cursor.peek() {
        Kind::Integer(number) => i64::try_from(number).ok(),
        _ => None,
    };
    let value = value.ok_or_else(|| cursor.unexpected("an integer"))?;
    cursor.advance();
    Ok(Some(When { parameter, value }))
}

/// Parses `i 16 -> io, ii`.
fn split(cursor: &mut Cursor) -> Result<Transformation, NestError> {
    let index = cursor.name("the name of a loop")?;
    let length = match cursor.peek() {
        Kind::Integer(_) => {
            let number = cursor.integer("a number")?;
            Amount::Number(i64::try_from(number).unwrap_or(i64::MAX))
        }
        _ => Amount::Parameter(cursor.name("a number or the name of a parameter")?),
    };
    cursor.expect("->")?;
    let outer = cursor.name("a name for the outer loop")?;
    cursor.expect(",")?;
    Ok(Transformation::Split { index, length, outer, inner: cursor.name("a name for the inner loop")? })
}

/// Parses `a sweep ii, ki -> tile[t0, t1]`.
fn prefetch(cursor: &mut Cursor) -> Result<Transformation, NestError> {
    let array = cursor.name("the name of an array")?;
    let sweep = sweep(cursor)?;
    let (tile, indices) = tile(cursor)?;
    Ok(Transformation::Prefetch { array, sweep, tile, indices })
}

/// Parses `v sweep ii, ki -> tile[t0, t1]`. `temporary` before the tile's name gives each work-item
/// a tile of its own.
fn precompute(cursor: &mut Cursor) -> Result<Transformation, NestError> {
    let temporary = cursor.name("the name of a temporary")?;
    let sweep = sweep(cursor)?;
    let memory = if cursor.accept_word("temporary") { Memory::Private } else { Memory::Local };
    let (tile, indices) = tile(cursor)?;
    Ok(Transformation::Precompute { temporary, sweep, memory, tile, indices })
}

/// Parses `acc over ki -> acc_sums[r] local.0`. Several cells and local arrays may be listed.
fn reduce(cursor: &mut Cursor) -> Result<Transformation, NestError> {
    let cells = cursor.list(|cursor| cursor.name("the name of a temporary or array"))?;
    let over = over(cursor)?;
    let sums = cursor.list(|cursor| cursor.name("a name for a local array"))?;
    cursor.expect("[")?;
    let index = cursor.name("a name for a loop")?;
    cursor.expect("]")?;
    let place = cursor.place();
    match tag(cursor)? {
        Tag::Local(axis) => Ok(Transformation::Reduce { cells, over, sums, index, axis }),
        _ => Err(NestError::new("a reduction is run by the work-items along an axis")
            .remedy("end it with `local.0`, `local.1` or `local.2`")
            .at(place)),
    }
}

/// Parses `a_tile over ko -> a_next`.
fn pipeline(cursor: &mut Cursor) -> Result<Transformation, NestError> {
    let tile = cursor.name("the name of a tile")?;
    let over = over(cursor)?;
    Ok(Transformation::Pipeline { tile, over, next: cursor.name("a name for a temporary")? })
}

/// Parses `over ko ->`.
fn over(cursor: &mut Cursor) -> Result<String, NestError> {
    if !cursor.accept_word("over") {
        return Err(cursor.unexpected("`over`"));
    }
    let over = cursor.name("the name of a loop")?;
    cursor.expect("->")?;
    Ok(over)
}

/// Parses `sweep ii, ki ->`.
fn sweep(cursor: &mut Cursor) -> Result<Vec<String>, NestError> {
    if !cursor.accept_word("sweep") {
        return Err(cursor.unexpected("`sweep`"));
    }
    let sweep = cursor.list(|cursor| cursor.name("the name of a loop"))?;
    cursor.expect("->")?;
    Ok(sweep)
}

/// Parses `tile[t0, t1]`.
fn tile(cursor: &mut Cursor) -> Result<(String, Vec<String>), NestError> {
    let tile = cursor.name("a name for the tile")?;
    let mut indices = Vec::new();
    if cursor.accept("[") {
        indices = cursor.list(|cursor| cursor.name("a name for a loop"))?;
        cursor.expect("]")?;
    }
    Ok((tile, indices))
}

const TAGS: [(&str, Tag); 4] =
    [("sequential", Tag::Sequential), ("unroll", Tag::Unroll), ("vector", Tag::Vector), ("parallel", Tag::Parallel)];

fn tag(cursor: &mut Cursor) -> Result<Tag, NestError> {
    let place = cursor.place();
    let word = cursor.name("a tag such as `group.0`")?;
    if let Some((_, tag)) = TAGS.iter().find(|(known, _)| *known == word) {
        return Ok(*tag);
    }
    let axis: fn(u8) -> Tag = match word.as_str() {
        "group" => Tag::Group,
        "local" => Tag::Local,
        _ => {
            let known = TAGS.iter().map(|(known, _)| *known).chain(["group", "local"]);
            return Err(NestError::unknown("tag", &word, known).at(place));
        }
    };
    cursor.expect(".")?;
    let number = cursor.integer("an axis from 0 to 2")?;
    // A number that is too large is refused later, together with the other axes that do not exist.
    Ok(axis(u8::try_from(number).unwrap_or(u8::MAX)))
}

/// Parses `row`, `column` or `order 1, 0, 2`, then `pad 0, 1`. Without any of them the layout is
/// row-major without padding.
pub(super) fn layout(cursor: &mut Cursor) -> Result<(AxisOrder, Vec<i128>), NestError> {
    let mut order = AxisOrder::Row;
    if cursor.accept_word("column") {
        order = AxisOrder::Column;
    } else if cursor.accept_word("order") {
        let axes = numbers(cursor)?;
        order = AxisOrder::Axes(axes.into_iter().map(|axis| usize::try_from(axis).unwrap_or(usize::MAX)).collect());
    } else {
        cursor.accept_word("row");
    }
    let padding = if cursor.accept_word("pad") { numbers(cursor)? } else { Vec::new() };
    Ok((order, padding))
}

fn numbers(cursor: &mut Cursor) -> Result<Vec<i128>, NestError> {
    cursor.list(|cursor| cursor.integer("an integer"))
}
