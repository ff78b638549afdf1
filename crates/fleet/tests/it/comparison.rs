//! Error rates of the comparison of workers, on noise whose truth is known. The numbers of
//! `docs/fleet.md` come from here. Run with `--nocapture` to see them.

use rand::{RngExt as _, SeedableRng};
use tunesmith_core::{Rng, statistics};
use tunesmith_fleet::comparison::deviation;

/// Number of simulated fleets of each kind.
const FLEETS: u64 = 40;

/// Number of probes of each worker of a fleet.
const PROBES: usize = 30;

#[derive(Clone, Copy, Debug)]
enum Noise {
    Normal,
    Skewed,
    Bimodal,
    Outliers,
    Quantised,
}

const KINDS: [Noise; 5] = [Noise::Normal, Noise::Skewed, Noise::Bimodal, Noise::Outliers, Noise::Quantised];

impl Noise {
    fn factor(self, rng: &mut Rng) -> f64 {
        let (u, v) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
        let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        match self {
            Self::Normal => 1.0 + 0.03 * normal,
            Self::Skewed => (0.05 * normal).exp(),
            Self::Bimodal if rng.random::<f64>() < 0.35 => 1.15 + 0.01 * normal,
            Self::Bimodal => 1.0 + 0.01 * normal,
            Self::Outliers if rng.random::<f64>() < 0.1 => 1.0 + 2.0 * rng.random::<f64>(),
            Self::Outliers => 1.0 + 0.02 * normal,
            Self::Quantised => ((1.0 + 0.02 * normal) / 0.025).round() * 0.025,
        }
    }

    /// Returns a probe: the median of three samples.
    fn probe(self, level: f64, rng: &mut Rng) -> f64 {
        statistics::median(&[0; 3].map(|_| level * self.factor(rng))).unwrap()
    }
}

/// Probes the workers in turn. `level` is the truth about a worker at one of its probes. Returns for each
/// worker the number of its probes after which it was set aside.
fn simulate(workers: usize, noise: Noise, seed: u64, level: impl Fn(usize, usize) -> f64) -> Vec<Option<usize>> {
    let mut rng = Rng::seed_from_u64(seed);
    let (mut probes, mut aside) = (vec![Vec::new(); workers], vec![None; workers]);
    for at in 0..PROBES {
        for worker in 0..workers {
            if aside[worker].is_some() {
                continue;
            }
            probes[worker].push(noise.probe(level(worker, at), &mut rng));
            let there: Vec<usize> = (0..workers).filter(|other| aside[*other].is_none()).collect();
            let lists: Vec<&[f64]> = there.iter().map(|other| probes[*other].as_slice()).collect();
            let own = there.iter().position(|other| *other == worker).unwrap();
            aside[worker] = deviation(&lists, own).map(|_| at + 1);
        }
    }
    aside
}

#[test]
fn at_most_one_percent_of_the_workers_that_are_alike_are_set_aside() {
    for (workers, largest) in [(2, 1.0), (8, 1.0), (8, 1.02)] {
        for noise in KINDS {
            // The last worker differs by less than what matters.
            let level = |worker: usize, _| if worker + 1 == workers { largest } else { 1.0 };
            let aside = (0..FLEETS).map(|seed| simulate(workers, noise, seed, level).iter().flatten().count());
            let per_mille = aside.sum::<usize>() * 1000 / (workers * FLEETS as usize);
            println!("{workers} workers, {noise:?}, one at {largest}: {per_mille} per mille are set aside");
            assert!(per_mille <= 10, "{workers} {noise:?}: {per_mille}");
        }
    }
}

#[test]
fn a_worker_that_is_slower_is_found_and_the_others_stay() {
    for (workers, slower) in [(2, 1.3), (4, 1.2), (8, 1.1)] {
        for noise in KINDS {
            let level = |worker: usize, _| if worker == 1 { slower } else { 1.0 };
            let runs: Vec<_> = (0..FLEETS / 2).map(|seed| simulate(workers, noise, seed, level)).collect();
            let found: Vec<f64> = runs.iter().filter_map(|run| run[1].map(|probes| probes as f64)).collect();
            let wrong =
                runs.iter().flat_map(|run| run.iter().enumerate()).filter(|(at, one)| *at != 1 && one.is_some());
            let (share, wrong) = (found.len() * 200 / FLEETS as usize, wrong.count());
            let after = statistics::median(&found).unwrap_or(f64::INFINITY);
            println!(
                "{workers} workers, {noise:?}, one at {slower}: {share} % found, after {after} probes; {wrong} wrong"
            );
            assert!(share >= 90 || matches!(noise, Noise::Bimodal), "{workers} {noise:?} {slower}: {share}");
            assert!(wrong * 100 <= runs.len() * workers * 2, "{workers} {noise:?} {slower}: {wrong} wrong");
        }
    }
}

#[test]
fn a_worker_that_slows_down_during_the_run_is_found() {
    for noise in KINDS {
        let level = |worker: usize, at: usize| if worker == 1 && at >= 15 { 1.3 } else { 1.0 };
        let runs: Vec<_> = (0..FLEETS / 2).map(|seed| simulate(4, noise, seed, level)).collect();
        let found: Vec<f64> = runs.iter().filter_map(|run| run[1].map(|probes| probes as f64)).collect();
        let (share, after) = (found.len() * 200 / FLEETS as usize, statistics::median(&found).unwrap_or_default());
        println!("{noise:?}, 30 % slower from probe 16 on: {share} % found, after {after} probes");
        assert!(share >= 90, "{noise:?}: {share}");
    }
}
