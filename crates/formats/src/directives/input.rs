//! An input of a kernel: a scalar or a buffer.

use super::signature::Parameter;
use std::ops::Range;
use tunesmith_kernel::{Access, ElementType, Fill, Memory, ScalarType};
use tunesmith_space::{Expr, Value};
use tunesmith_spec::{ArgumentDraft, ArgumentKindDraft, Key};

/// An input of a kernel.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) element: ElementType,
    pub(super) kind: Kind,
    pub(super) place: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Scalar(Scalar),
    Buffer { size: Expr, fill: Fill },
}

#[derive(Clone, Debug)]
pub(super) enum Scalar {
    /// An expression.
    Value(Expr),
    /// A random number between two numbers.
    Random(f64, f64),
}

impl Input {
    /// Returns the argument at `number`, counted from 0. `declared` is the kernel's parameter.
    pub(super) fn draft(&self, declared: Option<&Parameter>, number: usize) -> ArgumentDraft {
        let name = declared.map_or_else(|| format!("input_{}", number + 1), |declared| declared.name.clone());
        let kind = match &self.kind {
            Kind::Scalar(Scalar::Value(value)) => ArgumentKindDraft::Scalar(value.clone()),
            Kind::Scalar(Scalar::Random(low, high)) => {
                ArgumentKindDraft::Scalar(Expr::constant(drawn(self.element.scalar(), *low, *high, &name)))
            }
            Kind::Buffer { size, fill } => {
                // Without a declaration, the kernel may write everything.
                let is_const = declared.is_some_and(|declared| declared.is_const);
                let is_constant = declared.is_some_and(|declared| declared.is_constant_memory);
                ArgumentKindDraft::Buffer {
                    shape: vec![size.clone()],
                    fill: fill.clone(),
                    access: if is_const { Access::In } else { Access::InOut },
                    memory: if is_constant { Memory::Constant } else { Memory::Global },
                }
            }
        };
        let key = Key::of("arguments").at(number);
        ArgumentDraft { key, name, element: self.element, kind, symbol: None, align: None, tolerance: None }
    }
}

/// Draws a scalar between two numbers. The same name gives the same number in every run, as for the
/// contents of buffers.
fn drawn(scalar: ScalarType, low: f64, high: f64, name: &str) -> Value {
    // FNV-1a, then the last steps of SplitMix64, which spread a short name over all bits.
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, hash);
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    // (0, 1]: ATF's random numbers of real types exclude their lower bound.
    let share = (((hash ^ (hash >> 31)) >> 11) + 1) as f64 / 2f64.powi(53);
    if scalar.is_float() {
        return Value::Float(low + share * (high - low));
    }
    let (low, high) = (low.ceil(), high.floor());
    Value::Int((low + (share * (high - low + 1.0)).ceil() - 1.0) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_scalar_lies_within_its_bounds_and_is_the_same_every_time() {
        for name in ["a", "alpha", "N", "input_2"] {
            let float = drawn(ScalarType::F32, 2.0, 3.0, name).as_float().unwrap();
            assert!(float > 2.0 && float <= 3.0, "{float}");
            assert_eq!(drawn(ScalarType::F32, 2.0, 3.0, name), Value::Float(float));
            let whole = drawn(ScalarType::I32, 1.0, 3.0, name).as_int().unwrap();
            assert!((1..=3).contains(&whole), "{whole}");
        }
        assert_eq!(drawn(ScalarType::I32, 5.0, 5.0, "a"), Value::Int(5));
    }
}
