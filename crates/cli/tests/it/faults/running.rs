//! Runs families and compares what happened with what is stated.

use crate::common::{Folder, Ran, entries};
use crate::faults::cases::{Case, Family, Ready};
use serde_json::Value as Json;
use std::collections::HashSet;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tunesmith::core::{Clock, SystemClock};

/// The longest time that a run may take. It is far above what any run needs, because the machine
/// may be busy, and far below the time for which the cases hang.
const LIMIT: Duration = Duration::from_secs(200);

/// The longest time of one case: its time limits, and what a busy machine adds.
const CASE_LIMIT: f64 = 60.0;

/// The variable that marks every process of a run, and all that they leave behind.
const MARK: &str = "TUNESMITH_FAULTS";

/// The number of times in succession that no process may be found. A process that forks and exits is
/// gone when its turn comes in a search, and may be missed.
const SEARCHES: usize = 10;

/// Adds lines to the table of all cases, if a file for it is named (`bench/faults/run`).
#[allow(clippy::disallowed_methods)] // a test learns from its environment whether somebody wants the table
fn tell(title: &str, lines: &str) {
    use std::io::Write as _;
    let Some(path) = std::env::var_os("TUNESMITH_FAULTS_TABLE") else { return };
    let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
    file.write_all(format!("\n{title}\n{lines}\n").as_bytes()).unwrap();
}

/// Tunes a family. Every configuration must get a stated status in time, the winner must be
/// correct, and no process may be left.
#[track_caller]
pub(crate) fn check_family(family: &Family) {
    let cases = family.cases();
    let ready = (family.build)(&cases);
    let (ran, left) = tune(&ready, &["--strategy", "exhaustive"]);
    let measured = measured(&ready.folder);
    tell(family.title, &measured.table(&cases));
    let mut wrong: Vec<String> = measured.wrong(&cases);
    if ran.code != Some(0) {
        wrong.push(format!("the run ended with {:?}: {}", ran.code, ran.stderr));
    } else if !ran.json()["best"]["config"]["CASE"].as_u64().is_some_and(|best| measured.is_correct(best)) {
        wrong.push(format!("the winner is not correct: {:#}", ran.json()["best"]));
    }
    wrong.extend(left);
    assert!(wrong.is_empty(), "{}:\n{}\n\nAll:\n{}", family.title, wrong.join("\n"), measured.table(&cases));
}

/// Tunes configurations that are faster than the innocent one and not right. The innocent one must
/// win.
#[track_caller]
pub(crate) fn check_cheats(family: &Family) {
    let cases = family.cases();
    let ready = (family.build)(&cases);
    let (ran, left) = tune(&ready, &["--strategy", "exhaustive"]);
    tell(family.title, &measured(&ready.folder).table(&cases));
    let best = ran.json()["best"]["config"]["CASE"].as_u64();
    let name = best.and_then(|best| cases.get(usize::try_from(best).ok()?.checked_sub(1)?)).map(|case| case.name);
    assert_eq!((ran.code, best), (Some(0), Some(0)), "{name:?} wins\n{}", measured(&ready.folder).table(&cases));
    assert!(left.is_none(), "{left:?}");
}

/// Makes every request of a family, and checks its exit code.
#[track_caller]
pub(crate) fn check_requests(family: &Family) {
    let (mut wrong, clock, mut table) = (Vec::new(), SystemClock::new(), Vec::new());
    for case in family.cases() {
        let body = case.body;
        let mut ready = (family.build)(std::slice::from_ref(&case));
        let lines = |key: &'static str| body.lines().filter_map(move |line| line.strip_prefix(key)?.strip_prefix(": "));
        let variables: Vec<(&str, &str)> = lines("env").map(|line| line.split_once('=').unwrap()).collect();
        ready.environment.extend(variables.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let arguments: Vec<&str> = lines("args").flat_map(str::split_whitespace).collect();
        let began = clock.now();
        let (ran, left) = tune(&ready, &arguments);
        let seconds = (clock.now() - began).as_secs_f64();
        let code = format!("exit {}", ran.code.map_or("by a signal".to_owned(), |code| code.to_string()));
        table.push(format!("{:<45} {code:<12} {seconds:>6.2} s", case.name));
        if !case.statuses.contains(&code.as_str()) || left.is_some() || ran.stderr.contains("panicked") {
            wrong.push(format!(
                "{}: stated {}, got {code}, {left:?}: {}",
                case.name,
                case.statuses.join("|"),
                ran.stderr
            ));
        }
    }
    tell(family.title, &table.join("\n"));
    assert!(wrong.is_empty(), "{}:\n{}", family.title, wrong.join("\n"));
}

/// Returns true if this machine can sandbox kernels. Otherwise prints the reason.
#[allow(clippy::print_stderr)] // tells why a test is skipped
pub(crate) fn has_sandbox() -> bool {
    let devices = Folder::new().run(&["devices", "--json"]).json();
    let sandbox = devices["sandbox"].as_str().unwrap();
    if sandbox.starts_with("none") {
        eprintln!("skipped: sandbox {sandbox}");
    }
    !sandbox.starts_with("none")
}

/// Returns true if this machine has a program. Otherwise prints that the test is skipped. In continuous
/// integration, the program must be there.
#[allow(clippy::print_stderr, clippy::disallowed_methods)] // tests learn from the environment whether they may skip
pub(crate) fn has_program(name: &str) -> bool {
    let found = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let has = found.is_ok_and(|status| status.success());
    assert!(has || std::env::var_os("CI").is_none(), "{name} is missing, and tests with it must run here");
    if !has {
        eprintln!("skipped: there is no {name}");
    }
    has
}

/// Tunes a problem. Returns the end of the run, and a message if processes were left.
#[track_caller]
fn tune(ready: &Ready, more: &[&str]) -> (Ran, Option<String>) {
    let mark = ready.folder.path("").display().to_string();
    let mut command = ready.folder.command(&["tune", "p.toml", "--json", "--quiet"]);
    command.args(more).envs(ready.environment.iter().map(|(name, value)| (*name, value))).env(MARK, &mark);
    let stdout = ready.folder.path("stdout");
    let stderr = ready.folder.path("stderr");
    command.stdout(std::fs::File::create(&stdout).unwrap()).stderr(std::fs::File::create(&stderr).unwrap());
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    let code = wait(&mut child);
    let left = left(&mark);
    let text = |path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    (Ran { code, stdout: text(stdout), stderr: text(stderr) }, left)
}

/// Waits for a process, and ends it at the limit.
fn wait(child: &mut Child) -> Option<i32> {
    let clock = SystemClock::new();
    while clock.now() < LIMIT {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

/// Returns a message if processes with the mark live on after the run. Ends them.
fn left(mark: &str) -> Option<String> {
    let clock = SystemClock::new();
    let (mut found, mut empty) = (Vec::new(), 0);
    // The system takes a moment to end what was killed.
    while empty < SEARCHES && (empty > 0 || clock.now() < Duration::from_secs(5)) {
        let marked = marked(mark);
        if marked.is_empty() {
            empty += 1;
        } else {
            (found, empty) = (marked, 0);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    if empty == SEARCHES {
        return None;
    }
    let names: Vec<String> = found.iter().map(|(id, name)| format!("{id} ({name})")).collect();
    for (id, _) in &found {
        let _ = Command::new("kill").args(["-KILL", id]).status();
    }
    Some(format!("processes live on: {}", names.join(", ")))
}

/// Returns the processes whose environment holds the mark.
fn marked(mark: &str) -> Vec<(String, String)> {
    let wanted = format!("{MARK}={mark}");
    let of_process = |entry: std::fs::DirEntry| {
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        let has = environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes());
        let name = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        has.then(|| (entry.file_name().to_string_lossy().into_owned(), name.trim().to_owned()))
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(of_process).collect()
}

/// The evaluations of a family by case number.
struct Measured(Vec<Json>);

fn measured(folder: &Folder) -> Measured {
    Measured(if folder.path("p.jsonl").exists() { entries(&folder.path("p.jsonl")) } else { Vec::new() })
}

impl Measured {
    fn of(&self, number: u64) -> Option<&Json> {
        self.0.iter().find(|entry| entry["config"]["CASE"].as_u64() == Some(number))
    }

    fn is_correct(&self, number: u64) -> bool {
        self.of(number).is_some_and(|entry| entry["status"] == "correct")
    }

    /// Returns the time since the evaluation before, in seconds.
    fn seconds(&self, number: u64) -> f64 {
        let clock = |entry: &Json| entry["clock"].as_f64().unwrap_or_default();
        let at = self.0.iter().position(|entry| entry["config"]["CASE"].as_u64() == Some(number)).unwrap_or_default();
        clock(&self.0[at]) - at.checked_sub(1).map_or(0.0, |before| clock(&self.0[before]))
    }

    fn wrong(&self, cases: &[Case]) -> Vec<String> {
        let innocent = (!self.is_correct(0)).then(|| format!("the innocent configuration: {:?}", self.of(0)));
        let numbers: HashSet<u64> = self.0.iter().filter_map(|entry| entry["config"]["CASE"].as_u64()).collect();
        let twice = (numbers.len() != self.0.len()).then(|| "a configuration was evaluated twice".to_owned());
        let cases = (1..).zip(cases).filter_map(|(number, case)| {
            let Some(entry) = self.of(number) else { return Some(format!("{} was not evaluated", case.name)) };
            let (status, seconds) = (entry["status"].as_str().unwrap_or_default(), self.seconds(number));
            let message = entry["message"].as_str().unwrap_or_default();
            let stated = case.statuses.join("|");
            let is_right = case.statuses.contains(&status) && seconds < CASE_LIMIT;
            // A failure without a message helps nobody.
            let is_told = status == "correct" || !message.is_empty();
            (!is_right || !is_told)
                .then(|| format!("{}: stated {stated}, got {status} after {seconds:.2} s: {message:.300}", case.name))
        });
        innocent.into_iter().chain(twice).chain(cases).collect()
    }

    fn table(&self, cases: &[Case]) -> String {
        let line = |(number, case): (u64, &Case)| {
            let Some(entry) = self.of(number) else { return format!("{:<45} -", case.name) };
            let message = entry["message"].as_str().unwrap_or_default().lines().next().unwrap_or_default();
            let status = entry["status"].as_str().unwrap_or_default();
            format!("{:<45} {status:<12} {:>6.2} s  {message:.120}", case.name, self.seconds(number))
        };
        (1..).zip(cases).map(line).collect::<Vec<_>>().join("\n")
    }
}
