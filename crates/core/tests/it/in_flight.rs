//! Several requests in flight, whose answers come in any order.

use crate::common;

use common::{crashing, line};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tunesmith_core::testing::OutOfOrder;
use tunesmith_core::*;
use tunesmith_space::Space;

/// Asks for random configurations near the best so far, repeats included. What it asks depends on
/// everything that it was told, and on what is in flight.
#[derive(Default)]
struct Near {
    asked: Vec<Request>,
    told: Vec<Request>,
    most_in_flight: usize,
}

impl Searcher for Near {
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request> {
        let best = view.history().best().map_or(0, |best| best.evaluation.request.config.rank());
        let far = view.space().sample(rng).rank() + view.known() as u128;
        let length = view.space().len().unwrap();
        let request = Request::timed(view.space().id((best + far / 4) % length).unwrap());
        self.asked.push(request);
        let waiting: HashSet<Request> = self.asked.iter().filter(|asked| !self.told.contains(asked)).copied().collect();
        self.most_in_flight = self.most_in_flight.max(waiting.len());
        assert!(room >= 1);
        vec![request]
    }

    fn tell(&mut self, _: &View<'_>, told: &Told<'_>) {
        self.told.push(told.evaluation.request);
    }
}

#[derive(Default)]
struct Kept(Vec<Evaluation>);

impl Store for Kept {
    fn append(&mut self, evaluation: &Evaluation) -> Result<(), Error> {
        self.0.push(evaluation.clone());
        Ok(())
    }
}

const BUDGET: u64 = 60;

fn tune(space: &Space, device: &mut dyn Evaluator, room: usize, recorded: Vec<Evaluation>) -> (Near, Vec<Evaluation>) {
    let (mut searcher, mut kept) = (Near::default(), Kept::default());
    let run = Tuner::new(space, &mut searcher, device)
        .store(&mut kept)
        .stop(Stop::evaluations(BUDGET))
        .judging(Judging::nothing())
        .room(room)
        .seed(3)
        .recorded(recorded)
        .run()
        .unwrap();
    assert_eq!(run.history.len() as u64, BUDGET, "the budget is used up and never overrun");
    (searcher, kept.0)
}

fn requests(evaluations: &[Evaluation]) -> Vec<Request> {
    evaluations.iter().map(|evaluation| evaluation.request).collect()
}

#[test]
fn answers_in_any_order_are_told_as_they_come_each_once() {
    let space = line(400);
    for room in [2, 4, 8] {
        let (searcher, kept) = tune(&space, &mut OutOfOrder::new(crashing(&space), 1), room, Vec::new());
        let distinct: HashSet<Request> = requests(&kept).into_iter().collect();
        assert_eq!(distinct.len() as u64, BUDGET, "nothing is measured twice");
        let mut told = searcher.told.clone();
        told.dedup();
        assert!(searcher.most_in_flight <= room, "{} of {room} in flight", searcher.most_in_flight);
        let mut asked = searcher.asked.clone();
        asked.retain(|request| told.contains(request));
        assert_ne!(told, asked, "room {room}: the order of the answers is another than that of the requests");
    }
}

#[test]
fn the_seed_and_the_order_of_deliveries_decide_the_requests() {
    let space = line(400);
    let run = |order| tune(&space, &mut OutOfOrder::new(crashing(&space), order), 8, Vec::new()).0.asked;
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// Answers the latest request first, so that the order does not depend on what was answered before.
struct LatestFirst<E>(E, Vec<Request>);

impl<E: Evaluator> Evaluator for LatestFirst<E> {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.1.push(request);
        Ok(())
    }

    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
        let Some(request) = self.1.pop() else { return Ok(None) };
        self.0.submit(request)?;
        let completion = self.0.next(interrupt)?;
        Ok(completion.map(|completion| Completion { request: Some(request), ..completion }))
    }
}

#[test]
fn a_resumed_run_tells_the_answers_in_the_recorded_order_and_goes_on_as_it_would_have() {
    let space = line(400);
    for room in [1, 2, 8] {
        let mut whole_device = LatestFirst(crashing(&space), Vec::new());
        let (whole, all) = tune(&space, &mut whole_device, room, Vec::new());
        for cut in 0..all.len() {
            let mut device = LatestFirst(crashing(&space), Vec::new());
            let (resumed, rest) = tune(&space, &mut device, room, all[..cut].to_vec());
            assert_eq!(resumed.asked, whole.asked, "room {room}, cut {cut}");
            assert_eq!(requests(&rest), requests(&all[cut..]), "room {room}, cut {cut}");
        }
    }
}

/// Answers as [`LatestFirst`] after some answers of an earlier part, and changes the number of requests
/// that keep it busy after so many answers.
struct Growing<E> {
    inner: LatestFirst<E>,
    answered: usize,
    changes: VecDeque<(usize, usize)>,
}

impl<E> Growing<E> {
    fn after(answered: usize, inner: E) -> Self {
        let changes = [(0, 1), (0, 3), (5, 8), (20, 2), (20, 5), (21, 4), (40, 12)];
        let changes = changes.into_iter().filter(|(at, _)| *at >= answered).collect();
        Self { inner: LatestFirst(inner, Vec::new()), answered, changes }
    }
}

impl<E: Evaluator> Evaluator for Growing<E> {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.inner.submit(request)
    }

    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
        self.answered += 1;
        self.inner.next(interrupt)
    }

    fn wait(&mut self, _: usize, interrupt: &Interrupt) -> Result<Waited, Error> {
        if let Some((at, room)) = self.changes.front().copied()
            && at <= self.answered
        {
            self.changes.pop_front();
            return Ok(Waited::Room(room));
        }
        Ok(Waited::Answered(Box::new(self.next(interrupt)?.unwrap())))
    }
}

#[test]
fn a_resumed_run_repeats_the_changes_of_its_room_and_goes_on_as_it_would_have() {
    let space = line(400);
    let tune = |answered: usize, recorded: Vec<Evaluation>| {
        let (mut searcher, mut kept) = (Near::default(), Kept::default());
        let mut device = Growing::after(answered, crashing(&space));
        Tuner::new(&space, &mut searcher, &mut device)
            .store(&mut kept)
            .stop(Stop::evaluations(BUDGET))
            .judging(Judging::nothing())
            .room(2)
            .follow_room(true)
            .seed(3)
            .recorded(recorded)
            .run()
            .unwrap();
        (searcher, kept.0)
    };
    let (whole, all) = tune(0, Vec::new());
    let rooms: Vec<usize> = all.iter().flat_map(|evaluation| evaluation.measurement.rooms.clone()).collect();
    assert_eq!(rooms, [2, 1, 3, 8, 2, 5, 4, 12]);
    assert!(whole.most_in_flight > 5, "{} in flight", whole.most_in_flight);
    for cut in 0..all.len() {
        let (resumed, rest) = tune(cut, all[..cut].to_vec());
        assert_eq!(resumed.asked, whole.asked, "cut {cut}");
        assert_eq!(requests(&rest), requests(&all[cut..]), "cut {cut}");
    }
}

/// Gives up to three answers at once.
struct InBatches<E>(LatestFirst<E>, usize);

impl<E: Evaluator> Evaluator for InBatches<E> {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.0.submit(request)
    }

    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
        self.1 = 0;
        self.0.next(interrupt)
    }

    fn ready(&mut self) -> Result<Option<Completion>, Error> {
        self.1 += 1;
        if self.1 < 3 { self.0.next(&Interrupt::default()) } else { Ok(None) }
    }
}

/// Counts what it keeps, what is synced, and how often.
#[derive(Default)]
struct Synced {
    kept: Vec<Evaluation>,
    safe: Arc<AtomicUsize>,
    unsynced: usize,
    syncs: usize,
}

impl Store for Synced {
    fn append(&mut self, evaluation: &Evaluation) -> Result<(), Error> {
        self.kept.push(evaluation.clone());
        self.unsynced += 1;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Error> {
        self.safe.fetch_add(std::mem::take(&mut self.unsynced), Ordering::SeqCst);
        self.syncs += 1;
        Ok(())
    }
}

/// Asks as another searcher, which must learn of nothing that is not synced.
struct Careful {
    near: Near,
    safe: Arc<AtomicUsize>,
}

impl Searcher for Careful {
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request> {
        assert!(view.history().len() <= self.safe.load(Ordering::SeqCst), "an answer counts before it is synced");
        self.near.ask(view, room, rng)
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        assert!(view.history().len() <= self.safe.load(Ordering::SeqCst), "an answer is told before it is synced");
        self.near.tell(view, told);
    }
}

#[test]
fn answers_that_come_together_are_synced_at_once_before_any_is_told_and_told_one_by_one() {
    let space = line(400);
    let tune = |budget: u64, recorded: Vec<Evaluation>| {
        let mut store = Synced::default();
        store.safe.store(recorded.len(), Ordering::SeqCst);
        let mut searcher = Careful { near: Near::default(), safe: Arc::clone(&store.safe) };
        let mut device = InBatches(LatestFirst(crashing(&space), Vec::new()), 0);
        Tuner::new(&space, &mut searcher, &mut device)
            .store(&mut store)
            .stop(Stop::evaluations(budget))
            .judging(Judging::nothing())
            .room(8)
            .durable(true)
            .seed(3)
            .recorded(recorded)
            .run()
            .unwrap();
        (searcher.near.asked, store.kept, store.syncs)
    };
    let (asked, all, syncs) = tune(BUDGET, Vec::new());
    assert_eq!(all.len() as u64, BUDGET);
    assert!(syncs * 2 < all.len(), "{syncs} syncs");
    let (again, rest, _) = tune(BUDGET + 20, all);
    assert!(again.starts_with(&asked), "the order of the answers decides the requests");
    assert_eq!(rest.len(), 20, "nothing is measured twice");
}

#[test]
fn an_answer_to_a_request_that_is_not_in_flight_ends_the_run_as_a_fault_of_the_device() {
    struct Confused(Space);
    impl Evaluator for Confused {
        fn submit(&mut self, _: Request) -> Result<(), Error> {
            Ok(())
        }
        fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
            let request = self.0.id(399).map(Request::timed);
            Ok(Some(Completion { request, ..Completion::default() }))
        }
    }
    let space = line(400);
    let mut searcher = Near::default();
    let error = Tuner::new(&space, &mut searcher, &mut Confused(space.clone())).run().unwrap_err();
    assert_eq!(error.to_string(), "the device cannot be used: it answered a request that is not in flight");
}
