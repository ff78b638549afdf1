//! Half-precision numbers (IEEE 754 binary16): 1 bit of sign, 5 of exponent, 10 of mantissa.
//!
//! The standard library has no stable type for them, and crates that have one cost more to build
//! than these two conversions.

/// The bits of infinity.
const INFINITY: u16 = 0x7c00;
/// A bit that tells NaN from infinity, and quiet NaN from signalling.
const QUIET: u16 = 0x0200;
/// The bits of a mantissa of 53 that one of 11 lacks.
const SHORTER: i32 = 42;

/// Returns the bits of the half-precision number nearest to `value`, of two equally near ones the
/// even one.
pub(crate) fn from_f64(value: f64) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 48) as u16 & 0x8000;
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    let mantissa = bits & ((1 << 52) - 1);
    if value.is_nan() {
        return sign | INFINITY | QUIET;
    }
    if exponent > 15 {
        return sign | INFINITY;
    }
    // Below the smallest normal number, 2^-14, every halving costs one more bit.
    let below = (-14 - exponent).max(0);
    if below > 11 {
        return sign;
    }
    let (whole, shift) = (mantissa | 1 << 52, SHORTER + below);
    let normal = (exponent + 14).max(0) as u64;
    let kept = (normal << 10) + (whole >> shift);
    let (rest, middle) = (whole & ((1 << shift) - 1), 1 << (shift - 1));
    let up = rest > middle || (rest == middle && kept & 1 == 1);
    // A carry out of the mantissa moves on to the exponent, and from the largest number to infinity.
    sign | (kept + u64::from(up)) as u16
}

/// Returns the value of a half-precision number.
pub fn to_f64(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => mantissa * 2f64.powi(-24),
        0x1f if mantissa == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1024.0 + mantissa) * 2f64.powi(exponent - 25),
    };
    if bits & 0x8000 == 0 { size } else { -size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_have_their_bits() {
        let known = [(0.0, 0), (-0.0, 0x8000), (1.0, 0x3c00), (-2.0, 0xc000), (65504.0, 0x7bff), (2f64.powi(-24), 1)];
        for (value, bits) in known {
            assert_eq!((from_f64(value), to_f64(bits)), (bits, value));
        }
        assert_eq!((from_f64(f64::INFINITY), from_f64(-1e9)), (INFINITY, 0x8000 | INFINITY));
        assert!(to_f64(from_f64(f64::NAN)).is_nan());
        assert_eq!((from_f64(1e-300), from_f64(f64::MIN_POSITIVE / 4.0)), (0, 0));
    }

    #[test]
    fn every_number_is_its_own_and_what_lies_between_two_goes_to_the_nearer_or_the_even_one() {
        for bits in 0..INFINITY {
            let (value, next) = (to_f64(bits), to_f64(bits + 1));
            assert_eq!((from_f64(value), from_f64(-value)), (bits, bits | 0x8000));
            // The largest number is as far from infinity as its neighbour below.
            let next = if next.is_finite() { next } else { 65536.0 };
            let middle = (value + next) / 2.0;
            let even = if bits & 1 == 0 { bits } else { bits + 1 };
            let found = [middle.next_down(), middle, middle.next_up()].map(from_f64);
            assert_eq!(found, [bits, even, bits + 1], "{bits:#x}");
        }
    }
}
