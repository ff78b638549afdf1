//! The correct outputs of one set of data. They never leave the memory of the tuner's process: a
//! kernel can read what its own process can, such as files and descriptors.

use crate::data::dataset::{check_ranges, compared};
use crate::measure::compare::Comparison;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use tunesmith_kernel::data::{Given, Passed, write_contents};
use tunesmith_kernel::{Access, Argument, ArgumentKind, DeviceError, ElementType, Judge, KernelSpec, Shape, Tolerance};

/// The size in bytes of the piece that is compared at a time. It fits into the second-level cache and
/// holds whole elements of every type.
const PIECE: usize = 128 << 10;

/// All outputs that a worker hands over, in the order of the arguments.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    outputs: Vec<ExpectedOutput>,
    judge: Option<Judge>,
}

/// The result of comparing all outputs of a launch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Compared {
    /// All values passed. `error` is their largest relative error, or `None` if nothing was compared.
    Right { error: Option<f64> },
    /// The fault of the first wrong output.
    Wrong(String),
}

/// The compared part of one output.
#[derive(Clone, Debug)]
struct ExpectedOutput {
    position: usize,
    name: String,
    element: ElementType,
    shape: Vec<u64>,
    tolerance: Tolerance,
    /// True if the buffer was poisoned before the launch.
    poisoned: bool,
    /// The parts in bytes that are compared.
    ranges: Vec<Range<usize>>,
    /// True if the problem states the correct contents. They belong to the first set of data only:
    /// nobody states what other inputs give.
    stated: bool,
    /// True if a function of the program decides about it.
    judged: bool,
    /// The correct bytes of all ranges, one after the other. `None` if they are not known for this
    /// set of data.
    bytes: Option<Vec<u8>>,
}

impl Expected {
    /// Returns the outputs for which `compares` is true of their positions, with no correct bytes
    /// yet. `passed` tells the extents that depend on the parameters.
    ///
    /// # Errors
    /// A range to compare leaves its output.
    pub(crate) fn outline(
        spec: &KernelSpec,
        passed: &[Passed],
        compares: impl Fn(usize) -> bool,
    ) -> Result<Self, DeviceError> {
        let arguments = spec.arguments.iter().zip(passed).enumerate().filter(|(position, _)| compares(*position));
        let outputs = arguments.filter_map(|(position, (argument, passed))| {
            let (shape, access) = extents(argument, passed)?;
            Some(ExpectedOutput::outline(spec, position, argument, shape, access))
        });
        Ok(Self { outputs: outputs.collect::<Result<_, _>>()?, judge: spec.verify.judge.clone() })
    }

    /// Takes the correct contents that the problem states.
    ///
    /// # Errors
    /// A file is missing or not as declared, or the type cannot hold a number.
    pub(crate) fn take_stated(&mut self, spec: &KernelSpec) -> Result<(), DeviceError> {
        let given = Given { seed: spec.seed, sizes: &spec.sizes };
        for output in &mut self.outputs {
            let Some((_, fill)) = spec.verify.expected.iter().find(|(name, _)| *name == output.name) else { continue };
            let Some(argument) = spec.arguments.get(output.position) else { continue };
            let mut whole = Vec::new();
            write_contents(argument, &output.shape, fill, given, &mut whole)
                .map_err(|source| DeviceError::Data { argument: output.name.clone(), source })?;
            output.bytes = Some(output.ranges.iter().flat_map(|range| &whole[range.clone()]).copied().collect());
        }
        Ok(())
    }

    /// Returns the positions of the outputs whose correct contents the reference has yet to compute.
    pub(crate) fn missing(&self) -> Vec<usize> {
        let missing = self.outputs.iter().filter(|output| output.is_missing());
        missing.map(|output| output.position).collect()
    }

    /// Reads the correct contents of the [missing](Self::missing) outputs, which a worker handed
    /// over.
    pub(crate) fn take(&mut self, results: &File) -> io::Result<()> {
        let mut at = 0;
        for output in self.outputs.iter_mut().filter(|output| output.is_missing()) {
            let mut bytes = vec![0; output.length()];
            results.read_exact_at(&mut bytes, at)?;
            at += bytes.len() as u64;
            output.bytes = Some(bytes);
        }
        Ok(())
    }

    /// Compares the outputs that a worker handed over. Returns the fault of the first wrong one, or
    /// the largest relative error of all.
    pub(crate) fn compare(&self, results: &File) -> io::Result<Compared> {
        let (mut at, mut error, mut judged) = (0, None, Vec::new());
        for output in &self.outputs {
            if output.judged {
                let mut bytes = vec![0; output.length()];
                results.read_exact_at(&mut bytes, at)?;
                judged.push((output.name.as_str(), bytes));
            } else if let Some(comparison) = output.compare(results, at)? {
                if let Some(fault) = comparison.verdict(&output.name, &output.shape) {
                    return Ok(Compared::Wrong(fault));
                }
                error = Some(error.map_or(comparison.error(), |before: f64| before.max(comparison.error())));
            }
            at += output.length() as u64;
        }
        match self.judge.as_ref().map(|judge| (judge.decide)(&judged)) {
            Some(Err(fault)) => Ok(Compared::Wrong(fault)),
            Some(Ok(())) | None => Ok(Compared::Right { error }),
        }
    }

    /// Returns the memory in bytes that the correct contents take.
    pub(crate) fn bytes(&self) -> usize {
        self.outputs.iter().filter_map(|output| output.bytes.as_ref()).map(Vec::len).sum()
    }
}

/// Returns the extents of a buffer and the kernel's use of it.
fn extents<'a>(argument: &'a Argument, passed: &'a Passed) -> Option<(&'a [u64], Access)> {
    match (&argument.kind, passed) {
        (ArgumentKind::Buffer { shape: Shape::Fixed(shape), access, .. }, _) => Some((shape, *access)),
        (ArgumentKind::Buffer { access, .. }, Passed::Sized(shape)) => Some((shape, *access)),
        _ => None,
    }
}

impl ExpectedOutput {
    fn outline(
        spec: &KernelSpec,
        position: usize,
        argument: &Argument,
        shape: &[u64],
        access: Access,
    ) -> Result<Self, DeviceError> {
        let elements: u64 = shape.iter().product();
        check_ranges(spec, argument, elements)?;
        let bytes = argument.size(shape.iter().copied());
        let bytes =
            bytes.ok_or_else(|| DeviceError::TooLarge { argument: argument.name.clone(), shape: shape.to_vec() })?;
        Ok(Self {
            position,
            name: argument.name.clone(),
            element: argument.element,
            shape: shape.to_vec(),
            tolerance: spec.verify.tolerance(&argument.name, argument.element.scalar()),
            poisoned: access == Access::Out,
            ranges: compared(spec, argument).ranges(bytes),
            stated: spec.verify.states(&argument.name),
            judged: spec.verify.judges(&argument.name),
            bytes: None,
        })
    }

    fn is_missing(&self) -> bool {
        self.bytes.is_none() && !self.stated && !self.judged
    }

    /// Returns the number of bytes that are compared.
    fn length(&self) -> usize {
        self.ranges.iter().map(Range::len).sum()
    }

    /// Compares the bytes that begin at `at` in the file of results. Returns `None` if the correct
    /// ones are not known.
    fn compare(&self, results: &File, mut at: u64) -> io::Result<Option<Comparison>> {
        let Some(mut wanted) = self.bytes.as_deref() else { return Ok(None) };
        let mut comparison = Comparison::new(self.element, self.tolerance, self.poisoned);
        let mut piece = vec![0; PIECE];
        for range in &self.ranges {
            for offset in range.clone().step_by(PIECE) {
                let length = PIECE.min(range.end - offset);
                let (next, rest) = wanted.split_at(length);
                results.read_exact_at(&mut piece[..length], at)?;
                comparison.feed(offset as u64, next, &piece[..length]);
                (wanted, at) = (rest, at + length as u64);
            }
        }
        Ok(Some(comparison))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;
    use std::sync::Arc;
    use tunesmith_kernel::{Fill, Memory, Verify};
    use tunesmith_space::{Expr, Value};

    fn spec_of(elements: u64, ranges: Option<Vec<Range<u64>>>) -> KernelSpec {
        let kind = ArgumentKind::Buffer {
            shape: vec![elements].into(),
            fill: Fill::Zeros,
            access: Access::InOut,
            memory: Memory::Global,
        };
        let compare = ranges.map(|ranges| ("c".to_owned(), ranges)).into_iter().collect();
        KernelSpec {
            problem: "p".into(),
            kernels: Vec::new(),
            sizes: Vec::new(),
            arguments: vec![Argument::new("c", ElementType::parse("i32").unwrap(), kind)],
            verify: Verify { compare, ..Verify::default() },
            seed: 1,
        }
    }

    fn file(values: &[i32]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        values.iter().for_each(|value| file.write_all(&value.to_ne_bytes()).unwrap());
        file
    }

    fn fault(expected: &Expected, found: &[i32]) -> Option<String> {
        match expected.compare(&file(found)).unwrap() {
            Compared::Wrong(fault) => Some(fault),
            Compared::Right { .. } => None,
        }
    }

    /// Returns the values in the ranges, one after the other, as a worker hands them over.
    fn picked(values: &[i32], ranges: &[Range<u64>]) -> Vec<i32> {
        ranges.iter().flat_map(|range| values[range.start as usize..range.end as usize].to_vec()).collect()
    }

    #[test]
    fn a_function_of_the_program_decides_in_place_of_a_comparison() {
        let total = |outputs: &[(&str, Vec<u8>)]| {
            let [("c", bytes)] = outputs else { return Err(format!("{outputs:?}")) };
            let sum: i32 = bytes.as_chunks::<4>().0.iter().map(|value| i32::from_le_bytes(*value)).sum();
            if sum == 10 { Ok(()) } else { Err(format!("the sum is {sum}")) }
        };
        let judge = Judge { arguments: vec!["c".into()], decide: Arc::new(total) };
        let mut spec = spec_of(4, None);
        spec.verify.judge = Some(judge);
        assert!(spec.is_verified());
        let expected = Expected::outline(&spec, &[Passed::Buffer], |position| spec.compares(position)).unwrap();
        assert!(expected.missing().is_empty(), "no reference is needed");
        assert_eq!(fault(&expected, &[1, 2, 3, 4]), None);
        assert_eq!(fault(&expected, &[4, 3, 2, 1]), None);
        assert_eq!(fault(&expected, &[4, 3, 2, 2]).as_deref(), Some("the sum is 11"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 6))]
        #[test]
        fn comparing_ranges_piece_by_piece_finds_what_comparing_each_value_finds(
            elements in 1..100_000_u64,
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 4),
            changed in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
        ) {
            let mut cuts: Vec<u64> = cuts.iter().map(|cut| cut.index(elements as usize + 1) as u64).collect();
            cuts.sort_unstable();
            let ranges: Vec<Range<u64>> =
                [cuts[0]..cuts[1], cuts[2]..cuts[3]].into_iter().filter(|range| !range.is_empty()).collect();
            prop_assume!(!ranges.is_empty());
            let wanted: Vec<i32> = (0..elements as i32).collect();
            let mut found = wanted.clone();
            changed.iter().for_each(|at| found[at.index(elements as usize)] = -1);
            let spec = spec_of(elements, Some(ranges.clone()));
            let mut expected = Expected::outline(&spec, &[Passed::Buffer], |_| true).unwrap();
            expected.take(&file(&picked(&wanted, &ranges))).unwrap();
            let fault = fault(&expected, &picked(&found, &ranges));

            let all: u64 = ranges.iter().map(|range| range.end - range.start).sum();
            let wrong: Vec<u64> = ranges.iter().cloned().flatten().filter(|at| found[*at as usize] == -1).collect();
            let obvious = wrong.first().map(|at| {
                format!("`c`[{at}] is wrong: wanted {at}, found -1 ({} of {all} values are wrong)", wrong.len())
            });
            prop_assert_eq!(fault, obvious);
        }
    }

    #[test]
    fn stated_contents_are_numbers_of_the_element_and_count_from_the_beginning_of_the_output() {
        let mut spec = spec_of(6, Some(vec![1..2, 4..6]));
        spec.sizes = vec![("n".into(), Value::Int(10))];
        spec.verify.expected = vec![("c".into(), Fill::Generator(Expr::parse("n * i").unwrap()))];
        let mut expected = Expected::outline(&spec, &[Passed::Buffer], |_| true).unwrap();
        assert!(expected.missing().is_empty(), "no reference has to compute it");
        expected.take_stated(&spec).unwrap();
        assert_eq!(fault(&expected, &[10, 40, 50]), None);
        let fault = fault(&expected, &[10, 40, 51]).unwrap();
        assert!(fault.starts_with("`c`[5] is wrong: wanted 50, found 51"), "{fault}");
    }

    #[test]
    fn stated_contents_that_the_type_cannot_hold_name_their_output() {
        let mut spec = spec_of(3, None);
        spec.verify.expected = vec![("c".into(), Fill::Generator(Expr::parse("i / 2").unwrap()))];
        let mut expected = Expected::outline(&spec, &[Passed::Buffer], |_| true).unwrap();
        let error = expected.take_stated(&spec).unwrap_err();
        assert!(matches!(&error, DeviceError::Data { argument, .. } if argument == "c"), "{error}");
    }

    #[test]
    fn outputs_that_did_not_arrive_are_no_match() {
        let spec = spec_of(3, None);
        let mut expected = Expected::outline(&spec, &[Passed::Buffer], |_| true).unwrap();
        expected.take(&file(&[1, 2, 3])).unwrap();
        assert!(expected.compare(&file(&[1, 2])).is_err());
        assert_eq!(fault(&expected, &[1, 2, 3]), None);
    }

    #[test]
    fn a_range_that_leaves_its_output_is_refused() {
        let error = Expected::outline(&spec_of(3, Some(vec![0..1, 2..4])), &[Passed::Buffer], |_| true).unwrap_err();
        assert!(error.to_string().contains("2..4 for the output `c`, which has 3 elements"), "{error}");
    }
}
