//! Processes share a file of wisdom: nothing is lost, results travel while they run, and a
//! configuration that ends processes is given up.
//!
//! A process of its own is this executable again, with the name of an ignored test. It works in the
//! folder that it is started in.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_choose::wisdom::Config;
use tunesmith_choose::{Clock, Ending, ManualClock, Online, read_wisdom};
use tunesmith_space::Value;

/// The kernel's time in milliseconds with each configuration. The one with 0 fails.
const TIMES: [u64; 5] = [40, 0, 60, 25, 30];

const FILE: &str = "shared.wisdom";

fn configs() -> Vec<Config> {
    (0..TIMES.len()).map(|number| vec![("NUMBER".to_string(), Value::Int(number as i64))]).collect()
}

fn number(config: &Config) -> usize {
    config[0].1.as_int().unwrap() as usize
}

fn online(path: &Path) -> Online {
    Online::new("kernel", "device", configs()).unwrap().with_file(path).with_clock(Arc::new(ManualClock::default()))
}

/// Makes one call. Returns the configuration that it ran with.
fn call(online: &Online, n: f64) -> usize {
    let ticket = online.begin(&[("N", n)]);
    let number = number(ticket.config());
    let took = Duration::from_millis(TIMES[number].max(1));
    online.end(ticket, if TIMES[number] == 0 { Ending::Failed(took) } else { Ending::Took(took) });
    number
}

fn calls(online: &Online, n: f64, count: usize) {
    for _ in 0..count {
        call(online, n);
    }
}

/// Starts the ignored test `name` as a process that works in `folder`.
fn start(name: &str, folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", name]).current_dir(folder);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the test starts again")
}

#[test]
#[ignore = "a process of another test"]
fn a_process_that_tunes() {
    let online = online(Path::new(FILE));
    let own = f64::from(std::process::id());
    for _ in 0..2000 {
        call(&online, 8.0);
        call(&online, own);
    }
    assert_eq!(online.warnings(), [""; 0]);
    assert_eq!(number(&online.best(&[("N", own)])), 3);
}

#[test]
fn two_processes_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut processes: Vec<Child> = (0..2).map(|_| start("sharing::a_process_that_tunes", folder.path())).collect();
    let inputs: Vec<u32> = processes.iter().map(Child::id).chain([8]).collect();
    processes.iter_mut().for_each(|process| assert!(process.wait().unwrap().success()));
    let file = read_wisdom(&folder.path().join(FILE)).unwrap();
    assert_eq!(file.flawed, []);
    for input in inputs.into_iter().map(f64::from) {
        let entries = file.wisdom.entries.iter().filter(|entry| entry.input["N"] == input);
        let found: HashSet<(usize, u64)> = entries.map(|one| (number(&one.config), one.time_ms as u64)).collect();
        assert!(found.is_superset(&[(0, 40), (3, 25), (4, 30)].into()), "input {input}: {found:?}");
        // What is slow for a similar input is not tried. No input is similar to 8.
        assert!(input != 8.0 || found.contains(&(2, 60)), "{found:?}");
        let mut attempts = file.wisdom.attempts.iter().filter(|attempt| attempt.input["N"] == input);
        assert!(attempts.any(|attempt| number(&attempt.config) == 1), "the failure for {input}");
    }
}

#[test]
fn results_travel_while_processes_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let (first, second) = (online(&path), online(&path));
    assert_eq!(call(&second, 8.0), 0);
    calls(&first, 8.0, 2000);
    let ran: Vec<usize> = (0..100).map(|_| call(&second, 8.0)).collect();
    let tried: HashSet<usize> = ran.iter().copied().collect();
    assert_eq!(tried, [0, 3, 4].into(), "neither what failed nor what is slower is tried again: {ran:?}");
    assert_eq!(number(&second.best(&[("N", 8.0)])), 3);
    assert_eq!(call(&second, 16.0), 0, "a new input begins with the default");
}

#[test]
fn a_file_that_is_replaced_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let found = folder.path().join("found.wisdom");
    let finder = online(&found);
    calls(&finder, 16.0, 2000);
    let running = online(&path);
    calls(&running, 8.0, 10);
    std::fs::rename(&found, &path).unwrap();
    assert_eq!(call(&running, 16.0), 3);
    assert_eq!(running.warnings(), [""; 0]);
}

#[test]
#[ignore = "a process of another test"]
fn a_process_that_a_configuration_ends() {
    let clock = Arc::new(ManualClock::default());
    // The clock begins where the latest attempt left it, and two minutes later.
    let latest = read_wisdom(Path::new(FILE)).map_or(0.0, |file| {
        let dates = file.wisdom.attempts.iter().filter_map(|attempt| attempt.date);
        dates.fold(0.0, f64::max)
    });
    clock.advance(Duration::from_secs_f64(latest + 120.0));
    let online = Online::new("kernel", "device", configs()).unwrap().with_file(FILE).with_clock(clock.clone());
    for _ in 0..2000 {
        let ticket = online.begin(&[]);
        let number = number(ticket.config());
        if number == 1 {
            std::process::abort();
        }
        online.end(ticket, Ending::Took(Duration::from_millis(TIMES[number])));
    }
    assert!(clock.now() > Duration::ZERO);
}

#[test]
fn a_configuration_that_ended_two_processes_is_not_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let ends: Vec<bool> = (0..4)
        .map(|_| start("sharing::a_process_that_a_configuration_ends", folder.path()).wait().unwrap().success())
        .collect();
    assert_eq!(ends, [false, false, true, true]);
}
