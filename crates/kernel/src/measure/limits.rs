//! Time limits of a configuration. Pure functions: durations in, limits out.

use crate::measure::Sampling;
use crate::measure::sampling::SEVERAL;
use std::fmt;
use std::time::Duration;
use tunesmith_core::{Bound, Cut};

/// The time limits. Each limit bounds the cost of a hang, which occurs once per configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The least limit of a launch.
    pub floor: Duration,
    /// The limit of a launch as a multiple of the best time. A slower configuration is of no
    /// interest, however exactly its time is known.
    pub factor: u32,
    /// The limit of a launch while no correct time is known.
    pub first: Duration,
    /// The limit of a launch as a multiple of the reference's time, while no correct time is known.
    pub reference_factor: u32,
    /// The limit of the reference function.
    pub reference: Duration,
    /// The limit of a compilation.
    pub compile: Duration,
    /// The limit of checking a result, without the allowance for its size.
    pub verify: Duration,
}

impl Default for Limits {
    /// Returns the default limits:
    ///
    /// - `floor`: one second outlasts any pause of a busy system.
    /// - `factor`: noise does not explain ten times the best time.
    /// - `first`: ten seconds suffice for a kernel whose good configurations take a second.
    /// - `reference_factor`: the reference may be a slow triple loop.
    /// - `compile`: a compilation with heavy unrolling takes about ten seconds; one that runs away
    ///   never ends.
    fn default() -> Self {
        Self {
            floor: Duration::from_secs(1),
            factor: 10,
            first: Duration::from_secs(10),
            reference_factor: 20,
            reference: Duration::from_secs(300),
            compile: Duration::from_secs(60),
            verify: Duration::from_secs(30),
        }
    }
}

/// A time limit and its reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The duration.
    pub duration: Duration,
    /// The reason for the duration.
    pub reason: Reason,
}

impl Limit {
    /// Returns the cut that this limit makes, if it follows from the best time.
    pub fn cut(&self) -> Option<Cut> {
        let (Reason::Best(_, best) | Reason::Floor(_, best)) = self.reason else { return None };
        Some(Cut { limit_ms: self.duration.as_secs_f64() * 1e3, best_ms: best.as_secs_f64() * 1e3 })
    }
}

/// The reason for a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// No correct time is known yet.
    First,
    /// A multiple of the reference's time.
    Reference(u32, Duration),
    /// A multiple of the best time.
    Best(u32, Duration),
    /// The floor, which is above the multiple of the best time.
    Floor(u32, Duration),
    /// A multiple of the time that the configuration took before, or the floor above it.
    Own(u32, Duration),
    /// The limit while no correct time is known, or the floor. A faster time ends no configuration.
    Open,
    /// Far beyond the limit that cut the configuration before.
    Beyond(Duration),
    /// A multiple of the longest time of a correct configuration. A faster time ends no configuration.
    Longest(u32, Duration),
    /// A limit of this step, independent of measured times.
    Fixed,
}

/// Returns the limit of one launch from the reference's time and the best median so far.
pub fn launch_limit(limits: &Limits, reference: Option<Duration>, best: Option<Duration>) -> Limit {
    if let Some(best) = best {
        let multiple = best.saturating_mul(limits.factor);
        return if multiple >= limits.floor {
            Limit { duration: multiple, reason: Reason::Best(limits.factor, best) }
        } else {
            Limit { duration: limits.floor, reason: Reason::Floor(limits.factor, best) }
        };
    }
    first_limit(limits, reference)
}

/// Returns the limit of one launch while no correct time is known.
fn first_limit(limits: &Limits, reference: Option<Duration>) -> Limit {
    let by_reference = reference.map(|time| (time.saturating_mul(limits.reference_factor), time));
    match by_reference {
        Some((duration, time)) if duration > limits.first => {
            Limit { duration, reason: Reason::Reference(limits.reference_factor, time) }
        }
        _ => Limit { duration: limits.first, reason: Reason::First },
    }
}

/// The times of correct configurations, and the bound that the tuner set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    best: Option<Duration>,
    longest: Option<Duration>,
    bound: Option<Bound>,
}

impl Pace {
    /// Adds the time of a correct configuration.
    pub fn add(&mut self, time: Duration) {
        self.best = Some(self.best.map_or(time, |best| best.min(time)));
        self.longest = Some(self.longest.map_or(time, |longest| longest.max(time)));
    }

    /// Sets the bound of the next launches.
    pub fn bind(&mut self, bound: Bound) {
        self.bound = Some(bound);
    }

    /// Returns the limit of one launch from the reference's time and the bound. Without a bound, the
    /// best time bounds it.
    pub fn limit(&self, limits: &Limits, reference: Option<Duration>) -> Limit {
        match self.bound {
            None => launch_limit(limits, reference, self.best),
            Some(Bound::Best(time)) => launch_limit(limits, reference, Some(time)),
            Some(Bound::Own(time)) => {
                let duration = time.saturating_mul(limits.factor).max(limits.floor);
                Limit { duration, reason: Reason::Own(limits.factor, time) }
            }
            Some(Bound::Open) => self.open_limit(limits, reference),
            Some(Bound::Beyond(limit)) => {
                let Limit { duration, .. } = self.open_limit(limits, reference);
                let duration = limit.saturating_mul(limits.factor).max(duration);
                Limit { duration, reason: Reason::Beyond(limit) }
            }
        }
    }

    /// Returns the limit of a launch that a faster one does not end. What is many times as long as
    /// anything that was correct is taken to hang.
    fn open_limit(&self, limits: &Limits, reference: Option<Duration>) -> Limit {
        let first = first_limit(limits, reference);
        let Some(longest) = self.longest else { return first };
        let open = Limit { duration: first.duration.max(limits.floor), reason: Reason::Open };
        let multiple = longest.saturating_mul(limits.factor);
        if multiple > open.duration {
            return Limit { duration: multiple, reason: Reason::Longest(limits.factor, longest) };
        }
        open
    }
}

/// Returns the limit of all samples of a configuration on buffers of `bytes`, if a single launch
/// may take `launch`.
///
/// [`decide`](crate::measure::sampling::decide) always takes three samples. Beyond these, it takes at most
/// several times its cap. Each sample restores the buffers first.
pub fn sampling_limit(launch: &Limit, sampling: &Sampling, bytes: u64) -> Limit {
    let launches = u32::try_from(sampling.warmups).unwrap_or(u32::MAX).saturating_add(2);
    let duration = (launch.duration + transfer(bytes)).saturating_mul(launches) + sampling.time_cap * SEVERAL;
    Limit { duration, reason: launch.reason }
}

/// Returns the limit of restoring or checking `bytes`. A machine that exceeds it has run out of
/// memory.
pub fn data_limit(limits: &Limits, bytes: u64) -> Limit {
    Limit { duration: limits.verify + transfer(bytes), reason: Reason::Fixed }
}

fn transfer(bytes: u64) -> Duration {
    const BYTES_PER_SECOND: f64 = 50e6;
    Duration::from_secs_f64(bytes as f64 / BYTES_PER_SECOND)
}

/// Formats a duration for people: `1.0 s`, `12 ms`, `3.4 us`.
pub fn human(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (value, unit) = match seconds {
        seconds if seconds >= 1.0 => (seconds, "s"),
        seconds if seconds >= 1e-3 => (seconds * 1e3, "ms"),
        seconds if seconds >= 1e-6 => (seconds * 1e6, "us"),
        seconds => (seconds * 1e9, "ns"),
    };
    if value >= 10.0 { format!("{value:.0} {unit}") } else { format!("{value:.1} {unit}") }
}

/// Writes the limit as the continuation of "did not end within".
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", human(self.duration))?;
        match self.reason {
            Reason::First => write!(f, " (the limit while no correct time is known)"),
            Reason::Reference(factor, time) => write!(f, " ({factor} x the reference's time of {})", human(time)),
            Reason::Best(factor, best) => write!(f, " ({factor} x the best time of {})", human(best)),
            Reason::Floor(factor, best) => {
                write!(f, " (more than {factor} x the best time of {}; the least limit)", human(best))
            }
            Reason::Own(factor, own) => write!(f, " (at least {factor} x its earlier time of {})", human(own)),
            Reason::Open => write!(f, " (the limit where a faster time ends no configuration)"),
            Reason::Beyond(limit) => write!(f, " (it was cut at {} before)", human(limit)),
            Reason::Longest(factor, longest) => {
                write!(f, " ({factor} x the longest time of a correct configuration, {})", human(longest))
            }
            Reason::Fixed => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn limit(reference: Option<u64>, best: Option<u64>) -> (Duration, String) {
        let limit = launch_limit(&Limits::default(), reference.map(ms), best.map(ms));
        (limit.duration, limit.to_string())
    }

    #[test]
    fn before_any_time_the_first_limit_holds_or_the_references() {
        assert_eq!(limit(None, None), (ms(10_000), "10 s (the limit while no correct time is known)".into()));
        assert_eq!(limit(Some(100), None).0, ms(10_000));
        assert_eq!(limit(Some(1000), None), (ms(20_000), "20 s (20 x the reference's time of 1.0 s)".into()));
    }

    #[test]
    fn afterwards_it_is_a_multiple_of_the_best_with_a_floor() {
        assert_eq!(limit(Some(9000), Some(300)), (ms(3000), "3.0 s (10 x the best time of 300 ms)".into()));
        let message = "1.0 s (more than 10 x the best time of 12 ms; the least limit)";
        assert_eq!(limit(None, Some(12)), (ms(1000), message.into()));
    }

    #[test]
    fn a_bound_decides_whether_the_best_time_or_the_longest_sets_the_limit() {
        let limit = |pace: &Pace| {
            let limit = pace.limit(&Limits::default(), None);
            (limit.duration, limit.to_string())
        };
        let mut pace = Pace::default();
        pace.bind(Bound::Open);
        assert_eq!(limit(&pace), (ms(10_000), "10 s (the limit while no correct time is known)".into()));
        [300, 20, 100].into_iter().for_each(|time| pace.add(ms(time)));
        let open = (ms(10_000), "10 s (the limit where a faster time ends no configuration)".into());
        assert_eq!(limit(&pace), open);
        pace.add(ms(1500));
        let longest = (ms(15_000), "15 s (10 x the longest time of a correct configuration, 1.5 s)".into());
        assert_eq!(limit(&pace), longest);
        pace.bind(Bound::Best(ms(200)));
        assert_eq!(limit(&pace), (ms(2000), "2.0 s (10 x the best time of 200 ms)".into()));
        pace.bind(Bound::Own(ms(4000)));
        assert_eq!(limit(&pace), (ms(40_000), "40 s (at least 10 x its earlier time of 4.0 s)".into()));
        pace.bind(Bound::Own(ms(4)));
        assert_eq!(limit(&pace).0, ms(1000), "the least limit");
        pace.bind(Bound::Beyond(ms(3000)));
        assert_eq!(limit(&pace), (ms(30_000), "30 s (it was cut at 3.0 s before)".into()));
        let untold = Pace { bound: None, ..pace };
        assert_eq!(limit(&untold).0, ms(1000), "ten times the best of 20 ms is less");
    }

    #[test]
    fn sampling_may_take_three_slow_launches_or_several_times_its_cap() {
        let launch = Limit { duration: ms(1000), reason: Reason::First };
        assert_eq!(sampling_limit(&launch, &Sampling::default(), 0).duration, ms(5000));
        assert_eq!(sampling_limit(&launch, &Sampling::default(), 50_000_000).duration, ms(8000));
    }

    #[test]
    fn durations_read_well_in_every_range() {
        let read: Vec<String> =
            [3, 3_400, 12_000_000, 999_000_000, 1_000_000_000].map(Duration::from_nanos).map(human).to_vec();
        assert_eq!(read, ["3.0 ns", "3.4 us", "12 ms", "999 ms", "1.0 s"]);
    }
}
