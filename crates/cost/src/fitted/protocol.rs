//! The protocol of timing measurement kernels: pure rules, without a device or a clock (the paper's
//! sections 4.1 and 4.2).

/// Number of runs of a kernel.
pub const RUNS: usize = 30;
/// Number of first runs that are left out. Arrays are touched for the first time in them, and the
/// second run varies more than others.
pub const LEFT_OUT: usize = 4;
/// Minimum time of a kernel in launches of the empty kernel. A shorter time measures the launch
/// instead.
const ABOVE_LAUNCH: f64 = 1.0;
/// Maximum noise of a quiet machine: the width of the middle half of the runs as a share of their
/// median. In the paper, minimum and mean differ by less than 5 %. Virtual machines with two busy
/// neighbours have 3 to 11 %.
const QUIET: f64 = 0.1;
/// Expected growth of a time from one size to the next, while only one size is measured.
const GROWTH: f64 = 8.0;

/// The time of a kernel, from its runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// The shortest run.
    pub seconds: f64,
    /// The width of the middle half of the runs as a share of the median.
    pub noise: f64,
}

impl Timing {
    /// Returns the time from the runs in the order made, without the first [`LEFT_OUT`]. Returns
    /// `None` if no run is left.
    pub fn of(runs: &[f64]) -> Option<Self> {
        let mut sorted = runs.get(LEFT_OUT..).unwrap_or_default().to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| sorted.get((share * (sorted.len().saturating_sub(1)) as f64).round() as usize).copied();
        let (least, low, median, high) = (at(0.0)?, at(0.25)?, at(0.5)?, at(0.75)?);
        Some(Self { seconds: least, noise: (high - low) / median })
    }

    /// Returns true if the runs show no sign of other programs.
    pub fn is_quiet(&self) -> bool {
        self.noise <= QUIET
    }
}

/// A kernel to be measured at several sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    /// The sizes, ascending.
    pub sizes: Vec<i64>,
    /// Maximum number of sizes to measure.
    pub wanted: usize,
}

/// Bounds of the times of measured kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The time of a launch. A kernel that takes less is measured at a larger size.
    pub launch: f64,
    /// Maximum expected time of a size. A longer one is left out unless it is the first.
    pub longest: f64,
}

impl Bounds {
    /// Returns true if a time measures the kernel rather than its launch.
    pub fn is_telling(&self, seconds: f64) -> bool {
        seconds >= ABOVE_LAUNCH * self.launch
    }
}

/// A size of a kernel with its time, or `None` if it failed.
pub type Rung = (i64, Option<f64>);

impl Ladder {
    /// Returns the size to measure next, given the sizes in `done` in the order made.
    ///
    /// Returns `None` if the kernel is finished: enough sizes are above the launch time, the next
    /// one would take too long, a size failed, or no size is left.
    pub fn next(&self, bounds: &Bounds, done: &[Rung]) -> Option<i64> {
        let times: Vec<f64> = done.iter().map(|(_, seconds)| *seconds).collect::<Option<_>>()?;
        let telling = times.iter().filter(|seconds| bounds.is_telling(**seconds)).count();
        let next = self.sizes.iter().copied().find(|size| done.iter().all(|(known, _)| known < size))?;
        let expected = match times[..] {
            [.., before, last] if last > before => last * last / before,
            [.., last] => last * GROWTH,
            [] => 0.0,
        };
        let fits = telling == 0 || expected <= bounds.longest;
        (telling < self.wanted && fits).then_some(next)
    }
}

/// Returns the kernel to measure next and its size, or `None` if all are finished.
///
/// The kernel with the fewest measurements comes first. A calibration that ends early then has
/// something of every kernel. The answer depends only on `done`, so a calibration continues where
/// an interrupted one ended.
pub fn next(ladders: &[Ladder], bounds: &Bounds, done: &[Vec<Rung>]) -> Option<(usize, i64)> {
    let open = ladders.iter().zip(done).enumerate();
    let open = open.filter_map(|(at, (ladder, done))| Some((done.len(), at, ladder.next(bounds, done)?)));
    open.min().map(|(_, at, size)| (at, size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_time_is_the_least_run_without_the_first_four() {
        let mut runs = vec![1.0, 1.0, 1.0, 1.0];
        assert_eq!(Timing::of(&runs), None);
        runs.extend([5.0, 4.0, 4.1, 4.2, 9.0]);
        let timing = Timing::of(&runs).unwrap();
        assert_eq!(timing.seconds, 4.0);
        assert!((timing.noise - 0.9 / 4.2).abs() < 1e-12 && !timing.is_quiet());
        assert!(Timing::of(&[1.0; RUNS]).unwrap().is_quiet());
    }

    /// Measures on a device where a kernel of size n takes `launch + unit * n`. Stops after `most`
    /// measurements.
    fn measure(
        ladders: &[Ladder],
        units: &[f64],
        bounds: &Bounds,
        mut done: Vec<Vec<Rung>>,
        most: usize,
    ) -> Vec<Vec<Rung>> {
        for _ in 0..most {
            let Some((at, size)) = next(ladders, bounds, &done) else { break };
            done[at].push((size, Some(bounds.launch / 2.0 + units[at] * size as f64)));
        }
        done
    }

    fn ladders() -> Vec<Ladder> {
        let sizes: Vec<i64> = (4..16).map(|p| 1 << p).collect();
        vec![
            Ladder { sizes: sizes.clone(), wanted: 4 },
            Ladder { sizes: sizes.clone(), wanted: 3 },
            Ladder { sizes, wanted: 4 },
        ]
    }

    #[test]
    fn sizes_begin_where_the_launch_no_longer_rules_and_end_before_they_take_too_long() {
        let bounds = Bounds { launch: 1e-5, longest: 1e-2 };
        let done = measure(&ladders(), &[1e-8, 1e-5, 1e-13], &bounds, vec![Vec::new(); 3], 1000);
        let telling = |at: usize| -> Vec<i64> {
            done[at].iter().filter(|(_, s)| bounds.is_telling(s.unwrap())).map(|(size, _)| *size).collect()
        };
        assert_eq!(telling(0), [512, 1024, 2048, 4096]);
        assert_eq!(telling(1), [16, 32, 64]);
        // A kernel that is always below the launch time is tried at every size.
        assert_eq!((telling(2), done[2].len()), (vec![], 12));
        let short = Bounds { longest: 4e-4, ..bounds };
        let done = measure(&ladders(), &[1e-8, 1e-5, 1e-13], &short, vec![Vec::new(); 3], 1000);
        assert!(done[1].iter().all(|(_, seconds)| seconds.unwrap() <= 4e-4), "{:?}", done[1]);
        let one = Bounds { longest: 1e-6, ..bounds };
        let done = measure(&ladders(), &[1e-8, 1e-5, 1e-13], &one, vec![Vec::new(); 3], 1000);
        assert_eq!(done[1].len(), 1, "a kernel is measured once however long it takes");
    }

    #[test]
    fn a_failure_ends_its_kernel_and_no_other() {
        let bounds = Bounds { launch: 1e-5, longest: 1.0 };
        let mut done = vec![vec![(16, None)], Vec::new(), Vec::new()];
        done = measure(&ladders(), &[1.0, 1e-5, 1e-5], &bounds, done, 1000);
        assert_eq!((done[0].len(), done[1].len(), done[2].len()), (1, 3, 4));
    }

    proptest! {
        #[test]
        fn an_interrupted_calibration_goes_on_as_if_nothing_had_been(
            cut in 0usize..30, units in prop::collection::vec(1e-10..1e-6f64, 3),
        ) {
            let bounds = Bounds { launch: 1e-5, longest: 1e-3 };
            let whole = measure(&ladders(), &units, &bounds, vec![Vec::new(); 3], 1000);
            let part = measure(&ladders(), &units, &bounds, vec![Vec::new(); 3], cut);
            let lengths: Vec<usize> = part.iter().map(Vec::len).collect();
            for (done, whole) in part.iter().zip(&whole) {
                let most = lengths.iter().copied().max().unwrap_or(0);
                prop_assert!(done.len() + 1 >= most.min(whole.len()), "every kernel gets its turn: {:?}", lengths);
            }
            prop_assert_eq!(measure(&ladders(), &units, &bounds, part, 1000), whole);
        }
    }
}
