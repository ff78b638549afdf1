//! Half-precision numbers (IEEE 754 binary16): 1 bit of sign, 5 of exponent, 10 of mantissa.

/// The bits of infinity.
const INFINITY: u32 = 0x7c00;
/// The bits of single precision that half precision lacks.
const SHORTER: u32 = 13;
/// The difference of the exponents' biases, at the exponent's place in single precision.
const BIAS: u32 = (127 - 15) << 23;

/// Returns the bits of the half-precision number nearest to `value`, of two equally near ones the even
/// one.
pub(super) fn encoded(value: f32) -> u16 {
    let (sign, size) = (value.to_bits() >> 16 & 0x8000, value.abs());
    let bits = match size.to_bits() {
        _ if size.is_nan() => INFINITY | 0x200,
        // From the middle between the largest number and the next power of 2.
        _ if size >= 65520.0 => INFINITY,
        // Below the smallest normal number, cells are as far apart as numbers just above 0.5.
        _ if size < 2_f32.powi(-14) => (size + 0.5).to_bits() - 0.5_f32.to_bits(),
        bits => (bits - BIAS + 0xfff + (bits >> SHORTER & 1)) >> SHORTER,
    };
    (sign | bits) as u16
}

/// Returns the value of a half-precision number.
pub(super) fn decoded(bits: u16) -> f32 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    let size = match exponent {
        0 => mantissa * 2_f32.powi(-24),
        0x1f if mantissa == 0.0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => (1024.0 + mantissa) * 2_f32.powi(exponent - 25),
    };
    if bits & 0x8000 == 0 { size } else { -size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_have_their_bits() {
        let known = [(0.0, 0), (-0.0, 0x8000), (1.0, 0x3c00), (-2.0, 0xc000), (65504.0, 0x7bff), (2_f32.powi(-24), 1)];
        for (value, bits) in known {
            assert_eq!((encoded(value), decoded(bits)), (bits, value));
        }
        assert_eq!((encoded(f32::INFINITY), encoded(-1e9), encoded(1e-30)), (0x7c00, 0xfc00, 0));
        assert!(decoded(encoded(f32::NAN)).is_nan());
    }

    #[test]
    fn every_number_is_its_own_and_what_lies_between_two_goes_to_the_nearer_or_the_even_one() {
        for bits in 0..0x7c00 {
            let (value, next) = (decoded(bits), decoded(bits + 1));
            assert_eq!((encoded(value), encoded(-value)), (bits, bits | 0x8000));
            // The largest number is as far from infinity as its neighbour below.
            let next = if next.is_finite() { next } else { 65536.0 };
            let middle = (value + next) / 2.0;
            let even = if bits & 1 == 0 { bits } else { bits + 1 };
            let found = [middle.next_down(), middle, middle.next_up()].map(encoded);
            assert_eq!(found, [bits, even, bits + 1], "{bits:#x}");
        }
    }
}
