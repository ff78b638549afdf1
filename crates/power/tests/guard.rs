//! Kills tuners and guards at many moments. This executable serves as both.
//!
//! The device is a script whose state is a file. Whoever is killed, the device is reset within a
//! bounded wait, or at the next start, and the next user is told.

#![allow(clippy::print_stdout)] // the runner of these tests tells what it runs

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{PidfdFlags, pidfd_open};
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_power::guard::{Leftovers, StartGuard};
use tunesmith_power::{Knob, Library, ManagedDevice, ScriptedState, Setting, Steering, SteeringError};

/// The clocks of the device.
const CLOCKS: [u32; 4] = [600, 900, 1200, 1500];

/// The longest wait for what happens within milliseconds.
const PATIENCE: usize = 2000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("as-guard") => tunesmith_power::guard::serve(),
        Some("as-tuner") => tune_until_killed(Path::new(&arguments[2])),
        _ => run_tests(),
    }
}

fn run_tests() {
    let tests: [(&str, fn()); 10] = [
        ("a_device_is_reset_when_its_steering_ends", a_device_is_reset_when_its_steering_ends),
        ("a_killed_tuner_leaves_a_device_that_is_reset", a_killed_tuner_leaves_a_device_that_is_reset),
        ("a_guard_sleeps_until_its_tuner_dies", a_guard_sleeps_until_its_tuner_dies),
        ("a_killed_guard_and_tuner_leave_a_note", a_killed_guard_and_tuner_leave_a_note),
        ("a_killed_guard_is_replaced", a_killed_guard_is_replaced),
        ("a_guard_that_is_told_to_end_resets_first", a_guard_that_is_told_to_end_resets_first),
        ("two_runs_do_not_steer_one_device", two_runs_do_not_steer_one_device),
        ("without_permission_nothing_is_begun", without_permission_nothing_is_begun),
        ("a_device_that_fails_to_reset_keeps_its_note", a_device_that_fails_to_reset_keeps_its_note),
        ("a_clock_that_is_not_reached_is_told", a_clock_that_is_not_reached_is_told),
    ];
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
}

/// A scripted device in a folder of its own.
struct Lab(tempfile::TempDir);

impl Lab {
    fn new(more: &str) -> Self {
        let lab = Self(tempfile::tempdir().unwrap());
        lab.script(more);
        lab
    }

    fn script(&self, more: &str) {
        let (state, log) = (self.path("state"), self.path("log"));
        let text = format!(
            r#"{{"clocks_mhz": {CLOCKS:?}, "power_w": {{"lowest": 100, "highest": 300, "default": 250}},
                "state": {state:?}, "log": {log:?} {more}}}"#
        );
        fs::write(self.path("script"), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn notes(&self) -> PathBuf {
        self.path("notes")
    }

    fn state(&self) -> ScriptedState {
        let text = fs::read_to_string(self.path("state")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn has_note(&self) -> bool {
        fs::read_dir(self.notes()).is_ok_and(|mut entries| entries.next().is_some())
    }

    fn steer(&self) -> Result<Steering, SteeringError> {
        steer(self.0.path())
    }

    /// Starts a tuner, and waits until it has set its first clock.
    fn tuner(&self) -> Tuner {
        let exe = std::env::current_exe().unwrap();
        let mut command = Command::new(exe);
        let mut child = command.arg("as-tuner").arg(self.0.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Tuner { child, guard: line.trim().parse().expect("the tuner tells its guard") }
    }
}

struct Tuner {
    child: Child,
    guard: i32,
}

impl Tuner {
    fn id(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap())
    }

    fn kill(mut self) {
        kill(self.id(), Signal::SIGKILL).unwrap();
        self.child.wait().unwrap();
    }
}

fn start_guard() -> StartGuard {
    Arc::new(|| -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("as-guard");
        Ok(command)
    })
}

fn steer(folder: &Path) -> Result<Steering, SteeringError> {
    let library = Library::Script(folder.join("script"));
    let device = ManagedDevice { library, address: "0000:01:00.0".to_owned(), name: "Scripted GPU".to_owned() };
    Steering::open(start_guard(), device, folder.join("notes"), Knob::ALL.to_vec())
}

/// Sets one clock and limit after the other until it is killed.
fn tune_until_killed(folder: &Path) {
    let mut steering = steer(folder).unwrap();
    for round in 0u32.. {
        let clock_mhz = Some(CLOCKS[round as usize % CLOCKS.len()]);
        steering.apply(Setting { clock_mhz, power_limit_w: Some(150 + round % 50) }).unwrap();
        if round == 0 {
            println!("{}", steering.guard_id());
            io::stdout().flush().unwrap();
        }
    }
}

fn eventually(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..PATIENCE {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{what} did not come true");
}

fn setting(clock_mhz: u32) -> Setting {
    Setting::default().with(Knob::Clock, clock_mhz)
}

fn a_device_is_reset_when_its_steering_ends() {
    let lab = Lab::new("");
    let before = r#"{"power_limit_w": 220.0}"#;
    fs::write(lab.path("state"), before).unwrap();
    let mut steering = lab.steer().unwrap();
    assert_eq!(steering.abilities().clocks.as_ref().unwrap().mhz, CLOCKS);
    steering.apply(Setting { clock_mhz: Some(900), power_limit_w: Some(120) }).unwrap();
    assert_eq!(lab.state(), ScriptedState { clock_mhz: Some(900), power_limit_w: Some(120.0) });
    assert!(lab.has_note());
    let lines = || fs::read_to_string(lab.path("log")).unwrap().lines().count();
    let calls = lines();
    steering.apply(Setting { clock_mhz: Some(900), power_limit_w: Some(120) }).unwrap();
    assert_eq!(lines(), calls, "what is set already is not set again");
    drop(steering);
    assert_eq!(lab.state(), ScriptedState { clock_mhz: None, power_limit_w: Some(220.0) });
    assert!(!lab.has_note());
}

fn a_killed_tuner_leaves_a_device_that_is_reset() {
    let lab = Lab::new("");
    for moment in 0..25 {
        let tuner = lab.tuner();
        std::thread::sleep(Duration::from_micros(700 * moment));
        tuner.kill();
        eventually("the guard's reset", || lab.state() == ScriptedState::default() && !lab.has_note());
    }
}

/// The death of the tuner itself wakes the guard. No clock is involved: the guard sleeps without a
/// limit, and its end is waited for as an event, behind which everything is reset.
fn a_guard_sleeps_until_its_tuner_dies() {
    let lab = Lab::new("");
    let tuner = lab.tuner();
    let guard = rustix::process::Pid::from_raw(tuner.guard).unwrap();
    let guard = pidfd_open(guard, PidfdFlags::empty()).unwrap();
    // A stopped tuner gives no orders.
    kill(tuner.id(), Signal::SIGSTOP).unwrap();
    match sleeps_without_limit(tuner.guard) {
        Some(_) => eventually("the guard's sleep", || sleeps_without_limit(tuner.guard) == Some(true)),
        None => println!("not looked at: this system does not show the calls of processes"),
    }
    assert_ne!(lab.state(), ScriptedState::default());
    tuner.kill();
    poll(&mut [PollFd::new(&guard, PollFlags::IN)], None).unwrap();
    assert_eq!(lab.state(), ScriptedState::default());
    assert!(!lab.has_note());
}

/// Returns true if a process waits for files without a time limit, and `None` if the system does not
/// show the calls of processes.
fn sleeps_without_limit(id: i32) -> Option<bool> {
    // The number of `ppoll` on x86-64 and aarch64. Its third argument is the limit.
    const PPOLL: [&str; 2] = ["271", "73"];
    let text = fs::read_to_string(format!("/proc/{id}/syscall")).ok()?;
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(words.first().is_some_and(|call| PPOLL.contains(call)) && words.get(3) == Some(&"0x0"))
}

fn a_killed_guard_and_tuner_leave_a_note() {
    let lab = Lab::new("");
    let mut told = 0;
    for moment in 0..25 {
        let tuner = lab.tuner();
        std::thread::sleep(Duration::from_micros(700 * moment));
        // A tuner that runs on would start another guard.
        kill(tuner.id(), Signal::SIGSTOP).unwrap();
        let guard = Pid::from_raw(tuner.guard);
        kill(guard, Signal::SIGKILL).unwrap();
        tuner.kill();
        eventually("the guard's end", || kill(guard, None).is_err() || is_zombie(guard));
        let is_set = lab.state() != ScriptedState::default();
        let left_over = Leftovers::reset(&start_guard(), &lab.notes());
        assert!(!is_set || left_over.len() == 1, "{left_over:?}");
        assert!(left_over.iter().all(|one| one.problem.is_none() && one.to_string().contains("Scripted GPU")));
        assert_eq!(lab.state(), ScriptedState::default());
        assert!(!lab.has_note());
        told += left_over.len();
    }
    assert!(told > 0, "a device was left set at least once");
    assert!(Leftovers::reset(&start_guard(), &lab.notes()).is_empty(), "told once");
}

/// Returns true if a process has ended, and its parent has not asked.
fn is_zombie(id: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

fn a_killed_guard_is_replaced() {
    let lab = Lab::new("");
    let mut steering = lab.steer().unwrap();
    steering.apply(setting(600)).unwrap();
    kill(Pid::from_raw(i32::try_from(steering.guard_id()).unwrap()), Signal::SIGKILL).unwrap();
    steering.apply(setting(1200)).unwrap();
    assert_eq!(lab.state().clock_mhz, Some(1200));
    let left_over = steering.take_left_over();
    assert_eq!(left_over.len(), 1);
    assert!(
        left_over[0].to_string().starts_with("an earlier run was killed and left the clock and the power limit of")
    );
    drop(steering);
    assert_eq!(lab.state(), ScriptedState::default());
}

fn a_guard_that_is_told_to_end_resets_first() {
    let lab = Lab::new("");
    let mut steering = lab.steer().unwrap();
    steering.apply(setting(600)).unwrap();
    let guard = Pid::from_raw(i32::try_from(steering.guard_id()).unwrap());
    for harmless in [Signal::SIGINT, Signal::SIGHUP] {
        kill(guard, harmless).unwrap();
    }
    steering.apply(setting(900)).unwrap();
    kill(guard, Signal::SIGTERM).unwrap();
    eventually("the guard's reset", || lab.state() == ScriptedState::default() && !lab.has_note());
}

fn two_runs_do_not_steer_one_device() {
    let lab = Lab::new("");
    let first = lab.steer().unwrap();
    let error = lab.steer().unwrap_err();
    assert!(error.problem.contains("another run sets the clock and power of Scripted GPU (its guard is process"));
    assert!(error.problem.contains(&first.guard_id().to_string()) && error.remedy.contains("wait for its end"));
    assert!(Leftovers::reset(&start_guard(), &lab.notes()).is_empty(), "its guard lives");
    drop(first);
    drop(lab.steer().unwrap());
}

fn without_permission_nothing_is_begun() {
    let lab = Lab::new(r#", "forbidden": true"#);
    let error = lab.steer().unwrap_err();
    assert_eq!(error.problem, "you may not set `clock_mhz` of Scripted GPU");
    assert!(error.remedy.contains("forbidden"));
    eventually("the end of the note", || !lab.has_note());
    lab.script("");
    drop(lab.steer().unwrap());
    assert_eq!(lab.state(), ScriptedState::default());
}

fn a_device_that_fails_to_reset_keeps_its_note() {
    let lab = Lab::new("");
    let mut steering = lab.steer().unwrap();
    steering.apply(setting(600)).unwrap();
    let guard = Pid::from_raw(i32::try_from(steering.guard_id()).unwrap());
    kill(guard, Signal::SIGKILL).unwrap();
    eventually("the guard's end", || is_zombie(guard));
    drop(steering);
    lab.script(r#", "faults": [{"call": "reset_clock", "error": "the device is lost"}]"#);
    let left_over = Leftovers::reset(&start_guard(), &lab.notes());
    assert_eq!(left_over[0].problem.as_deref(), Some("the device is lost"));
    assert!(lab.has_note() && lab.state().clock_mhz == Some(600));
    lab.script("");
    assert_eq!(Leftovers::reset(&start_guard(), &lab.notes())[0].problem, None);
    assert!(!lab.has_note() && lab.state() == ScriptedState::default());
}

fn a_clock_that_is_not_reached_is_told() {
    let lab = Lab::new(r#", "reaches_mhz": 1300, "faults": [{"call": "lock_clock", "with": 900, "error": "Unknown"}]"#);
    let mut steering = lab.steer().unwrap();
    assert_eq!(steering.apply(setting(1200)).unwrap().missed_mhz, None);
    assert_eq!(steering.apply(setting(1500)).unwrap().missed_mhz, Some(1300.0));
    let error = steering.apply(setting(900)).unwrap_err();
    assert!(error.problem.contains("a clock of 900 MHz: Unknown"), "{error}");
}
