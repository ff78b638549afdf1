//! A store that is lost before the verdict.

use crate::common::*;
use crate::finals::setup::*;
use tunesmith_core::judge::drift::Drift;
use tunesmith_core::*;

/// A store that someone deletes just before the verdict.
#[derive(Default)]
struct LostLast {
    kept: usize,
    again: usize,
    verdicts: usize,
    is_lost: bool,
    was_lost: bool,
}

impl Store for LostLast {
    fn append(&mut self, _: &Evaluation) -> Result<(), Error> {
        self.kept += 1;
        Ok(())
    }

    fn append_again(&mut self, _: &Resample) -> Result<(), Error> {
        self.again += 1;
        Ok(())
    }

    fn append_verdict(&mut self, _: &Verdict, _: Option<&Drift>) -> Result<(), Error> {
        if !std::mem::replace(&mut self.was_lost, true) {
            *self = Self { is_lost: true, was_lost: true, ..Self::default() };
            return Err(Error::Store("deleted".into()));
        }
        self.verdicts += 1;
        Ok(())
    }

    fn is_lost(&self) -> bool {
        self.is_lost
    }

    fn renew(&mut self, evaluations: &[&Evaluation], resamples: &[Resample]) -> Result<String, Error> {
        (self.kept, self.again, self.is_lost) = (evaluations.len(), resamples.len(), false);
        Ok("all is elsewhere".to_string())
    }
}

#[test]
fn a_store_that_is_deleted_before_the_verdict_is_given_everything_and_the_verdict() {
    let mut device = device(1);
    let space = device.space.clone();
    let mut store = LostLast::default();
    let run = Tuner::new(&space, &mut InOrder::default(), &mut device)
        .store(&mut store)
        .judging(only_finals())
        .run()
        .unwrap();
    assert!(run.verdict.by_final);
    assert_eq!((store.kept, store.again, store.verdicts), (12, run.resamples.len(), 1));
}
