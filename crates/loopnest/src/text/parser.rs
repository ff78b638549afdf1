//! The text form of a nest, line by line.

use super::cursor::Cursor;
use super::expression::Expressions;
use super::lexer::Kind;
use super::relation::{Relation, relations};
use crate::check;
use crate::error::{NestError, Place};
use crate::ir::{Affine, Array, Expr, Instruction, Layout, Loop, LoopId, Memory, Nest, NestBuilder, Tag, Type};
use std::collections::BTreeSet;

/// Keywords that declare arrays and scalars.
const MEMORIES: [(&str, Memory); 4] = [
    ("array", Memory::Global),
    ("local", Memory::Local),
    ("temporary", Memory::Private),
    ("argument", Memory::Argument),
];

impl Nest {
    /// Reads the text form; `docs/loopnests.md` describes it.
    ///
    /// ```
    /// let nest = tunesmith_loopnest::Nest::parse("
    ///     sizes n
    ///     array a[n]: f32
    ///     array out[n]: f32
    ///     {[i]: 0 <= i < n}
    ///     out[i] = 2*a[i]
    /// ")?;
    /// assert_eq!(nest.instructions.len(), 1);
    /// # Ok::<(), tunesmith_loopnest::NestError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// At the first thing that cannot be read or is not sound, with line and column.
    pub fn parse(text: &str) -> Result<Nest, NestError> {
        let mut cursor = Cursor::new(text)?;
        let mut nest = NestBuilder::new("nest").unchecked();
        loop {
            match cursor.peek() {
                Kind::End => break,
                Kind::Newline => {
                    cursor.advance();
                }
                _ => line(&mut nest, &mut cursor)?,
            }
        }
        check::check(&nest)?;
        Ok(nest)
    }
}

/// Reads one declaration or instruction.
fn line(nest: &mut Nest, cursor: &mut Cursor) -> Result<(), NestError> {
    let declares = matches!(cursor.peek_second(), Kind::Name(_));
    match cursor.peek().clone() {
        Kind::Symbol("{") => domain(nest, cursor)?,
        Kind::Name(word) if declares && word == "nest" => {
            cursor.advance();
            nest.name = cursor.name("a name for the nest")?;
        }
        Kind::Name(word) if declares && word == "sizes" => {
            cursor.advance();
            let names = cursor.list(|cursor| cursor.name("the name of a size"))?;
            nest.sizes.extend(names);
        }
        Kind::Name(word) if declares && word == "assume" => {
            cursor.advance();
            assume(nest, cursor)?;
        }
        Kind::Name(word) if declares => match MEMORIES.iter().find(|(keyword, _)| *keyword == word) {
            Some((_, memory)) => {
                cursor.advance();
                let declared = array(nest, cursor, *memory)?;
                nest.arrays.push(declared);
            }
            None => {
                let known = ["nest", "sizes", "assume"].into_iter().chain(MEMORIES.map(|(keyword, _)| keyword));
                return Err(NestError::unknown("declaration", &word, known).at(cursor.place()));
            }
        },
        _ => {
            let read = instruction(nest, cursor)?;
            nest.instructions.push(read);
        }
    }
    cursor.end_of_line()
}

fn assume(nest: &mut Nest, cursor: &mut Cursor) -> Result<(), NestError> {
    for relation in relations(nest, cursor)? {
        match relation {
            Relation::AtLeastZero(sum, place) if sum.loops().next().is_some() => {
                return Err(NestError::new("an assumption is about sizes, not about loops").at(place));
            }
            Relation::AtLeastZero(sum, _) => nest.assumptions.at_least_zero.push(sum),
            Relation::Congruent(rule, place) => {
                if nest.assumptions.congruences.iter().any(|known| known.size == rule.size) {
                    return Err(NestError::new("there is an assumption about the remainder of this size").at(place));
                }
                nest.assumptions.congruences.push(rule);
            }
        }
    }
    Ok(())
}

/// The rest of `array a[n, m]: f32 column pad 1`.
fn array(nest: &Nest, cursor: &mut Cursor, memory: Memory) -> Result<Array, NestError> {
    let place = Some(cursor.place());
    let name = cursor.name("the name of an array")?;
    let mut shape = Vec::new();
    if cursor.accept("[") {
        shape = cursor.list(|cursor| Expressions::new(nest).affine(cursor, "extent"))?;
        cursor.expect("]")?;
    }
    cursor.expect(":")?;
    let type_place = cursor.place();
    let word = cursor.name("a type such as `f32`")?;
    let found = Type::ALL.iter().find(|(known, _)| *known == word);
    let known = Type::ALL.iter().map(|(known, _)| *known);
    let (_, element) = found.ok_or_else(|| NestError::unknown("type", &word, known).at(type_place))?;
    let layout = layout(cursor, shape.len())?;
    Ok(Array { name, element: *element, memory, shape, layout, place })
}

/// `row`, `column` or `order 1, 0, 2`, then `pad 0, 1`; nothing is row-major.
pub(super) fn layout(cursor: &mut Cursor, axes: usize) -> Result<Layout, NestError> {
    let mut layout = Layout::row_major(axes);
    let place = cursor.place();
    if cursor.accept_word("column") {
        layout = Layout::column_major(axes);
    } else if cursor.accept_word("order") {
        layout.order = numbers(cursor)?.into_iter().map(|axis| usize::try_from(axis).unwrap_or(usize::MAX)).collect();
        if layout.order.iter().collect::<BTreeSet<_>>() != (0..axes).collect::<Vec<_>>().iter().collect() {
            return Err(NestError::new(format!("the order names each axis from 0 to {} once", axes - 1)).at(place));
        }
    } else {
        cursor.accept_word("row");
    }
    let place = cursor.place();
    if cursor.accept_word("pad") {
        layout.padding = numbers(cursor)?;
        if layout.padding.len() != axes {
            return Err(NestError::new(format!("there are {axes} axes to pad")).at(place));
        }
    }
    Ok(layout)
}

fn numbers(cursor: &mut Cursor) -> Result<Vec<i128>, NestError> {
    cursor.list(|cursor| match *cursor.peek() {
        Kind::Integer(number) => {
            cursor.advance();
            Ok(number)
        }
        _ => Err(cursor.unexpected("an integer")),
    })
}

/// `{[i, j]: 0 <= i < n and 0 <= j < i}`
fn domain(nest: &mut Nest, cursor: &mut Cursor) -> Result<(), NestError> {
    cursor.expect("{")?;
    cursor.expect("[")?;
    let names = cursor.list(|cursor| {
        let place = cursor.place();
        Ok((cursor.name("the name of a loop")?, place))
    })?;
    cursor.expect("]")?;
    for (name, place) in names {
        nest.order.push(LoopId(nest.loops.len()));
        nest.loops.push(Loop { name, constraints: Vec::new(), tag: Tag::Sequential, place: Some(place) });
    }
    if cursor.accept(":") {
        for relation in relations(nest, cursor)? {
            bound(nest, relation)?;
        }
    }
    cursor.expect("}")
}

/// A bound belongs to the innermost loop that it contains.
fn bound(nest: &mut Nest, relation: Relation) -> Result<(), NestError> {
    let (sum, place) = match relation {
        Relation::AtLeastZero(sum, place) => (sum, place),
        Relation::Congruent(_, place) => {
            return Err(NestError::new("remainders are known of sizes only")
                .remedy("write `assume n mod 16 = 0`")
                .at(place));
        }
    };
    match nest.order.iter().rev().find(|id| sum.uses(**id)) {
        Some(id) => nest.loops[id.0].constraints.push(sum),
        None => {
            let error = NestError::new("the relation contains no loop");
            return Err(error.remedy("what is known of sizes is written `assume n > 0`").at(place));
        }
    }
    Ok(())
}

/// `c[i, j] = acc @ i, j`; without `@` the loops are those that occur.
fn instruction(nest: &Nest, cursor: &mut Cursor) -> Result<Instruction, NestError> {
    let place = Some(cursor.place());
    let target = Expressions::new(nest).access(cursor)?;
    cursor.expect("=")?;
    let value = Expressions::new(nest).expression(cursor)?;
    let within = if cursor.accept("@") { named_loops(nest, cursor)? } else { occurring(&target.subscripts, &value) };
    Ok(Instruction { target, value, within: nest.closed(within), place })
}

fn named_loops(nest: &Nest, cursor: &mut Cursor) -> Result<BTreeSet<LoopId>, NestError> {
    if matches!(cursor.peek(), Kind::Newline | Kind::End) {
        return Ok(BTreeSet::new());
    }
    let loops = cursor.list(|cursor| loop_name(nest, cursor))?;
    Ok(loops.into_iter().map(|(id, _)| id).collect())
}

pub(super) fn loop_name(nest: &Nest, cursor: &mut Cursor) -> Result<(LoopId, Place), NestError> {
    let place = cursor.place();
    let name = cursor.name("the name of a loop")?;
    Ok((nest.loop_id(&name).map_err(|error| error.at(place))?, place))
}

fn occurring(subscripts: &[Affine], value: &Expr) -> BTreeSet<LoopId> {
    let mut loops: BTreeSet<LoopId> = subscripts.iter().flat_map(Affine::loops).collect();
    let mut open = vec![value];
    while let Some(expr) = open.pop() {
        match expr {
            Expr::Index(affine) => loops.extend(affine.loops()),
            Expr::Load(access, _) => loops.extend(access.subscripts.iter().flat_map(Affine::loops)),
            _ => open.extend(expr.children()),
        }
    }
    loops
}
