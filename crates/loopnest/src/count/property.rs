//! The properties of a kernel on which its run time depends linearly (section 2 of the paper).

use crate::error::NestError;
use crate::ir::{Direction, Function, Memory, Operation, Type};
use std::fmt;
use std::str::FromStr;

/// The amortised stride fraction of an access to global memory (section 2.1).
///
/// The denominator is the distance in memory from one SIMD lane to the next, in units of the
/// access. The numerator is the share of the cells in between that are used at all, in parts of the
/// denominator, rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stride {
    /// All lanes access the same cell.
    Uniform,
    /// Neighbouring lanes access neighbouring cells.
    Unit,
    /// `numerator / denominator`, with a denominator from 2 to 4.
    Fraction(u8, u8),
    /// A distance above 4. The numerator is in quarters.
    Wide(u8),
    /// A distance that depends on data.
    Data,
}

impl Stride {
    /// Returns every stride with a distance of `stride` units, for any share of used cells.
    pub(super) fn of_distance(stride: i128) -> Vec<Stride> {
        match stride {
            0 => vec![Stride::Uniform],
            1 => vec![Stride::Unit],
            2..=4 => (1..=stride as u8).map(|used| Stride::Fraction(used, stride as u8)).collect(),
            _ => (1..=4).map(Stride::Wide).collect(),
        }
    }

    /// Returns the stride for a distance at which `touched` of `filled` cells are used.
    pub(super) fn classify(stride: i128, touched: i128, filled: i128) -> Stride {
        let parts = stride.clamp(1, 4);
        // The least number of parts with touched / filled <= number / parts.
        let used = (1..parts).find(|used| touched * parts <= used * filled).unwrap_or(parts) as u8;
        match stride {
            0 => Stride::Uniform,
            1 => Stride::Unit,
            2..=4 => Stride::Fraction(used, stride as u8),
            _ => Stride::Wide(used),
        }
    }
}

impl fmt::Display for Stride {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stride::Uniform => write!(formatter, "s0"),
            Stride::Unit => write!(formatter, "s1"),
            Stride::Fraction(used, stride) => write!(formatter, "{used}/{stride}"),
            Stride::Data => write!(formatter, "data"),
            Stride::Wide(used) => write!(formatter, "{used}/>4"),
        }
    }
}

/// A property of a kernel.
///
/// Accesses, operations and barriers are counted for each work-item, even if it repeats the work of
/// others. Arithmetic in subscripts, integer arithmetic and accesses to temporaries are not
/// counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// Accesses to global memory, by their size in bits, direction and stride.
    Global(u32, Direction, Stride),
    /// The lesser of the numbers of loads and of stores with this size in bits and this stride.
    LoadsAndStores(u32, Stride),
    /// Loads from local memory, by their size in bits.
    LocalLoads(u32),
    /// Loads from local memory, by their size in bits and by the distance of the lanes of
    /// [rows](crate::Lanes::InRows). All cells between lanes count as used.
    StridedLocalLoads(u32, Stride),
    /// Atomic updates by their operation and type, the memory of the cell and the stride of the lanes:
    /// [`Uniform`](Stride::Uniform) if all lanes update one cell, [`Unit`](Stride::Unit), [`Data`](Stride::Data),
    /// or `Wide(4)` for any other distance.
    Atomic(Operation, Type, Memory, Stride),
    /// Floating-point operations, and conversions to any type.
    Operations(Operation, Type),
    /// Barriers times the work-items that meet them.
    Barriers,
    /// Work-groups.
    Groups,
    /// Bytes of global memory that are touched at least once.
    TouchedBytes,
    /// Always 1: the cost of a launch.
    Launch,
    /// Accesses to local memory, by their size in bits, direction and the
    /// [conflict](crate::count::count_modern) of the lanes.
    Banks(u32, Direction, u32),
    /// An instruction that sub-groups of 32 lanes issue.
    SubGroups(Issue),
    /// Operations on floating-point numbers and integers, and conversions, with small powers as multiplications.
    Arithmetic(Operation, Type),
    /// Operations of the longest chain in which each operation needs the one before.
    Chain,
    /// Rows of work-items that a processor [begins](crate::count::count_rows).
    Rows,
    /// Rows of work-items in which a bound leaves some out.
    CutRows,
}

/// An instruction that a sub-group issues for all of its lanes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Issue {
    /// An operation. Small powers are multiplications.
    Operation(Operation, Type),
    /// An access to local or global memory, with its size in bits.
    Access(Memory, u32, Direction),
}

impl fmt::Display for Issue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Issue::Operation(operation, kind) => write!(formatter, "op:{kind}:{operation}"),
            Issue::Access(Memory::Local, bits, direction) => write!(formatter, "l:{bits}:{direction}"),
            Issue::Access(_, bits, direction) => write!(formatter, "g:{bits}:{direction}"),
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Property::Global(bits, direction, stride) => write!(formatter, "g:{bits}:{direction}:{stride}"),
            Property::LoadsAndStores(bits, stride) => write!(formatter, "g:{bits}:min(load,store):{stride}"),
            Property::LocalLoads(bits) => write!(formatter, "l:{bits}:load"),
            Property::StridedLocalLoads(bits, stride) => write!(formatter, "l:{bits}:load:{stride}"),
            Property::Atomic(operation, kind, memory, stride) => {
                let letter = if *memory == Memory::Local { "l" } else { "g" };
                write!(formatter, "atomic:{kind}:{operation}:{letter}:{stride}")
            }
            Property::Operations(operation, kind) => write!(formatter, "op:{kind}:{operation}"),
            Property::Barriers => write!(formatter, "barriers"),
            Property::Groups => write!(formatter, "groups"),
            Property::TouchedBytes => write!(formatter, "touched bytes"),
            Property::Launch => write!(formatter, "launch"),
            Property::Banks(bits, direction, conflict) => write!(formatter, "bank:{bits}:{direction}:{conflict}"),
            Property::SubGroups(issue) => write!(formatter, "sub:{issue}"),
            Property::Arithmetic(operation, kind) => write!(formatter, "arith:{kind}:{operation}"),
            Property::Chain => write!(formatter, "chain"),
            Property::Rows => write!(formatter, "rows"),
            Property::CutRows => write!(formatter, "rows:cut"),
        }
    }
}

impl FromStr for Stride {
    type Err = NestError;

    /// Parses the text of a stride.
    fn from_str(text: &str) -> Result<Self, NestError> {
        let fractions = (2..=4).flat_map(|stride| (1..=stride).map(move |used| Stride::Fraction(used, stride)));
        let all = [Stride::Uniform, Stride::Unit, Stride::Data].into_iter().chain(fractions);
        named(all.chain((1..=4).map(Stride::Wide)), text)
    }
}

impl FromStr for Property {
    type Err = NestError;

    /// Parses the text of a property as it stands in files.
    ///
    /// # Errors
    ///
    /// Fails if no property has this text.
    fn from_str(text: &str) -> Result<Self, NestError> {
        let parts: Vec<&str> = text.split(':').collect();
        let property = match parts[..] {
            ["g", ref access @ ..] => global(access),
            ["l", bits, "load"] => number(bits).map(Property::LocalLoads),
            ["l", bits, "load", stride] => Ok(Property::StridedLocalLoads(number(bits)?, stride.parse()?)),
            ["op", kind, operation] => arithmetic(kind, operation).map(|(of, kind)| Property::Operations(of, kind)),
            ["arith", kind, operation] => arithmetic(kind, operation).map(|(of, kind)| Property::Arithmetic(of, kind)),
            ["atomic", ref update @ ..] => updated(update),
            ["bank", bits, direction, conflict] => {
                Ok(Property::Banks(number(bits)?, named(DIRECTIONS, direction)?, number(conflict)?))
            }
            ["sub", ref issue @ ..] => issued(issue).map(Property::SubGroups),
            _ => named(SINGLE, text),
        };
        property.map_err(|_| unknown(text))
    }
}

/// Properties whose text has one part.
const SINGLE: [Property; 7] = [
    Property::Barriers,
    Property::Groups,
    Property::TouchedBytes,
    Property::Launch,
    Property::Chain,
    Property::Rows,
    Property::CutRows,
];
/// Every direction.
const DIRECTIONS: [Direction; 2] = [Direction::Load, Direction::Store];

/// Parses the text of an access, such as `32:load:s1` or `32:min(load,store):s1`.
fn global(access: &[&str]) -> Result<Property, NestError> {
    match *access {
        [bits, "min(load,store)", stride] => Ok(Property::LoadsAndStores(number(bits)?, stride.parse()?)),
        [bits, direction, stride] => {
            Ok(Property::Global(number(bits)?, named(DIRECTIONS, direction)?, stride.parse()?))
        }
        _ => Err(unknown(&access.join(":"))),
    }
}

/// Parses the text of an atomic update, such as `i32:add:g:s0`.
fn updated(update: &[&str]) -> Result<Property, NestError> {
    match *update {
        [kind, operation, memory, stride] => {
            let (operation, kind) = arithmetic(kind, operation)?;
            Ok(Property::Atomic(operation, kind, shared(memory)?, stride.parse()?))
        }
        _ => Err(unknown(&update.join(":"))),
    }
}

/// Parses the text of an issued instruction, such as `op:f32:add` or `g:32:load`.
fn issued(issue: &[&str]) -> Result<Issue, NestError> {
    match *issue {
        ["op", kind, operation] => arithmetic(kind, operation).map(|(of, kind)| Issue::Operation(of, kind)),
        [memory, bits, direction] => Ok(Issue::Access(shared(memory)?, number(bits)?, named(DIRECTIONS, direction)?)),
        _ => Err(unknown(&issue.join(":"))),
    }
}

/// Parses the letter of a memory that work-items share.
fn shared(letter: &str) -> Result<Memory, NestError> {
    match letter {
        "g" => Ok(Memory::Global),
        "l" => Ok(Memory::Local),
        _ => Err(unknown(letter)),
    }
}

/// Parses the type and the kind of an operation.
fn arithmetic(kind: &str, operation: &str) -> Result<(Operation, Type), NestError> {
    let functions = Function::ALL.map(|(_, function, _)| Operation::Special(function));
    let conversions = Type::ALL.map(|(_, from)| Operation::Convert(from));
    let plain = [Operation::Add, Operation::Mul, Operation::Div, Operation::Pow, Operation::Fma];
    Ok((
        named(plain.into_iter().chain(functions).chain(conversions), operation)?,
        named(Type::ALL.map(|(_, kind)| kind), kind)?,
    ))
}

/// Parses a number.
fn number(text: &str) -> Result<u32, NestError> {
    text.parse().map_err(|_| unknown(text))
}

/// Returns the member of `all` with this text.
fn named<T: fmt::Display>(all: impl IntoIterator<Item = T>, text: &str) -> Result<T, NestError> {
    all.into_iter().find(|known| known.to_string() == text).ok_or_else(|| unknown(text))
}

fn unknown(text: &str) -> NestError {
    NestError::new(format!("there is no property `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_property_is_read_as_it_is_written() {
        let texts = [
            "g:32:load:s1",
            "g:64:store:1/2",
            "g:128:min(load,store):3/>4",
            "g:32:load:data",
            "l:32:load",
            "l:64:load:s0",
            "op:f32:rsqrt",
            "op:f32:from_i32",
            "arith:u8:from_f16",
            "atomic:i32:add:g:data",
            "atomic:f64:max:l:s0",
            "arith:f64:fma",
            "barriers",
            "groups",
            "touched bytes",
            "launch",
            "bank:32:store:16",
            "sub:op:f32:add",
            "sub:l:32:load",
            "sub:g:64:store",
            "chain",
            "rows",
            "rows:cut",
        ];
        for text in texts {
            assert_eq!(text.parse::<Property>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "g",
            "g:32:load",
            "g:32:load:5/4",
            "op:f80:add",
            "op:f32:from_f80",
            "op:f32:root",
            "l:32:store",
            "sub:p:32:load",
            "atomic:i32:add:p:s0",
            "atomic:i32:add:g",
            "chains",
        ] {
            let error = text.parse::<Property>().expect_err(text);
            assert_eq!(error.message, format!("there is no property `{text}`"));
        }
    }
}
