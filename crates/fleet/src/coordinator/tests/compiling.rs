//! Workers that compile for those that measure, each with one fault. Whatever they do, every
//! configuration is measured once.

use super::*;

/// The behaviour of a worker that compiles.
pub(super) fn play(script: Script, listening: &mut Listening, speaking: &mut Speaking) -> Result<(), FleetError> {
    while let FromCoordinator::Lease { job, task, .. } = hear(listening, FROM_COORDINATOR)? {
        let Task::Compile { config } = task else { panic!("{task:?} is no work for a compiler") };
        // Half of all configurations have the machine code of another one.
        let content = format!("code {}", config.parse::<u128>().unwrap() / 2).into_bytes();
        let bytes = content.len() as u64;
        let parcel = match script {
            Script::CompilerDies => break,
            Script::CompilerHangs => continue,
            Script::CompilesNothing => Err("it does not compile".to_string()),
            Script::WrongDigest => Ok(Parcel { digest: digest_of(b"other"), bytes }),
            Script::TooMuch => Ok(Parcel { digest: digest_of(&content), bytes: MOST_PARCEL + 1 }),
            _ => Ok(Parcel { digest: digest_of(&content), bytes }),
        };
        let is_there = parcel.is_ok();
        let job = if script == Script::CompiledUnasked { job + 1000 } else { job };
        say(speaking, &FromWorker::Compiled { job, parcel })?;
        if is_there {
            write_content(speaking, &content)?;
        }
    }
    speaking.hang_up();
    Ok(())
}

/// Runs 30 evaluations with one worker that measures and one that compiles. The first evaluation ends
/// when the other worker is ready, so that this one gets the next, at least. Returns the report, and the number of
/// leases that came with machine code.
#[track_caller]
fn run_with(script: Script, lease: Duration, expected: &[&str]) -> (FleetReport, usize) {
    let stage = Stage::new();
    let terms = Terms { first: lease, least: lease, ..terms() };
    let fleet = stage.fleet_with(terms);
    let (port, report, cues) = (fleet.port(), fleet.report(), Cues::default());
    let measures = stage.worker_with(port, Script::Good, cues.clone(), Cue::given());
    let compiles = stage.worker_with(port, script, cues.clone(), cues.begun.clone());
    let (watched, happened) = (report.clone(), cues.happened.clone());
    let directing = thread::spawn(move || {
        let is_ready = |report: &FleetReport| report.of(WorkerRole::Compiles).next().is_some();
        if !script.is_refused() {
            when(&watched, &happened, is_ready);
        }
    });
    let (outcome, notes) = stage.tune(fleet, 30, false);
    stage.check(&outcome.unwrap(), 30);
    for part in expected {
        assert_eq!(notes.lines().filter(|line| line.contains(part)).count(), 1, "{part}:\n{notes}");
    }
    [measures, compiles, directing].into_iter().for_each(|thread| thread.join().unwrap());
    (report.now(), cues.parcels.load(Ordering::SeqCst))
}

#[track_caller]
fn compiler(report: &FleetReport) -> &WorkerReport {
    report.of(WorkerRole::Compiles).next().unwrap()
}

/// A time that no lease lasts in these tests.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn machine_code_travels_to_the_worker_that_measures() {
    let (report, parcels) = run_with(Script::Compiles, LONG, &["is ready to compile; 1 compile now"]);
    let compiler = compiler(&report);
    assert_eq!((compiler.state, compiler.lost, compiler.evaluations), (WorkerState::Ended, 0, 0));
    assert!(parcels >= 1 && compiler.compiled == parcels as u64, "{parcels} parcels: {compiler:?}");
    let measured: u64 = report.of(WorkerRole::Measures).map(|worker| worker.evaluations).sum();
    assert!(measured >= 30, "{report:?}");
}

#[test]
fn a_configuration_that_does_not_compile_elsewhere_is_measured_all_the_same() {
    let (report, parcels) = run_with(Script::CompilesNothing, LONG, &[]);
    assert_eq!((parcels, compiler(&report).compiled >= 1), (0, true));
}

#[test]
fn a_killed_compiler_loses_nothing() {
    let (report, parcels) = run_with(Script::CompilerDies, LONG, &["(CompilerDies, process 1) left"]);
    assert_eq!((parcels, compiler(&report).lost), (0, 1));
}

#[test]
fn a_hung_compiler_loses_nothing() {
    let told = "(CompilerHangs, process 1) did not compile lease";
    let (report, parcels) = run_with(Script::CompilerHangs, Duration::from_millis(500), &[told]);
    assert_eq!((parcels, compiler(&report).lost), (0, 1));
}

/// Checks that a worker's machine code reaches nobody, and that one line says why.
#[track_caller]
fn refused(script: Script, told: &str) {
    let told = format!("({script:?}, process 1) {told}");
    assert_eq!(run_with(script, LONG, &[&told]).1, 0);
}

#[test]
fn machine_code_that_is_not_what_was_announced_ends_its_worker() {
    refused(Script::WrongDigest, "left: the peer broke the protocol: the content of a parcel does not have its digest");
}

#[test]
fn too_much_machine_code_ends_its_worker() {
    refused(Script::TooMuch, "left: the peer broke the protocol: a parcel of 67108865 bytes, more than 67108864");
}

#[test]
fn a_compiler_that_answers_what_it_was_not_asked_is_set_aside() {
    refused(Script::CompiledUnasked, "is set aside: it answered lease");
}

#[test]
fn a_compiler_for_another_device_is_set_aside() {
    refused(Script::CompilesForAnother, "is set aside: its device is another device, not a device");
}

#[test]
fn nobody_compiles_on_the_processors_that_others_measure() {
    refused(Script::CompilesBeside, "is set aside: it compiles on the processors of worker 1 (Good, process 1)");
}
