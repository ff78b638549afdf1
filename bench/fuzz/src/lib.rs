//! Parts that the targets share: the bound on memory, files in memory, and the oracles of spaces and
//! problems.
//!
//! A target fails on a panic, an overflow, more than [`memory::MOST`] live bytes, or more seconds
//! than `run` allows. Besides, every target has oracles of its own: what is parsed and printed must
//! parse as the same, and numbers must lie in their ranges.

pub mod files;
pub mod memory;
#[cfg(feature = "problem")]
pub mod problems;
pub mod spaces;

/// Returns the input as text, or `None` if it is none. A parser of text never sees other bytes.
pub fn text(input: &[u8]) -> Option<&str> {
    std::str::from_utf8(input).ok()
}

/// Returns true for one in `n` inputs, on which a target spends more time. The input alone decides, so
/// that a finding happens again.
pub fn one_in(n: u64, input: &[u8]) -> bool {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    (input.iter().fold(0xcbf2_9ce4_8422_2325, step) >> 32).is_multiple_of(n)
}

/// Splits an input for a target that reads several texts. A line of `====` separates them.
pub fn parts<const N: usize>(text: &str) -> [Option<&str>; N] {
    let mut parts = text.split("\n====\n");
    std::array::from_fn(|_| parts.next())
}
