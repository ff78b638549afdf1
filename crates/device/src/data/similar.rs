//! Data that differ from others in few elements.
//!
//! A kernel that answers from a cache compares its input with that of an earlier launch, but only a part of
//! it. It is wrong where the inputs differ in another part.

use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The number of elements that differ. The fewer they are, the more a cache may compare without noticing. One
/// alone might be an element that the result does not depend on, or depends on less than the tolerance.
const DIFFERENT: usize = 8;

/// The number of places that are tried. Where the other file holds the same, as in data that are not random,
/// nothing can differ.
const TRIES: usize = 16 * DIFFERENT;

/// The most elements at either end that stay the same. Those are what a cache is most likely to compare. An input of
/// one or two elements has nothing else: a cache that compares all of it must find it unchanged, too.
const END: u64 = 64;

/// Writes a copy of the file `of` to the file `to`. A few elements of `size` bytes, chosen by `seed`, are those
/// of the file `other` at the same places. A file that `other` equals is copied as it is.
pub(super) fn write_similar(to: &Path, of: &Path, other: &Path, size: usize, seed: u64) -> io::Result<()> {
    std::fs::copy(of, to)?;
    let (to, other) = (File::options().read(true).write(true).open(to)?, tunesmith_files::open(other)?);
    let places = candidates(to.metadata()?.len() / size.max(1) as u64);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut own, mut its, mut different) = (vec![0; size], vec![0; size], 0);
    for _ in 0..TRIES {
        if different == DIFFERENT || places.is_empty() {
            break;
        }
        let at = random.random_range(places.clone()) * size as u64;
        to.read_exact_at(&mut own, at)?;
        other.read_exact_at(&mut its, at)?;
        // A place that was chosen before is equal by now, and counts once.
        if own != its {
            to.write_all_at(&its, at)?;
            different += 1;
        }
    }
    Ok(())
}

/// Returns the places among `count` elements that may differ: all but the ends.
fn candidates(count: u64) -> Range<u64> {
    let end = (count / 4).clamp(1, END);
    end..count.saturating_sub(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the elements of a similar file.
    fn similar(of: &[u32], other: &[u32], seed: u64) -> Vec<u32> {
        let folder = tempfile::tempdir().unwrap();
        let [to, first, second] = ["to", "of", "other"].map(|name| folder.path().join(name));
        let bytes = |elements: &[u32]| elements.iter().flat_map(|element| element.to_ne_bytes()).collect::<Vec<u8>>();
        std::fs::write(&first, bytes(of)).unwrap();
        std::fs::write(&second, bytes(other)).unwrap();
        write_similar(&to, &first, &second, 4, seed).unwrap();
        let written = std::fs::read(to).unwrap();
        written.chunks(4).map(|chunk| u32::from_ne_bytes(chunk.try_into().unwrap())).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn at_most_eight_elements_differ_none_of_them_at_an_end(count in 1..2000_u32, seed: u64) {
            let (of, other): (Vec<u32>, Vec<u32>) = ((0..count).collect(), (count..2 * count).collect());
            let similar = similar(&of, &other, seed);
            let differ: Vec<usize> = (0..of.len()).filter(|at| similar[*at] != of[*at]).collect();
            prop_assert!(differ.iter().all(|at| similar[*at] == other[*at]));
            let end = (of.len() / 4).clamp(1, 64);
            prop_assert!(differ.iter().all(|at| (end..of.len() - end).contains(at)), "{:?}", differ);
            prop_assert_eq!(differ.is_empty(), count < 3);
            // Among a hundred elements, so many tries find eight that differ.
            prop_assert!(differ.len() <= 8 && (count < 100 || differ.len() == 8));
        }
    }

    #[test]
    fn the_seed_chooses_the_elements_and_equal_files_stay_equal() {
        let (of, other): (Vec<u32>, Vec<u32>) = ((0..1000).collect(), (1000..2000).collect());
        assert_eq!(similar(&of, &other, 1), similar(&of, &other, 1));
        assert_ne!(similar(&of, &other, 1), similar(&of, &other, 2));
        assert_eq!(similar(&of, &of, 1), of);
        assert_eq!(similar(&[], &[], 1), [0; 0]);
    }

    /// A cache that compares a share of the elements notices none of the eight that differ.
    #[test]
    fn the_documentation_states_the_probability_that_a_cache_is_found() {
        let [few, some, many] = [2.0 / 1024.0, 1.0 / 64.0, 1.0 / 8.0]
            .map(|share: f64| format!("{:.1} %", 100.0 * (1.0 - share).powi(DIFFERENT as i32)));
        let text = format!("probability of `(1 - s)^{DIFFERENT}`: {few}, {some} and {many}.");
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/measuring.md")).unwrap();
        assert!(page.contains(&text), "docs/measuring.md does not contain {text}");
    }
}
