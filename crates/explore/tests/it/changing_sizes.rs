//! An application whose sizes change explores a space while it runs, by a clock of its own.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Rng;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_choose::wisdom::Config;
use tunesmith_choose::{Ending, ManualClock, Next, Online};
use tunesmith_explore::SpaceExploration;
use tunesmith_space::{Constraint, Parameter, Space, Value, Values};

const SIZES: [f64; 4] = [64.0, 128.0, 256.0, 512.0];

/// A space of 54 configurations, three of which fail.
fn space() -> Space {
    Space::builder()
        .parameter(Parameter::new("BLOCK", Values::pow2(4, 128).unwrap()).unwrap())
        .parameter(Parameter::new("UNROLL", Values::list([1, 2, 4, 8])).unwrap())
        .parameter(Parameter::new("ORDER", Values::list(["ikj", "ijk", "kij"])).unwrap())
        .constraint(Constraint::parse("UNROLL <= BLOCK // 4").unwrap())
        .build()
        .unwrap()
}

fn config(block: i64, unroll: i64, order: &str) -> Config {
    vec![("BLOCK".into(), block.into()), ("UNROLL".into(), unroll.into()), ("ORDER".into(), Value::from(order))]
}

/// Returns the time of a call in milliseconds, or `None` for a failure: the best block grows with the
/// size.
fn time(n: f64, config: &Config) -> Option<f64> {
    let (block, unroll) = (config[0].1.as_float().unwrap(), config[1].1.as_float().unwrap());
    let best = if n < 200.0 { 16.0_f64 } else { 64.0 };
    let order = match config[2].1.define().as_str() {
        "ikj" => 1.0,
        "kij" => 1.2,
        _ => 2.0,
    };
    let factor = (1.0 + 0.3 * (block / best).log2().abs()) * (1.0 + 0.15 * (unroll / 4.0).log2().abs()) * order;
    (block != 128.0 || unroll != 8.0).then_some(1e-6 * n.powi(3) * factor)
}

fn best(n: f64) -> f64 {
    let space = space();
    let times = (0..space.len().unwrap())
        .filter_map(|rank| time(n, &tunesmith_explore::config_of(&space, space.id(rank).unwrap())));
    times.fold(f64::INFINITY, f64::min)
}

/// The time of some calls, and that of the same calls if the best had always been known.
#[derive(Clone, Copy, Default)]
struct Slowdown {
    took: f64,
    best: f64,
}

impl Slowdown {
    fn share(self) -> f64 {
        self.took / self.best - 1.0
    }
}

struct Figures {
    first: Slowdown,
    last: Slowdown,
}

/// Makes `calls` calls of changing sizes. Checks the budget after each.
fn run(online: &Online, calls: usize, seed: u64) -> Figures {
    let mut rng = Rng::seed_from_u64(seed);
    let mut figures = Figures { first: Slowdown::default(), last: Slowdown::default() };
    let bests = SIZES.map(best);
    // What the latest trial cost beyond its limit.
    let mut beyond = 0.0;
    for call in 0..calls {
        let at = rng.random_range(0..SIZES.len());
        let mut took = 0.0;
        loop {
            let ticket = online.begin(&[("N", SIZES[at])]);
            let noise = rng.random_range(0.97..1.03);
            let (time, ending): (f64, fn(Duration) -> Ending) = match time(SIZES[at], ticket.config()) {
                Some(time) => (time * noise, Ending::Took),
                None => (0.1, Ending::Failed),
            };
            took += time;
            let time = Duration::from_secs_f64(time * 1e-3);
            beyond = ticket.limit().map_or(beyond, |limit| time.saturating_sub(limit).as_secs_f64());
            if online.end(ticket, ending(time)) == Next::Done {
                break;
            }
        }
        let cost = online.cost();
        let bound = 0.05 * cost.useful.as_secs_f64() + beyond + 2e-4;
        assert!(cost.excess.as_secs_f64() <= bound, "call {call}: {cost:?}");
        let parts = [(call < 200, &mut figures.first), (call + 500 >= calls, &mut figures.last)];
        for (_, part) in parts.into_iter().filter(|(is_in, _)| *is_in) {
            part.took += took;
            part.best += bests[at];
        }
    }
    figures
}

fn online(strategy: &str, seed: u64) -> Online {
    let exploration = SpaceExploration::new(space(), strategy.parse().unwrap()).with_seed(seed).with_candidates(20);
    Online::exploring("product", "this CPU", config(4, 1, "ikj"), Box::new(exploration))
        .with_clock(Arc::new(ManualClock::default()))
}

#[test]
fn after_exploring_calls_are_within_five_per_cent_of_the_best() {
    for strategy in ["default", "hill_climbing(initial=1)"] {
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for seed in 0..5 {
            let figures = run(&online(strategy, seed), 2000, seed);
            first.push(figures.first.share());
            last.push(figures.last.share());
        }
        println!("{strategy}: first 200 calls {first:.3?}, last 500 calls {last:.3?}");
        let mean = last.iter().sum::<f64>() / last.len() as f64;
        assert!(mean <= 0.05, "{strategy}: {last:?}");
    }
}

#[test]
fn a_process_that_begins_with_wisdom_is_at_once_within_five_per_cent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("product.wisdom");
    run(&online("default", 1).with_file(&path), 3000, 1);
    let later = online("default", 2).with_file(&path);
    let figures = run(&later, 600, 2);
    assert!(figures.first.share() <= 0.05, "{}", figures.first.share());
    assert_eq!(later.warnings(), [""; 0]);
}

#[test]
fn wisdom_of_configurations_that_the_space_has_no_longer_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("product.wisdom");
    let lines = r#"{"format": "tunesmith wisdom", "version": 1}
{"kernel": "product", "device": "this CPU", "input": {"N": 64}, "config": {"BLOCK": 2, "UNROLL": 1, "ORDER": "ikj"}, "time_ms": 0.001}
{"kernel": "product", "device": "this CPU", "input": {"N": 64}, "config": {"BLOCK": 8}, "time_ms": 0.002}
{"kernel": "product", "device": "this CPU", "input": {"N": 64}, "config": {"ORDER": "kij", "UNROLL": 4, "BLOCK": 16}, "time_ms": 0.3}
"#;
    std::fs::write(&path, lines).unwrap();
    let online = online("random", 1).with_file(&path);
    assert_eq!(*online.best(&[("N", 64.0)]), config(16, 4, "kij"), "in the order of the space");
}

#[test]
fn threads_explore_together() {
    let online = online("default", 3);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let online = &online;
            scope.spawn(move || {
                let mut rng = Rng::seed_from_u64(seed);
                for _ in 0..1500 {
                    let n = SIZES[rng.random_range(0..SIZES.len())];
                    let ticket = online.begin(&[("N", n)]);
                    let ending = match time(n, ticket.config()) {
                        Some(time) => Ending::Took(Duration::from_secs_f64(time * 1e-3)),
                        None => Ending::Failed(Duration::ZERO),
                    };
                    online.end(ticket, ending);
                }
            });
        }
    });
    for n in SIZES {
        let found = time(n, &online.best(&[("N", n)])).unwrap();
        assert!(found <= 1.2 * best(n), "size {n}: {found} against {}", best(n));
    }
}
