//! Real implementations of the traits that need no device, for tests, examples and the synthetic
//! device.

use crate::{Completion, Error, Evaluator, Failure, Interrupt, Measurement, Request, Rng};
use rand::{RngExt as _, SeedableRng as _};
use std::collections::VecDeque;
use tunesmith_space::{Space, Value};

/// Evaluates configurations by a function. It maps the values, in the order of the parameters, to a
/// time in milliseconds or a failure. Each configuration has one sample without noise.
pub struct FunctionEvaluator<F> {
    space: Space,
    function: F,
    submitted: VecDeque<Request>,
}

impl<F: FnMut(&[Value]) -> Result<f64, Failure>> FunctionEvaluator<F> {
    /// Creates an evaluator that applies `function` to the configurations of `space`.
    pub fn new(space: &Space, function: F) -> Self {
        Self { space: space.clone(), function, submitted: VecDeque::new() }
    }
}

impl<F: FnMut(&[Value]) -> Result<f64, Failure>> Evaluator for FunctionEvaluator<F> {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.submitted.push_back(request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let Some(request) = self.submitted.pop_front() else { return Ok(None) };
        let configuration = self.space.unrank(request.config);
        let values: Vec<Value> = self.space.values(&configuration).map(|(_, value)| value.clone()).collect();
        let mut completion = Completion::default();
        match (self.function)(&values) {
            Ok(time) => completion.measurement = Measurement { times_ms: vec![time], ..Measurement::default() },
            Err(failure) => completion.failure = Some(failure),
        }
        Ok(Some(completion))
    }
}

/// Delivers the answers of another evaluator out of order, as several devices do: every request takes
/// a random time, and the one that ends first is delivered first. The seed decides all of it.
pub struct OutOfOrder<E> {
    inner: E,
    rng: Rng,
    /// The virtual time of the last delivery.
    now: f64,
    /// The requests in flight, each with the time of its end.
    running: Vec<(f64, Request)>,
}

impl<E> OutOfOrder<E> {
    /// Creates an evaluator that answers as `inner`, in an order by `seed`.
    pub fn new(inner: E, seed: u64) -> Self {
        Self { inner, rng: Rng::seed_from_u64(seed), now: 0.0, running: Vec::new() }
    }
}

impl<E: Evaluator> Evaluator for OutOfOrder<E> {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        let ends = self.now - self.rng.random::<f64>().ln();
        self.running.push((ends, request));
        Ok(())
    }

    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
        let ends = |at: &usize| self.running[*at].0;
        let Some(first) = (0..self.running.len()).min_by(|a, b| ends(a).total_cmp(&ends(b))) else { return Ok(None) };
        let (ends, request) = self.running.remove(first);
        self.now = ends;
        self.inner.submit(request)?;
        let completion = self.inner.next(interrupt)?;
        Ok(completion.map(|completion| Completion { request: Some(request), ..completion }))
    }
}
