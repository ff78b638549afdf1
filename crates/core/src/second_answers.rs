//! Second answers: what several devices measured twice, because one of them seemed to be lost.

use crate::{Error, Evaluation, Failure, Measurement, Request, Store};
use std::cell::RefCell;
use std::rc::Rc;

/// A second answer to a request. It is kept, and does not count.
#[derive(Clone, Debug)]
pub struct SecondAnswer {
    /// The request.
    pub request: Request,
    /// The reason why the configuration is not correct, or `None` if it is.
    pub failure: Option<Failure>,
    /// The measurement.
    pub measurement: Measurement,
    /// The device, as users know it.
    pub by: String,
}

/// The second answers that came in and are not kept yet. Clones share them: the evaluator adds to one,
/// and the tuner takes from [another](crate::Tuner::store_with_seconds).
#[derive(Clone, Debug, Default)]
pub struct SecondAnswers(Rc<RefCell<Vec<SecondAnswer>>>);

impl SecondAnswers {
    /// Adds an answer.
    pub fn add(&self, answer: SecondAnswer) {
        self.0.borrow_mut().push(answer);
    }

    /// Takes all out, in the order in which they came.
    pub(crate) fn take(&self) -> Vec<SecondAnswer> {
        self.0.take()
    }
}

/// A store that keeps second answers, too.
pub trait SecondStore: Store {
    /// Keeps permanently a second answer to a request, which does not count, and the name of the
    /// device that gave it.
    fn append_second(&mut self, second: &Evaluation, by: &str) -> Result<(), Error>;
}
