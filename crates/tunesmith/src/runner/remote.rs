//! A device that another part of the program finds, opens and drives.

use super::Extras;
use crate::{Error, Problem};
use serde_json::{Map, Value as Json};
use tunesmith_backend::Target;
use tunesmith_core::{Evaluator, Interrupt, SecondAnswers};
use tunesmith_space::{Space, Value};

/// The description of a remote device by its driver, if it needs one, and the device's limits.
pub type FoundRemote = (Option<Target>, Vec<(String, Value)>);

/// Measures the configurations of a run in place of a device of this machine: a fleet of workers.
pub trait RemoteDevice {
    /// Waits for the device. One that needs no driver is the one that the machine names.
    ///
    /// # Errors
    /// There is no device, or `interrupt` was raised.
    fn find(&mut self, interrupt: &Interrupt) -> Result<FoundRemote, Error>;

    /// Opens the device for the configurations of `space`. Returns its identity, which a resumed run
    /// must share.
    ///
    /// # Errors
    /// The device cannot be used, or `interrupt` was raised.
    fn open(
        &mut self,
        problem: &Problem,
        space: &Space,
        extras: Extras,
        interrupt: &Interrupt,
    ) -> Result<Map<String, Json>, Error>;

    /// Returns the number of requests in flight with which the run begins. The
    /// [evaluator](Evaluator::wait) tells how many keep the device busy later.
    fn first_room(&self) -> usize;

    /// Returns the second answers that the evaluator adds to. Clones share them.
    fn second_answers(&self) -> SecondAnswers;

    /// Returns the evaluator that answers requests.
    fn evaluator(&mut self) -> &mut dyn Evaluator;
}
