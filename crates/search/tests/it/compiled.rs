//! The choice by what a compiler tells, on a made-up GPU: the time depends on registers and spills,
//! which depend on the parameters as irregularly as those of a real compiler.
#![allow(clippy::print_stdout)] // prints the numbers of the results

use std::collections::VecDeque;
use tunesmith_core::*;
use tunesmith_search::build;
use tunesmith_space::{ConfigId, Parameter, Space, Value};

/// Number of searches that are compared.
const SEEDS: u64 = 24;

fn space() -> Space {
    let list = |name: &str, values: &[i64]| Parameter::new(name, values.iter().copied().map(Value::Int)).unwrap();
    let parameters = [
        list("THREADS", &[32, 64, 128, 256, 512]),
        list("TILE_X", &[1, 2, 4, 8]),
        list("TILE_Y", &[1, 2, 3, 4, 5, 6, 7, 8]),
        list("UNROLL", &[1, 2, 4, 8, 16]),
        list("VECTOR", &[1, 2, 4]),
    ];
    parameters.into_iter().fold(Space::builder(), |builder, parameter| builder.parameter(parameter)).build().unwrap()
}

/// The compiler's part of a configuration.
#[derive(Clone, Copy, PartialEq)]
enum Tells {
    /// Registers and spills as they are.
    Truth,
    /// Those of another configuration.
    Noise,
    /// Nothing.
    Nothing,
}

struct Gpu<'a> {
    space: &'a Space,
    tells: Tells,
    submitted: VecDeque<Request>,
    compiled: usize,
}

/// Returns a number from 0 to 1 that looks random.
fn scattered(rank: u128) -> f64 {
    let mut mixed = (rank as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    for multiplier in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        mixed = (mixed ^ (mixed >> 29)).wrapping_mul(multiplier);
    }
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

impl Gpu<'_> {
    fn values(&self, config: ConfigId) -> [f64; 5] {
        let indices = self.space.unrank(config);
        std::array::from_fn(|at| self.space.value(&indices, at).as_float().unwrap())
    }

    /// Returns the registers that the kernel wants. The compiler's moods are worth a factor of two.
    fn wanted(&self, config: ConfigId) -> f64 {
        let [_, x, y, unroll, vector] = self.values(config);
        (14.0 + 1.5 * x * y + unroll.sqrt() * vector) * 2.0_f64.powf(scattered(config.rank()) - 0.5)
    }

    /// Returns the registers of a thread and the bytes that it spills.
    fn resources(&self, config: ConfigId) -> (f64, f64) {
        let (wanted, most) = (self.wanted(config), 65536.0 / self.values(config)[0] / 2.0);
        let most = most.min(128.0);
        (wanted.min(most).floor(), 4.0 * (wanted - most).max(0.0).floor())
    }

    fn time_ms(&self, config: ConfigId) -> f64 {
        let [threads, x, y, unroll, vector] = self.values(config);
        let (registers, spilled) = self.resources(config);
        let occupancy = (65536.0 / (registers * threads)).floor() * threads / 2048.0;
        let latency = 1.0 / (0.15 + occupancy.min(1.0)) / (1.0 + 0.2 * unroll.ln());
        let traffic = 1.0 / x + 1.0 / y + 0.3 / vector;
        0.2 + 0.4 * latency + 0.5 * traffic + 0.02 * spilled
    }

    fn compile_data(&self, config: ConfigId) -> Option<CompileData> {
        let told = match self.tells {
            Tells::Truth => config,
            Tells::Noise => {
                let length = self.space.len().unwrap();
                self.space.id((scattered(config.rank() + 99) * length as f64) as u128).unwrap()
            }
            Tells::Nothing => return None,
        };
        let (registers, spilled) = self.resources(told);
        let resources = [("registers".to_string(), registers), ("spill_store_bytes".to_string(), spilled)].into();
        Some(CompileData { resources, ..CompileData::default() })
    }
}

impl Evaluator for Gpu<'_> {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.submitted.push_back(request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let Some(Request { config, .. }) = self.submitted.pop_front() else { return Ok(None) };
        let (times_ms, compile) = (vec![self.time_ms(config)], self.compile_data(config));
        let measurement = Measurement { times_ms, compile, ..Measurement::default() };
        Ok(Some(Completion { measurement, ..Completion::default() }))
    }

    fn examine(&mut self, configs: &[ConfigId], _: &Interrupt) -> Result<Vec<Examined>, Error> {
        self.compiled += configs.len();
        let found = |config: &ConfigId| Some(Examined { failure: None, compile: self.compile_data(*config)? });
        Ok(configs.iter().filter_map(found).collect())
    }
}

/// Returns the scores of a search in the order made, and the number of configurations compiled for
/// shortlists.
fn search(strategy: &str, tells: Tells, budget: u64, seed: u64) -> (Vec<f64>, usize) {
    let space = space();
    let mut gpu = Gpu { space: &space, tells, submitted: VecDeque::new(), compiled: 0 };
    let mut searcher = build(strategy).unwrap();
    let tuner = Tuner::new(&space, searcher.as_mut(), &mut gpu).stop(Stop::evaluations(budget)).seed(seed);
    let run = tuner.judging(Judging::nothing()).run().unwrap();
    (run.history.iter().filter_map(|scored| scored.score).collect(), gpu.compiled)
}

/// Number of evaluations of each search.
const BUDGET: usize = 80;
/// The numbers of evaluations after which searches are compared.
const AFTER: [usize; 3] = [20, 40, BUDGET];

/// The mean results of searches.
#[derive(Debug, Default)]
struct Results {
    /// The optimum divided by the best after each of [`AFTER`].
    shares: [f64; 3],
    /// Evaluations up to one within 5 % of the optimum, or all of them where there is none.
    needed: f64,
    /// Configurations compiled for each evaluation.
    compiled: f64,
}

fn results(strategy: &str, tells: Tells) -> Results {
    let space = space();
    let gpu = Gpu { space: &space, tells, submitted: VecDeque::new(), compiled: 0 };
    let optimum = space.iter().map(|config| gpu.time_ms(config)).fold(f64::INFINITY, f64::min);
    let mut results = Results::default();
    for seed in 0..SEEDS {
        let (scores, compiled) = search(strategy, tells, BUDGET as u64, seed);
        for (sum, after) in results.shares.iter_mut().zip(AFTER) {
            *sum += optimum / scores[..after].iter().copied().fold(f64::INFINITY, f64::min) / SEEDS as f64;
        }
        let place = scores.iter().position(|score| *score <= 1.05 * optimum);
        results.needed += place.map_or(BUDGET, |place| place + 1) as f64 / SEEDS as f64;
        results.compiled += compiled as f64 / (BUDGET as f64 * SEEDS as f64);
    }
    results
}

const WITH: &str = "gaussian_process(compiled=8)";
const WITHOUT: &str = "gaussian_process";

#[test]
fn registers_and_spills_find_better_configurations_and_noise_costs_nothing() {
    let [without, with, noise] =
        [(WITHOUT, Tells::Truth), (WITH, Tells::Truth), (WITH, Tells::Noise)].map(|(name, tells)| results(name, tells));
    // The numbers of bench/results/search.md.
    println!("without {without:.3?}\nwith {with:.3?}\nwith noise {noise:.3?}");
    for (at, after) in AFTER.into_iter().enumerate() {
        assert!(with.shares[at] > without.shares[at], "after {after} evaluations");
        // Searches differ by about .03 from one seed to the next.
        assert!(noise.shares[at] > without.shares[at] - 0.015, "after {after} evaluations");
    }
    assert!(with.needed < 0.9 * without.needed);
}

#[test]
fn without_the_option_or_without_a_compiler_the_search_is_as_before() {
    let (plain, compiled) = search(WITHOUT, Tells::Nothing, 40, 5);
    assert_eq!(compiled, 0, "nothing is compiled ahead");
    assert_eq!(search(WITHOUT, Tells::Truth, 40, 5), (plain, 0));
}

#[test]
fn a_search_with_a_compiler_repeats_itself() {
    assert_eq!(search(WITH, Tells::Truth, 40, 5), search(WITH, Tells::Truth, 40, 5));
}
