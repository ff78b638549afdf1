//! The budget holds whatever the times, and the fastest configuration is found within it.

use super::trials::Role;
use super::{Ending, Explore, Explorer, List, Next, Online, OnlineOptions, Ticket};
use crate::wisdom::{Config, Input};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Rng;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_space::Value;
use tunesmith_time::ManualClock;

fn config(number: usize) -> Config {
    vec![("NUMBER".to_string(), Value::Int(number as i64))]
}

fn number(config: &Config) -> usize {
    config[0].1.as_int().unwrap() as usize
}

fn ms(time: f64) -> Duration {
    Duration::from_secs_f64(time * 1e-3)
}

/// Candidates from a list, each after a while of thinking.
struct Thinker {
    list: List,
    clock: Arc<ManualClock>,
    thinking: Duration,
}

struct Thinking {
    rest: Box<dyn Explorer>,
    clock: Arc<ManualClock>,
    thinking: Duration,
}

impl Explore for Thinker {
    fn begin(&self, input: &Input) -> Box<dyn Explorer> {
        Box::new(Thinking { rest: self.list.begin(input), clock: self.clock.clone(), thinking: self.thinking })
    }

    fn recognise(&self, config: &Config) -> Option<Config> {
        self.list.recognise(config)
    }
}

impl Explorer for Thinking {
    fn propose(&mut self) -> Option<Config> {
        self.clock.advance(self.thinking);
        self.rest.propose()
    }

    fn learn(&mut self, config: &Config, time_ms: Option<f64>) {
        self.rest.learn(config, time_ms);
    }
}

/// An application with a clock of its own, and the bound that it may rely on.
struct Application {
    online: Online,
    options: OnlineOptions,
    /// The cost of ended calls beyond what was set aside, since the latest trial began.
    beyond: f64,
    thinking: f64,
}

impl Application {
    fn new(count: usize, options: OnlineOptions, thinking: f64) -> Self {
        let clock = Arc::new(ManualClock::default());
        let list = List::new((0..count).map(config).collect());
        let thinker = Thinker { list, clock: clock.clone(), thinking: ms(thinking) };
        let online = Online::exploring("k", "d", config(0), Box::new(thinker)).with_options(options).with_clock(clock);
        Self { online, options, beyond: 0.0, thinking }
    }

    fn begin(&mut self, input: f64) -> Ticket {
        let before = self.online.cost().excess;
        let ticket = self.online.begin(&[("N", input)]);
        if ticket.is_trial() {
            self.beyond = 0.0;
        } else {
            self.beyond += (self.online.cost().excess - before).as_secs_f64() * 1e3;
        }
        self.check();
        ticket
    }

    fn end(&mut self, ticket: Ticket, ending: Ending) -> Next {
        let before = self.online.cost().excess.as_secs_f64() * 1e3;
        let is_within = match (ticket.role, ending) {
            (Role::Trial { reference, reserved, .. }, Ending::Took(time)) => time <= ms(reference + reserved),
            (Role::Trial { reserved, .. }, Ending::Failed(time)) => time <= ms(reserved),
            _ => false,
        };
        let next = self.online.end(ticket, ending);
        if !is_within {
            self.beyond += self.online.cost().excess.as_secs_f64() * 1e3 - before;
        }
        self.check();
        next
    }

    fn check(&self) {
        let cost = self.online.cost();
        let (excess, useful) = (cost.excess.as_secs_f64() * 1e3, cost.useful.as_secs_f64() * 1e3);
        let bound = self.options.slowdown * useful + self.beyond + 1e-3;
        assert!(excess <= bound, "excess {excess} above {bound}: beyond {}, thinking {}", self.beyond, self.thinking);
    }
}

/// The next event: a call begins, or one of those under way ends.
#[derive(Clone, Debug)]
enum Event {
    Begin(u8),
    End { which: usize, time: f64, how: u8 },
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let time = prop_oneof![8 => 0.5..2.0, 2 => 0.01..100.0, 1 => Just(0.0), 1 => Just(1e4)];
    let event = prop_oneof![
        1 => (0_u8..3).prop_map(Event::Begin),
        1 => (0..4_usize, time, 0_u8..40).prop_map(|(which, time, how)| Event::End { which, time, how }),
    ];
    prop::collection::vec(event, 1..1500)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 5))]

    /// Calls of three inputs overlap as those of threads do; times are what an adversary chooses
    /// after he has seen the configuration; calls fail and are given up.
    #[test]
    fn the_budget_holds_whatever_the_times(
        events in events(),
        slowdown in prop_oneof![Just(0.0), 0.01..0.5],
        worst in 1.0..5.0,
        samples in 0_usize..7,
        thinking in prop_oneof![Just(0.0), 0.0..3.0],
        count in 1_usize..12,
    ) {
        let options = OnlineOptions { slowdown, worst, samples, ..OnlineOptions::default() };
        let mut application = Application::new(count, options, thinking);
        let mut running: Vec<Ticket> = Vec::new();
        for event in events {
            match event {
                Event::Begin(input) => running.push(application.begin(f64::from(input))),
                Event::End { which, time, how } if !running.is_empty() => {
                    let ticket = running.swap_remove(which % running.len());
                    let ending = match how {
                        0..3 => Ending::Failed(ms(time)),
                        3 => Ending::Abandoned,
                        _ => Ending::Took(ms(time)),
                    };
                    application.end(ticket, ending);
                }
                Event::End { .. } => {}
            }
        }
    }

    /// Sizes that never repeat are tuned together once the work of a call is known.
    #[test]
    fn sizes_that_never_repeat_are_tuned_by_their_work(seed in 0_u64..1000) {
        let mut rng = Rng::seed_from_u64(seed);
        let online = Online::new("k", "d", (0..4).map(config).collect()).unwrap().with_work("N ** 3").unwrap();
        let speed = [3.0, 4.0, 1.0, 2.0];
        for _ in 0..2500 {
            let n = rng.random_range(256.0_f64..512.0);
            let ticket = online.begin(&[("N", n)]);
            let time = (n / 256.0).powi(3) * speed[number(ticket.config())] * rng.random_range(0.95..1.05);
            online.end(ticket, Ending::Took(ms(time)));
        }
        for n in [257.0, 300.0, 400.0, 511.0] {
            prop_assert_eq!(number(&online.best(&[("N", n)])), 2);
        }
        let cost = online.cost();
        prop_assert!(cost.excess <= cost.useful.mul_f64(0.05) + ms(8.0 * 3.0));
    }
}

/// Plays `calls` calls, whose times vary by `noise`.
fn play(times: &[f64], options: OnlineOptions, noise: f64, calls: usize, rng: &mut Rng) -> Application {
    let mut application = Application::new(times.len(), options, 0.0);
    for _ in 0..calls {
        let ticket = application.begin(1.0);
        let time = times[number(ticket.config())] * (1.0 + noise * (rng.random::<f64>() - 0.5));
        application.end(ticket, Ending::Took(ms(time)));
    }
    application
}

fn best(application: &Application) -> usize {
    number(&application.online.best(&[("N", 1.0)]))
}

#[test]
fn the_best_is_found_whatever_the_times() {
    let mut rng = Rng::seed_from_u64(4);
    for _ in 0..50 {
        let times: Vec<f64> = (0..rng.random_range(1..8)).map(|_| rng.random_range(1.0..20.0)).collect();
        let options = OnlineOptions { slowdown: rng.random_range(0.01..0.5), ..OnlineOptions::default() };
        let application = play(&times, options, 0.0, 20_000, &mut rng);
        assert!(application.online.is_settled(&[("N", 1.0)]));
        let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
        let found = times[best(&application)];
        assert!(found <= fastest / (1.0 - options.margin) + 1e-9, "{times:?}: {found}");
    }
}

#[test]
fn noise_does_not_crown_a_slow_one() {
    let mut rng = Rng::seed_from_u64(5);
    for _ in 0..30 {
        let application = play(&[3.0, 4.0, 2.0, 6.0], OnlineOptions::default(), 0.4, 8_000, &mut rng);
        assert_eq!(best(&application), 2);
    }
}

#[test]
fn nothing_is_tried_without_a_budget_or_before_it_is_earned() {
    let mut rng = Rng::seed_from_u64(6);
    let stingy = OnlineOptions { slowdown: 0.0, ..OnlineOptions::default() };
    let application = play(&[2.0, 1.0], stingy, 0.0, 1000, &mut rng);
    assert_eq!((best(&application), application.online.cost().excess), (0, Duration::ZERO));
    let mut application = Application::new(2, OnlineOptions::default(), 0.0);
    for _ in 0..200 {
        let ticket = application.begin(1.0);
        assert!(
            !ticket.is_trial(),
            "5 % of fewer than 200 calls do not pay for a thought and a call of ten times the time"
        );
        application.end(ticket, Ending::Took(ms(1.0)));
    }
    let ticket = application.begin(1.0);
    assert_eq!((ticket.is_trial(), ticket.limit()), (true, Some(ms(9.0))));
    application.end(ticket, Ending::Took(ms(1.0)));
}

#[test]
fn one_call_shows_what_is_slower_beyond_doubt() {
    let mut rng = Rng::seed_from_u64(7);
    let application = play(&[1.0, 3.0, 3.0, 3.0, 3.0], OnlineOptions::default(), 0.2, 5_000, &mut rng);
    assert!(application.online.is_settled(&[("N", 1.0)]));
    let trials = application.online.cost().excess.as_secs_f64() * 1e3 / 2.0;
    assert!((3.5..4.5).contains(&trials), "{trials} trials of four candidates");
}

#[test]
fn a_new_input_first_tries_what_is_fast_for_similar_ones() {
    let mut rng = Rng::seed_from_u64(8);
    let times = [4.0, 9.0, 8.0, 7.0, 6.0, 1.0];
    let mut application = play(&times, OnlineOptions::default(), 0.0, 4_000, &mut rng);
    let mut ran = Vec::new();
    for _ in 0..8 {
        let ticket = application.begin(2.0);
        ran.push(number(ticket.config()));
        let time = times[number(ticket.config())];
        application.end(ticket, Ending::Took(ms(time)));
    }
    assert_eq!(ran, [0, 0, 0, 5, 5, 5, 5, 5], "three calls to compare with, five that decide");
    assert_eq!(number(&application.online.best(&[("N", 2.0)])), 5);
}

#[test]
fn what_fails_is_not_tried_again_and_the_call_is_repeated() {
    let options = OnlineOptions { slowdown: 1.0, ..OnlineOptions::default() };
    let mut application = Application::new(3, options, 0.0);
    let mut failures = 0;
    for _ in 0..200 {
        let ticket = application.begin(1.0);
        let next = match number(ticket.config()) {
            1 => application.end(ticket, Ending::Failed(ms(0.5))),
            _ => application.end(ticket, Ending::Took(ms(1.0))),
        };
        failures += usize::from(next == Next::Repeat);
    }
    assert_eq!((failures, best(&application)), (1, 0));
    let ticket = application.begin(1.0);
    assert_eq!(application.end(ticket, Ending::Failed(ms(1.0))), Next::Done, "there is nothing beside the default");
}

#[test]
fn a_best_configuration_that_fails_later_gives_way_to_the_default() {
    let mut rng = Rng::seed_from_u64(9);
    let mut application = play(&[2.0, 1.0], OnlineOptions::default(), 0.0, 200, &mut rng);
    assert_eq!(best(&application), 1);
    let ticket = application.begin(1.0);
    assert_eq!(application.end(ticket, Ending::Failed(ms(1.0))), Next::Repeat);
    assert_eq!(best(&application), 0);
}

#[test]
fn a_drift_of_the_best_lets_the_others_try_again() {
    let mut application = Application::new(3, OnlineOptions::default(), 0.0);
    let mut play = |times: [f64; 3], calls| {
        for _ in 0..calls {
            let ticket = application.begin(1.0);
            let time = times[number(ticket.config())];
            application.end(ticket, Ending::Took(ms(time)));
        }
        best(&application)
    };
    assert_eq!(play([2.0, 1.0, 1.5], 500), 1);
    assert_eq!(play([2.0, 1.2, 1.1], 500), 1, "20 % are no drift");
    assert_eq!(play([2.0, 3.0, 1.5], 500), 2);
}

#[test]
fn the_time_to_prepare_a_candidate_is_part_of_the_budget() {
    let mut rng = Rng::seed_from_u64(10);
    let times: Vec<f64> = (0..40).map(|_| rng.random_range(1.0..2.0)).collect();
    let mut application = Application::new(times.len(), OnlineOptions::default(), 0.0);
    let mut prepared = std::collections::HashSet::new();
    for _ in 0..20_000 {
        let ticket = application.begin(1.0);
        let number = number(ticket.config());
        if prepared.insert(number) && ticket.is_trial() {
            application.online.prepared(ms(30.0));
            // The first candidate shows what to expect.
            application.beyond += if prepared.len() == 2 { 30.0 } else { 0.0 };
        }
        application.end(ticket, Ending::Took(ms(times[number])));
    }
    assert!((25..=40).contains(&prepared.len()), "5 % of 25 s pay for 40 at 30 ms: {}", prepared.len());
}

#[test]
fn a_call_that_panics_counts_as_failed_and_others_may_try() {
    let options = OnlineOptions { slowdown: 1.0, ..OnlineOptions::default() };
    let online = Online::new("k", "d", (0..3).map(config).collect()).unwrap();
    let online = online.with_options(options).with_clock(Arc::new(ManualClock::default()));
    for _ in 0..100 {
        let call = || {
            online.call_timed(&[], |config| match number(config) {
                1 => panic!("a candidate that panics"),
                2 => (Ok::<(), ()>(()), ms(0.5)),
                _ => (Ok(()), ms(1.0)),
            })
        };
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
    }
    assert_eq!(number(&online.best(&[])), 2);
}
