//! The data on which a nest runs.

use super::half;
use super::value::Value;
use crate::error::NestError;
use crate::ir::{Affine, Array, ArrayId, Memory, Nest, Type};

/// The cells of every array that the caller provides and the values of the arguments, by the place
/// in [`Nest::arrays`].
///
/// Cells are numbered by their subscripts with the last axis fastest, whatever the layout of the
/// array in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// The cells of each array. Empty for local and private arrays.
    pub cells: Vec<Vec<Value>>,
}

/// Maximum number of cells of an array. The interpreter is for checking, not for computing.
const MOST_CELLS: i128 = 1 << 28;

/// Returns the extents of an array for these sizes.
///
/// # Errors
///
/// Fails if an extent is negative or the array is too large to be interpreted.
pub(super) fn extents(array: &Array, sizes: &[i64]) -> Result<Vec<i128>, NestError> {
    let extents: Vec<i128> = array.shape.iter().map(|extent| extent.at_sizes(sizes)).collect();
    let cells = extents.iter().try_fold(1_i128, |cells, extent| cells.checked_mul(*extent));
    match cells {
        Some(cells) if cells <= MOST_CELLS && extents.iter().all(|extent| *extent >= 0) => Ok(extents),
        _ => {
            let extents = extents.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            Err(NestError::new(format!("cannot make the array `{}[{extents}]`", array.name))
                .remedy("choose other sizes")
                .at(array.place))
        }
    }
}

/// Returns the bytes of a value of this type in memory.
fn encoded(value: Value, kind: Type) -> Vec<u8> {
    match (value.convert(kind), kind) {
        (Value::Integer(number), Type::I8 | Type::U8) => vec![number as u8],
        (Value::Integer(number), Type::I16 | Type::U16) => (number as u16).to_ne_bytes().to_vec(),
        (Value::Integer(number), Type::I32) => (number as i32).to_ne_bytes().to_vec(),
        (Value::Integer(number), _) => number.to_ne_bytes().to_vec(),
        (Value::Float(number), Type::F16) => half::encoded(number as f32).to_ne_bytes().to_vec(),
        (Value::Float(number), Type::F32) => (number as f32).to_ne_bytes().to_vec(),
        (Value::Float(number), _) => number.to_ne_bytes().to_vec(),
    }
}

/// Returns a value from memory.
fn decoded(bytes: &[u8], kind: Type) -> Value {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let pair = [word[0], word[1]];
    let first = [word[0], word[1], word[2], word[3]];
    match kind {
        Type::I8 => Value::Integer((word[0] as i8).into()),
        Type::U8 => Value::Integer(word[0].into()),
        Type::I16 => Value::Integer(i16::from_ne_bytes(pair).into()),
        Type::U16 => Value::Integer(u16::from_ne_bytes(pair).into()),
        Type::I32 => Value::Integer(i32::from_ne_bytes(first).into()),
        Type::I64 => Value::Integer(i64::from_ne_bytes(word)),
        Type::F16 => Value::Float(half::decoded(u16::from_ne_bytes(pair)).into()),
        Type::F32 => Value::Float(f32::from_ne_bytes(first).into()),
        Type::F64 => Value::Float(f64::from_ne_bytes(word)),
    }
}

fn product(factors: &[Affine], sizes: &[i64]) -> i128 {
    factors.iter().map(|factor| factor.at_sizes(sizes)).product()
}

/// Returns the place in memory of each cell, numbered with the last axis fastest.
fn places(array: &Array, sizes: &[i64]) -> Result<Vec<usize>, NestError> {
    let extents = extents(array, sizes)?;
    let strides: Vec<i128> = (0..extents.len()).map(|axis| product(&array.stride(axis), sizes)).collect();
    let place = |cell: i128| {
        let (mut rest, mut place) = (cell, 0);
        for (extent, stride) in extents.iter().zip(&strides).rev() {
            place += rest % extent * stride;
            rest /= extent;
        }
        place as usize
    };
    Ok((0..extents.iter().product()).map(place).collect())
}

impl Data {
    /// Returns the cells of an array in the order of their subscripts, the last axis fastest.
    pub fn of(&self, array: ArrayId) -> &[Value] {
        &self.cells[array.0]
    }

    /// Returns the memory of an array as a generated function takes it: the cells in the array's
    /// [layout](crate::Layout), with zeros as padding, in the byte order of this machine.
    ///
    /// # Errors
    ///
    /// Fails if the array cannot exist in these sizes.
    pub fn memory(&self, nest: &Nest, sizes: &[i64], array: ArrayId) -> Result<Vec<u8>, NestError> {
        let (values, array) = (self.of(array), nest.array(array));
        let width = array.element.bits() as usize / 8;
        let mut memory = vec![0; product(&array.cells(), sizes) as usize * width];
        for (value, place) in values.iter().zip(places(array, sizes)?) {
            memory[place * width..][..width].copy_from_slice(&encoded(*value, array.element));
        }
        Ok(memory)
    }

    /// Sets the cells of an array from memory in the form of [`Data::memory`].
    ///
    /// # Errors
    ///
    /// Fails if the array cannot exist in these sizes, or if the memory has another length.
    pub fn set_memory(&mut self, nest: &Nest, sizes: &[i64], id: ArrayId, memory: &[u8]) -> Result<(), NestError> {
        let array = nest.array(id);
        let width = array.element.bits() as usize / 8;
        let wanted = product(&array.cells(), sizes) as usize * width;
        if memory.len() != wanted {
            let (name, given) = (&array.name, memory.len());
            return Err(NestError::new(format!("`{name}` has {wanted} bytes, not {given}")).at(array.place));
        }
        let cell = |place: usize| decoded(&memory[place * width..][..width], array.element);
        self.cells[id.0] = places(array, sizes)?.into_iter().map(cell).collect();
        Ok(())
    }

    /// Returns data without contents.
    pub fn empty(nest: &Nest) -> Self {
        Data { cells: vec![Vec::new(); nest.arrays.len()] }
    }

    /// Returns reproducible contents: floating-point cells in [-1, 1) and integers from 0 to 99.
    /// Arguments have such values, too.
    ///
    /// # Errors
    ///
    /// Fails if an array cannot exist in these sizes.
    pub fn filled(nest: &Nest, sizes: &[i64], seed: u64) -> Result<Self, NestError> {
        let mut state = seed;
        let mut next = |array: &Array| {
            // SplitMix64: it is small, and every seed is as good as another.
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut word = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            word ^= word >> 31;
            match array.element.is_float() {
                true => Value::Float((word >> 40) as f64 / f64::from(1 << 23) - 1.0).convert(array.element),
                false => Value::Integer((word % 100) as i64),
            }
        };
        let mut cells = Vec::new();
        for array in &nest.arrays {
            let count = match array.memory {
                Memory::Global | Memory::Argument => extents(array, sizes)?.iter().product::<i128>(),
                Memory::Local | Memory::Private => 0,
            };
            cells.push((0..count).map(|_| next(array)).collect());
        }
        Ok(Data { cells })
    }
}
