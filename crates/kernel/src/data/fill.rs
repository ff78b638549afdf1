//! Fills buffers, except from files.

use crate::error::DataError;
use crate::half;
use crate::problem::{ElementType, Fill, ScalarType};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest, Sha256};
use std::io::Write;
use tunesmith_space::{Expr, Value};

/// The seed and the sizes. Together with the argument they determine its contents.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The seed of random numbers.
    pub seed: u64,
    /// The problem's sizes, by name.
    pub sizes: &'a [(String, Value)],
}

/// Writes `count` elements according to `fill`. Writes nothing for a [`Fill::File`].
///
/// # Errors
/// The constant does not fit the type, the generator has no value that the type holds, or writing
/// failed.
pub(crate) fn write_fill(
    fill: &Fill,
    name: &str,
    element: ElementType,
    count: u64,
    given: Given<'_>,
    to: &mut dyn Write,
) -> Result<(), DataError> {
    let scalar = element.scalar();
    match fill {
        Fill::Random => {
            let mut random = RandomLanes::new(name, given.seed);
            write_lanes(element, count, to, |_, lane| random.next(scalar, lane))
        }
        Fill::Between(low, high) => {
            write_between((*low, *high), element, count, RandomLanes::new(name, given.seed), to)
        }
        Fill::Zeros => write_constant(0.0, element, count, to),
        Fill::Ones => write_constant(1.0, element, count, to),
        Fill::Constant(value) => write_constant(*value, element, count, to),
        Fill::Iota => write_lanes(element, count, to, |index, lane| iota(scalar, index, lane)),
        Fill::Generator(expr) => write_generated(expr, element, count, given.sizes, to),
        Fill::File(_) => Ok(()),
    }
}

/// Calls `lane` for every lane that holds data, with the lane's index and its place in memory.
fn write_lanes(
    element: ElementType,
    count: u64,
    to: &mut dyn Write,
    mut lane: impl FnMut(u64, &mut [u8]),
) -> Result<(), DataError> {
    let mut bytes = vec![0; element.size()];
    let mut index = 0;
    for _ in 0..count {
        for place in bytes.chunks_exact_mut(element.scalar().size()).take(element.lanes()) {
            lane(index, place);
            index += 1;
        }
        to.write_all(&bytes)?;
    }
    Ok(())
}

fn write_constant(value: f64, element: ElementType, count: u64, to: &mut dyn Write) -> Result<(), DataError> {
    let bytes = element.scalar().encode_float(value).ok_or(DataError::Constant { value, element })?;
    write_lanes(element, count, to, |_, place| place.copy_from_slice(&bytes))
}

/// Writes numbers between `low` and `high`. Floats are `low + (high - low) u` with u in [0, 1), rounded
/// to the type. Integers have both bounds.
fn write_between(
    (low, high): (f64, f64),
    element: ElementType,
    count: u64,
    mut random: RandomLanes,
    to: &mut dyn Write,
) -> Result<(), DataError> {
    let scalar = element.scalar();
    let (least, most) = (low.ceil() as i128, high.floor() as i128);
    for bound in [low.ceil(), high.floor()].into_iter().filter(|_| !scalar.is_float()) {
        scalar.encode_float(bound).ok_or(DataError::Constant { value: bound, element })?;
    }
    let choices = u128::try_from(most - least + 1).unwrap_or_default();
    write_lanes(element, count, to, |_, lane| {
        let bits = random.0.next_u64();
        let bytes = if scalar.is_float() {
            let share = (bits >> 11) as f64 / (1_u64 << 53) as f64;
            scalar.encode_float(low + (high - low) * share)
        } else {
            // No type has more than 2^64 values, so the product has at most 128 bits.
            let chosen = (u128::from(bits) * choices) >> 64;
            scalar.encode_int(least + chosen as i128)
        };
        bytes.into_iter().for_each(|bytes| lane.copy_from_slice(&bytes));
    })
}

fn write_generated(
    expr: &Expr,
    element: ElementType,
    count: u64,
    sizes: &[(String, Value)],
    to: &mut dyn Write,
) -> Result<(), DataError> {
    let mut wrong = None;
    write_lanes(element, count, to, |index, place| {
        if wrong.is_none() {
            match generated(expr, element.scalar(), index, sizes) {
                Ok(bytes) => place.copy_from_slice(&bytes),
                Err(problem) => {
                    wrong = Some(DataError::Generator { expression: expr.text().to_owned(), index, problem });
                }
            }
        }
    })?;
    wrong.map_or(Ok(()), Err)
}

/// Returns the bytes of lane `index`, or the fault of its value.
fn generated(expr: &Expr, scalar: ScalarType, index: u64, sizes: &[(String, Value)]) -> Result<Vec<u8>, String> {
    let number = i64::try_from(index).map(Value::Int).map_err(|error| error.to_string())?;
    let known = |name: &str| match name {
        "i" => Some(number.clone()),
        _ => sizes.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()),
    };
    let value = expr.evaluate(&known).map_err(|error| error.to_string())?;
    let bytes = match &value {
        Value::Float(value) => scalar.encode_float(*value),
        Value::Int(value) => scalar.encode_int((*value).into()),
        Value::Bool(value) => scalar.encode_int((*value).into()),
        Value::Str(_) => None,
    };
    bytes.ok_or_else(|| format!("it is {value}, which {} cannot hold", scalar.name()))
}

fn iota(scalar: ScalarType, index: u64, place: &mut [u8]) {
    if scalar.is_float() { put_float(scalar, index as f64, place) } else { put_int(index, place) }
}

/// Writes the low bytes of `value`, that is, `value` modulo the range of the type.
fn put_int(value: u64, place: &mut [u8]) {
    let low = value.to_le_bytes();
    place.copy_from_slice(&low[..place.len()]);
    if cfg!(target_endian = "big") {
        place.reverse();
    }
}

/// Writes `value` rounded to the float type.
fn put_float(scalar: ScalarType, value: f64, place: &mut [u8]) {
    match scalar {
        ScalarType::F16 => place.copy_from_slice(&half::from_f64(value).to_ne_bytes()),
        ScalarType::F32 => place.copy_from_slice(&(value as f32).to_ne_bytes()),
        _ => place.copy_from_slice(&value.to_ne_bytes()),
    }
}

/// The random numbers of one argument. They are the same on every machine and never change between
/// versions.
///
/// The generator is xoshiro256++. Its seed is the SHA-256 of "tunesmith fill 1", a zero byte, the
/// argument's name, a zero byte, and the seed as eight bytes, lowest first.
///
/// Each lane takes one output of 64 bits:
///
/// - A float takes the highest 11 (f16), 24 (f32) or 53 (f64) bits as a multiple of 2^-10, 2^-23 or
///   2^-52, less 1. The result is exact in the type and never 1.
/// - An integer takes the high 64 bits of the product with 100.
struct RandomLanes(Xoshiro256PlusPlus);

impl RandomLanes {
    fn new(name: &str, seed: u64) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"tunesmith fill 1\0");
        hash.update(name.as_bytes());
        hash.update(b"\0");
        hash.update(seed.to_le_bytes());
        Self(Xoshiro256PlusPlus::from_seed(hash.finalize().into()))
    }

    fn next(&mut self, scalar: ScalarType, place: &mut [u8]) {
        let bits = self.0.next_u64();
        let float = |kept: u32| (bits >> (64 - kept)) as f64 / (1_u64 << (kept - 1)) as f64 - 1.0;
        match scalar {
            ScalarType::F16 => put_float(scalar, float(11), place),
            ScalarType::F32 => put_float(scalar, float(24), place),
            ScalarType::F64 => put_float(scalar, float(53), place),
            _ => put_int(((u128::from(bits) * 100) >> 64) as u64, place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Number;
    use proptest::prelude::*;

    const NOTHING: Given<'_> = Given { seed: 0, sizes: &[] };

    fn filled(fill: &Fill, name: &str, element: &str, count: u64, seed: u64) -> Vec<Number> {
        let element = ElementType::parse(element).unwrap();
        let mut bytes = Vec::new();
        let sizes = [("n".to_string(), Value::Int(7))];
        write_fill(fill, name, element, count, Given { seed, sizes: &sizes }, &mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, count * element.size() as u64);
        bytes.chunks(element.scalar().size()).map(|lane| element.scalar().decode(lane)).collect()
    }

    fn floats(values: &[f64]) -> Vec<Number> {
        values.iter().copied().map(Number::Float).collect()
    }

    #[test]
    fn random_numbers_are_the_same_for_ever() {
        // Computed by a second implementation of the documented recipe.
        let integers: Vec<Number> = [18, 16, 36, 6, 8, 3].map(Number::Int).to_vec();
        assert_eq!(filled(&Fill::Random, "a", "i32", 6, 1), integers);
        assert_eq!(filled(&Fill::Random, "a", "u8", 6, 1), integers);
        let wanted = floats(&[-0.6279464960098267, -0.6651885509490967, -0.27855122089385986]);
        assert_eq!(filled(&Fill::Random, "a", "f32", 3, 1), wanted);
    }

    #[test]
    fn random_numbers_depend_on_the_name_and_the_seed() {
        let a1 = filled(&Fill::Random, "a", "f64", 4, 1);
        assert_ne!(a1, filled(&Fill::Random, "b", "f64", 4, 1));
        assert_ne!(a1, filled(&Fill::Random, "a", "f64", 4, 2));
    }

    proptest! {
        #[test]
        fn random_floats_lie_in_the_half_open_interval(seed: u64) {
            for element in ["f16", "f32", "f64"] {
                for number in filled(&Fill::Random, "x", element, 64, seed) {
                    let inside = matches!(number, Number::Float(value) if (-1.0..1.0).contains(&value));
                    prop_assert!(inside, "{number}");
                }
            }
        }

        #[test]
        fn random_integers_lie_below_a_hundred(seed: u64) {
            for number in filled(&Fill::Random, "x", "i8", 64, seed) {
                let inside = matches!(number, Number::Int(0..100));
                prop_assert!(inside);
            }
        }
    }

    #[test]
    fn iota_counts_lanes_and_leaves_the_padding_zero() {
        let wanted = floats(&[0.0, 1.0, 2.0, 0.0, 3.0, 4.0, 5.0, 0.0]);
        assert_eq!(filled(&Fill::Iota, "a", "f32x3", 2, 0), wanted);
        assert_eq!(filled(&Fill::Iota, "a", "u8", 258, 0)[255..], [255, 0, 1].map(Number::Int));
    }

    #[test]
    fn constants_fill_every_lane() {
        assert_eq!(filled(&Fill::Constant(-2.5), "a", "f64x2", 1, 0), floats(&[-2.5, -2.5]));
        assert_eq!(filled(&Fill::Ones, "a", "i64", 2, 0), [Number::Int(1); 2]);
        assert_eq!(filled(&Fill::Zeros, "a", "f16", 2, 0), floats(&[0.0, 0.0]));
    }

    #[test]
    fn a_generator_gives_every_lane_a_value_of_its_number_and_the_sizes() {
        let generator = |text| Fill::Generator(Expr::parse(text).unwrap());
        assert_eq!(filled(&generator("1 + i * 0.5"), "a", "f32x2", 2, 0), floats(&[1.0, 1.5, 2.0, 2.5]));
        assert_eq!(filled(&generator("(i % 3) == 2"), "a", "u8", 4, 0), [0, 0, 1, 0].map(Number::Int));
        assert_eq!(filled(&generator("i * n // 2"), "a", "i32", 4, 0), [0, 3, 7, 10].map(Number::Int));
        let element = ElementType::parse("i32").unwrap();
        let fails =
            |text| write_fill(&generator(text), "a", element, 3, NOTHING, &mut Vec::new()).unwrap_err().to_string();
        assert_eq!(fails("i / 2"), "`i / 2` where i = 1: it is 0.5, which i32 cannot hold");
        assert_eq!(fails("i + j"), "`i + j` where i = 0: `j` is not known here");
    }

    #[test]
    fn a_constant_that_the_type_cannot_hold_is_refused() {
        let element = ElementType::parse("u8").unwrap();
        let error = write_fill(&Fill::Constant(300.0), "a", element, 1, NOTHING, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "u8 cannot hold the constant 300");
    }
}
