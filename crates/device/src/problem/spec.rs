//! The description of a problem: kernels, their arguments, and the checks of their results.

use crate::problem::{Argument, Generator, Kernel, Language, ScalarType, WorkSize};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tunesmith_space::Value;

/// The kernels of a problem and their data.
#[derive(Clone, Debug)]
pub struct KernelSpec {
    /// The problem's name, for messages.
    pub problem: String,
    /// The kernels in the order in which they run, at least one. One backend runs all of them.
    pub kernels: Vec<Kernel>,
    /// The problem's sizes. Kernels and reference get each size as `-DNAME=VALUE`.
    pub sizes: Vec<(String, Value)>,
    /// The arguments of all kernels.
    pub arguments: Vec<Argument>,
    /// The checks of the result.
    pub verify: Verify,
    /// The seed of random fills.
    pub seed: u64,
}

/// The checks of a kernel's result. Without a reference and without expected files, the checks find
/// only crashes, writes outside of buffers and writes to inputs.
#[derive(Clone, Debug, Default)]
pub struct Verify {
    /// A function that computes the correct result from the same arguments.
    pub reference: Option<Reference>,
    /// Files with the correct contents of arguments, by argument name. They take precedence over
    /// the reference.
    pub expected: Vec<(String, PathBuf)>,
    /// The relative tolerance of all floating-point arguments.
    pub relative: Option<f64>,
    /// The absolute tolerance of all floating-point arguments.
    pub absolute: Option<f64>,
    /// Tolerances of single arguments, including integer arguments.
    pub tolerances: BTreeMap<String, PartialTolerance>,
}

/// A function that computes the correct result. It gets the kernel's arguments and the sizes, but
/// not the parameters.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Its language.
    pub language: Language,
    /// The source file. With a generator, the file that the generator read.
    pub file: PathBuf,
    /// The generator of the source. Replaces `file`.
    pub generator: Option<Arc<dyn Generator>>,
    /// The function's name.
    pub function: String,
    /// The work-items, expressions over the sizes. `None` in languages without work-items.
    pub work: Option<WorkSize>,
}

/// The stated parts of an argument's tolerance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PartialTolerance {
    /// The relative tolerance.
    pub relative: Option<f64>,
    /// The absolute tolerance.
    pub absolute: Option<f64>,
}

/// A tolerance. A value x passes for the expected value y if `|x - y| <= absolute + relative *
/// |y|`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// The part relative to the expected value.
    pub relative: f64,
    /// The part independent of the expected value.
    pub absolute: f64,
}

impl Tolerance {
    /// Accepts only the expected value itself.
    pub const EXACT: Self = Self { relative: 0.0, absolute: 0.0 };

    /// Returns the default tolerance of a type. Integers must be equal. For floats, it is about the
    /// square root of the rounding error of a thousand reordered operations. A reordered sum
    /// passes. A missing term fails if the data are of order one. The absolute part admits sums
    /// that cancel to nearly zero.
    pub fn of(scalar: ScalarType) -> Self {
        match scalar {
            ScalarType::F64 => Self { relative: 1e-9, absolute: 1e-12 },
            ScalarType::F32 => Self { relative: 1e-4, absolute: 1e-5 },
            // Half precision has only three decimal digits.
            ScalarType::F16 => Self { relative: 1e-2, absolute: 1e-3 },
            _ => Self::EXACT,
        }
    }
}

impl Verify {
    /// Returns the tolerance of an argument: its own, else the common tolerance (floats only), else
    /// the default of its type.
    pub fn tolerance(&self, argument: &str, scalar: ScalarType) -> Tolerance {
        let own = self.tolerances.get(argument).copied().unwrap_or_default();
        let common = if scalar.is_float() {
            PartialTolerance { relative: self.relative, absolute: self.absolute }
        } else {
            PartialTolerance::default()
        };
        let default = Tolerance::of(scalar);
        Tolerance {
            relative: own.relative.or(common.relative).unwrap_or(default.relative),
            absolute: own.absolute.or(common.absolute).unwrap_or(default.absolute),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arguments_tolerance_goes_before_the_common_one_and_that_before_the_types() {
        let own = PartialTolerance { relative: None, absolute: Some(3.0) };
        let verify = Verify {
            relative: Some(1.0),
            absolute: Some(2.0),
            tolerances: [("c".to_owned(), own)].into(),
            ..Verify::default()
        };
        assert_eq!(verify.tolerance("c", ScalarType::F32), Tolerance { relative: 1.0, absolute: 3.0 });
        assert_eq!(verify.tolerance("d", ScalarType::F32), Tolerance { relative: 1.0, absolute: 2.0 });
        assert_eq!(Verify::default().tolerance("c", ScalarType::F32), Tolerance::of(ScalarType::F32));
    }

    #[test]
    fn integers_are_exact_unless_their_own_tolerance_says_otherwise() {
        let own = PartialTolerance { relative: None, absolute: Some(1.0) };
        let verify = Verify { relative: Some(1.0), tolerances: [("c".to_owned(), own)].into(), ..Verify::default() };
        assert_eq!(verify.tolerance("d", ScalarType::I32), Tolerance::EXACT);
        assert_eq!(verify.tolerance("c", ScalarType::I32), Tolerance { relative: 0.0, absolute: 1.0 });
    }
}
