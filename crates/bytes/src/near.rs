//! Numbers that are near those expected.

use crate::half;

/// The bounds within which a number needs no second look.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The absolute part of the tolerance.
    pub absolute: f64,
    /// The relative part.
    pub relative: f64,
    /// The largest relative error found so far.
    pub error: f64,
    /// The least size by which a difference is divided.
    pub least: f64,
}

impl Bounds {
    /// Returns true if `found` passes for `wanted`, and its error is at most [`error`](Self::error).
    /// False for NaN and infinities, whose difference is NaN. Has no branches, so that a loop of it
    /// takes several numbers at a time.
    fn hold(self, wanted: f64, found: f64) -> bool {
        let (apart, size) = ((found - wanted).abs(), wanted.abs());
        let scale = if size > self.least { size } else { self.least };
        (apart <= self.error * scale) & (apart <= self.absolute + self.relative * size)
    }
}

/// Returns true if all half-precision numbers of `found` are within `bounds` of those of `wanted`.
/// Bytes that fill no number are ignored.
pub fn f16s_are_near(wanted: &[u8], found: &[u8], bounds: Bounds) -> bool {
    let number = |bytes: &[u8; 2]| half::to_f64(u16::from_ne_bytes(*bytes));
    let pairs = wanted.as_chunks().0.iter().zip(found.as_chunks().0);
    pairs.fold(true, |near, (wanted, found)| near & bounds.hold(number(wanted), number(found)))
}

/// Returns the same for single-precision numbers.
pub fn f32s_are_near(wanted: &[u8], found: &[u8], bounds: Bounds) -> bool {
    let number = |bytes: &[u8; 4]| f64::from(f32::from_ne_bytes(*bytes));
    let pairs = wanted.as_chunks().0.iter().zip(found.as_chunks().0);
    pairs.fold(true, |near, (wanted, found)| near & bounds.hold(number(wanted), number(found)))
}

/// Returns the same for double-precision numbers.
pub fn f64s_are_near(wanted: &[u8], found: &[u8], bounds: Bounds) -> bool {
    let pairs = wanted.as_chunks().0.iter().zip(found.as_chunks().0);
    let hold = |wanted: &[u8; 8], found: &[u8; 8]| bounds.hold(f64::from_ne_bytes(*wanted), f64::from_ne_bytes(*found));
    pairs.fold(true, |near, (wanted, found)| near & hold(wanted, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { absolute: 0.5, relative: 0.25, error: 0.375, least: 2.0 };

    /// Returns the answers for one number of each type.
    fn are_near(wanted: f64, found: f64) -> [bool; 3] {
        let halves = [wanted, found].map(|number| half::from_f64(number).to_ne_bytes());
        let singles = [wanted, found].map(|number| (number as f32).to_ne_bytes());
        let doubles = [wanted, found].map(f64::to_ne_bytes);
        [
            f16s_are_near(&halves[0], &halves[1], BOUNDS),
            f32s_are_near(&singles[0], &singles[1], BOUNDS),
            f64s_are_near(&doubles[0], &doubles[1], BOUNDS),
        ]
    }

    #[test]
    fn both_the_tolerance_and_the_error_bound_a_number() {
        assert_eq!(are_near(4.0, 5.5), [true; 3]);
        assert_eq!(are_near(4.0, 5.625), [false; 3], "more than 0.5 + 0.25 * 4");
        assert_eq!(are_near(0.0, 0.5), [true; 3], "relative to the least size");
        assert_eq!(are_near(-16.0, -20.5), [true; 3]);
        let strict = Bounds { error: 0.25, ..BOUNDS };
        assert!(!f64s_are_near(&(-16f64).to_ne_bytes(), &(-20.5f64).to_ne_bytes(), strict), "a larger error");
    }

    #[test]
    fn numbers_that_are_none_are_never_near() {
        for (wanted, found) in [(f64::NAN, f64::NAN), (f64::INFINITY, f64::INFINITY), (1.0, f64::NAN), (f64::NAN, 1.0)]
        {
            assert_eq!(are_near(wanted, found), [false; 3], "{wanted} {found}");
        }
    }

    #[test]
    fn one_number_of_many_decides() {
        let wanted: Vec<u8> = (0..65).flat_map(|number| (number as f32).to_ne_bytes()).collect();
        let mut found = wanted.clone();
        assert!(f32s_are_near(&wanted, &found, BOUNDS));
        found[4 * 64..].copy_from_slice(&200f32.to_ne_bytes());
        assert!(!f32s_are_near(&wanted, &found, BOUNDS));
    }
}
