//! The storage of evaluations.

use crate::judge::drift::Drift;
use crate::{Error, Evaluation, Resample, Verdict};

/// Keeps every evaluation of a run. [`append`](Self::append) returns only after the evaluation
/// would survive the death of this process. The loop calls it before the searcher learns of the
/// evaluation.
pub trait Store {
    /// Keeps one evaluation permanently.
    fn append(&mut self, evaluation: &Evaluation) -> Result<(), Error>;

    /// Keeps permanently the further samples of a configuration evaluated before. The default does
    /// not. A run resumed from such a store repeats its final re-measurement.
    fn append_again(&mut self, resample: &Resample) -> Result<(), Error> {
        let _ = resample;
        Ok(())
    }

    /// Keeps the verdict on the evaluations so far, for later readers. The default does not.
    fn append_verdict(&mut self, verdict: &Verdict, drift: Option<&Drift>) -> Result<(), Error> {
        let _ = (verdict, drift);
        Ok(())
    }
}

/// Keeps nothing, for runs whose evaluations the caller takes from [`Run`](crate::Run).
impl Store for () {
    fn append(&mut self, _: &Evaluation) -> Result<(), Error> {
        Ok(())
    }
}
