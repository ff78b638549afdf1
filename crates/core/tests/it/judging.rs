//! Error rates of the judgements, on noise whose truth is known: whole tuning runs on noisy devices
//! with fixed seeds.
//!
//! The numbers of `docs/measuring.md` come from here. Run with `--nocapture` to see them.

use crate::common;

use common::*;
use std::time::Duration;
use tunesmith_core::judge::drift::Watch;
use tunesmith_core::judge::finals::Finals;
use tunesmith_core::judge::racing::Racing;
use tunesmith_core::judge::standing::counted;
use tunesmith_core::*;

const RUNS: u64 = 1000;

/// Six kinds of noise. The device that drifts has normal noise besides.
const KINDS: [(&str, Noise, bool); 6] = [
    ("normal", Noise::Normal(0.03), false),
    ("skewed", Noise::Skewed(0.05), false),
    ("bimodal", Noise::Bimodal(0.15), false),
    ("outliers", Noise::Outliers, false),
    ("slow drift", Noise::Normal(0.03), true),
    // The tick is an eighth of the standard deviation. Coarser clocks make intervals cover more
    // than they claim: with a quarter, 98 % of them cover the truth.
    ("quantised", Noise::Quantised(0.025), false),
];

/// Returns the slow-down by a clock that sags by a twentieth and recovers every 20 s.
fn sagging(time: Duration) -> f64 {
    1.0 + 0.025 * (1.0 - (time.as_secs_f64() / 20.0 * std::f64::consts::TAU).cos())
}

fn device(kind: (&str, Noise, bool), length: i64, seed: u64, base: impl Fn(i64) -> f64 + 'static) -> Device {
    let mut device = Device::new(&line(length), kind.1, seed, base);
    if kind.2 {
        device.drift = Box::new(sagging);
    }
    device
}

/// Returns the rate of `happens` per mille over fewer runs, for answers far from their bound.
fn rough_rate(happens: impl Fn(u64) -> bool) -> u64 {
    (0..RUNS / 4).filter(|seed| happens(*seed)).count() as u64 * 4000 / RUNS
}

/// Returns the rate of `happens` per mille.
fn rate(happens: impl Fn(u64) -> bool) -> u64 {
    (0..RUNS).filter(|seed| happens(*seed)).count() as u64 * 1000 / RUNS
}

/// Five configurations are equal, so the winner is the luckiest of five. The samples that chose it
/// are too good to be true.
#[test]
fn the_interval_of_the_winner_covers_the_truth_in_92_to_98_percent_of_the_runs() {
    let judging = Judging { finals: Some(Finals::default()), racing: Some(Racing::default()), drift: None };
    for kind in KINDS {
        let base = |x: i64| if x < 5 { 10.03 } else { 13.0 + x as f64 };
        let truth = kind.1.median(base(0));
        let covered = rate(|seed| {
            let mut device = device(kind, 10, seed, base);
            let (run, _) = tune(&mut device, judging.clone(), seed, &Kept::default());
            let winner = run.verdict.winner.unwrap();
            let own = run.resamples.iter().filter(|again| again.config == winner);
            let visits = own.filter_map(|again| {
                Some((again.role.stage()?, statistics::median(&again.measurement.times_ms)?, again.clock))
            });
            let visits: Vec<_> = visits.collect();
            let scores = counted(visits.iter().map(|(stage, score, _)| (*stage, *score)));
            let (low, high) = statistics::median_interval(&scores, 0.95).unwrap();
            // A device that drifts has the level of the time of the measurement.
            let levels: Vec<f64> = visits.iter().rev().take(scores.len()).map(|(.., at)| (device.drift)(*at)).collect();
            let truth = truth * statistics::median(&levels).unwrap();
            low <= truth && truth <= high
        });
        println!("{:>10}: the winner's 95 % interval covers the truth in {} per mille", kind.0, covered);
        assert!((920..=980).contains(&covered), "{}: {covered}", kind.0);
    }
}

/// The best is 1 % to 6 % better than the others, at any place among them.
#[test]
fn racing_discards_the_true_best_in_at_most_2_percent_of_the_runs() {
    let judging = Judging { racing: Some(Racing::default()), drift: Some(Watch::default()), finals: None };
    for kind in KINDS {
        let discarded = rate(|seed| {
            let best = (seed % 20) as i64;
            let base = move |x: i64| if x == best { 10.0 } else { 10.1 + 0.1 * ((x * 7) % 6) as f64 };
            let mut device = device(kind, 20, seed, base);
            device.samples = 30;
            tune(&mut device, judging.clone(), seed, &Kept::default());
            device.given_up.contains(&best)
        });
        println!("{:>10}: racing discards the best in {discarded} per mille", kind.0);
        assert!(discarded <= 20, "{}: {discarded}", kind.0);
    }
}

#[test]
fn racing_gives_up_what_is_twice_as_slow_after_three_samples() {
    let judging = Judging { racing: Some(Racing::default()), ..Judging::nothing() };
    for kind in KINDS {
        let mut given_up = 0;
        for seed in 0..100 {
            let mut device = device(kind, 10, seed, |x| if x == 0 { 10.0 } else { 20.0 });
            let (_, kept) = tune(&mut device, judging.clone(), seed, &Kept::default());
            let samples = |evaluation: &Evaluation| evaluation.measurement.times_ms.len();
            given_up += kept.evaluations()[1..].iter().filter(|evaluation| samples(evaluation) == 3).count();
        }
        println!("{:>10}: {given_up} of 900 twice as slow given up after three samples", kind.0);
        assert!(given_up >= 800, "{}: {given_up}", kind.0);
    }
}

/// Near-ties: 2 % apart, with noise of 3 % and more.
#[test]
fn the_final_finds_the_best_of_near_ties_more_often_than_the_search() {
    let judging = Judging { finals: Some(Finals::default()), ..Judging::nothing() };
    for kind in KINDS {
        let base = |x: i64| 10.0 + 0.2 * ((x * 3) % 8) as f64;
        let wins = |judging: &Judging| {
            rough_rate(|seed| {
                let mut device = device(kind, 8, seed, base);
                let (run, _) = tune(&mut device, judging.clone(), seed, &Kept::default());
                device.x(run.verdict.winner.unwrap()) == 0
            })
        };
        let (with, without) = (wins(&judging), wins(&Judging::nothing()));
        println!("{:>10}: the best wins in {with} per mille with a final, {without} without", kind.0);
        assert!(with > without, "{}: {with} {without}", kind.0);
    }
}

#[test]
fn a_configuration_that_is_equal_to_the_winner_is_a_tie_in_most_runs() {
    let judging = Judging { finals: Some(Finals::default()), ..Judging::nothing() };
    for kind in KINDS {
        let tied = rough_rate(|seed| {
            let mut device = device(kind, 2, seed, |_| 10.0);
            tune(&mut device, judging.clone(), seed, &Kept::default()).0.verdict.ties.len() == 1
        });
        println!("{:>10}: two equal configurations are said to tie in {tied} per mille", kind.0);
        assert!(tied >= 950, "{}: {tied}", kind.0);
    }
}

/// Tunes `device` with X = 0 as the default.
fn against_default(device: &mut Device, finals: Finals, seed: u64) -> Run {
    let (space, clock) = (device.space.clone(), device.clock.clone());
    let judging = Judging { finals: Some(finals), racing: Some(Racing::default()), drift: None };
    let mut searcher = InOrder::default();
    let tuner = Tuner::new(&space, &mut searcher, device).clock(clock).judging(judging);
    tuner.seed(seed).baseline(space.id(0)).run().unwrap()
}

/// Ten configurations equal the default, so that the luckiest of eleven contends with it.
#[test]
fn nothing_is_crowned_over_an_equal_default_in_more_than_2_5_percent_of_the_runs() {
    for kind in KINDS {
        let crowned = rate(|seed| {
            let mut device = device(kind, 11, seed, |_| 10.03);
            against_default(&mut device, Finals::default(), seed).verdict.is_better_than_default()
        });
        println!("{:>10}: a winner is crowned over an equal default in {crowned} per mille", kind.0);
        // 2.5 % and two standard deviations of the count.
        assert!(crowned <= 35, "{}: {crowned}", kind.0);
    }
}

/// A default that is 20 times as slow takes its turn in three rounds only. The final takes three
/// seconds, as after a search of fifteen. The slow mode of bimodal noise, 15 % above the other, hides
/// differences of 10 %.
#[test]
fn a_winner_that_is_a_third_or_twenty_times_faster_than_the_default_is_crowned_in_most_runs() {
    let finals = Finals { floor: Duration::from_secs(3), ..Finals::default() };
    for kind in KINDS {
        for (slower, least) in [(1.1, 200), (1.3, 700), (20.0, 990)] {
            let crowned = rough_rate(|seed| {
                let base = move |x| if x == 0 { 10.0 * slower } else { 10.0 + 0.05 * x as f64 };
                against_default(&mut device(kind, 6, seed, base), finals, seed).verdict.is_better_than_default()
            });
            println!("{:>10}: a default {slower} times as slow loses in {crowned} per mille", kind.0);
            assert!(crowned >= least, "{}: {slower} {crowned}", kind.0);
        }
    }
}

fn watched(kind: (&str, Noise, bool), seed: u64, drift: impl Fn(Duration) -> f64 + 'static) -> bool {
    let mut device = device(kind, 100, seed, |x| 10.0 + 0.1 * ((x * 7) % 31) as f64);
    device.drift = Box::new(drift);
    let judging = Judging { drift: Some(Watch::default()), racing: None, finals: None };
    let (run, kept) = tune(&mut device, judging, seed, &Kept::default());
    let probes = kept.again().len();
    assert!((10..=20).contains(&probes), "{probes}");
    let spent = device.clock.now().as_secs_f64() * 0.05;
    assert!(probes as f64 * 0.03 < spent, "probes take at most a twentieth of the time");
    run.drift.unwrap().drifted
}

#[test]
fn a_steady_device_is_said_to_drift_in_at_most_2_percent_of_the_runs() {
    for kind in KINDS.into_iter().filter(|kind| !kind.2) {
        let found = rate(|seed| watched(kind, seed, |_| 1.0));
        println!("{:>10}: a steady device is said to drift in {found} per mille", kind.0);
        assert!(found <= 20, "{}: {found}", kind.0);
    }
}

#[test]
fn a_device_that_drifts_by_10_percent_is_found_in_most_runs() {
    let ramp = |time: Duration| 1.0 + 0.1 * time.as_secs_f64() / 12.5;
    let step = |time: Duration| if time.as_secs_f64() < 7.0 { 1.0 } else { 1.1 };
    let wave = |time: Duration| 1.0 + 0.1 * (time.as_secs_f64() / 12.5 * std::f64::consts::PI).sin();
    type Drifting = fn(Duration) -> f64;
    let drifts: [(&str, Drifting); 3] = [("ramp", ramp), ("step", step), ("wave", wave)];
    for kind in KINDS.into_iter().filter(|kind| !kind.2) {
        let mut all = 0;
        for (name, drift) in drifts {
            let found = (0..100).filter(|seed| watched(kind, *seed, drift)).count();
            println!("{:>10}: a {name} of 10 % is found in {found} of 100", kind.0);
            all += found;
        }
        assert!(all > 150, "{}: {all} of 300", kind.0);
    }
}

/// The best comes first or last, and the device slows down by a tenth meanwhile. Without
/// correction, an early configuration looks better.
#[test]
fn a_drift_does_not_decide_who_wins() {
    let ramp = |time: Duration| 1.0 + 0.1 * time.as_secs_f64() / 12.5;
    let judging = Judging { racing: Some(Racing::default()), ..Judging::default() };
    let wins = |seed: u64| {
        let mut device = Device::new(&line(100), Noise::Normal(0.01), seed, |x| if x == 97 { 10.0 } else { 10.5 });
        device.drift = Box::new(ramp);
        let (run, _) = tune(&mut device, judging.clone(), seed, &Kept::default());
        device.x(run.verdict.winner.unwrap()) == 97
    };
    let wins = (0..100).filter(|seed| wins(*seed)).count();
    println!("5 % better, measured last on a device that slows down by 10 %: wins in {wins} of 100");
    assert!(wins >= 90, "{wins}");
}
