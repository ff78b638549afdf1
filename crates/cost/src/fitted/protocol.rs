//! How measurement kernels are timed: pure rules, without a device or a clock (the paper's sections
//! 4.1 and 4.2).

/// Runs of a kernel.
pub const RUNS: usize = 30;
/// The first runs, which are left out: arrays are touched for the first time, and the second run
/// varies more than others.
pub const LEFT_OUT: usize = 4;
/// A kernel that takes this many launches of the empty kernel is measured rather than its launch.
const ABOVE_LAUNCH: f64 = 1.0;
/// The middle half of the runs of a quiet machine lies within this share of their median: the paper
/// found minimum and mean to differ by less than 5 %, and virtual machines with two busy neighbours
/// are at 3 to 11 %.
const QUIET: f64 = 0.1;
/// The growth of a time from one size to the next while only one was measured.
const GROWTH: f64 = 8.0;

/// The time of a kernel by its runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// The least.
    pub seconds: f64,
    /// The width of the middle half as a share of the median.
    pub noise: f64,
}

impl Timing {
    /// Returns the time by the runs in the order in which they were done, of which the first
    /// [`LEFT_OUT`] are left out; `None` when none is left.
    pub fn of(runs: &[f64]) -> Option<Self> {
        let mut sorted = runs.get(LEFT_OUT..).unwrap_or_default().to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| sorted.get((share * (sorted.len().saturating_sub(1)) as f64).round() as usize).copied();
        let (least, low, median, high) = (at(0.0)?, at(0.25)?, at(0.5)?, at(0.75)?);
        Some(Self { seconds: least, noise: (high - low) / median })
    }

    /// Returns true if nothing else seems to have run.
    pub fn is_quiet(&self) -> bool {
        self.noise <= QUIET
    }
}

/// A kernel to be measured at several sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    /// The sizes, ascending.
    pub sizes: Vec<i64>,
    /// The largest number of them to measure.
    pub wanted: usize,
}

/// Bounds of the times of measured kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The time of a launch: a kernel that takes less is measured at a larger size.
    pub launch: f64,
    /// A size that is expected to take longer is left out unless it is the first.
    pub longest: f64,
}

impl Bounds {
    /// Returns true if a time tells of the kernel rather than of its launch.
    pub fn is_telling(&self, seconds: f64) -> bool {
        seconds >= ABOVE_LAUNCH * self.launch
    }
}

/// A size of a kernel with its time, or with nothing where it failed.
pub type Rung = (i64, Option<f64>);

impl Ladder {
    /// Returns the size to measure next, after `done` in the order in which it was done; `None`
    /// when the kernel is finished: enough sizes are telling, the next would take too long, a size
    /// failed, or no size is left.
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

/// Returns which kernel to go on with, and at what size; `None` when all are finished. The one of
/// which the least was done comes first, so that a calibration that is ended early has something of
/// every kernel. It follows from what was done alone, and so goes on where one that was interrupted
/// ended.
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

    /// Measures on a device on which a kernel of size n takes `launch + unit * n`, and stops after
    /// `most` measurements.
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
        // What is always below the launch is tried to the end.
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
