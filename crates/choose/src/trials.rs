//! Tries configurations while an application runs, within a budget: times in, decisions out.
//!
//! [`Trials`] takes the time of every call and returns the configuration of the next one. It
//! measures nothing and reads no clock, so that the bound it keeps can be proved and tested.

use tunesmith_time::statistics;

/// The budget of trials, and the care with which results are told apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlineOptions {
    /// Maximum cost of all trials together, as a share of the time of the other calls: 0.05 slows
    /// the application by 5 %.
    pub slowdown: f64,
    /// The assumed slowdown of a trial relative to the best known configuration. A trial begins
    /// only when the budget covers that slowdown.
    pub worst: f64,
    /// Number of calls that decide about a candidate.
    pub samples: usize,
    /// The share by which a candidate must beat the best known configuration to replace it.
    pub margin: f64,
}

impl Default for OnlineOptions {
    /// A budget of 5 %; trials at most twice as slow; five calls, whose median withstands two
    /// disturbed ones; and a margin of 1 %, since a smaller gain is not worth a change.
    fn default() -> Self {
        Self { slowdown: 0.05, worst: 2.0, samples: 5, margin: 0.01 }
    }
}

/// The kind of the next call, with the number of its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Runs the best known configuration.
    Best(usize),
    /// Runs a candidate, at the expense of the budget.
    Trial(usize),
}

impl Call {
    /// Returns the number of the configuration.
    pub fn config(self) -> usize {
        match self {
            Self::Best(config) | Self::Trial(config) => config,
        }
    }
}

/// The results of one configuration.
#[derive(Clone, Debug, Default, PartialEq)]
struct Candidate {
    /// The times of its calls. For the best known configuration, the latest of them.
    times: Vec<f64>,
    /// True if it needs no more trials: it lost, failed, or is known from elsewhere.
    is_done: bool,
}

/// The trials of one kernel for one input.
///
/// **The bound.** Let *useful* be the time of all calls with the best configuration known at the
/// time. Let *excess* be the time of all trials beyond the median of that configuration. A trial
/// begins only when `excess + (worst - 1) * median <= slowdown * useful`.
///
/// Hence `excess <= slowdown * useful` at any time, if no trial was more than `worst` times slower
/// than the best known configuration. Otherwise `excess <= slowdown * useful + e`, where `e` is the
/// excess of the latest trial alone: no other trial begins before `e` has been earned.
#[derive(Clone, Debug, PartialEq)]
pub struct Trials {
    candidates: Vec<Candidate>,
    best: usize,
    options: OnlineOptions,
    useful: f64,
    excess: f64,
}

impl Trials {
    /// Starts the trials of `count` configurations, at least 1. The first is the best known.
    pub fn new(count: usize, options: OnlineOptions) -> Self {
        let candidates = vec![Candidate::default(); count.max(1)];
        Self { candidates, best: 0, options, useful: 0.0, excess: 0.0 }
    }

    /// Takes the median time of a configuration from an earlier run or another process. The
    /// configuration needs no trial. It becomes the best known once the present best has a time and
    /// is slower.
    pub fn know(&mut self, config: usize, time: f64) {
        let samples = self.options.samples.max(1);
        let Some(candidate) = self.candidates.get_mut(config) else { return };
        if time > 0.0 && time.is_finite() {
            *candidate = Candidate { times: vec![time; samples], is_done: true };
            self.take_known();
        }
    }

    /// Replaces the best known configuration by a better one that is known already.
    fn take_known(&mut self) {
        let samples = self.options.samples.max(1);
        let Some(of_best) = self.median(self.best) else { return };
        let known =
            |config: &usize| self.candidates[*config].is_done && self.candidates[*config].times.len() >= samples;
        let medians =
            (0..self.candidates.len()).filter(known).filter_map(|config| Some((config, self.median(config)?)));
        let fastest = medians.min_by(|(_, a), (_, b)| a.total_cmp(b));
        if let Some((config, _)) = fastest.filter(|(_, median)| *median < of_best * (1.0 - self.options.margin)) {
            self.candidates[self.best].is_done = true;
            self.best = config;
        }
    }

    /// Returns the next call.
    pub fn next(&self) -> Call {
        let open = |config: &usize| *config != self.best && !self.candidates[*config].is_done;
        match (0..self.candidates.len()).find(open) {
            Some(config) if self.can_afford() => Call::Trial(config),
            _ => Call::Best(self.best),
        }
    }

    /// Returns true if the budget covers a trial as slow as `worst`. Nothing is tried before the
    /// best known configuration has enough times.
    fn can_afford(&self) -> bool {
        let known = self.candidates[self.best].times.len() >= self.options.samples.max(1);
        let Some(median) = self.median(self.best).filter(|_| known) else { return false };
        self.excess + (self.options.worst - 1.0).max(0.0) * median <= self.options.slowdown * self.useful
    }

    /// Takes the time of a call, in any unit, and whether it worked. A failed trial is never
    /// repeated, and all of its time is excess. Returns the configuration that this call decided
    /// about, if any, with its median time if it has one.
    pub fn tell(&mut self, call: Call, time: f64, worked: bool) -> Option<(usize, Option<f64>)> {
        let config = call.config();
        let time = if time.is_finite() { time.max(0.0) } else { 0.0 };
        let reference = self.median(self.best).filter(|_| worked).unwrap_or(0.0);
        match call {
            Call::Trial(_) => self.excess += (time - reference).max(0.0),
            Call::Best(_) if worked => self.useful += time,
            Call::Best(_) => return None,
        }
        let candidate = self.candidates.get_mut(config)?;
        if !worked {
            *candidate = Candidate { times: Vec::new(), is_done: true };
            return Some((config, None));
        }
        candidate.times.push(time);
        if config == self.best { self.follow(config) } else { self.judge(config) }
    }

    /// Keeps the latest calls of the best known configuration, so that a drift of the machine does
    /// not favour candidates.
    fn follow(&mut self, config: usize) -> Option<(usize, Option<f64>)> {
        let samples = self.options.samples.max(1);
        let times = &mut self.candidates[config].times;
        let is_decided = times.len() == samples;
        times.drain(..times.len().saturating_sub(4 * samples));
        let median = self.median(config);
        if is_decided {
            self.take_known();
        }
        is_decided.then_some((config, median))
    }

    /// Ends the trials of a candidate that can no longer win or has had all its calls.
    fn judge(&mut self, config: usize) -> Option<(usize, Option<f64>)> {
        let samples = self.options.samples.max(1);
        let (median, best) = (self.median(config)?, self.median(self.best)?);
        let candidate = &mut self.candidates[config];
        // Once more than half of all calls lie above the best known median, the median of all calls
        // cannot fall below it.
        let slower = candidate.times.iter().filter(|time| **time >= best).count();
        if 2 * slower > samples || candidate.times.len() >= samples {
            candidate.is_done = true;
            if median < best * (1.0 - self.options.margin) && 2 * slower <= samples {
                self.candidates[self.best].is_done = true;
                self.best = config;
            }
            return Some((config, Some(median)));
        }
        None
    }

    fn median(&self, config: usize) -> Option<f64> {
        statistics::median(&self.candidates[config].times)
    }

    /// Returns the best known configuration.
    pub fn best(&self) -> usize {
        self.best
    }

    /// Returns true if every candidate has been decided about.
    pub fn is_settled(&self) -> bool {
        let mut others = (0..self.candidates.len()).filter(|config| *config != self.best);
        others.all(|config| self.candidates[config].is_done)
    }

    /// Returns the cost of the trials beyond the best known configuration's time, and the time of
    /// all other calls.
    pub fn spent(&self) -> (f64, f64) {
        (self.excess, self.useful)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus as Rng;

    /// Plays `calls` calls, whose times vary by `noise`, and checks the bound after each.
    fn play(times: &[f64], options: OnlineOptions, noise: f64, calls: usize, rng: &mut Rng) -> Trials {
        let mut trials = Trials::new(times.len(), options);
        let (mut latest, mut surprised) = (0.0, false);
        for _ in 0..calls {
            let before = trials.spent().0;
            let call = trials.next();
            let reference = trials.median(trials.best());
            let time = times[call.config()] * (1.0 + noise * (rng.random::<f64>() - 0.5));
            trials.tell(call, time, true);
            let (excess, useful) = trials.spent();
            if matches!(call, Call::Trial(_)) {
                latest = excess - before;
                surprised |= reference.is_none_or(|reference| time > options.worst * reference);
            }
            let budget = options.slowdown * useful + 1e-9;
            assert!(excess <= budget + latest, "the latest trial alone may lie above the budget");
            assert!(surprised || excess <= budget, "no trial was slower than one was prepared for");
        }
        trials
    }

    #[test]
    fn the_budget_holds_and_the_best_is_found_whatever_the_times() {
        let mut rng = Rng::seed_from_u64(4);
        for _ in 0..50 {
            let count = rng.random_range(1..8);
            let times: Vec<f64> = (0..count).map(|_| rng.random_range(1.0..20.0)).collect();
            let options = OnlineOptions { slowdown: rng.random_range(0.01..0.5), ..OnlineOptions::default() };
            let trials = play(&times, options, 0.0, 40_000, &mut rng);
            assert!(trials.is_settled());
            let best = times.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(times[trials.best()] <= best / (1.0 - options.margin) + 1e-12, "{times:?} {}", trials.best());
        }
    }

    #[test]
    fn noise_does_not_crown_a_slow_one() {
        let mut rng = Rng::seed_from_u64(5);
        let won = (0..30).filter(|_| {
            let trials = play(&[3.0, 4.0, 2.0, 6.0], OnlineOptions::default(), 0.4, 8_000, &mut rng);
            trials.best() == 2
        });
        assert_eq!(won.count(), 30);
    }

    #[test]
    fn nothing_is_tried_without_a_budget_or_before_it_is_earned() {
        let mut rng = Rng::seed_from_u64(6);
        let stingy = OnlineOptions { slowdown: 0.0, ..OnlineOptions::default() };
        let trials = play(&[2.0, 1.0], stingy, 0.0, 1000, &mut rng);
        assert_eq!((trials.best(), trials.spent().0), (0, 0.0));
        let mut trials = Trials::new(2, OnlineOptions::default());
        for _ in 0..19 {
            assert_eq!(trials.next(), Call::Best(0), "5 % of 19 calls do not pay for one that takes as long again");
            trials.tell(Call::Best(0), 1.0, true);
        }
        trials.tell(Call::Best(0), 1.0, true);
        assert_eq!(trials.next(), Call::Trial(1));
    }

    #[test]
    fn what_fails_is_not_tried_again() {
        let mut trials = Trials::new(3, OnlineOptions { slowdown: 1.0, ..OnlineOptions::default() });
        (0..5).for_each(|_| assert!(trials.tell(Call::Best(0), 1.0, true).is_none_or(|(config, _)| config == 0)));
        assert_eq!(trials.next(), Call::Trial(1));
        assert_eq!(trials.tell(Call::Trial(1), 0.5, false), Some((1, None)));
        assert_eq!((trials.next(), trials.spent().0), (Call::Trial(2), 0.5));
    }

    #[test]
    fn what_is_known_from_elsewhere_needs_no_trial() {
        let mut trials = Trials::new(3, OnlineOptions::default());
        trials.know(1, 2.0);
        assert_eq!(trials.best(), 0, "nobody knows yet whether that is better");
        trials.know(0, 3.0);
        trials.know(2, f64::NAN);
        trials.know(9, 1.0);
        assert_eq!((trials.best(), trials.is_settled()), (1, false));
        trials.know(2, 4.0);
        assert!(trials.is_settled());
    }
}
