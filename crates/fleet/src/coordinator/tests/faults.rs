//! Workers that measure, each with one fault.

use super::*;

/// Runs 30 evaluations with these workers. The first is there before the others come.
#[track_caller]
fn run_with(scripts: &[Script], expected: &[&str]) -> String {
    let stage = Stage::new();
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let port = fleet.port();
    let cues = Cues::default();
    if scripts.iter().all(|script| *script == Script::Good) {
        cues.happened.give();
    }
    let mut workers = Vec::new();
    for script in scripts {
        // Good workers are not there yet when another has its fault.
        let waits =
            *script == Script::Good && scripts.iter().any(|other| *other != Script::Good && !other.is_refused());
        let entry = if waits { cues.happened.clone() } else { Cue::given() };
        workers.push(stage.worker_with(port, *script, cues.clone(), entry));
    }
    let (outcome, notes) = stage.tune(fleet, 30, false);
    stage.check(&outcome.unwrap(), 30);
    for part in expected {
        assert_eq!(notes.lines().filter(|line| line.contains(part)).count(), 1, "{part}:\n{notes}");
    }
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    notes
}

#[test]
fn several_workers_share_a_run() {
    run_with(&[Script::Good, Script::Good, Script::Good], &[]);
}

#[test]
fn a_worker_that_is_killed_loses_nothing() {
    run_with(&[Script::Good, Script::Dies(3)], &["(Dies(3), process 1) left"]);
}

#[test]
fn a_worker_that_hangs_loses_nothing() {
    let notes = run_with(&[Script::Good, Script::Hangs(2)], &[]);
    assert!(notes.contains("(Hangs(2), process 1) did not answer lease"), "{notes}");
}

#[test]
fn a_worker_cut_off_for_longer_than_its_lease_may_come_back() {
    run_with(&[Script::Late(2)], &["(Late(2), process 1) did not answer lease"]);
}

#[test]
fn the_same_answer_twice_counts_once_and_is_kept() {
    let stage = Stage::new();
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let worker = stage.worker(fleet.port(), Script::Twice);
    let (outcome, notes) = stage.tune(fleet, 30, false);
    stage.check(&outcome.unwrap(), 30);
    let recorded = tunesmith_store::read(&stage.journal()).unwrap();
    assert!(recorded.seconds >= 25, "{} second answers", recorded.seconds);
    assert!(notes.contains("a second time; the first answer counts"));
    let text = std::fs::read_to_string(stage.journal()).unwrap();
    assert!(text.lines().any(|line| line.starts_with("{\"second\":\"worker 1 (Twice")), "{text}");
    worker.join().unwrap();
}

#[test]
fn a_worker_whose_disk_is_full_is_set_aside() {
    run_with(&[Script::Good, Script::DiskFull(2)], &["is set aside: No space left on device"]);
}

#[test]
fn a_worker_that_answers_what_it_was_not_asked_is_set_aside() {
    run_with(&[Script::Good, Script::Unasked], &["is set aside: it answered lease"]);
}

#[test]
fn a_worker_of_another_protocol_is_refused() {
    let refusal = format!("it speaks version {} of the protocol", PROTOCOL + 1);
    run_with(&[Script::Good, Script::OtherProtocol], &[&refusal]);
}

#[test]
fn a_peer_with_another_token_is_refused() {
    run_with(&[Script::Good, Script::WrongToken], &["was refused: the token cannot be used: wrong token"]);
}

#[test]
fn a_worker_with_another_device_is_set_aside() {
    let notes = run_with(&[Script::Good, Script::OtherDevice], &["times of both cannot be compared"]);
    assert!(notes.contains("its device is another device, not a device"), "{notes}");
}

#[test]
fn a_configuration_that_no_worker_survives_is_a_failure_and_the_run_ends() {
    let stage = Stage::new();
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let port = fleet.port();
    let workers: Vec<_> = (0..3).map(|_| stage.worker(port, Script::Dies(1))).collect();
    let good = stage.worker(port, Script::Good);
    let (outcome, _) = stage.tune(fleet, 30, false);
    stage.check(&outcome.unwrap(), 30);
    workers.into_iter().chain([good]).for_each(|worker| worker.join().unwrap());
}

#[test]
fn an_answer_for_another_configuration_is_no_measurement() {
    let stage = Stage::new();
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let port = fleet.port();
    let workers = [Script::Good, Script::OtherConfiguration].map(|script| stage.worker(port, script));
    let (outcome, notes) = stage.tune(fleet, 30, false);
    stage.check(&outcome.unwrap(), 30);
    assert!(!notes.contains("OtherConfiguration") || notes.contains("it answered for another configuration"));
    workers.into_iter().for_each(|worker| worker.join().unwrap());
}
