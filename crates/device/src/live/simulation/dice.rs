//! Chance in the simulation. The same seed gives the same throws in every version.

/// A generator of random numbers: SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators", 2014).
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

/// The increment of SplitMix64: the odd number next to 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Dice {
    /// Creates the dice for a purpose. Dice of different purposes are independent.
    pub(super) fn new(seed: u64, purpose: &str) -> Self {
        Self(purpose.bytes().fold(mix(seed ^ STEP), |state, byte| mix(state ^ u64::from(byte))))
    }

    /// Returns the next number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// Returns a number below `end`, or 0 if there is none.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Returns true once in `times`. Returns false if `times` is 0.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        times > 0 && self.below(times) == 0
    }

    /// Returns one of `choices`.
    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap_or_default()]
    }
}

/// Returns a number in [0, 1) that depends on all of `numbers`.
pub(super) fn share(numbers: &[u64]) -> f64 {
    let mixed = numbers.iter().fold(STEP, |state, number| mix(state ^ number));
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
