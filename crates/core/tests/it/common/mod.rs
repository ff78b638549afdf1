//! A noisy device with known true times, for tests of repeated measurements.
#![allow(dead_code, unreachable_pub)] // each test file uses a part

use rand::{RngExt as _, SeedableRng};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::judge::racing::is_beaten;
use tunesmith_core::testing::FunctionEvaluator;
use tunesmith_core::*;
use tunesmith_space::{ConfigId, Parameter, Space, Value};

/// Returns a space of one parameter X from 0 to `length` - 1.
pub fn line(length: i64) -> Space {
    let x = Parameter::new("X", (0..length).map(Value::Int)).unwrap();
    Space::builder().parameter(x).build().unwrap()
}

/// Returns a device on which X takes |X - 7| + 1 ms, and every fifth X crashes.
pub fn crashing(space: &Space) -> FunctionEvaluator<impl FnMut(&[Value]) -> Result<f64, Failure> + use<>> {
    FunctionEvaluator::new(space, |values| match values[0].as_int().unwrap() {
        x if x % 5 == 4 => Err(Failure::new(FailureKind::Runtime, "killed by SIGSEGV")),
        x => Ok((x - 7).abs() as f64 + 1.0),
    })
}

/// The scatter of samples around the true median of a configuration, as a share of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// None at all.
    Quiet,
    /// Normal, with this standard deviation.
    Normal(f64),
    /// Log-normal, with this standard deviation of the logarithm.
    Skewed(f64),
    /// Two modes: 35 of 100 samples are slower by this much, all scattered by a hundredth.
    Bimodal(f64),
    /// Normal with 2 %. One of ten samples takes up to three times as long.
    Outliers,
    /// Normal with 2 %, measured by a clock that ticks at this share of a millisecond.
    Quantised(f64),
}

impl Noise {
    fn factor(self, rng: &mut Rng) -> f64 {
        match self {
            Self::Quiet => 1.0,
            Self::Normal(sigma) => 1.0 + sigma * normal(rng),
            Self::Skewed(sigma) => (sigma * normal(rng)).exp(),
            Self::Bimodal(gap) => {
                let mode = if rng.random::<f64>() < 0.35 { 1.0 + gap } else { 1.0 };
                mode + 0.01 * normal(rng)
            }
            Self::Outliers if rng.random::<f64>() < 0.1 => 1.0 + 2.0 * rng.random::<f64>(),
            Self::Outliers | Self::Quantised(_) => 1.0 + 0.02 * normal(rng),
        }
    }

    /// Takes one sample of a kernel whose time without noise is `base`.
    pub fn sample(self, base: f64, rng: &mut Rng) -> f64 {
        let time = base * self.factor(rng);
        match self {
            Self::Quantised(tick) => (time / tick).round() * tick,
            _ => time,
        }
    }

    /// Returns the true median of a kernel whose time without noise is `base`, by many samples.
    pub fn median(self, base: f64) -> f64 {
        let mut rng = Rng::seed_from_u64(99);
        let samples: Vec<f64> = (0..200_001).map(|_| self.sample(base, &mut rng)).collect();
        statistics::median(&samples).unwrap()
    }
}

/// Returns a normal sample by Box and Muller's transformation.
fn normal(rng: &mut Rng) -> f64 {
    let (u, v) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Samples configurations as the live evaluator does: seven samples, or fewer if racing abandons
/// one, and again on request. Its clock advances by the measured times.
pub struct Device {
    pub space: Space,
    pub base: Box<dyn Fn(i64) -> f64>,
    pub noise: Noise,
    /// The slow-down of everything, as a function of the time.
    pub drift: Box<dyn Fn(Duration) -> f64>,
    pub rng: Rng,
    pub clock: Arc<ManualClock>,
    /// The configuration that fails, and the resample from which it fails.
    pub breaks: Option<(i64, usize)>,
    /// The resample that raises the interrupt.
    pub interrupt_at: Option<usize>,
    pub log: Vec<(i64, usize)>,
    /// The configurations that fail when they are verified on other data. `None` if the device has
    /// nothing to verify.
    pub fails_verification: Option<Vec<i64>>,
    /// The configurations that were verified on other data.
    pub confirmed: Vec<i64>,
    /// The name that each of them was to get.
    pub claims: Vec<Claim>,
    pub given_up: Vec<i64>,
    /// Number of samples of a configuration that is not abandoned.
    pub samples: usize,
    submitted: VecDeque<Request>,
    bar: Option<f64>,
}

impl Device {
    pub fn new(space: &Space, noise: Noise, seed: u64, base: impl Fn(i64) -> f64 + 'static) -> Self {
        Self {
            space: space.clone(),
            base: Box::new(base),
            noise,
            drift: Box::new(|_| 1.0),
            rng: Rng::seed_from_u64(seed),
            clock: Arc::default(),
            breaks: None,
            interrupt_at: None,
            log: Vec::new(),
            fails_verification: None,
            confirmed: Vec::new(),
            claims: Vec::new(),
            given_up: Vec::new(),
            samples: 7,
            submitted: VecDeque::new(),
            bar: None,
        }
    }

    pub fn x(&self, config: ConfigId) -> i64 {
        self.space.value(&self.space.unrank(config), 0).as_int().unwrap()
    }

    fn sample(&mut self, x: i64) -> f64 {
        let base = (self.base)(x) * (self.drift)(self.clock.now());
        let time = self.noise.sample(base, &mut self.rng);
        self.clock.advance(Duration::from_secs_f64(time / 1e3));
        time
    }
}

impl Evaluator for Device {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.submitted.push_back(request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let Some(request) = self.submitted.pop_front() else { return Ok(None) };
        let x = self.x(request.config);
        // A compilation, and the launch that is not timed.
        self.clock.advance(Duration::from_millis(50) + Duration::from_secs_f64((self.base)(x) / 1e3));
        let mut times_ms: Vec<f64> = Vec::new();
        while times_ms.len() < self.samples && !self.bar.is_some_and(|bar| is_beaten(&times_ms, bar)) {
            let time = self.sample(x);
            times_ms.push(time);
        }
        if times_ms.len() < self.samples {
            self.given_up.push(x);
        }
        Ok(Some(Completion {
            measurement: Measurement { times_ms, ..Measurement::default() },
            ..Completion::default()
        }))
    }

    fn runs_here(&self) -> bool {
        true
    }

    fn race(&mut self, bar_ms: Option<f64>) {
        self.bar = bar_ms;
    }

    fn resample(&mut self, config: ConfigId, samples: usize, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let x = self.x(config);
        if self.interrupt_at == Some(self.log.len()) {
            return Ok(None);
        }
        self.log.push((x, samples));
        self.clock.advance(Duration::from_secs_f64((self.base)(x) / 1e3));
        let mut completion = Completion::default();
        if self.breaks.is_some_and(|(broken, from)| broken == x && self.log.len() > from) {
            completion.failure = Some(Failure::new(FailureKind::Runtime, "killed by SIGSEGV"));
        } else {
            completion.measurement.times_ms = (0..samples).map(|_| self.sample(x)).collect();
        }
        Ok(Some(completion))
    }

    fn confirm(&mut self, config: ConfigId, claim: Claim, interrupt: &Interrupt) -> Result<Option<Confirmed>, Error> {
        let (x, Some(failing)) = (self.x(config), &self.fails_verification) else {
            return Ok(Some(Confirmed::default()));
        };
        if interrupt.is_raised() {
            return Ok(None);
        }
        self.confirmed.push(x);
        self.claims.push(claim);
        let failure = failing.contains(&x).then(|| Failure::new(FailureKind::Correctness, "wrong on other data"));
        Ok(Some(Confirmed { failure, launches: 4, ..Confirmed::default() }))
    }
}

/// Walks the space from its first configuration to its last.
#[derive(Default)]
pub struct InOrder(u128);

impl Searcher for InOrder {
    fn ask(&mut self, view: &View<'_>, room: usize, _: &mut Rng) -> Vec<Request> {
        let requests: Vec<Request> =
            (self.0..self.0 + room as u128).map_while(|rank| view.space().id(rank)).map(Request::timed).collect();
        self.0 += requests.len() as u128;
        requests
    }
}

/// Everything stored, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    Evaluation(Evaluation),
    Again(Resample),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept(pub Vec<Line>);

impl Kept {
    pub fn evaluations(&self) -> Vec<Evaluation> {
        let evaluation = |line: &Line| if let Line::Evaluation(e) = line { Some(e.clone()) } else { None };
        self.0.iter().filter_map(evaluation).collect()
    }

    pub fn again(&self) -> Vec<Resample> {
        self.0.iter().filter_map(|line| if let Line::Again(a) = line { Some(a.clone()) } else { None }).collect()
    }
}

impl Store for Kept {
    fn append(&mut self, evaluation: &Evaluation) -> Result<(), Error> {
        self.0.push(Line::Evaluation(evaluation.clone()));
        Ok(())
    }

    fn append_again(&mut self, resample: &Resample) -> Result<(), Error> {
        self.0.push(Line::Again(resample.clone()));
        Ok(())
    }
}

/// Evaluates the whole space in order and compares the leaders.
pub fn tune(device: &mut Device, judging: Judging, seed: u64, before: &Kept) -> (Run, Kept) {
    let mut kept = before.clone();
    let (space, clock) = (device.space.clone(), device.clock.clone());
    let mut searcher = InOrder::default();
    let run = Tuner::new(&space, &mut searcher, device)
        .store(&mut kept)
        .clock(clock)
        .judging(judging)
        .seed(seed)
        .recorded(before.evaluations())
        .resamples(before.again())
        .run()
        .unwrap();
    (run, kept)
}
