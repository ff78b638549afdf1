//! A device that is a formula, for tests, demonstrations and the study of strategies.

use std::collections::VecDeque;
use tunesmith_core::{Completion, Error, Evaluator, Failure, FailureKind, Interrupt, Measurement, Request};
use tunesmith_kernel::{DeviceError, Scope};
use tunesmith_space::{Expr, Space, Value, closest};

/// Evaluates configurations by an expression over the parameters. Its value is the time in
/// milliseconds, without noise. An expression that cannot be evaluated is a runtime failure, and so
/// is a value that is not positive and finite.
///
/// ```
/// # use tunesmith_core::{Evaluator, Interrupt, Request};
/// # use tunesmith_device::SyntheticEvaluator;
/// # use tunesmith_space::{Expr, Parameter, Space, Value};
/// let tile = Parameter::new("TILE", vec![Value::Int(8), Value::Int(16)])?;
/// let space = Space::builder().parameter(tile).build()?;
/// let mut device = SyntheticEvaluator::new(&space, &Expr::parse("32 / TILE")?)?;
/// device.submit(Request::timed(space.id(1).unwrap()))?;
/// let completion = device.next(&Interrupt::default())?.unwrap();
/// assert_eq!(completion.measurement.times_ms, [2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SyntheticEvaluator {
    space: Space,
    sizes: Vec<(String, Value)>,
    expr: Expr,
    submitted: VecDeque<Request>,
}

impl SyntheticEvaluator {
    /// Creates a device on which a kernel takes `expr` milliseconds.
    ///
    /// # Errors
    /// The expression uses a name that is not a parameter.
    pub fn new(space: &Space, expr: &Expr) -> Result<Self, DeviceError> {
        Self::with_sizes(space, &[], expr)
    }

    /// Creates a device on which a kernel takes `expr` milliseconds. The expression is over the
    /// parameters and `sizes`.
    ///
    /// # Errors
    /// The expression uses a name that is neither a parameter nor a size.
    pub fn with_sizes(space: &Space, sizes: &[(String, Value)], expr: &Expr) -> Result<Self, DeviceError> {
        let is_size = |name: &str| sizes.iter().any(|(size, _)| size == name);
        let is_unknown = |name: &str| space.parameter_index(name).is_none() && !is_size(name);
        match expr.names().iter().find(|name| is_unknown(&name.text)) {
            None => {
                Ok(Self { space: space.clone(), sizes: sizes.to_vec(), expr: expr.clone(), submitted: VecDeque::new() })
            }
            Some(name) => {
                let sizes = sizes.iter().map(|(name, _)| name.as_str());
                let known = space.parameters().iter().map(|parameter| parameter.name()).chain(sizes);
                Err(DeviceError::UnknownName {
                    expression: expr.text().to_owned(),
                    name: name.text.clone(),
                    suggestion: closest(&name.text, known).map(str::to_owned),
                })
            }
        }
    }

    fn time_ms(&self, request: Request) -> Result<f64, Failure> {
        let text = self.expr.text();
        let failure = |problem: String| Failure::new(FailureKind::Runtime, format!("`{text}` {problem}"));
        let value = Scope::of(&self.sizes, &self.space, request.config)
            .evaluate(&self.expr)
            .map_err(|error| failure(format!("cannot be computed: {error}")))?;
        let time = if let Value::Str(_) | Value::Bool(_) = value { None } else { value.as_float() };
        match time.filter(|time| time.is_finite() && *time > 0.0) {
            Some(time) => Ok(time),
            None => Err(failure(format!("gives {value}, but a time is a positive number"))),
        }
    }
}

impl Evaluator for SyntheticEvaluator {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.submitted.push_back(request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let Some(request) = self.submitted.pop_front() else { return Ok(None) };
        let mut completion = Completion::default();
        match self.time_ms(request) {
            Ok(time) => completion.measurement = Measurement { times_ms: vec![time], ..Measurement::default() },
            Err(failure) => completion.failure = Some(failure),
        }
        Ok(Some(completion))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_space::Parameter;

    fn space() -> Space {
        let values = vec![Value::Int(0), Value::Int(1), Value::Int(2)];
        Space::builder().parameter(Parameter::new("TILE", values).unwrap()).build().unwrap()
    }

    fn evaluate(expr: &str) -> Vec<Result<f64, String>> {
        let space = space();
        let mut device = SyntheticEvaluator::new(&space, &Expr::parse(expr).unwrap()).unwrap();
        for id in space.iter() {
            device.submit(Request::timed(id)).unwrap();
        }
        let next = |_| {
            let completion = device.next(&Interrupt::default()).unwrap().unwrap();
            let failure = completion.failure.map(|failure| {
                assert_eq!(failure.kind, FailureKind::Runtime);
                failure.message
            });
            failure.map_or_else(|| Ok(completion.measurement.times_ms[0]), Err)
        };
        (0..3).map(next).collect()
    }

    #[test]
    fn the_value_is_the_time_in_milliseconds() {
        assert_eq!(evaluate("1.5 + TILE"), [Ok(1.5), Ok(2.5), Ok(3.5)]);
    }

    #[test]
    fn what_is_no_time_is_a_runtime_failure() {
        assert_eq!(evaluate("TILE")[0], Err("`TILE` gives 0, but a time is a positive number".into()));
        assert!(evaluate("1 / TILE")[0].as_ref().unwrap_err().starts_with("`1 / TILE` cannot be computed: "));
        assert!(evaluate("'x'").iter().all(Result::is_err));
    }

    #[test]
    fn an_unknown_name_is_refused_at_once() {
        let error = SyntheticEvaluator::new(&space(), &Expr::parse("TIEL + 1").unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "`TIEL + 1` uses `TIEL`, which is not a parameter; did you mean `TILE`?");
    }
}
