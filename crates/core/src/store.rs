//! The storage of evaluations.

use crate::judge::drift::Drift;
use crate::{Error, Evaluation, Resample, Start, Verdict};

/// Keeps every evaluation of a run. [`append`](Self::append) returns only after the evaluation
/// would survive the death of this process. The loop calls it before the searcher learns of the
/// evaluation.
pub trait Store {
    /// Keeps one evaluation permanently.
    fn append(&mut self, evaluation: &Evaluation) -> Result<(), Error>;

    /// Keeps that a measurement begins, which may end this process or the machine. The start is open until the
    /// measurement is kept, or until [`forget_start`](Self::forget_start). A run resumed from such a store knows which
    /// configuration ended it. The default keeps nothing.
    fn keep_start(&mut self, start: Start) -> Result<(), Error> {
        let _ = start;
        Ok(())
    }

    /// Forgets an open start: the run ends in order. The default has none.
    fn forget_start(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Makes everything kept so far survive the death of the machine, too. If the run is
    /// [durable](crate::Tuner::durable), the loop calls it before the searcher learns of an answer, and after
    /// whatever else is kept. The default does nothing.
    fn sync(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Keeps permanently the further samples of a configuration evaluated before. The default does
    /// not. A run resumed from such a store repeats its final re-measurement.
    fn append_again(&mut self, resample: &Resample) -> Result<(), Error> {
        let _ = resample;
        Ok(())
    }

    /// Keeps the verdict on the evaluations so far, for later readers, unless it keeps the same one
    /// already. A run that was killed before its verdict is judged when it is resumed. The default
    /// keeps none.
    fn append_verdict(&mut self, verdict: &Verdict, drift: Option<&Drift>) -> Result<(), Error> {
        let _ = (verdict, drift);
        Ok(())
    }

    /// Returns true if what was kept is gone, for example because its file was deleted. The default
    /// loses nothing.
    fn is_lost(&self) -> bool {
        false
    }

    /// Keeps everything once more, in another place, and goes on there. Returns a sentence for the
    /// user. The loop calls it if the store [is lost](Self::is_lost).
    fn renew(&mut self, evaluations: &[&Evaluation], resamples: &[Resample]) -> Result<String, Error> {
        let _ = (evaluations, resamples);
        Ok(String::new())
    }
}

/// Keeps nothing, for runs whose evaluations the caller takes from [`Run`](crate::Run).
impl Store for () {
    fn append(&mut self, _: &Evaluation) -> Result<(), Error> {
        Ok(())
    }
}
