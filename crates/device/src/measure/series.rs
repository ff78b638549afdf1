//! The launches of the last verification: their number, and the data of each. Pure functions: numbers and
//! durations in, decisions out.
//!
//! The launches of a series share a process. So a kernel that counts them, or that keeps something from one
//! to the next, meets itself.

use rand::RngExt as _;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tunesmith_core::Rng;
use tunesmith_kernel::measure::Repetition;

/// The largest number of launches in succession on the same data. Their mean is eight, so that one launch
/// in eight is compared in full. A change of the data costs more time than most launches.
const LONGEST_STRETCH: usize = 15;

/// The set of data of the search.
const OWN: usize = 0;

/// The set that is filled by another seed.
const OTHER: usize = 1;

/// The set that equals the search's in all but few elements.
const SIMILAR: usize = 2;

/// Returns the word that fills local memory before a launch, counted from 1: in turn no number, a huge one, a hugely
/// negative one and one near zero, whatever the type. So neither a sum, a product, a minimum nor a maximum hides it.
/// It is new at each launch, so that nothing kept in local memory lasts.
pub(crate) fn local_word(launch: usize) -> u32 {
    const KINDS: [u32; 4] = [0x7FFD_A5A5, 0x7F65_A5A5, 0xFF65_A5A5, 0xA5A5_A5A5];
    let turn = (launch / KINDS.len()) as u32 & 0xFF;
    KINDS[launch % KINDS.len()] ^ (turn << 8 | turn)
}

/// The sets of data of a series. They are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sets {
    /// That of the search.
    Own,
    /// Also one of another seed.
    Other,
    /// Also one that differs from the search's in few elements.
    Similar,
}

impl Sets {
    /// Returns the number of sets.
    pub(crate) fn count(self) -> usize {
        match self {
            Self::Own => OWN + 1,
            Self::Other => OTHER + 1,
            Self::Similar => SIMILAR + 1,
        }
    }
}

/// A launch of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlannedLaunch {
    /// The set of data.
    pub(crate) set: usize,
    /// True if the outputs are compared in full and the memory is checked, whatever the digest is.
    pub(crate) is_compared: bool,
}

/// The launches of one configuration in a process of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Series {
    pub(crate) launches: Vec<PlannedLaunch>,
    /// The number of launches that are made however long they take.
    pub(crate) fewest: usize,
    /// The time after which no further launch is made.
    pub(crate) time_cap: Duration,
}

impl Series {
    /// Plans the fewest launches on `sets`, in a random order. The outputs of all are compared in full.
    pub(crate) fn short(sets: Sets, random: &mut Rng) -> Self {
        let opening = opening(sets, random);
        let launches: Vec<_> = opening.into_iter().map(|set| PlannedLaunch { set, is_compared: true }).collect();
        Self { fewest: launches.len(), launches, time_cap: Duration::ZERO }
    }

    /// Plans as many launches as `rule` asks for, at least the fewest. After these, the data change in a random
    /// order, after stretches of random length. The last launch of a stretch is compared in full.
    pub(crate) fn long(sets: Sets, rule: Repetition, random: &mut Rng) -> Self {
        let mut series = Self { time_cap: rule.time_cap, ..Self::short(sets, random) };
        while series.launches.len() < rule.launches {
            let before = series.launches.last().map(|launch| launch.set);
            let others: Vec<usize> = (0..sets.count()).filter(|set| Some(*set) != before).collect();
            let set = others.choose(random).copied().unwrap_or(OWN);
            let left = rule.launches - series.launches.len();
            let stretch = random.random_range(1..=LONGEST_STRETCH).min(left);
            let launch = |at: usize| PlannedLaunch { set, is_compared: at == stretch };
            series.launches.extend((1..=stretch).map(launch));
        }
        series
    }

    /// Returns true if no launch follows the first `made`, which have taken `elapsed`.
    pub(crate) fn is_over(&self, made: usize, elapsed: Duration) -> bool {
        made >= self.launches.len() || (made >= self.fewest && elapsed >= self.time_cap)
    }

    /// Returns true if the data change.
    pub(crate) fn has_other_data(&self) -> bool {
        self.launches.iter().any(|launch| launch.set != OWN)
    }
}

/// Returns the sets of the first launches, each of which comes at least twice. The data change at least twice.
fn opening(sets: Sets, random: &mut Rng) -> Vec<usize> {
    match sets {
        // The second launch finds what the first has left.
        Sets::Own => vec![OWN; 2],
        Sets::Other => by_turns(random),
        Sets::Similar => side_by_side(random),
    }
}

/// Returns six launches on the search's set and the other one.
fn by_turns(random: &mut Rng) -> Vec<usize> {
    let mut pair = [OWN, OTHER];
    pair.shuffle(random);
    let [first, second] = pair;
    let mut rest = [first, second, second];
    rest.shuffle(random);
    [first, second, first].into_iter().chain(rest).collect()
}

/// Returns six launches on three sets. The search's set and the similar one are neighbours at least once: a
/// kernel that keeps the last result only, and compares few elements, answers from it between these two.
fn side_by_side(random: &mut Rng) -> Vec<usize> {
    let (mut pair, mut order) = ([OWN, SIMILAR], vec![OWN, OTHER, OTHER, SIMILAR]);
    pair.shuffle(random);
    order.shuffle(random);
    let at = random.random_range(0..=order.len());
    order.splice(at..at, pair);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
    use rand::SeedableRng;
    use std::collections::HashSet;

    const ALL: [Sets; 3] = [Sets::Own, Sets::Other, Sets::Similar];

    fn sets_of(series: &Series) -> Vec<usize> {
        series.launches.iter().map(|launch| launch.set).collect()
    }

    fn changes(order: &[usize]) -> usize {
        order.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    fn long(sets: Sets, launches: usize, seed: u64) -> Series {
        let rule = Repetition { launches, ..Repetition::default() };
        Series::long(sets, rule, &mut Rng::seed_from_u64(seed))
    }

    proptest! {
        #[test]
        fn the_fewest_launches_have_all_sets_twice_and_change_twice(seed: u64) {
            for sets in [Sets::Other, Sets::Similar] {
                let series = Series::short(sets, &mut Rng::seed_from_u64(seed));
                let order = sets_of(&series);
                prop_assert_eq!((order.len(), series.fewest), (6, 6));
                prop_assert!(changes(&order) >= 2, "{:?}", order);
                for set in 0..sets.count() {
                    prop_assert!(order.iter().filter(|own| **own == set).count() >= 2, "{:?}", order);
                }
                prop_assert!(series.launches.iter().all(|launch| launch.is_compared));
                let close = order.windows(2).any(|pair| pair == [OWN, SIMILAR] || pair == [SIMILAR, OWN]);
                prop_assert_eq!(close, sets == Sets::Similar);
            }
        }

        #[test]
        fn data_change_only_after_a_launch_that_is_compared_and_after_at_most_fifteen(
            seed: u64, launches in 0..400_usize, sets in proptest::sample::select(ALL.to_vec()),
        ) {
            let series = long(sets, launches, seed);
            prop_assert_eq!(series.launches.len(), launches.max(series.fewest));
            for pair in series.launches.windows(2) {
                prop_assert!(pair[0].is_compared || pair[0].set == pair[1].set, "{:?}", pair);
            }
            let last = series.launches.last().unwrap();
            prop_assert!(last.is_compared && last.set < sets.count());
            let apart = series.launches.split(|launch| launch.is_compared).map(<[_]>::len).max().unwrap();
            prop_assert!(apart < LONGEST_STRETCH);
        }

        #[test]
        fn the_cap_ends_a_series_after_its_fewest_launches_only(
            made in 0..300_usize, elapsed in 0..3000_u64, seed: u64,
        ) {
            let (series, elapsed) = (long(Sets::Similar, 200, seed), Duration::from_millis(elapsed));
            let is_over = made >= 200 || (made >= 6 && elapsed >= Duration::from_secs(1));
            prop_assert_eq!(series.is_over(made, elapsed), is_over);
            prop_assert!(!series.is_over(5, Duration::MAX) && series.is_over(200, Duration::ZERO));
        }
    }

    #[test]
    fn local_memory_holds_something_else_at_each_launch_and_never_zeros() {
        let words: Vec<u32> = (1..=200).map(local_word).collect();
        assert_eq!(words.iter().collect::<HashSet<_>>().len(), 200);
        for four in words.chunks(4) {
            let floats: Vec<f32> = four.iter().map(|word| f32::from_bits(*word)).collect();
            let double = |word: u32| f64::from_bits(u64::from(word) << 32 | u64::from(word));
            assert_eq!(floats.iter().filter(|float| float.is_nan()).count(), 1, "{floats:?}");
            assert_eq!(four.iter().filter(|word| double(**word).is_nan()).count(), 1);
            assert!(floats.iter().any(|float| *float > 1e38) && floats.iter().any(|float| *float < -1e38));
            assert!(floats.iter().any(|float| float.abs() < 1e-10 && *float != 0.0), "{floats:?}");
            assert!(four.iter().all(|word| word.to_ne_bytes().iter().filter(|byte| **byte == 0).count() <= 1));
        }
    }

    #[test]
    fn no_kernel_can_foresee_the_data() {
        for sets in [Sets::Other, Sets::Similar] {
            let openings: HashSet<Vec<usize>> =
                (0..100).map(|seed| sets_of(&Series::short(sets, &mut Rng::seed_from_u64(seed)))).collect();
            assert!(openings.len() > 4, "{openings:?}");
            let all: HashSet<Vec<usize>> = (0..100).map(|seed| sets_of(&long(sets, 200, seed))).collect();
            assert_eq!(all.len(), 100);
        }
    }

    #[test]
    fn two_hundred_launches_change_the_data_some_twenty_times_and_compare_one_launch_in_eight() {
        let series: Vec<Series> = (0..1000).map(|seed| long(Sets::Similar, 200, seed)).collect();
        let changed = series.iter().map(|series| changes(&sets_of(series)));
        assert!(changed.clone().min() >= Some(15) && changed.max() <= Some(45));
        let compared = series.iter().map(|one| one.launches.iter().filter(|launch| launch.is_compared).count());
        let share = (compared.sum::<usize>() - 6 * series.len()) as f64 / (194 * series.len()) as f64;
        assert!((0.11..0.14).contains(&share), "{share}");
    }

    /// Returns the probability that `launches` launches find a kernel that is wrong in one of `n` at random.
    fn found(n: u32, launches: i32) -> f64 {
        1.0 - (1.0 - 1.0 / f64::from(n)).powi(launches)
    }

    /// The fewest launches of a configuration in the search and, in visits of four, in the rounds of a final.
    const SEARCH: i32 = 1 + 7;
    const FINAL: i32 = 4 * (3 + 6);

    #[test]
    fn the_documentation_states_the_probability_that_a_wrong_launch_is_found() {
        let last = i32::try_from(Repetition::default().launches).unwrap();
        let launches = [SEARCH, SEARCH + FINAL, last, SEARCH + FINAL + last, 50, 6];
        let row = |n: u32| {
            let cells = launches.map(|launches| format!(" {:.1} % |", 100.0 * found(n, launches)));
            format!("| {n} |{}\n", cells.concat())
        };
        let table: String = [2, 10, 37, 100, 200, 1000].map(row).concat();
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/measuring.md")).unwrap();
        assert!(page.contains(&table), "docs/measuring.md does not contain\n{table}");
    }
}
