//! Compares workers by their times for one configuration, the reference. A pure rule: it uses neither a
//! device nor a clock.

use tunesmith_core::statistics;

/// Number of probes of a worker before it is judged.
pub const FEWEST: usize = 3;

/// Deviation that does not matter, as a share. Devices of one model differ by about as much, and the
/// final holds on one of them.
pub const TOLERANCE: f64 = 0.03;

/// Probability that a worker as fast as the others is ever set aside as slower, and the same for faster.
const ERROR: f64 = 0.005;

/// Number of latest probes of a worker that count. Older ones tell how it once was: a worker that slows
/// down is found after half as many.
const WINDOW: usize = 12;

/// Number of probes of all others that a worker is compared with.
const MOST_OTHERS: usize = 64;

/// Returns the level of the worker at position `own`: its median divided by that of the worker in the
/// middle. `probes` has a list for each worker, in the order made. A probe is the median time of a few
/// samples of the reference. Returns `None` if the worker or all others have too few probes.
///
/// Of an even number of workers, the faster of the two in the middle counts: a disturbed device is
/// slower, hardly ever faster.
pub fn level(probes: &[&[f64]], own: usize) -> Option<f64> {
    let median = |list: &&[f64]| statistics::median(latest(list, WINDOW)).filter(|_| list.len() >= FEWEST);
    let mut medians: Vec<f64> = probes.iter().filter_map(median).collect();
    let level = median(probes.get(own)?)?;
    if medians.len() < 2 {
        return None;
    }
    medians.sort_by(f64::total_cmp);
    let middle = medians[(medians.len() - 1) / 2];
    Some(level / middle).filter(|level| level.is_finite())
}

/// Returns the level of the worker at position `own` if it deviates from the others: by more than
/// [`TOLERANCE`] and by more than noise explains. Call it after each probe of that worker.
///
/// If all workers are alike, their probes are exchangeable, whatever the noise. The rank-sum test
/// (F. Wilcoxon, 1945; exact, with ties) therefore gives the probability that a worker whose level is
/// within the tolerance has times as extreme. The n-th look at a worker has 1 / n(n+1) of the allowed
/// error, so that all looks together have it once: 0.5 % for each direction.
///
/// One worker of two is never said to be faster: the other one is then slower. Noise that lasts from
/// probe to probe counts as a deviation.
///
/// Cost: at most 2 million additions, and only beyond the tolerance.
pub fn deviation(probes: &[&[f64]], own: usize) -> Option<f64> {
    let level = level(probes, own)?;
    let is_slower = level > 1.0 + TOLERANCE;
    let workers = probes.iter().filter(|list| list.len() >= FEWEST).count();
    if !is_slower && (level >= 1.0 / (1.0 + TOLERANCE) || workers < 3) {
        return None;
    }
    let look = (probes[own].len() - FEWEST + 1) as f64;
    let allowed = ERROR / (look * (look + 1.0));
    // The nearest level that would not matter.
    let factor = if is_slower { 1.0 / (1.0 + TOLERANCE) } else { 1.0 + TOLERANCE };
    let scaled: Vec<f64> = latest(probes[own], WINDOW).iter().map(|time| time * factor).collect();
    (as_extreme(&scaled, &others(probes, own), is_slower) <= allowed).then_some(level)
}

fn latest(list: &[f64], most: usize) -> &[f64] {
    &list[list.len().saturating_sub(most)..]
}

/// Returns the latest probes of the other workers, as many of each.
fn others(probes: &[&[f64]], own: usize) -> Vec<f64> {
    let others = || probes.iter().enumerate().filter(|(at, list)| *at != own && list.len() >= FEWEST);
    let each = (MOST_OTHERS / others().count().max(1)).clamp(1, WINDOW);
    others().flat_map(|(_, list)| latest(list, each)).copied().take(MOST_OTHERS).collect()
}

/// Returns the probability that `own` have ranks among themselves and `others` at least as high, or at
/// most as high, as they have, if every choice of as many of them is equally likely.
fn as_extreme(own: &[f64], others: &[f64], high: bool) -> f64 {
    let mut sorted: Vec<f64> = own.iter().chain(others).copied().collect();
    sorted.sort_by(f64::total_cmp);
    // Twice the rank, from the other end for low ones. Equal times share their mean rank.
    let rank = |time: f64| {
        let below = sorted.partition_point(|other| *other < time);
        let upto = sorted.partition_point(|other| *other <= time);
        if high { below + upto + 1 } else { 2 * sorted.len() + 1 - below - upto }
    };
    let observed: usize = own.iter().map(|time| rank(*time)).sum();
    let ranks: Vec<usize> = sorted.iter().map(|time| rank(*time)).collect();
    let most: usize = ranks.iter().sum();
    // The number of choices of each size with each sum.
    let mut choices = vec![vec![0.0; most + 1]; own.len() + 1];
    choices[0][0] = 1.0;
    let mut reached = 0;
    for (at, rank) in ranks.iter().enumerate() {
        reached += rank;
        for size in (1..=own.len().min(at + 1)).rev() {
            let (smaller, larger) = choices.split_at_mut(size);
            let (from, to) = (&smaller[size - 1], &mut larger[0]);
            (*rank..=reached).for_each(|sum| to[sum] += from[sum - rank]);
        }
    }
    let of_size = &choices[own.len()];
    of_size[observed..].iter().sum::<f64>() / of_size.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all sums of `size` of `ranks`.
    fn sums(ranks: &[usize], size: usize) -> Vec<usize> {
        match (size, ranks.split_first()) {
            (0, _) => vec![0],
            (_, None) => Vec::new(),
            (_, Some((first, rest))) => {
                let with = sums(rest, size - 1).into_iter().map(|sum| sum + first);
                with.chain(sums(rest, size)).collect()
            }
        }
    }

    #[test]
    fn the_probability_is_that_of_counting_every_choice() {
        for case in 0..200_usize {
            let time = |at: usize| ((case * 31 + at * at * 17) % 13) as f64;
            let (own, others): (Vec<f64>, Vec<f64>) =
                ((0..1 + case % 4).map(time).collect(), (10..13 + case % 5).map(time).collect());
            let all = [own.clone(), others.clone()].concat();
            let rank = |time: &f64| {
                let count = |of: &dyn Fn(&f64) -> bool| all.iter().filter(|other| of(other)).count();
                count(&|other| other < time) + count(&|other| other <= time) + 1
            };
            let ranks: Vec<usize> = all.iter().map(rank).collect();
            let observed: usize = ranks[..own.len()].iter().sum();
            let sums = sums(&ranks, own.len());
            for high in [true, false] {
                let extreme = sums.iter().filter(|sum| if high { **sum >= observed } else { **sum <= observed });
                let expected = extreme.count() as f64 / sums.len() as f64;
                let found = as_extreme(&own, &others, high);
                assert!((found - expected).abs() < 1e-9, "{own:?} {others:?} {high}: {found} {expected}");
            }
        }
    }

    fn steady(level: f64, probes: usize) -> Vec<f64> {
        (0..probes).map(|at| level * (1.0 + 0.004 * ((at * 7) % 5) as f64)).collect()
    }

    fn found(lists: &[Vec<f64>]) -> Vec<Option<f64>> {
        let probes: Vec<&[f64]> = lists.iter().map(Vec::as_slice).collect();
        (0..lists.len()).map(|own| deviation(&probes, own).map(|level| (level * 100.0).round() / 100.0)).collect()
    }

    #[test]
    fn the_worker_that_differs_from_most_is_the_one() {
        let (usual, slow, fast) = (|| steady(1.0, 8), || steady(1.5, 8), || steady(0.8, 8));
        assert_eq!(found(&[usual(), usual(), slow()]), [None, None, Some(1.5)]);
        assert_eq!(found(&[usual(), fast(), usual()]), [None, Some(0.8), None]);
        assert_eq!(found(&[usual(), slow()]), [None, Some(1.5)], "of two, the slower one");
        assert_eq!(found(&[usual(), steady(1.02, 8), usual()]), [None; 3], "within the tolerance");
    }

    #[test]
    fn few_probes_say_nothing() {
        let (usual, slow) = (|| steady(1.0, 8), |probes| steady(2.0, probes));
        assert_eq!(found(&[slow(20)]), [None]);
        assert_eq!(found(&[usual(), usual(), slow(2)]), [None; 3]);
        assert_eq!(found(&[steady(1.0, 3), slow(3)]), [None; 2], "one of twenty orders is too likely");
    }

    #[test]
    fn what_was_long_ago_does_not_count() {
        let once_slow = [steady(2.0, 20), steady(1.0, 16)].concat();
        assert_eq!(found(&[steady(1.0, 16), steady(1.0, 16), once_slow]), [None; 3]);
    }
}
