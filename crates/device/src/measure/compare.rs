//! Compares computed results with expected results.

use tunesmith_kernel::{ElementType, Number, ScalarType, Tolerance, half};

/// A number that is compared. The loop over an output is compiled for each kind.
trait Compared: Copy {
    /// Returns true if `found` passes for this number: `|found - wanted| <= absolute + relative *
    /// |wanted|`.
    fn passes(self, found: Self, tolerance: Tolerance) -> bool;

    /// Returns the difference of `found`, and the size of this number.
    fn apart(self, found: Self) -> (f64, f64);

    /// Returns true if `found` surely passes, and its error is at most `error`. Has no branches, so
    /// that a loop of it takes several numbers at a time.
    fn is_quiet(self, found: Self, tolerance: Tolerance, error: f64, least: f64) -> bool;
}

impl Compared for f64 {
    /// NaN passes only for NaN, and an infinity only for the same infinity.
    fn passes(self, found: Self, tolerance: Tolerance) -> bool {
        if self == found || (self.is_nan() && found.is_nan()) {
            return true;
        }
        // With an infinite number the bound would be infinite, and every value would pass.
        let bound = tolerance.absolute + tolerance.relative * self.abs();
        self.is_finite() && (found - self).abs() <= bound
    }

    /// NaN and infinities that are equal do not differ.
    fn apart(self, found: Self) -> (f64, f64) {
        if self.is_finite() { ((found - self).abs(), self.abs()) } else { (0.0, 1.0) }
    }

    /// False for NaN and infinities, whose difference is NaN.
    fn is_quiet(self, found: Self, tolerance: Tolerance, error: f64, least: f64) -> bool {
        let (apart, size) = ((found - self).abs(), self.abs());
        let scale = if size > least { size } else { least };
        (apart <= error * scale) & (apart <= tolerance.absolute + tolerance.relative * size)
    }
}

impl Compared for i128 {
    fn passes(self, found: Self, tolerance: Tolerance) -> bool {
        let bound = tolerance.absolute + tolerance.relative * self.abs() as f64;
        self == found || (found - self).abs() as f64 <= bound
    }

    fn apart(self, found: Self) -> (f64, f64) {
        ((found - self).abs() as f64, self.abs() as f64)
    }

    fn is_quiet(self, found: Self, _: Tolerance, _: f64, _: f64) -> bool {
        self == found
    }
}

/// Returns the least size by which the difference of a value is divided: where the absolute part of
/// the tolerance outweighs the relative one. A sum that cancels to nearly zero would otherwise have
/// an error without bound. Without a relative part, it is 1.
fn least_size(tolerance: Tolerance) -> f64 {
    if tolerance.relative > 0.0 { tolerance.absolute / tolerance.relative } else { 1.0 }
}

/// Returns the unit roundoff of a type: the largest relative error of a number that was rounded to
/// it. For integers, that of the numbers in which errors are computed.
fn unit_roundoff(scalar: ScalarType) -> f64 {
    match scalar {
        ScalarType::F16 => 2f64.powi(-11),
        ScalarType::F32 => 2f64.powi(-24),
        _ => 2f64.powi(-53),
    }
}

/// Number of values that are looked at together. Of a block in which nothing is remarkable, no single
/// value is.
const BLOCK: usize = 64;

/// Compares an output with the expected result, piece by piece.
#[derive(Debug)]
pub(crate) struct Comparison {
    element: ElementType,
    tolerance: Tolerance,
    /// The largest relative error so far.
    error: f64,
    /// True if the buffer was poisoned before the launch.
    poisoned: bool,
    /// The place of the piece that is compared.
    position: u64,
    /// The number of bytes compared so far.
    compared: u64,
    wrong: u64,
    unwritten: u64,
    first: Option<Mismatch>,
}

#[derive(Debug)]
struct Mismatch {
    position: u64,
    wanted: Number,
    found: Number,
    unwritten: bool,
}

impl Comparison {
    /// Creates a comparison of elements of a type within a tolerance. In a `poisoned` buffer,
    /// unwritten values are reported apart from wrong ones.
    pub(crate) fn new(element: ElementType, tolerance: Tolerance, poisoned: bool) -> Self {
        Self { element, tolerance, poisoned, position: 0, compared: 0, error: 0.0, wrong: 0, unwritten: 0, first: None }
    }

    /// Compares elements that begin at byte `position`. Both slices must have the same length, a
    /// whole number of elements.
    pub(crate) fn feed(&mut self, position: u64, wanted: &[u8], found: &[u8]) {
        self.position = position;
        // Most results agree in every bit. The comparison is then as fast as memory.
        if wanted != found {
            self.feed_lanes(wanted, found);
        }
        self.compared += wanted.len() as u64;
    }

    fn feed_lanes(&mut self, wanted: &[u8], found: &[u8]) {
        match self.element.scalar() {
            ScalarType::I8 => self.scan(wanted, found, |b| i128::from(i8::from_ne_bytes(b))),
            ScalarType::U8 | ScalarType::Byte => {
                self.scan(wanted, found, |b| i128::from(u8::from_ne_bytes(b)));
            }
            ScalarType::I16 => self.scan(wanted, found, |b| i128::from(i16::from_ne_bytes(b))),
            ScalarType::U16 => self.scan(wanted, found, |b| i128::from(u16::from_ne_bytes(b))),
            ScalarType::I32 => self.scan(wanted, found, |b| i128::from(i32::from_ne_bytes(b))),
            ScalarType::U32 => self.scan(wanted, found, |b| i128::from(u32::from_ne_bytes(b))),
            ScalarType::I64 => self.scan(wanted, found, |b| i128::from(i64::from_ne_bytes(b))),
            ScalarType::U64 => self.scan(wanted, found, |b| i128::from(u64::from_ne_bytes(b))),
            ScalarType::F16 => self.scan(wanted, found, |b| half::to_f64(u16::from_ne_bytes(b))),
            ScalarType::F32 => self.scan(wanted, found, |b| f64::from(f32::from_ne_bytes(b))),
            ScalarType::F64 => self.scan(wanted, found, f64::from_ne_bytes),
        }
    }

    /// Compares in one loop per type. A decision on the type for every value would take longer than
    /// some kernels.
    fn scan<const SIZE: usize, T: Compared>(&mut self, wanted: &[u8], found: &[u8], read: impl Fn([u8; SIZE]) -> T) {
        let (lanes, stored) = (self.element.lanes(), self.element.stored_lanes());
        let is_padded = lanes < stored;
        let (tolerance, least) = (self.tolerance, least_size(self.tolerance));
        let (wanted, found) = (wanted.as_chunks::<SIZE>().0, found.as_chunks::<SIZE>().0);
        for (block, (wanted, found)) in wanted.chunks(BLOCK).zip(found.chunks(BLOCK)).enumerate() {
            let pairs = || wanted.iter().zip(found);
            let error = self.error;
            let is_quiet = |(wanted, found): (&[u8; SIZE], &[u8; SIZE])| {
                read(*wanted).is_quiet(read(*found), tolerance, error, least)
            };
            // Most blocks end here. The padding of vectors means nothing.
            if !is_padded && pairs().fold(true, |quiet, pair| quiet & is_quiet(pair)) {
                continue;
            }
            for (lane, (wanted, found)) in (block * BLOCK..).zip(pairs()) {
                if is_padded && lane % stored >= lanes {
                    continue;
                }
                let (right, own) = (read(*wanted), read(*found));
                let (apart, size) = right.apart(own);
                // A division for every value would take most of the time.
                if apart > self.error * size.max(least) {
                    self.error = apart / size.max(least);
                }
                if !right.passes(own, tolerance) {
                    self.record(lane * SIZE, wanted, found);
                }
            }
        }
    }

    /// Returns the largest relative error of the values compared, each `|found - wanted| /
    /// max(|wanted|, absolute / relative)`. It is at least the unit roundoff of the type: the
    /// expected result is no more accurate than that. It means nothing if a value is wrong.
    pub(crate) fn error(&self) -> f64 {
        self.error.max(unit_roundoff(self.element.scalar()))
    }

    fn record(&mut self, offset: usize, wanted: &[u8], found: &[u8]) {
        let scalar = self.element.scalar();
        let unwritten = self.poisoned && found == scalar.poison();
        self.wrong += 1;
        self.unwritten += u64::from(unwritten);
        let position = self.position + offset as u64;
        self.first.get_or_insert_with(|| Mismatch {
            position,
            wanted: scalar.decode(wanted),
            found: scalar.decode(found),
            unwritten,
        });
    }

    /// Describes the fault of the output called `name` with the given shape. Returns `None` if all
    /// values passed.
    pub(crate) fn verdict(&self, name: &str, shape: &[u64]) -> Option<String> {
        let first = self.first.as_ref()?;
        let place = place(name, self.element, shape, first.position);
        let lanes = self.compared / self.element.size() as u64 * self.element.lanes() as u64;
        let (wrong, unwritten) = (self.wrong, self.unwritten);
        Some(if first.unwritten {
            format!(
                "{place} was not written: wanted {}, found the initial value of every launch ({unwritten} of {lanes} \
                     values were not written, {} are wrong). A kernel that adds to its output needs access = \"inout\"",
                first.wanted,
                wrong - unwritten
            )
        } else {
            format!(
                "{place} is wrong: wanted {}, found {} ({wrong} of {lanes} values are wrong)",
                first.wanted, first.found
            )
        })
    }
}

/// Returns the name of the value at a byte position, such as `` `c`[3, 7] ``, or `` `c`[3].2 `` for
/// the third lane of a vector.
pub(crate) fn place(name: &str, element: ElementType, shape: &[u64], position: u64) -> String {
    let mut index = position / element.size() as u64;
    let mut indices: Vec<String> = Vec::with_capacity(shape.len());
    for extent in shape.iter().rev() {
        indices.push((index % extent.max(&1)).to_string());
        index /= extent.max(&1);
    }
    indices.reverse();
    let lane = position % element.size() as u64 / element.scalar().size() as u64;
    let lane = if element.lanes() > 1 { format!(".{lane}") } else { String::new() };
    format!("`{name}`[{}]{lane}", indices.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Applies the rule to single numbers of any type.
    fn passes(wanted: Number, found: Number, tolerance: Tolerance) -> bool {
        match (wanted, found) {
            (Number::Float(wanted), Number::Float(found)) => wanted.passes(found, tolerance),
            (Number::Int(wanted), Number::Int(found)) => wanted.passes(found, tolerance),
            _ => false,
        }
    }

    fn f32s(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    fn verdict(element: &str, tolerance: Tolerance, wanted: &[u8], found: &[u8], shape: &[u64]) -> Option<String> {
        let mut comparison = Comparison::new(ElementType::parse(element).unwrap(), tolerance, true);
        comparison.feed(0, wanted, found);
        comparison.verdict("c", shape)
    }

    const LOOSE: Tolerance = Tolerance { relative: 0.1, absolute: 1.0 };

    #[test]
    fn the_bound_is_absolute_plus_relative_times_the_wanted() {
        let float = |wanted, found| passes(Number::Float(wanted), Number::Float(found), LOOSE);
        assert!(float(10.0, 12.0) && float(10.0, 8.0) && float(-10.0, -12.0));
        assert!(!float(10.0, 12.1) && !float(10.0, 7.9));
        let int = |wanted, found| passes(Number::Int(wanted), Number::Int(found), LOOSE);
        assert!(int(10, 12) && !int(10, 13));
    }

    #[test]
    fn nan_passes_only_for_nan_and_an_infinity_only_for_itself() {
        let float = |wanted, found| passes(Number::Float(wanted), Number::Float(found), LOOSE);
        assert!(float(f64::NAN, f64::NAN) && float(f64::INFINITY, f64::INFINITY));
        assert!(!float(1.0, f64::NAN) && !float(f64::NAN, 1.0));
        assert!(!float(f64::INFINITY, f64::NEG_INFINITY) && !float(f64::INFINITY, 1.0) && !float(1.0, f64::INFINITY));
    }

    #[test]
    fn large_integers_differ_by_one() {
        let wanted = Number::Int(i128::from(u64::MAX));
        assert!(!passes(wanted, Number::Int(i128::from(u64::MAX) - 1), Tolerance::EXACT));
        assert!(passes(wanted, wanted, Tolerance::EXACT));
    }

    #[test]
    fn the_first_wrong_value_is_named_by_its_indices() {
        let wanted = f32s(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let found = f32s(&[0.0, 1.0, 2.0, 3.0, 4.5, 6.0]);
        let message = verdict("f32", Tolerance::EXACT, &wanted, &found, &[2, 3]).unwrap();
        assert_eq!(message, "`c`[1, 1] is wrong: wanted 4, found 4.5 (2 of 6 values are wrong)");
    }

    #[test]
    fn a_vector_names_the_lane_and_ignores_the_padding() {
        let wanted = f32s(&[0.0, 1.0, 2.0, 0.0, 3.0, 4.0, 5.0, 0.0]);
        let mut found = f32s(&[0.0, 1.0, 2.0, 9.0, 3.0, 4.0, 5.0, 9.0]);
        assert_eq!(verdict("f32x3", Tolerance::EXACT, &wanted, &found, &[2]), None);
        found[24..28].copy_from_slice(&7.0_f32.to_ne_bytes());
        let message = verdict("f32x3", Tolerance::EXACT, &wanted, &found, &[2]).unwrap();
        assert_eq!(message, "`c`[1].2 is wrong: wanted 5, found 7 (1 of 6 values are wrong)");
    }

    #[test]
    fn poison_that_was_left_is_reported_as_unwritten() {
        let wanted = f32s(&[1.0, 2.0, 3.0]);
        let mut found = wanted.clone();
        found[4..8].copy_from_slice(ScalarType::F32.poison());
        let message = verdict("f32", Tolerance::EXACT, &wanted, &found, &[3]).unwrap();
        assert!(message.starts_with("`c`[1] was not written: wanted 2"), "{message}");
        assert!(message.contains("1 of 3 values were not written, 0 are wrong"), "{message}");
    }

    #[test]
    fn places_are_counted_over_pieces() {
        let mut comparison = Comparison::new(ElementType::parse("u8").unwrap(), Tolerance::EXACT, false);
        comparison.feed(0, &[1, 2], &[1, 2]);
        comparison.feed(2, &[3, 4], &[3, 5]);
        let message = comparison.verdict("c", &[4]).unwrap();
        assert_eq!(message, "`c`[3] is wrong: wanted 4, found 5 (1 of 4 values are wrong)");
    }

    #[test]
    fn the_error_is_relative_and_for_small_values_relative_to_the_size_that_the_absolute_tolerance_admits() {
        let error = |wanted: &[f32], found: &[f32]| {
            let tolerance = Tolerance { relative: 0.1, absolute: 0.01 };
            let mut comparison = Comparison::new(ElementType::parse("f32").unwrap(), tolerance, true);
            wanted.iter().zip(found).for_each(|(one, other)| comparison.feed(0, &f32s(&[*one]), &f32s(&[*other])));
            comparison.error()
        };
        assert_eq!(error(&[4.0, 8.0], &[4.5, 8.5]), 0.125);
        assert_eq!(error(&[0.0625], &[0.0]), 0.625, "0.01 / 0.1 is more than the value");
        assert_eq!(error(&[3.0, f32::NAN], &[3.0, f32::NAN]), 2f64.powi(-24), "exact as far as the type can say");
    }

    proptest! {
        #[test]
        fn the_fast_scan_agrees_with_the_rule_for_every_type(
            // Most bytes agree, so that some blocks are quiet.
            bytes in proptest::collection::vec((any::<u8>(), any::<u8>(), 0..32_u8), 1280),
            type_index in 0..67_usize, relative in 0.0..1.0f64, absolute in 0.0..100.0f64,
        ) {
            let element = ElementType::all().nth(type_index).unwrap();
            let (wanted, found): (Vec<u8>, Vec<u8>) = bytes
                .into_iter()
                .map(|(wanted, other, differs)| (wanted, if differs == 0 { other } else { wanted }))
                .unzip();
            let tolerance = Tolerance { relative, absolute };
            let mut comparison = Comparison::new(element, tolerance, false);
            comparison.feed(0, &wanted, &found);
            let scalar = element.scalar();
            let lanes = wanted.chunks(scalar.size()).zip(found.chunks(scalar.size())).enumerate();
            let wrong = lanes
                .filter(|(lane, _)| lane % element.stored_lanes() < element.lanes())
                .filter(|(_, (wanted, found))| !passes(scalar.decode(wanted), scalar.decode(found), tolerance))
                .count();
            prop_assert_eq!(comparison.wrong, wrong as u64);
            let number = |bytes: &[u8]| match scalar.decode(bytes) {
                Number::Float(number) => number,
                Number::Int(number) => number as f64,
            };
            let least = if relative > 0.0 { absolute / relative } else { 1.0 };
            let errors = wanted.chunks(scalar.size()).zip(found.chunks(scalar.size())).enumerate()
                .filter(|(lane, _)| lane % element.stored_lanes() < element.lanes())
                .map(|(_, (wanted, found))| (number(wanted), number(found)))
                .filter(|(wanted, found)| wanted.is_finite() && !found.is_nan())
                .map(|(wanted, found)| (found - wanted).abs() / wanted.abs().max(least));
            let largest = errors.fold(unit_roundoff(scalar), f64::max);
            let error = comparison.error();
            prop_assert!(error == largest || (error / largest - 1.0).abs() < 1e-9, "{} {}", error, largest);
        }
    }
}
