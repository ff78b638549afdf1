//! Real implementations of the traits that need no device, for tests, examples and the synthetic
//! device.

use crate::{Completion, Error, Evaluator, Failure, Interrupt, Measurement, Request};
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
