//! The store knows what is measured before it begins, and whether the run ended in order.

use crate::common::{Device, InOrder, Noise, line};
use tunesmith_core::judge::finals::Finals;
use tunesmith_core::*;
use tunesmith_space::ConfigId;

/// The calls of a store, in order.
#[derive(Debug, PartialEq)]
enum Word {
    Begins(ConfigId, Option<Role>),
    Ends(ConfigId, Option<Role>),
    Forgotten,
}

/// A store that fails at a number of evaluations.
#[derive(Default)]
struct Words {
    words: Vec<Word>,
    evaluations: usize,
    fails_at: Option<usize>,
}

/// A device that is lost at its second request.
#[derive(Default)]
struct Losing(Vec<Request>);

impl Evaluator for Losing {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.0.push(request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let measurement = Measurement { times_ms: vec![1.0], ..Measurement::default() };
        let completion = Completion { measurement, ..Completion::default() };
        if self.0.len() > 1 { Err(Error::Lost("it fell off the bus".into())) } else { Ok(Some(completion)) }
    }

    fn runs_here(&self) -> bool {
        true
    }
}

impl Store for Words {
    fn append(&mut self, evaluation: &Evaluation) -> Result<(), Error> {
        if self.fails_at == Some(self.evaluations) {
            return Err(Error::Store("no space left on device".into()));
        }
        self.evaluations += 1;
        self.words.push(Word::Ends(evaluation.request.config, None));
        Ok(())
    }

    fn append_again(&mut self, resample: &Resample) -> Result<(), Error> {
        self.words.push(Word::Ends(resample.config, Some(resample.role)));
        Ok(())
    }

    fn keep_start(&mut self, start: Start) -> Result<(), Error> {
        self.words.push(Word::Begins(start.request.config, start.role));
        Ok(())
    }

    fn forget_start(&mut self) -> Result<(), Error> {
        self.words.push(Word::Forgotten);
        Ok(())
    }
}

/// Tunes ten configurations with a final, and returns what the store was told.
fn words(mut store: Words, interrupt_at: Option<usize>, room: usize) -> (Vec<Word>, Result<StopReason, Error>) {
    let space = line(10);
    let mut device = Device::new(&space, Noise::Normal(0.01), 5, |x| 1.0 + x as f64);
    (device.fails_verification, device.interrupt_at) = (Some(Vec::new()), interrupt_at);
    let clock = device.clock.clone();
    let judging = Judging { finals: Some(Finals::default()), ..Judging::nothing() };
    let mut searcher = InOrder::default();
    let tuner = Tuner::new(&space, &mut searcher, &mut device).store(&mut store).clock(clock).judging(judging);
    let run = tuner.room(room).run();
    (store.words, run.map(|run| run.stop_reason))
}

#[test]
fn every_measurement_of_a_run_begins_and_ends_alone() {
    for room in [1, 4] {
        let (words, reason) = words(Words::default(), None, room);
        assert_eq!(reason.unwrap(), StopReason::Exhausted);
        let (last, measured) = words.split_last().unwrap();
        assert_eq!(*last, Word::Forgotten);
        assert!(measured.len() > 30, "{}", measured.len());
        for pair in measured.chunks(2) {
            let [Word::Begins(began, role), Word::Ends(ended, result)] = pair else { panic!("{pair:?}") };
            assert_eq!((began, role), (ended, result));
        }
        assert!(measured.iter().any(|word| matches!(word, Word::Begins(_, Some(Role::Verification)))));
    }
}

#[test]
fn what_has_begun_is_forgotten_unless_the_device_was_lost_with_it() {
    let begun_and_forgotten = |words: &[Word]| matches!(words[words.len() - 2..], [Word::Begins(..), Word::Forgotten]);
    let (interrupted, reason) = words(Words::default(), Some(3), 1);
    assert_eq!(reason.unwrap(), StopReason::Interrupted);
    assert!(begun_and_forgotten(&interrupted), "{interrupted:?}");
    // A full disk is nobody's fault.
    let (failed, error) = words(Words { fails_at: Some(4), ..Words::default() }, None, 1);
    assert!(error.is_err() && begun_and_forgotten(&failed), "{failed:?}");
    let (space, mut store) = (line(5), Words::default());
    let lost = Tuner::new(&space, &mut InOrder::default(), &mut Losing::default()).store(&mut store).run();
    assert!(matches!(lost, Err(Error::Lost(_))), "{lost:?}");
    assert!(matches!(store.words.last(), Some(Word::Begins(..))), "{:?}", store.words);
}

#[test]
fn a_device_whose_faults_do_not_reach_this_machine_has_no_starts() {
    let space = line(5);
    let mut store = Words::default();
    let mut device = testing::FunctionEvaluator::new(&space, |_| Ok(1.0));
    Tuner::new(&space, &mut InOrder::default(), &mut device).store(&mut store).run().unwrap();
    assert!(!store.words.iter().any(|word| matches!(word, Word::Begins(..))));
}
