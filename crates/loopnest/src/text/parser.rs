//! The text form of a nest, line by line.

use super::cursor::Cursor;
use super::expression::Expressions;
use super::lexer::Kind;
use super::relation::{Relation, relations};
use super::transformation::{KEYWORDS, layout, transformation, when};
use crate::error::{NestError, Place};
use crate::ir::check;
use crate::ir::{Affine, Array, Expr, Instruction, Layout, Lookup, Loop, LoopId, Memory, Nest, NestBuilder, Tag, Type};
use crate::transform::{Parameter, Recipe, RecipeStep};
use std::collections::BTreeSet;
use std::str::FromStr;

/// Keywords that declare arrays and scalars.
const MEMORIES: [(&str, Memory); 4] = [
    ("array", Memory::Global),
    ("local", Memory::Local),
    ("temporary", Memory::Private),
    ("argument", Memory::Argument),
];

/// The word before an atomic update.
const ATOMIC: &str = "atomic";

impl FromStr for Nest {
    type Err = NestError;

    /// Parses the text form. Applies its transformations with the default values of their
    /// parameters.
    ///
    /// ```
    /// use tunesmith_loopnest::Nest;
    ///
    /// let nest: Nest = "
    ///     sizes n
    ///     array a[n]: f32
    ///     array out[n]: f32
    ///     {[i]: 0 <= i < n}
    ///     out[i] = 2*a[i]
    /// ".parse()?;
    /// assert_eq!(nest.instructions.len(), 1);
    /// # Ok::<(), tunesmith_loopnest::NestError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails at the first text that does not parse, is not sound or cannot be transformed. The
    /// error has the line and column.
    fn from_str(text: &str) -> Result<Nest, NestError> {
        text.parse::<Recipe>()?.apply(&[])
    }
}

impl FromStr for Recipe {
    type Err = NestError;

    /// Parses the text form. `docs/loopnests.md` describes it.
    ///
    /// # Errors
    ///
    /// Fails at the first text that does not parse or is not sound. The error has the line and
    /// column.
    fn from_str(text: &str) -> Result<Recipe, NestError> {
        let mut cursor = Cursor::new(text)?;
        let nest = NestBuilder::new("").unchecked();
        let mut recipe = Recipe { nest, parameters: Vec::new(), steps: Vec::new() };
        loop {
            match cursor.peek() {
                Kind::End => break,
                Kind::Newline => {
                    cursor.advance();
                }
                _ => line(&mut recipe, &mut cursor)?,
            }
        }
        if recipe.nest.name.is_empty() {
            recipe.nest.name = "nest".to_owned();
        }
        check::check(&recipe.nest)?;
        Ok(recipe)
    }
}

/// Parses one declaration, instruction or transformation.
fn line(recipe: &mut Recipe, cursor: &mut Cursor) -> Result<(), NestError> {
    // A condition may begin with a sign, a number or a parenthesis. No instruction has one behind its name.
    let begins_condition = |kind: &Kind| matches!(kind, Kind::Integer(_) | Kind::Symbol("-" | "("));
    let second = cursor.peek_second().clone();
    match cursor.peek().clone() {
        Kind::Symbol("{") => domain(&mut recipe.nest, cursor)?,
        Kind::Name(word)
            if word != ATOMIC && matches!(second, Kind::Name(_)) || (word == "assume" && begins_condition(&second)) =>
        {
            match KEYWORDS.iter().any(|keyword| *keyword == word) {
                true => {
                    let place = Some(cursor.place());
                    recipe.steps.push(RecipeStep {
                        transformation: transformation(cursor)?,
                        when: when(cursor)?,
                        place,
                    });
                }
                false => declaration(recipe, cursor, &word)?,
            }
        }
        _ => {
            let read = instruction(&recipe.nest, cursor)?;
            recipe.nest.instructions.push(read);
        }
    }
    cursor.end_of_line()
}

/// Parses the name of a size.
fn size(nest: &mut Nest, cursor: &mut Cursor) -> Result<(), NestError> {
    let place = cursor.place();
    let name = cursor.name("the name of a size")?;
    if nest.sizes.contains(&name) {
        return Err(NestError::new(format!("there are two sizes `{name}`")).at(place));
    }
    nest.sizes.push(name);
    Ok(())
}

fn declaration(recipe: &mut Recipe, cursor: &mut Cursor, word: &str) -> Result<(), NestError> {
    let place = cursor.place();
    cursor.advance();
    let nest = &mut recipe.nest;
    match word {
        "nest" if !nest.name.is_empty() => {
            return Err(NestError::new(format!("the nest is called `{}` already", nest.name)).at(place));
        }
        "nest" => nest.name = cursor.name("a name for the nest")?,
        "sizes" => drop(cursor.list(|cursor| size(nest, cursor))?),
        "assume" => assume(nest, cursor)?,
        "lookup" => {
            let declared = lookup(nest, cursor)?;
            nest.lookups.push(declared);
        }
        "statistic" => statistic(nest, cursor)?,
        "parameter" => {
            let declared = parameter(cursor)?;
            if recipe.parameters.iter().any(|known| known.name == declared.name) {
                return Err(NestError::new(format!("there are two parameters `{}`", declared.name)).at(place));
            }
            recipe.parameters.push(declared);
        }
        _ => match MEMORIES.iter().find(|(keyword, _)| *keyword == word) {
            Some((_, memory)) => {
                let declared = array(nest, cursor, *memory)?;
                nest.arrays.push(declared);
            }
            None => {
                let known = ["nest", "sizes", "assume", "lookup", "statistic", "parameter"].into_iter();
                let known = known.chain(MEMORIES.map(|(keyword, _)| keyword)).chain(KEYWORDS);
                return Err(NestError::unknown("declaration", word, known).at(place));
            }
        },
    }
    Ok(())
}

/// Parses the rest of `parameter tile = 16`.
fn parameter(cursor: &mut Cursor) -> Result<Parameter, NestError> {
    let place = Some(cursor.place());
    let name = cursor.name("a name for the parameter")?;
    cursor.expect("=")?;
    match *cursor.peek() {
        Kind::Integer(number) => {
            cursor.advance();
            Ok(Parameter { name, default: i64::try_from(number).unwrap_or(i64::MAX), place })
        }
        _ => Err(cursor.unexpected("an integer")),
    }
}

/// Parses the rest of `lookup first = row[i]`.
fn lookup(nest: &Nest, cursor: &mut Cursor) -> Result<Lookup, NestError> {
    let place = Some(cursor.place());
    let name = cursor.name("a name for the value")?;
    cursor.expect("=")?;
    Ok(Lookup { name, access: Expressions::new(nest).access(cursor)?, place })
}

/// Parses the rest of `statistic k = per_row`.
fn statistic(nest: &mut Nest, cursor: &mut Cursor) -> Result<(), NestError> {
    let (id, place) = loop_name(nest, cursor)?;
    cursor.expect("=")?;
    let average = Expressions::new(nest).affine(cursor, "statistic")?;
    check::statistic_is_sound(nest, id, &average).map_err(|error| error.at(place))?;
    match nest.statistics.insert(id, average) {
        None => Ok(()),
        Some(_) => Err(NestError::new(format!("there are two statistics of `{}`", nest.loop_at(id).name)).at(place)),
    }
}

fn assume(nest: &mut Nest, cursor: &mut Cursor) -> Result<(), NestError> {
    for relation in relations(nest, cursor)? {
        match relation {
            Relation::AtLeastZero(sum, place) if !sum.is_of_sizes() => {
                return Err(NestError::new("an assumption is about sizes, not about loops").at(place));
            }
            Relation::AtLeastZero(sum, _) => nest.assumptions.at_least_zero.push(sum),
            Relation::Congruent(rule, place) => {
                if nest.assumptions.congruences.iter().any(|known| known.size == rule.size) {
                    return Err(NestError::new("this size already has an assumption about its remainder").at(place));
                }
                nest.assumptions.congruences.push(rule);
            }
        }
    }
    Ok(())
}

/// Parses the rest of `array a[n, m]: f32 column pad 1`.
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
    let layout_place = cursor.place();
    let (order, padding) = layout(cursor)?;
    let layout = Layout::new(shape.len(), &order, &padding).map_err(|error| error.at(layout_place))?;
    Ok(Array { name, element: *element, memory, shape, layout, place })
}

/// Parses `{[i, j]: 0 <= i < n and 0 <= j < i}`.
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

/// Adds a bound to the innermost loop that it contains.
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
            return Err(error.remedy("write a known property of sizes as `assume n > 0`").at(place));
        }
    }
    Ok(())
}

/// Parses `c[i, j] = acc @ i, j`, or an update with the word `atomic` before it. Without `@`, the
/// instruction is within the loops that occur in it.
fn instruction(nest: &Nest, cursor: &mut Cursor) -> Result<Instruction, NestError> {
    let place = Some(cursor.place());
    let is_atomic = matches!(cursor.peek_second(), Kind::Name(_)) && cursor.accept_word(ATOMIC);
    let target = Expressions::new(nest).access(cursor)?;
    cursor.expect("=")?;
    let value = Expressions::new(nest).expression(cursor)?;
    let within =
        if cursor.accept("@") { named_loops(nest, cursor)? } else { occurring(nest, &target.subscripts, &value) };
    Ok(Instruction { target, value, is_atomic, within: nest.closed(within), place })
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

fn occurring(nest: &Nest, subscripts: &[Affine], value: &Expr) -> BTreeSet<LoopId> {
    subscripts.iter().chain(value.sums()).flat_map(|sum| nest.loops_of(sum)).collect()
}
