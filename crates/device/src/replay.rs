//! A device that is a recording: what was measured once is answered again.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tunesmith_core::{Completion, Error, Evaluation, Evaluator, Failure, FailureKind, Interrupt, Request};
use tunesmith_space::ConfigId;

/// Answers with recorded evaluations, at the cost of looking them up. A configuration that was not recorded is a failure
/// of kind `constraints`, "not in recording".
///
/// ```
/// # use tunesmith_core::{Evaluation, Evaluator, Interrupt, Measurement, Request};
/// # use tunesmith_device::ReplayEvaluator;
/// # use tunesmith_space::{Parameter, Space, Value};
/// let tile = Parameter::new("TILE", vec![Value::Int(8), Value::Int(16)])?;
/// let space = Space::builder().parameter(tile).build()?;
/// let [first, second] = [0, 1].map(|rank| Request::timed(space.id(rank).unwrap()));
/// let measurement = Measurement { times_ms: vec![2.0], ..Measurement::default() };
/// let recorded = Evaluation { request: first, failure: None, measurement, clock: Default::default() };
///
/// let mut device = ReplayEvaluator::new([recorded]);
/// device.submit(first)?;
/// device.submit(second)?;
/// assert_eq!(device.next(&Interrupt::default())?.unwrap().measurement.times_ms, [2.0]);
/// assert_eq!(device.next(&Interrupt::default())?.unwrap().failure.unwrap().message, "not in recording");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Clones share what was recorded and start without requests.
#[derive(Debug, Default)]
pub struct ReplayEvaluator {
    recorded: Arc<HashMap<ConfigId, Evaluation>>,
    submitted: VecDeque<Request>,
}

impl ReplayEvaluator {
    /// A device that answers with `recorded`; of several evaluations of one configuration with the first.
    pub fn new(recorded: impl IntoIterator<Item = Evaluation>) -> Self {
        let mut by_config = HashMap::new();
        for evaluation in recorded {
            by_config.entry(evaluation.request.config).or_insert(evaluation);
        }
        Self { recorded: Arc::new(by_config), submitted: VecDeque::new() }
    }

    /// How many configurations were recorded.
    pub fn len(&self) -> usize {
        self.recorded.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.recorded.is_empty()
    }
}

impl Clone for ReplayEvaluator {
    fn clone(&self) -> Self {
        Self { recorded: self.recorded.clone(), submitted: VecDeque::new() }
    }
}

impl Evaluator for ReplayEvaluator {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.submitted.push_back(request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let Some(request) = self.submitted.pop_front() else { return Ok(None) };
        let completion = match self.recorded.get(&request.config) {
            Some(Evaluation { failure, measurement, .. }) => {
                Completion { failure: failure.clone(), measurement: measurement.clone(), ..Completion::default() }
            }
            None => {
                let failure = Failure::new(FailureKind::Constraints, "not in recording");
                Completion { failure: Some(failure), ..Completion::default() }
            }
        };
        Ok(Some(completion))
    }
}
