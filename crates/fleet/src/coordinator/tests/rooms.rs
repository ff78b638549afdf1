//! The number of requests in flight.

use super::*;

#[test]
fn a_fleet_larger_than_expected_gets_a_request_for_every_worker() {
    let stage = Stage { room: None, ..Stage::new() };
    let fleet = stage.fleet_with(Terms::default());
    let cues = Cues::default();
    let start = |_| stage.worker_with(fleet.port(), Script::Gathers(12), cues.clone(), Cue::given());
    let workers: Vec<_> = (0..12).map(start).collect();
    let (outcome, notes) = stage.tune(fleet, 40, false);
    stage.check(&outcome.unwrap(), 40);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    let recorded = tunesmith_store::read(&stage.journal()).unwrap();
    let rooms: Vec<usize> = recorded.entries.iter().flat_map(|entry| entry.rooms.clone()).collect();
    assert!(rooms.contains(&12), "the journal keeps how the room changed: {rooms:?}");
    assert!(!notes.contains("nothing to do"), "{notes}");
}

#[test]
fn a_fleet_with_more_workers_than_requests_in_flight_says_so_once() {
    let stage = Stage { room: Some(2), ..Stage::new() };
    let fleet = stage.fleet_with(Terms::default());
    let (report, cues) = (fleet.report(), Cues::default());
    let start = |_| stage.worker_with(fleet.port(), Script::Good, cues.clone(), Cue::given());
    let workers: Vec<_> = (0..6).map(start).collect();
    let all = cues.happened.clone();
    let watching = thread::spawn(move || when(&report, &all, |report| report.workers.len() == 6));
    let (outcome, notes) = stage.tune(fleet, 50, false);
    stage.check(&outcome.unwrap(), 50);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    watching.join().unwrap();
    let said: Vec<&str> = notes.lines().filter(|line| line.contains("nothing to do")).collect();
    assert!(matches!(said[..], [one] if one.contains("4 of 6 workers") && one.contains("2 requests")), "{notes}");
}
