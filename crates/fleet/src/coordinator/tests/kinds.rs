//! Workers that differ: one is slow, others have another device.

use super::*;
use std::collections::BTreeMap;
use tunesmith_backend::gpu::GpuDevice;
use tunesmith_backend::host::{CudaSetup, GpuSetup};
use tunesmith_backend::{BackendMessage, Target};

/// Returns the device that a worker offers, and its limits.
pub(super) fn offered(script: Script) -> (Option<BackendMessage>, Map<String, Json>) {
    let Script::Gpu(mhz) = script else { return (None, Map::new()) };
    let device = GpuDevice {
        index: 0,
        name: "a device".to_string(),
        driver: "1".to_string(),
        compiler: "1".to_string(),
        architecture: "sm_90".to_string(),
        headers: Vec::new(),
        limits: BTreeMap::new(),
        setup: GpuSetup::Cuda(CudaSetup::default()),
        managed: None,
    };
    let limits = [("clock_mhz", f64::from(mhz)), ("memory_clock_mhz", 2619.0), ("max_threads_per_block", 1024.0)];
    let limits = limits.map(|(name, value)| (name.to_string(), Json::from(value)));
    (Target::from(device).description(), limits.into_iter().collect())
}

#[test]
fn gpus_of_one_name_with_other_highest_clocks_are_not_alike() {
    let stage = Stage::new();
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let (port, report, cues, entry) = (fleet.port(), fleet.report(), Cues::default(), Cue::default());
    // The first one answers once the other has been turned away.
    let workers = [(1980, Cue::given()), (1410, entry.clone())]
        .map(|(mhz, entry)| stage.worker_with(port, Script::Gpu(mhz), cues.clone(), entry));
    let directing = thread::spawn(move || when(&report, &entry, |report| report.workers.len() == 1));
    let (outcome, notes) = stage.tune(fleet, 30, false);
    stage.check(&outcome.unwrap(), 30);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    directing.join().unwrap();
    let line = "(Gpu(1410), process 1) is set aside: its clock is 1410 MHz, memory 2619 MHz at most, not 1980 MHz, \
                memory 2619 MHz at most; times of both cannot be compared";
    assert_eq!(notes.lines().filter(|note| note.contains(line)).count(), 1, "{notes}");
    let recorded = tunesmith_store::read(&stage.journal()).unwrap();
    assert!(!recorded.header.identity.contains_key("clock"), "one device may go on with the journal");
}

#[test]
fn a_worker_that_is_slower_than_the_others_is_set_aside_and_named() {
    let stage = Stage::new();
    // Short leases: what a worker holds while it waits for the slow one is issued anew.
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let (port, report, cues, entry) = (fleet.port(), fleet.report(), Cues::default(), Cue::default());
    let mut workers: Vec<_> =
        (0..4).map(|_| stage.worker_with(port, Script::Patient, cues.clone(), Cue::given())).collect();
    workers.push(stage.worker_with(port, Script::Slow, cues.clone(), entry.clone()));
    let (watched, begun) = (report.clone(), cues.begun.clone());
    let directing = thread::spawn(move || {
        when(&watched, &begun, |report| report.workers.len() == 4);
        when(&watched, &entry, |report| report.workers.iter().all(|worker| worker.checks >= 3));
    });
    let (outcome, notes) = stage.tune(fleet, 30, false);
    stage.check(&outcome.unwrap(), 30);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    directing.join().unwrap();
    let line = "(Slow, process 1) is set aside: it takes 50 % more time than the others for the same configuration";
    assert_eq!(notes.lines().filter(|note| note.contains(line)).count(), 1, "{notes}");
    assert_eq!(notes.lines().filter(|note| note.contains("set aside")).count(), 1, "{notes}");
    let slow = report.now().workers.into_iter().find(|worker| worker.name.contains("Slow")).unwrap();
    assert_eq!((slow.state, slow.level, slow.evaluations), (WorkerState::SetAside, Some(1.5), 0));
}

#[test]
fn workers_of_another_kind_wait_for_a_run_of_their_own() {
    let stage = Stage::new();
    let fleet = stage.fleet_of(FleetOptions::PATIENCE, true);
    let (port, report, cues) = (fleet.port(), fleet.report(), Cues::default());
    let mut pools = crate::Pools::new(fleet);
    // The first worker goes on once two of another kind are there.
    let scripts = [Script::Good, Script::OtherDevice, Script::OtherDevice];
    let workers = scripts.map(|script| {
        let happened = if script == Script::Good { cues.happened.clone() } else { Cue::default() };
        stage.worker_with(port, script, Cues { happened, ..cues.clone() }, Cue::given())
    });
    let (watched, happened) = (report.clone(), cues.happened.clone());
    let directing = thread::spawn(move || {
        for _ in 0..LONG {
            if watched.others() == 2 {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        happened.give();
    });
    let journal = |name: &str| {
        let out = Some(stage.folder.path().join(name));
        JournalOptions { out, ..JournalOptions::default() }
    };
    let (outcome, notes) = stage.tune_on(pools.next_run().unwrap(), 30, &journal("run.jsonl"));
    stage.check(&outcome.unwrap(), 30);
    assert_eq!(notes.lines().filter(|line| line.contains("waits for a pool of its own: its device is")).count(), 2);
    assert_eq!(report.now().workers.len(), 1);
    let (outcome, notes) = stage.tune_on(pools.next_run().unwrap(), 30, &journal("other.jsonl"));
    assert_eq!(outcome.unwrap().evaluations, 30, "{notes}");
    assert_eq!(report.now().workers.len(), 2, "the second pool has both workers of its kind");
    let recorded = tunesmith_store::read(&stage.folder.path().join("other.jsonl")).unwrap();
    assert_eq!(recorded.header.identity["device"], "another device");
    assert!(recorded.entries.iter().all(|entry| entry.worker.as_ref().is_some_and(|by| by.contains("OtherDevice"))));
    assert!(pools.next_run().is_none(), "nobody is left");
    drop(pools);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    directing.join().unwrap();
}
