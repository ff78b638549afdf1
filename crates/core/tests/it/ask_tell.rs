//! Tests what a search that its user drives refuses.

use std::sync::Arc;
use tunesmith_core::{AskTell, Failure, FailureKind, Request, Rng, Searcher, TellError, Told, View};
use tunesmith_space::{ConfigId, Parameter, Space, Values};

/// Asks for every configuration three times, and counts what it is told.
#[derive(Default)]
struct Thrice {
    asked: u128,
    told: usize,
}

impl Searcher for Thrice {
    fn ask(&mut self, view: &View<'_>, room: usize, _: &mut Rng) -> Vec<Request> {
        let first = self.asked;
        self.asked += room as u128;
        let ids = (first..self.asked).map_while(|number| view.space().id(number / 3));
        ids.map(Request::timed).collect()
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        assert!(view.is_known(told.evaluation.request));
        self.told += 1;
    }
}

fn line(values: i64) -> Arc<Space> {
    let parameter = Parameter::new("X", Values::list(0..values)).unwrap();
    Arc::new(Space::builder().parameter(parameter).build().unwrap())
}

fn id(space: &Space, rank: u128) -> ConfigId {
    space.id(rank).unwrap()
}

#[test]
fn configurations_that_a_strategy_repeats_are_asked_once() {
    let space = line(5);
    let mut search = AskTell::new(Arc::clone(&space), Box::new(Thrice::default()), 1);
    let first = search.ask(2);
    assert_eq!(first, [id(&space, 0), id(&space, 1)]);
    for config in first {
        search.tell(config, Ok(1.0)).unwrap();
    }
    assert_eq!(search.ask(9), [2, 3, 4].map(|rank| id(&space, rank)));
    assert!(search.ask(1).is_empty());
    assert_eq!((search.told(), search.in_flight()), (2, 3));
}

#[test]
fn a_cost_that_is_no_number_is_refused_and_closes_its_request() {
    let space = line(5);
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut search = AskTell::new(Arc::clone(&space), Box::new(Thrice::default()), 1);
        let asked = search.ask(1)[0];
        let error = search.tell(asked, Ok(wrong)).unwrap_err();
        assert!(error.to_string().contains("the configuration counts as failed"), "{error}");
        assert_eq!((search.told(), search.in_flight(), search.best()), (1, 0, None));
        assert_eq!(search.failed(FailureKind::Runtime), 1);
        assert_eq!(search.tell(asked, Ok(1.0)), Err(TellError::ToldTwice));
        // The strategy goes on.
        assert_ne!(search.ask(1), []);
    }
}

#[test]
fn a_second_answer_and_one_for_another_space_are_refused_and_change_nothing() {
    let space = line(5);
    let mut search = AskTell::new(Arc::clone(&space), Box::new(Thrice::default()), 1);
    let asked = search.ask(1)[0];
    search.tell(asked, Ok(2.0)).unwrap();
    assert_eq!(search.tell(asked, Ok(1.0)), Err(TellError::ToldTwice));
    assert_eq!(search.tell(id(&line(9), 8), Ok(1.0)), Err(TellError::NotInSpace(8)));
    assert_eq!((search.told(), search.best()), (1, Some((asked, 2.0))));
}

#[test]
fn configurations_that_were_not_asked_for_and_failures_count() {
    let space = line(5);
    let mut search = AskTell::new(Arc::clone(&space), Box::new(Thrice::default()), 1);
    search.tell(id(&space, 0), Ok(3.0)).unwrap();
    search.tell(id(&space, 1), Err(Failure::new(FailureKind::Runtime, "it crashed"))).unwrap();
    assert_eq!((search.told(), search.failed(FailureKind::Runtime)), (2, 1));
    assert_eq!(search.ask(1), [id(&space, 2)]);
}
