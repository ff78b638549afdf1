//! An application that tunes its matrix product for five sizes, with times that were measured.
//!
//! `data/matrix_product.csv` holds the medians of `examples/c/online.cpp` on an AMD EPYC in
//! milliseconds, and `data/matrix_product_later.csv` those of another day. Calls vary by 3 % at most,
//! but one in a hundred takes half as long again. The strategy takes as long to think as the default
//! takes for this space.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Rng;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_choose::wisdom::{Config, Input};
use tunesmith_choose::{Ending, Explore, Explorer, ManualClock, Online};
use tunesmith_explore::SpaceExploration;
use tunesmith_space::{Parameter, Space, Values};

const NAMES: [&str; 4] = ["ROWS", "COLUMNS", "DEPTH", "WIDTH"];
const SIZES: [f64; 5] = [48.0, 96.0, 144.0, 192.0, 256.0];

/// The measured times: the values of the parameters, then the time for each size.
struct Times(Vec<([i64; 4], [f64; 5])>);

impl Times {
    fn read(table: &str) -> Self {
        let line = |line: &str| {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            (std::array::from_fn(|at| cells[at] as i64), std::array::from_fn(|at| cells[4 + at]))
        };
        Self(table.lines().skip(1).map(line).collect())
    }

    fn of(&self, config: &Config, size: usize) -> f64 {
        let values: Vec<i64> = config.iter().map(|(_, value)| value.as_int().unwrap()).collect();
        self.0.iter().find(|(of, _)| of[..] == values).unwrap().1[size]
    }

    fn best(&self, size: usize) -> f64 {
        self.0.iter().map(|(_, times)| times[size]).fold(f64::INFINITY, f64::min)
    }
}

/// An exploration whose strategy takes time on the clock: 0.4 ms for every four candidates.
struct Thoughtful<E> {
    exploration: E,
    clock: Arc<ManualClock>,
    proposed: usize,
}

impl<E> Thoughtful<E> {
    fn new(exploration: E, clock: &Arc<ManualClock>) -> Self {
        Self { exploration, clock: Arc::clone(clock), proposed: 0 }
    }
}

impl<E: Explore> Explore for Thoughtful<E> {
    fn begin(&self, input: &Input) -> Box<dyn Explorer> {
        Box::new(Thoughtful::new(self.exploration.begin(input), &self.clock))
    }

    fn recognise(&self, config: &Config) -> Option<Config> {
        self.exploration.recognise(config)
    }
}

impl Explorer for Thoughtful<Box<dyn Explorer>> {
    fn propose(&mut self) -> Option<Config> {
        if self.proposed.is_multiple_of(4) {
            self.clock.advance(Duration::from_micros(400));
        }
        self.proposed += 1;
        self.exploration.propose()
    }

    fn learn(&mut self, config: &Config, time_ms: Option<f64>) {
        self.exploration.learn(config, time_ms);
    }
}

fn online(seed: u64) -> Online {
    let lists: [&[i64]; 4] = [&[1, 2, 4], &[4, 8, 16], &[16, 32, 64, 128, 256], &[16, 32, 64, 128, 256]];
    let parameters = NAMES.iter().zip(lists);
    let space = parameters.fold(Space::builder(), |space, (name, list)| {
        space.parameter(Parameter::new(*name, Values::list(list.iter().copied())).unwrap())
    });
    let space = space.build().unwrap();
    let exploration = SpaceExploration::new(space, "default".parse().unwrap()).with_seed(seed).with_candidates(12);
    let default: Config =
        NAMES.iter().zip([1, 8, 32, 32]).map(|(name, value)| (name.to_string(), value.into())).collect();
    let clock = Arc::new(ManualClock::default());
    let exploration = Thoughtful::new(exploration, &clock);
    Online::exploring("product", "this CPU", default, Box::new(exploration)).with_clock(clock)
}

/// The slowdown against always knowing the best in the first 200, the later, and the last 500 calls, and
/// the largest share of the tuning in the time of the other calls.
#[derive(Debug, Default)]
struct Figures {
    first: f64,
    later: f64,
    last: f64,
    cost: f64,
}

fn run(times: &Times, seed: u64) -> Figures {
    let online = online(seed);
    let mut rng = Rng::seed_from_u64(seed);
    let mut calls = Vec::new();
    let mut cost: f64 = 0.0;
    for _ in 0..2000 {
        let size = rng.random_range(0..SIZES.len());
        let before = online.cost().excess;
        let ticket = online.begin(&[("N", SIZES[size])]);
        let disturbed = if rng.random_range(0..100) == 0 { 1.5 } else { 1.0 };
        let noise = rng.random_range(0.97..1.03) * disturbed;
        let thought = online.cost().excess.saturating_sub(before).as_secs_f64() * 1e3;
        let time = times.of(ticket.config(), size) * noise;
        online.end(ticket, Ending::Took(Duration::from_secs_f64(time * 1e-3)));
        calls.push((time + thought, times.best(size) * noise));
        let spent = online.cost();
        cost = cost.max(spent.excess.as_secs_f64() / spent.useful.as_secs_f64().max(f64::MIN_POSITIVE));
    }
    let slowdown = |calls: &[(f64, f64)]| {
        let (took, best) = calls.iter().fold((0.0, 0.0), |sum, call| (sum.0 + call.0, sum.1 + call.1));
        took / best - 1.0
    };
    Figures { first: slowdown(&calls[..200]), later: slowdown(&calls[200..]), last: slowdown(&calls[1500..]), cost }
}

/// Returns the median and the greatest of the figures of twenty seeds.
#[allow(clippy::print_stdout)] // the figures of bench/results/online.md
fn of(all: &[Figures], part: fn(&Figures) -> f64) -> (f64, f64) {
    let mut parts: Vec<f64> = all.iter().map(part).collect();
    parts.sort_by(f64::total_cmp);
    let (least, median, greatest) = (parts[0], parts[parts.len() / 2], parts[parts.len() - 1]);
    println!("{:.1} % ({:.1} to {:.1})", 100.0 * median, 100.0 * least, 100.0 * greatest);
    (median, greatest)
}

#[test]
fn sizes_learn_from_one_another_within_the_budget() {
    for table in [include_str!("../data/matrix_product.csv"), include_str!("../data/matrix_product_later.csv")] {
        let times = Times::read(table);
        let all: Vec<Figures> = (0..20).map(|seed| run(&times, seed)).collect();
        let (first, later, last) = (of(&all, |run| run.first), of(&all, |run| run.later), of(&all, |run| run.last));
        assert!(first.0 < 0.62, "the default is 68 % slower than the best");
        assert!(later.0 < 0.1 && last.0 < 0.07);
        assert!(of(&all, |run| run.cost).1 <= 0.05, "the budget");
    }
}
