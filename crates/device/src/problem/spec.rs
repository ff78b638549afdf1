//! The description of what is tuned: kernels, their arguments, and the checks of their results.

use crate::problem::{Argument, Generator, Kernel, Language, ScalarType, WorkSize};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tunesmith_space::Value;

/// Kernels with their data.
#[derive(Clone, Debug)]
pub struct KernelSpec {
    /// The problem's name, for messages.
    pub problem: String,
    /// The kernels, in the order in which they run; at least one. All are run by the same backend.
    pub kernels: Vec<Kernel>,
    /// The problem's sizes; kernel and reference get them as `-DNAME=VALUE`.
    pub sizes: Vec<(String, Value)>,
    /// The arguments of all kernels.
    pub arguments: Vec<Argument>,
    /// The checks of the result.
    pub verify: Verify,
    /// The seed of random fills.
    pub seed: u64,
}

/// How a kernel's result is judged. With neither reference nor expected files only crashes, writes
/// outside of buffers and writes to inputs are found.
#[derive(Clone, Debug, Default)]
pub struct Verify {
    /// A function that computes the right result from the same arguments.
    pub reference: Option<Reference>,
    /// Files with the right contents of arguments, by argument name; they go before the
    /// reference's.
    pub expected: Vec<(String, PathBuf)>,
    /// The relative tolerance of all arguments of floats.
    pub relative: Option<f64>,
    /// The absolute tolerance of all arguments of floats.
    pub absolute: Option<f64>,
    /// Tolerances of single arguments, integers as well.
    pub tolerances: BTreeMap<String, PartialTolerance>,
}

/// A function that computes the right result. It gets the kernel's arguments and the sizes, not the
/// parameters.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Its language.
    pub language: Language,
    /// Its source file; with a generator, what it was made from.
    pub file: PathBuf,
    /// The generator of the source, in place of the file.
    pub generator: Option<Arc<dyn Generator>>,
    /// Its name.
    pub function: String,
    /// Its work-items, expressions over the sizes; none in languages that have no work-items.
    pub work: Option<WorkSize>,
}

/// The tolerance of one argument as far as it is stated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PartialTolerance {
    /// The relative tolerance.
    pub relative: Option<f64>,
    /// The absolute tolerance.
    pub absolute: Option<f64>,
}

/// A value x passes for the expected y when `|x - y| <= absolute + relative * |y|`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// Relative to the expected value.
    pub relative: f64,
    /// Independent of it.
    pub absolute: f64,
}

impl Tolerance {
    /// Nothing but the expected value passes.
    pub const EXACT: Self = Self { relative: 0.0, absolute: 0.0 };

    /// Returns the tolerance of a type when none is stated: integers exactly; floats about the
    /// square root of the rounding errors that a thousand operations in another order make, so that
    /// a reordered sum passes and a missing term of data of order one does not. The absolute part
    /// is for sums that cancel to nearly nothing.
    pub fn of(scalar: ScalarType) -> Self {
        match scalar {
            ScalarType::F64 => Self { relative: 1e-9, absolute: 1e-12 },
            ScalarType::F32 => Self { relative: 1e-4, absolute: 1e-5 },
            // Three decimal digits are all that half precision has.
            ScalarType::F16 => Self { relative: 1e-2, absolute: 1e-3 },
            _ => Self::EXACT,
        }
    }
}

impl Verify {
    /// Returns the tolerance of an argument: its own, else the common one (which is not for
    /// integers), else its type's.
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
