//! The smallest set of constraints that no configuration satisfies.

/// Maximum number of sets to examine.
const MAX_SETS: usize = 2_000;

/// Returns a smallest set of constraints, as ascending indices below `count`, that leaves no
/// configuration. `empty` returns true if a set leaves none. The set of all constraints must leave
/// none.
///
/// A correction set is a set of constraints whose removal leaves some configuration. A conflict
/// contains a member of every correction set. So each step tries the smallest set that meets all
/// known correction sets. If it leaves nothing, no smaller set does. Otherwise it is enlarged as
/// long as something is left, and the constraints still missing are a new correction set (Ignatiev,
/// Previti, Liffiton and Marques-Silva, "Smallest MUS Extraction with Minimal Hitting Set
/// Dualization", CP 2015). After [`MAX_SETS`] sets, returns a set from which no member can be
/// removed; a smaller set may exist elsewhere.
pub(super) fn smallest(count: usize, empty: impl Fn(&[usize]) -> bool) -> Vec<usize> {
    let mut looked_at = 0;
    let mut corrections: Vec<Vec<usize>> = Vec::new();
    while looked_at < MAX_SETS {
        let mut chosen = smallest_hitting(&corrections);
        looked_at += 1;
        if empty(&chosen) {
            return chosen;
        }
        for other in 0..count {
            let Err(place) = chosen.binary_search(&other) else { continue };
            chosen.insert(place, other);
            looked_at += 1;
            if empty(&chosen) {
                chosen.remove(place);
            }
        }
        let correction: Vec<usize> = (0..count).filter(|other| chosen.binary_search(other).is_err()).collect();
        if correction.is_empty() {
            // All constraints together leave some configuration after all.
            break;
        }
        corrections.push(correction);
    }
    irreducible(count, empty)
}

/// Returns a set from which no member can be removed. Removes members one after the other as long
/// as the rest still leaves nothing.
fn irreducible(count: usize, empty: impl Fn(&[usize]) -> bool) -> Vec<usize> {
    let mut needed: Vec<usize> = (0..count).collect();
    for candidate in 0..count {
        let without: Vec<usize> = needed.iter().copied().filter(|&index| index != candidate).collect();
        if empty(&without) {
            needed = without;
        }
    }
    needed
}

/// Returns the smallest set that meets all of `sets`, the first in order if there are several. None
/// of `sets` is empty.
fn smallest_hitting(sets: &[Vec<usize>]) -> Vec<usize> {
    (0..=sets.len()).find_map(|size| hitting(sets, size)).unwrap_or_default()
}

/// Returns a set of at most `size` members that meets all of `sets`. Branches over the members of
/// the first set that is not met.
fn hitting(sets: &[Vec<usize>], size: usize) -> Option<Vec<usize>> {
    fn extend(sets: &[Vec<usize>], size: usize, chosen: &mut Vec<usize>) -> bool {
        let Some(open) = sets.iter().find(|set| !set.iter().any(|member| chosen.contains(member))) else {
            return true;
        };
        size > 0
            && open.iter().any(|&member| {
                chosen.push(member);
                let found = extend(sets, size - 1, chosen);
                if !found {
                    chosen.pop();
                }
                found
            })
    }
    let mut chosen = Vec::new();
    extend(sets, size, &mut chosen).then(|| {
        chosen.sort_unstable();
        chosen
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if `set` contains all members of one of `conflicts`.
    fn holds(conflicts: &[&[usize]], set: &[usize]) -> bool {
        conflicts.iter().any(|conflict| conflict.iter().all(|member| set.contains(member)))
    }

    #[test]
    fn the_smallest_of_several_conflicts_is_found() {
        let conflicts: [&[usize]; 3] = [&[0, 1, 2], &[2, 3, 4, 5], &[4, 6]];
        assert_eq!(smallest(8, |set| holds(&conflicts, set)), [4, 6]);
        // Removing one after the other finds a larger conflict.
        assert_eq!(irreducible(8, |set| holds(&conflicts[..2], set)), [2, 3, 4, 5]);
        assert_eq!(smallest(8, |set| holds(&conflicts[..2], set)), [0, 1, 2]);
    }

    #[test]
    fn what_is_empty_of_itself_needs_no_constraint() {
        assert_eq!(smallest(3, |_| true), Vec::<usize>::new());
    }

    #[test]
    fn sets_that_meet_all_others_are_as_small_as_can_be() {
        let sets = [vec![1, 2], vec![2, 3], vec![3, 4], vec![1, 4]];
        assert_eq!(smallest_hitting(&sets).len(), 2);
        assert_eq!(smallest_hitting(&[]), Vec::<usize>::new());
    }
}
