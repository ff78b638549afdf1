//! Conflicts of lanes over the banks of local memory.

use super::factors::number;
use super::lane::distance;
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
    Ok(degree(strides, local, nest.array(access.array).element.bits()))
}

/// Returns the conflict of lanes with these strides, in cells of `bits`. Cells of one word are
/// delivered together.
fn degree(strides: [i128; AXES], local: [i128; AXES], bits: u32) -> u32 {
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
    let (bits, words) = (i128::from(bits), bits.div_ceil(WORD));
    let first = |cell: i128| (cell * bits).div_euclid(WORD.into());
    let delivered: BTreeSet<i128> =
        cells.into_iter().flat_map(|cell| (0..i128::from(words)).map(move |word| first(cell) + word)).collect();
    let mut loads: BTreeMap<i128, u32> = BTreeMap::new();
    for word in delivered {
        *loads.entry(word.rem_euclid(BANKS)).or_default() += 1;
    }
    let most = loads.into_values().max().unwrap_or(1);
    most.div_ceil(words).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_conflict_as_on_a_device_with_32_banks_of_4_bytes() {
        let line = |stride, words| degree([stride, 0, 0], [64, 1, 1], words * WORD);
        assert_eq!([0, 1, 2, 3, 4, 6, 8, 16, 32, 33].map(|stride| line(stride, 1)), [0, 1, 2, 1, 4, 2, 8, 16, 32, 1]);
        assert_eq!([0, 1, 2, 16, -3].map(|stride| line(stride, 2)), [0, 1, 2, 16, 1]);
        // Two rows of 16 lanes: a column of a tile with rows of 16 and of 17 cells.
        let tile = |row| degree([row, 1, 0], [16, 16, 1], WORD);
        assert_eq!([16, 17].map(tile), [8, 2]);
        // A single work-item has no conflict. Three words of one bank count as four.
        assert_eq!(degree([5, 0, 0], [1, 1, 1], WORD), 0);
        assert_eq!(degree([32, 0, 0], [3, 1, 1], WORD), 4);
        // Four bytes of one word are delivered together; at a stride of 8 they are two words apart.
        assert_eq!([1, 4, 8, 128].map(|stride| degree([stride, 0, 0], [64, 1, 1], 8)), [1, 1, 2, 32]);
    }
}
