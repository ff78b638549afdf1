//! Hexadecimal digits.

use std::fmt::Write as _;

/// Returns the bytes as lower-case hexadecimal digits, the form of every digest.
///
/// ```
/// assert_eq!(tunesmith_space::hex(&[0, 10, 255]), "000aff");
/// ```
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}"); // cannot fail
        digits
    })
}
