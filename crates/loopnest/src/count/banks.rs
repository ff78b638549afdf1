//! Conflicts of lanes over the banks of local memory.

use super::collect::distance;
use super::factors::number;
use super::subgroups::WARP;
use crate::error::NestError;
use crate::ir::{AXES, Access, LoopId, Nest, Tag};
use crate::print;
use std::collections::{BTreeMap, BTreeSet};

/// Number of banks of local memory. Each delivers one word at a time.
const BANKS: i128 = 32;
/// Size of a word in bits.
const WORD: u32 = 32;

/// Returns the slow-down of an access by bank conflicts among the first 32 lanes of a work-group.
///
/// The slow-down is the largest number of words that one bank delivers, in words of one lane,
/// rounded up to a power of 2. It is 0 if all lanes access the same cell.
///
/// # Errors
///
/// Fails if the distance of lanes in memory depends on the sizes.
pub(super) fn conflict(
    nest: &Nest,
    within: &BTreeSet<LoopId>,
    access: &Access,
    local: [i128; AXES],
) -> Result<u32, NestError> {
    let mut strides = [0; AXES];
    for (axis, stride) in strides.iter_mut().enumerate() {
        let Some(id) = nest.loop_with(within, Tag::Local(axis as u8)) else { continue };
        *stride = number(&distance(nest, access, id)).ok_or_else(|| {
            let text = print::access(nest, access);
            NestError::new(format!("the distance of lanes in {text} depends on the sizes"))
                .remedy("give the local array a shape of numbers")
        })?;
    }
    Ok(degree(strides, local, nest.array(access.array).element.bits() / WORD))
}

/// Returns the conflict of lanes with these strides, in cells of `words` words.
fn degree(strides: [i128; AXES], local: [i128; AXES], words: u32) -> u32 {
    let lanes = local.iter().product::<i128>().min(WARP.width());
    let [x, y, _] = local;
    let cell = |lane: i128| {
        let at = [lane % x, lane / x % y, lane / x / y];
        at.into_iter().zip(strides).map(|(index, stride)| index * stride).sum::<i128>()
    };
    let cells: BTreeSet<i128> = (0..lanes).map(cell).collect();
    if cells.len() <= 1 {
        return 0;
    }
    let words = i128::from(words);
    let mut loads: BTreeMap<i128, u32> = BTreeMap::new();
    for word in cells.into_iter().flat_map(|cell| (0..words).map(move |word| cell * words + word)) {
        *loads.entry(word.rem_euclid(BANKS)).or_default() += 1;
    }
    let most = loads.into_values().max().unwrap_or(1);
    most.div_ceil(words as u32).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_conflict_as_on_a_device_with_32_banks_of_4_bytes() {
        let line = |stride, words| degree([stride, 0, 0], [64, 1, 1], words);
        assert_eq!([0, 1, 2, 3, 4, 6, 8, 16, 32, 33].map(|stride| line(stride, 1)), [0, 1, 2, 1, 4, 2, 8, 16, 32, 1]);
        assert_eq!([0, 1, 2, 16, -3].map(|stride| line(stride, 2)), [0, 1, 2, 16, 1]);
        // Two rows of 16 lanes: a column of a tile with rows of 16 and of 17 cells.
        let tile = |row| degree([row, 1, 0], [16, 16, 1], 1);
        assert_eq!([16, 17].map(tile), [8, 2]);
        // A single work-item has no conflict. Three words of one bank count as four.
        assert_eq!(degree([5, 0, 0], [1, 1, 1], 1), 0);
        assert_eq!(degree([32, 0, 0], [3, 1, 1], 1), 4);
    }
}
