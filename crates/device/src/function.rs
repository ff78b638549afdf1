//! A device that is a function of the program.

use std::collections::VecDeque;
use std::sync::Arc;
use tunesmith_backend::OwnFunction;
use tunesmith_core::{
    Clock, Completion, Error, Evaluator, Failure, FailureKind, Interrupt, Measurement, Request, Spent,
};
use tunesmith_space::{ConfigId, Space};

/// Evaluates configurations by calling a [`Function`](tunesmith_backend::Function) in the thread of the tuner, one after the
/// other. Measures a configuration again, if the judging of a run asks for it, by further calls.
///
/// A measurement without a time is a runtime failure, and so is a time that is not positive and
/// finite.
pub struct FunctionEvaluator {
    space: Space,
    function: OwnFunction,
    clock: Arc<dyn Clock>,
    submitted: VecDeque<Request>,
}

impl FunctionEvaluator {
    /// Creates a device that calls `function` for the configurations of `space`.
    pub fn new(space: &Space, function: &OwnFunction, clock: Arc<dyn Clock>) -> Self {
        Self { space: space.clone(), function: function.clone(), clock, submitted: VecDeque::new() }
    }

    /// Calls the function once. Returns `None` if the run shall end.
    fn call(&self, config: ConfigId, interrupt: &Interrupt) -> Option<Completion> {
        let start = self.clock.now();
        let called = self.function.call(&self.space, config, interrupt).and_then(|measured| match measured {
            Some(measured) => checked(measured).map(Some),
            None => Ok(None),
        });
        let mut completion = Completion::default();
        match called {
            Ok(Some(measurement)) => completion.measurement = measurement,
            Ok(None) => {
                // The loop drops the request, and looks at the interrupt next.
                interrupt.raise();
                return None;
            }
            Err(failure) => completion.failure = Some(failure),
        }
        completion.spent = Spent { run: self.clock.now() - start, ..Spent::default() };
        Some(completion)
    }
}

/// Returns the measurement, or the failure of one that has no times or impossible ones.
fn checked(measured: Measurement) -> Result<Measurement, Failure> {
    let failure = |problem: String| Err(Failure::new(FailureKind::Runtime, problem));
    match measured.times_ms.iter().find(|time| !(time.is_finite() && **time > 0.0)) {
        Some(wrong) => failure(format!("the function gave a time of {wrong} ms, but a time is a positive number")),
        None if measured.times_ms.is_empty() => failure("the function gave no time".to_string()),
        None => Ok(measured),
    }
}

impl Evaluator for FunctionEvaluator {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.submitted.push_back(request);
        Ok(())
    }

    fn runs_here(&self) -> bool {
        true
    }

    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
        Ok(self.submitted.pop_front().and_then(|request| self.call(request.config, interrupt)))
    }

    fn resample(
        &mut self,
        config: ConfigId,
        samples: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, Error> {
        let mut all = Completion::default();
        while all.measurement.times_ms.len() < samples.max(1) {
            let Some(one) = self.call(config, interrupt) else { return Ok(None) };
            all.spent.run += one.spent.run;
            all.measurement.times_ms.extend(one.measurement.times_ms);
            for (name, samples) in one.measurement.values {
                all.measurement.values.entry(name).or_default().extend(samples);
            }
            if one.failure.is_some() {
                return Ok(Some(Completion { failure: one.failure, ..all }));
            }
        }
        Ok(Some(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tunesmith_backend::Function;
    use tunesmith_core::ManualClock;
    use tunesmith_space::{Parameter, Value};

    /// Gives the value of the parameter as the time, counts its calls, and wants the end at 9.
    #[derive(Default)]
    struct Told(AtomicUsize);

    impl Function for Told {
        fn name(&self) -> &str {
            "told"
        }

        fn call(&self, space: &Space, config: ConfigId, _: &Interrupt) -> Result<Option<Measurement>, Failure> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let value = space.value(&space.unrank(config), 0).as_float().unwrap_or_default();
            match value {
                9.0 => Ok(None),
                7.0 => Err(Failure::new(FailureKind::Compile, "seven")),
                5.0 => Ok(Some(Measurement::default())),
                value => Ok(Some(Measurement { times_ms: vec![value], ..Measurement::default() })),
            }
        }
    }

    fn evaluator() -> FunctionEvaluator {
        let values = [1, 0, 5, 7, 9].map(Value::Int).to_vec();
        let space = Space::builder().parameter(Parameter::new("X", values).unwrap()).build().unwrap();
        FunctionEvaluator::new(&space, &OwnFunction::new(Told::default()), Arc::new(ManualClock::default()))
    }

    fn failure(device: &mut FunctionEvaluator, rank: u128) -> Failure {
        device.submit(Request::timed(device.space.id(rank).unwrap())).unwrap();
        device.next(&Interrupt::default()).unwrap().unwrap().failure.unwrap()
    }

    #[test]
    fn a_function_gives_times_and_failures_of_its_own() {
        let mut device = evaluator();
        device.submit(Request::timed(device.space.id(0).unwrap())).unwrap();
        let completion = device.next(&Interrupt::default()).unwrap().unwrap();
        assert_eq!((completion.measurement.times_ms, completion.failure), (vec![1.0], None));
        assert_eq!(failure(&mut device, 3), Failure::new(FailureKind::Compile, "seven"));
    }

    #[test]
    fn what_is_no_time_is_a_runtime_failure() {
        let mut device = evaluator();
        let zero = failure(&mut device, 1);
        assert_eq!(zero.kind, FailureKind::Runtime);
        assert_eq!(zero.message, "the function gave a time of 0 ms, but a time is a positive number");
        assert_eq!(failure(&mut device, 2).message, "the function gave no time");
    }

    #[test]
    fn a_function_that_wants_the_end_raises_the_interrupt() {
        let (mut device, interrupt) = (evaluator(), Interrupt::default());
        device.submit(Request::timed(device.space.id(4).unwrap())).unwrap();
        assert!(device.next(&interrupt).unwrap().is_none() && interrupt.is_raised());
    }

    #[test]
    fn further_samples_are_further_calls() {
        let mut device = evaluator();
        let config = device.space.id(0).unwrap();
        let again = device.resample(config, 3, &Interrupt::default()).unwrap().unwrap();
        assert_eq!(again.measurement.times_ms, [1.0, 1.0, 1.0]);
    }
}
