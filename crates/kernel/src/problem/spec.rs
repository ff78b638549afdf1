//! The description of a problem: kernels, their arguments, and the checks of their results.

use crate::problem::{Argument, Fill, Generator, Kernel, Language, ScalarType, Scope, Template, WorkSize};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use tunesmith_space::{Constraint, Parameter, Value};

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

impl KernelSpec {
    /// Returns true if any output is compared with a correct result. Otherwise a configuration
    /// counts as correct that computes nothing.
    pub fn is_verified(&self) -> bool {
        (0..self.arguments.len()).any(|position| self.compares(position))
    }

    /// Returns the alternative that a configuration chooses, if the problem has alternatives.
    pub fn alternative(&self, scope: &Scope) -> Option<Value> {
        let mut chosen = self.kernels.iter().filter(|kernel| kernel.is_part_of(scope));
        chosen.find_map(|kernel| kernel.alternative.as_ref()).map(|alternative| alternative.value.clone())
    }

    /// Returns true if the argument at `position` is an output that is compared.
    pub fn compares(&self, position: usize) -> bool {
        self.arguments.get(position).is_some_and(|argument| self.verify.compares(position, argument))
    }
}

/// The checks of a kernel's result. Without a reference and without expected contents, the checks find
/// only crashes, writes outside of buffers and writes to inputs.
#[derive(Clone, Debug, Default)]
pub struct Verify {
    /// A function that computes the correct result from the same arguments.
    pub reference: Option<Reference>,
    /// The correct contents of arguments, by argument name: a file, or a rule for every element. They
    /// take precedence over the reference.
    pub expected: Vec<(String, Fill)>,
    /// The relative tolerance of all floating-point arguments.
    pub relative: Option<f64>,
    /// The absolute tolerance of all floating-point arguments.
    pub absolute: Option<f64>,
    /// Tolerances of single arguments, including integer arguments.
    pub tolerances: BTreeMap<String, PartialTolerance>,
    /// The parts of outputs that are compared, by argument name. All of an output without an entry.
    pub compare: BTreeMap<String, Vec<Range<u64>>>,
    /// Further sizes at which the winner must be correct.
    pub sizes: Vec<OtherSizes>,
    /// A function of the program that decides about outputs in place of a comparison.
    pub judge: Option<Judge>,
}

/// A function of the program that decides whether outputs are right.
///
/// It serves where no comparison of elements can tell: partial sums whose total counts, results in
/// any order. It runs in the tuner's process, for every launch whose outputs are examined.
#[derive(Clone)]
pub struct Judge {
    /// The names of the outputs that it sees.
    pub arguments: Vec<String>,
    /// Takes the bytes of each output with its name, in the order of the problem's arguments. The
    /// error tells users what is wrong.
    pub decide: Arc<Decide>,
}

/// A decision about the bytes of named outputs.
pub type Decide = dyn Fn(&[(&str, Vec<u8>)]) -> Result<(), String> + Send + Sync;

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge").field("arguments", &self.arguments).finish_non_exhaustive()
    }
}

/// The same problem at other sizes, at which a winner is verified once more.
#[derive(Clone, Debug)]
pub struct OtherSizes {
    /// The sizes, for messages.
    pub label: String,
    /// The problem.
    pub spec: KernelSpec,
    /// The tuning parameters with their values at these sizes.
    pub parameters: Vec<Parameter>,
    /// The constraints at these sizes.
    pub constraints: Vec<Constraint>,
}

/// A function that computes the correct result. It gets the sizes as macros, but not the
/// parameters. It runs once for each set of values that its arguments take.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Its language.
    pub language: Language,
    /// The source file. With a generator, the file that the generator read.
    pub file: PathBuf,
    /// The generator of the source. Replaces `file`.
    pub generator: Option<Arc<dyn Generator>>,
    /// Further source files, compiled together with `file`.
    pub sources: Vec<PathBuf>,
    /// Folders to search for included files, before those of the first kernel.
    pub include: Vec<PathBuf>,
    /// The function's name.
    pub function: String,
    /// Compiler options. Each text is one argument.
    pub options: Vec<Template>,
    /// The arguments in the order of the signature, as positions among the problem's arguments.
    /// `None` means all of them.
    pub arguments: Option<Vec<usize>>,
    /// The work-items, expressions over the sizes. `None` in languages without work-items.
    pub work: Option<WorkSize>,
}

impl Reference {
    /// Creates a reference that takes all arguments.
    pub fn new(language: Language, file: impl Into<PathBuf>, function: impl Into<String>) -> Self {
        Self {
            language,
            file: file.into(),
            generator: None,
            sources: Vec::new(),
            include: Vec::new(),
            function: function.into(),
            options: Vec::new(),
            arguments: None,
            work: None,
        }
    }

    /// Returns true if the reference gets the problem's argument at `position`.
    pub fn takes(&self, position: usize) -> bool {
        self.arguments.as_ref().is_none_or(|own| own.contains(&position))
    }
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
    /// Returns the names of the outputs that nothing compares with a correct result. Whatever a kernel writes to them
    /// counts as correct.
    pub fn uncompared<'a>(&self, arguments: &'a [Argument]) -> Vec<&'a str> {
        let outputs = arguments.iter().enumerate().filter(|(_, argument)| argument.is_output());
        let open = outputs.filter(|(position, argument)| !self.compares(*position, argument));
        open.map(|(_, argument)| argument.name.as_str()).collect()
    }

    /// Returns true if `argument`, the one at `position`, is an output that is compared.
    fn compares(&self, position: usize, argument: &Argument) -> bool {
        let has_reference = || self.reference.as_ref().is_some_and(|reference| reference.takes(position));
        argument.is_output() && (has_reference() || self.states(&argument.name) || self.judges(&argument.name))
    }

    /// Returns true if the correct contents of an argument are stated, so that the reference need not
    /// compute them.
    pub fn states(&self, argument: &str) -> bool {
        self.expected.iter().any(|(name, _)| name == argument)
    }

    /// Returns true if a function of the program decides about an argument.
    pub fn judges(&self, argument: &str) -> bool {
        self.judge.as_ref().is_some_and(|judge| judge.arguments.iter().any(|name| name == argument))
    }

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
