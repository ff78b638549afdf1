//! The trials for one input: times in, decisions out. Nothing here measures or reads a clock.

use super::explore::Explorer;
use super::options::OnlineOptions;
use super::purse::{Account, Purse};
use crate::wisdom::Config;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tunesmith_time::statistics;

/// The slowdown that is expected of a candidate that is known to be fast: for a similar input, in
/// another process, or before the machine drifted.
const WORST_OF_KNOWN: f64 = 1.5;

/// Number of the fastest configurations that are tried again after a drift.
const RETRIED: usize = 3;

/// Maximum number of known configurations that an explorer may propose in a row. One that proposes
/// more has nothing new to say.
const MOST_REPEATS: usize = 100;

/// The part of a call in the tuning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    /// Runs the best known configuration.
    Best,
    /// Runs a candidate. Times are per unit of work.
    Trial {
        /// The mean of the best known configuration's latest calls when the trial began.
        reference: f64,
        /// The excess that the budget set aside.
        reserved: f64,
        /// True if no call with the candidate began before.
        is_first: bool,
    },
}

/// The end of a call, with its time per unit of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    Took(f64),
    Failed(f64),
    Abandoned,
}

/// The next step of a call.
pub(super) enum Step {
    Run(Arc<Config>, Role),
    /// The strategy has to name a candidate first.
    Think(Thought),
}

/// A strategy that is about to think, apart from the state that other threads use meanwhile.
pub(super) struct Thought {
    explorer: Box<dyn Explorer>,
    lessons: Vec<Lesson>,
}

type Lesson = (Arc<Config>, Option<f64>);

impl Thought {
    /// Tells the strategy what was learnt, and asks it for a candidate.
    pub(super) fn think(&mut self) -> Option<Config> {
        self.lessons.drain(..).for_each(|(config, time)| self.explorer.learn(&config, time));
        self.explorer.propose()
    }
}

/// A configuration about which was decided.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decision {
    pub(super) config: Arc<Config>,
    /// Its median time per unit of work, or `None` if it failed.
    pub(super) time: Option<f64>,
    /// The number of its calls.
    pub(super) samples: usize,
    /// True if it is the best known configuration now, and was not before.
    pub(super) has_won: bool,
}

/// The answer to the end of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    pub(super) decision: Option<Decision>,
    /// True if the call failed and another configuration is there to repeat it with.
    pub(super) repeat: bool,
}

/// The best known configuration.
struct Incumbent {
    config: Arc<Config>,
    /// Its latest times.
    times: Vec<f64>,
    /// Its median when it was decided about.
    expected: Option<f64>,
}

/// The configuration on trial.
struct Challenger {
    config: Arc<Config>,
    times: Vec<f64>,
    /// True while a call with it is under way.
    is_running: bool,
    /// True once its first call has begun.
    has_begun: bool,
    /// The largest excess of its calls.
    dearest: f64,
}

/// A configuration that is to be tried.
struct Candidate {
    config: Arc<Config>,
    /// True if it is known to be fast in other circumstances.
    is_known: bool,
}

enum Exploration {
    Open(Box<dyn Explorer>),
    Thinking,
    Over,
}

/// The trials of one kernel for one input.
pub(super) struct Trials {
    options: OnlineOptions,
    default: Arc<Config>,
    incumbent: Incumbent,
    challenger: Option<Challenger>,
    /// The candidates that come before those of the explorer.
    first: VecDeque<Candidate>,
    account: Account,
    results: HashMap<Arc<Config>, Option<f64>>,
    /// The results that the explorer has not been told yet.
    lessons: Vec<Lesson>,
    exploration: Exploration,
    repeats: usize,
}

impl Trials {
    /// Begins with the fastest configuration of `known`, which was measured for this input, and
    /// otherwise with `default`. Those that are `taught` by similar inputs are the first
    /// candidates, after the default.
    pub(super) fn new(
        options: OnlineOptions,
        default: &Arc<Config>,
        known: Vec<(Config, Option<f64>)>,
        taught: Vec<Config>,
        explorer: Box<dyn Explorer>,
    ) -> Self {
        let results: HashMap<Arc<Config>, Option<f64>> =
            known.into_iter().map(|(config, time)| (Arc::new(config), time)).collect();
        let measured = results.iter().filter_map(|(config, time)| Some((config, (*time)?)));
        let fastest = measured.min_by(|(a, of_a), (b, of_b)| of_a.total_cmp(of_b).then_with(|| a.cmp(b)));
        let (config, expected) = fastest.map_or((default, None), |(config, time)| (config, Some(time)));
        let incumbent = Incumbent { config: Arc::clone(config), times: Vec::new(), expected };
        let taught = taught.into_iter().map(|config| Candidate { config: Arc::new(config), is_known: true });
        let candidates = std::iter::once(Candidate { config: Arc::clone(default), is_known: false }).chain(taught);
        let is_new = |one: &Candidate| one.config != incumbent.config && !results.contains_key(&one.config);
        let first = candidates.filter(is_new).collect();
        let lessons = results.iter().map(|(config, time)| (Arc::clone(config), *time)).collect();
        Self {
            options,
            default: Arc::clone(default),
            incumbent,
            challenger: None,
            first,
            account: Account::default(),
            results,
            lessons,
            exploration: Exploration::Open(explorer),
            repeats: 0,
        }
    }

    /// Takes the result of another process: its median time, or `None` for a failure. A faster one
    /// is tried here next.
    pub(super) fn know(&mut self, config: Config, time: Option<f64>) {
        let is_on_trial = self.challenger.as_ref().is_some_and(|challenger| *challenger.config == config);
        let is_old = match self.results.get(&config) {
            Some(known) => known.is_some() || time.is_none(),
            None => false,
        };
        if is_on_trial || is_old || config == *self.incumbent.config {
            return;
        }
        let config = Arc::new(config);
        let of_best = self.reference().or(self.incumbent.expected);
        let is_faster = |time| of_best.is_none_or(|best: f64| time < best * (1.0 - self.options.margin));
        if time.is_some_and(is_faster) && !self.is_waiting(&config) {
            self.first.push_front(Candidate { config: Arc::clone(&config), is_known: true });
        }
        self.settle(&config, time);
    }

    /// Lets `config` be tried, which is fast for a similar input.
    pub(super) fn suggest(&mut self, config: &Arc<Config>) {
        let is_on_trial = self.challenger.as_ref().is_some_and(|challenger| challenger.config == *config);
        let is_known = is_on_trial || *config == self.incumbent.config || self.results.contains_key(config);
        if !is_known && !self.is_waiting(config) {
            self.first.push_back(Candidate { config: Arc::clone(config), is_known: true });
        }
    }

    /// Tells the explorer that `config` is slow for a similar input, by the factor that `slow` returns.
    /// Hence the explorers of similar inputs learn from one another's trials. An explorer that would
    /// not listen costs no search for the factor.
    pub(super) fn hint(&mut self, config: &Arc<Config>, slow: impl FnOnce() -> Option<f64>) {
        let is_over = matches!(self.exploration, Exploration::Over);
        if is_over || self.results.contains_key(config) || self.is_waiting(config) {
            return;
        }
        if let Some((reference, slow)) = self.reference().zip(slow()) {
            self.lessons.push((Arc::clone(config), Some(reference * slow)));
        }
    }

    /// Returns true if `config` is among the next candidates.
    fn is_waiting(&self, config: &Config) -> bool {
        self.first.iter().any(|one| *one.config == *config)
    }

    /// Keeps a result and remembers to tell the explorer.
    fn settle(&mut self, config: &Arc<Config>, time: Option<f64>) {
        self.results.insert(Arc::clone(config), time);
        if !matches!(self.exploration, Exploration::Over) {
            self.lessons.push((Arc::clone(config), time));
        }
    }

    /// Returns the next step of a call of `units` units of work.
    pub(super) fn step(&mut self, units: f64, purse: &mut Purse) -> Step {
        let is_settled = self.is_settled();
        purse.settle(&mut self.account, is_settled);
        let best = Step::Run(Arc::clone(&self.incumbent.config), Role::Best);
        self.trial(units, purse).unwrap_or(best)
    }

    /// Returns a trial or a thought, if the budget covers one.
    fn trial(&mut self, units: f64, purse: &mut Purse) -> Option<Step> {
        if self.challenger.as_ref().is_some_and(|challenger| challenger.is_running) {
            return None;
        }
        let known = self.incumbent.times.len();
        let reference = self.mean().filter(|_| known >= self.options.glimpse())?;
        let reserved = self.expected_excess(reference, purse);
        let overhead = if self.challenger.is_none() { purse.overhead() } else { 0.0 };
        let is_open = matches!(self.exploration, Exploration::Open(_)) && known >= self.options.deciding();
        let has_candidate = self.challenger.is_some() || !self.first.is_empty();
        if !(has_candidate || is_open) || !purse.grants(&mut self.account, reserved * units + overhead) {
            return None;
        }
        if self.challenger.is_none() {
            let Some(candidate) = self.first.pop_front() else { return self.thought() };
            self.challenge(candidate.config);
        }
        let challenger = self.challenger.as_mut()?;
        let is_first = !std::mem::replace(&mut challenger.has_begun, true);
        challenger.is_running = true;
        purse.reserve(reserved * units);
        Some(Step::Run(Arc::clone(&challenger.config), Role::Trial { reference, reserved, is_first }))
    }

    /// Returns the excess that is expected of the next trial, per unit of work.
    fn expected_excess(&self, reference: f64, purse: &Purse) -> f64 {
        let worst = match (&self.challenger, self.first.front()) {
            // Its own calls say what to expect.
            (Some(challenger), _) if !challenger.times.is_empty() => WORST_OF_KNOWN,
            (None, Some(Candidate { is_known: true, .. })) => WORST_OF_KNOWN,
            _ => purse.expected(self.options.worst),
        };
        let dearest = self.challenger.as_ref().map_or(0.0, |challenger| challenger.dearest);
        dearest.max((worst - 1.0) * reference)
    }

    fn challenge(&mut self, config: Arc<Config>) {
        let challenger = Challenger { config, times: Vec::new(), is_running: false, has_begun: false, dearest: 0.0 };
        self.challenger = Some(challenger);
    }

    fn thought(&mut self) -> Option<Step> {
        if !matches!(self.exploration, Exploration::Open(_)) {
            return None;
        }
        let Exploration::Open(explorer) = std::mem::replace(&mut self.exploration, Exploration::Thinking) else {
            return None;
        };
        Some(Step::Think(Thought { explorer, lessons: std::mem::take(&mut self.lessons) }))
    }

    /// Takes a thought back, with the candidate that it found.
    ///
    /// Counts the time that it took. The candidate is not tried if it is `slow` for a similar input, by
    /// that factor: the explorer is told this estimate.
    pub(super) fn take_back(
        &mut self,
        thought: Thought,
        candidate: Option<(Config, Option<f64>)>,
        took: f64,
        purse: &mut Purse,
    ) {
        purse.think(&mut self.account, took);
        let Some((candidate, slow)) = candidate else {
            self.exploration = Exploration::Over;
            self.lessons = Vec::new();
            return;
        };
        self.exploration = Exploration::Open(thought.explorer);
        if candidate == *self.incumbent.config || self.results.contains_key(&candidate) {
            self.repeats += 1;
            let time = self.results.get(&candidate).copied().unwrap_or_else(|| self.reference());
            self.lessons.push((Arc::new(candidate), time));
            if self.repeats > MOST_REPEATS {
                self.exploration = Exploration::Over;
            }
            return;
        }
        self.repeats = 0;
        if let Some(slow) = slow {
            let estimate = self.reference().map(|reference| reference * slow);
            self.lessons.push((Arc::new(candidate), estimate));
            return;
        }
        self.first.push_back(Candidate { config: Arc::new(candidate), is_known: false });
    }

    /// Ends a call of `units` units of work with `config`.
    pub(super) fn end(&mut self, config: &Arc<Config>, role: Role, end: End, units: f64, purse: &mut Purse) -> Outcome {
        match role {
            Role::Best => self.end_best(config, end, units, purse),
            Role::Trial { reference, reserved, .. } => {
                purse.release(reserved * units);
                self.end_trial(reference, end, units, purse)
            }
        }
    }

    fn end_best(&mut self, config: &Arc<Config>, end: End, units: f64, purse: &mut Purse) -> Outcome {
        match end {
            End::Abandoned => Outcome::default(),
            End::Took(time) => {
                purse.earn(&mut self.account, time * units);
                let is_best = *config == self.incumbent.config;
                Outcome { decision: if is_best { self.follow(time) } else { None }, repeat: false }
            }
            // Without tuning, the application would have met this failure as well.
            End::Failed(_) if *config == self.default => Outcome::default(),
            End::Failed(time) => {
                purse.pay(&mut self.account, time * units);
                self.settle(config, None);
                if *config == self.incumbent.config {
                    let expected = self.results.get(&self.default).copied().flatten();
                    self.incumbent = Incumbent { config: Arc::clone(&self.default), times: Vec::new(), expected };
                }
                let decision = Decision { config: Arc::clone(config), time: None, samples: 0, has_won: false };
                Outcome { decision: Some(decision), repeat: true }
            }
        }
    }

    /// Keeps the latest calls of the best known configuration, so that a drift of the machine does
    /// not favour candidates.
    fn follow(&mut self, time: f64) -> Option<Decision> {
        let samples = self.options.deciding();
        self.incumbent.times.push(time);
        let count = self.incumbent.times.len();
        if count == samples && !self.results.contains_key(&self.incumbent.config) {
            let median = self.reference();
            self.incumbent.expected = median;
            let config = Arc::clone(&self.incumbent.config);
            self.settle(&config, median);
            return Some(Decision { config, time: median, samples, has_won: false });
        }
        self.incumbent.times.drain(..count.saturating_sub(4 * samples));
        let (median, expected) = (self.reference()?, *self.incumbent.expected.get_or_insert(f64::INFINITY));
        let is_whole = count > 4 * samples;
        (is_whole && median > expected * self.options.drift).then(|| self.retry(median))
    }

    /// Forgets what the other configurations took before the machine drifted: the fastest of them
    /// are tried again.
    fn retry(&mut self, median: f64) -> Decision {
        self.incumbent.expected = Some(median);
        let best = Arc::clone(&self.incumbent.config);
        let mut others: Vec<(&Arc<Config>, f64)> = self
            .results
            .iter()
            .filter_map(|(config, time)| Some((config, (*time)?)))
            .filter(|(config, _)| **config != best && !self.is_waiting(config))
            .collect();
        others.sort_by(|(a, of_a), (b, of_b)| of_a.total_cmp(of_b).then_with(|| a.cmp(b)));
        let again = others.into_iter().take(RETRIED);
        let again: Vec<Candidate> =
            again.map(|(config, _)| Candidate { config: Arc::clone(config), is_known: true }).collect();
        self.first.extend(again);
        self.settle(&best, Some(median));
        Decision { config: best, time: Some(median), samples: self.incumbent.times.len(), has_won: false }
    }

    fn end_trial(&mut self, reference: f64, end: End, units: f64, purse: &mut Purse) -> Outcome {
        let Some(challenger) = self.challenger.as_mut() else { return Outcome::default() };
        challenger.is_running = false;
        match end {
            End::Abandoned => Outcome::default(),
            End::Failed(time) => {
                purse.pay(&mut self.account, time * units);
                let (config, samples) = (Arc::clone(&challenger.config), challenger.times.len());
                self.challenger = None;
                self.settle(&config, None);
                let decision = Decision { config, time: None, samples, has_won: false };
                Outcome { decision: Some(decision), repeat: true }
            }
            End::Took(time) => {
                let excess = time - reference;
                purse.pay(&mut self.account, excess * units);
                challenger.times.push(time);
                challenger.dearest = challenger.dearest.max(excess);
                let fastest = challenger.times.iter().copied().fold(f64::INFINITY, f64::min);
                let decision = self.judge(reference);
                if decision.is_some() && reference > 0.0 {
                    purse.learn(fastest / reference);
                }
                Outcome { decision, repeat: false }
            }
        }
    }

    /// Ends the trials of a candidate that can no longer win or has had all its calls.
    fn judge(&mut self, reference: f64) -> Option<Decision> {
        let samples = self.options.deciding();
        let best = self.reference().unwrap_or(reference);
        let times = &self.challenger.as_ref()?.times;
        // Once more than half of all calls lie above the best known median, the median of all calls
        // cannot fall below it.
        let slower = times.iter().filter(|time| **time >= best).count();
        let has_lost = 2 * slower > samples || self.is_beyond_doubt_slower(times);
        if !has_lost && times.len() < samples {
            return None;
        }
        let Challenger { config, times, .. } = self.challenger.take()?;
        let median = statistics::median(&times)?;
        let has_won = !has_lost && median < best * (1.0 - self.options.margin);
        let decision = Decision { config: Arc::clone(&config), time: Some(median), samples: times.len(), has_won };
        if has_won {
            let new = Incumbent { config: Arc::clone(&config), times, expected: Some(median) };
            let old = std::mem::replace(&mut self.incumbent, new);
            let of_old = statistics::median(&old.times);
            self.results.insert(old.config, of_old);
        }
        self.settle(&config, Some(median));
        Some(decision)
    }

    /// Returns true if each call of a candidate took longer than every one of the latest calls of
    /// the best known configuration. If the two were equally fast, a single call would do so with a
    /// probability of 1 in `calls + 1`.
    fn is_beyond_doubt_slower(&self, times: &[f64]) -> bool {
        let of_best = &self.incumbent.times;
        let slowest = of_best.iter().copied().fold(0.0, f64::max);
        of_best.len() >= self.options.deciding() && times.iter().all(|time| *time > slowest)
    }

    /// Returns the median of the best known configuration's latest calls.
    fn reference(&self) -> Option<f64> {
        statistics::median(&self.incumbent.times)
    }

    /// Returns the mean of the best known configuration's latest calls.
    fn mean(&self) -> Option<f64> {
        let times = &self.incumbent.times;
        (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
    }

    /// Returns the best known configuration.
    pub(super) fn best(&self) -> &Arc<Config> {
        &self.incumbent.config
    }

    /// Returns true if nothing is left to try.
    pub(super) fn is_settled(&self) -> bool {
        self.challenger.is_none() && self.first.is_empty() && matches!(self.exploration, Exploration::Over)
    }
}
