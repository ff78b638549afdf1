//! The attributes of kernels in the section `.nv.info`.
//!
//! An entry has a byte for the form of its value, a byte for the attribute, and two bytes. The two
//! bytes are the value, or its length if it follows.

/// The form of a value that follows.
const FOLLOWS: u8 = 4;

/// The attribute with the registers of a thread (`EIATTR_REGCOUNT`).
pub(super) const REGISTERS: u8 = 0x2F;

/// The attribute with a thread's bytes of local memory (`EIATTR_FRAME_SIZE`).
pub(super) const FRAME_SIZE: u8 = 0x11;

/// Returns the value of an attribute for the symbol with a number. Such a value is a pair: the
/// number of the symbol, and its value.
pub(super) fn of_symbol(section: &[u8], attribute: u8, symbol: u32) -> Option<u32> {
    let number = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?));
    let mut rest = section;
    while let [form, kind, low, high, behind @ ..] = rest {
        rest = behind;
        if *form != FOLLOWS {
            continue;
        }
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        let value = rest.get(..length)?;
        if *kind == attribute && number(value) == Some(symbol) {
            return value.get(4..).and_then(number);
        }
        rest = &rest[length..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_value_of_the_attribute_and_of_the_symbol_is_found_among_others() {
        let section = [
            &[3, 0x1B, 255, 0][..],
            &[4, REGISTERS, 8, 0, 7, 0, 0, 0, 32, 0, 0, 0],
            &[4, FRAME_SIZE, 8, 0, 9, 0, 0, 0, 16, 1, 0, 0],
            &[4, REGISTERS, 8, 0, 9, 0, 0, 0, 40, 0, 0, 0],
        ]
        .concat();
        assert_eq!(of_symbol(&section, REGISTERS, 9), Some(40));
        assert_eq!(of_symbol(&section, REGISTERS, 7), Some(32));
        assert_eq!(of_symbol(&section, FRAME_SIZE, 9), Some(272));
        assert_eq!(of_symbol(&section, FRAME_SIZE, 7), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_their_end(bytes in proptest::collection::vec(prop_oneof![0..5_u8, any::<u8>()], 0..64)) {
            of_symbol(&bytes, REGISTERS, 1);
        }
    }
}
