//! Runs of several workers, as a user starts them.

mod common;

use common::{Folder, Ran};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PROBLEM: &str = "[parameters]\nX = { range = '1..=60' }\nY = [1, 2, 4, 8]\n";
const DEVICE: &str = "synthetic:abs(X - 17) + Y";

fn folder() -> Folder {
    Folder::with(&[("p.toml", PROBLEM)])
}

/// Returns a `tune` of the problem with a fleet, whose workers keep their files in the folder.
fn tune(folder: &Folder, fleet: &str, more: &[&str]) -> Command {
    let arguments = ["tune", "p.toml", "--device", DEVICE, "--fleet", fleet, "--strategy", "random"];
    let mut command = folder.command(&[&arguments[..], more].concat());
    fs::create_dir_all(folder.path("temporary")).unwrap();
    command.env("TMPDIR", folder.path("temporary"));
    command
}

fn written(folder: &Folder) -> usize {
    fs::read_to_string(folder.path("p.jsonl")).unwrap_or_default().lines().count()
}

/// Waits until `done`, for a minute at most.
#[track_caller]
fn wait_until(mut done: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it did not happen within a minute");
}

/// Returns the number of processes whose parameters or environment name the folder.
fn processes_of(folder: &Folder) -> usize {
    let name = folder.path("temporary").display().to_string();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let environments = entries.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
    environments.filter(|environment| String::from_utf8_lossy(environment).contains(&name)).count()
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn local_workers_find_the_best_and_leave_nothing_behind() {
    let folder = folder();
    let ran = Ran::of(tune(&folder, "local:3", &["--stop", "fraction 1", "--json", "--quiet"]).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let json = ran.json();
    assert_eq!((&json["best"]["config"]["X"], &json["best"]["config"]["Y"]), (&17.into(), &1.into()));
    let workers = json["fleet"]["workers"].as_array().unwrap();
    let evaluations: u64 = workers.iter().map(|worker| worker["evaluations"].as_u64().unwrap()).sum();
    assert!(evaluations >= 240 && !workers.is_empty(), "{json:#}");
    // A header, and every configuration once: a formula has no final.
    assert_eq!(written(&folder), 241);
    assert_eq!(processes_of(&folder), 0);
    assert!(is_empty(&folder.path("temporary")));
}

#[test]
fn a_killed_coordinator_leaves_no_worker_and_the_run_continues() {
    let folder = folder();
    let slow = ["--fleet-pause", "0.05", "--stop", "evaluations 200"];
    let mut coordinator = tune(&folder, "local:2", &slow).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    wait_until(|| written(&folder) > 10);
    coordinator.kill().unwrap();
    coordinator.wait().unwrap();
    wait_until(|| processes_of(&folder) == 0);
    let more = ["--resume", "--out", "p.jsonl", "--stop", "evaluations 60", "--json", "--quiet"];
    let ran = Ran::of(tune(&folder, "local:2", &more).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let json = ran.json();
    assert_eq!(json["evaluations"], 60);
    assert!(json["resumed"].as_u64().unwrap() >= 9, "{json:#}");
}

struct Listening {
    coordinator: Child,
    port: String,
}

/// Starts a coordinator that waits for workers, with the token of the file.
fn listen(folder: &Folder, more: &[&str]) -> Listening {
    let token = folder.path("token");
    fs::write(&token, "t".repeat(40)).unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let probe = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = probe.local_addr().unwrap().port().to_string();
    drop(probe);
    let fleet = format!("listen:127.0.0.1:{port}");
    let mut command = tune(folder, &fleet, &[&["--token-file", "token"], more].concat());
    let coordinator = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    wait_until(|| std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_ok());
    Listening { coordinator, port }
}

fn worker(folder: &Folder, port: &str, more: &[&str]) -> Command {
    let address = format!("127.0.0.1:{port}");
    let mut command = folder.command(&[&["worker", "--connect", &address], more].concat());
    command.env("TMPDIR", folder.path("temporary")).env_remove("TUNESMITH_FLEET_TOKEN");
    command
}

#[test]
fn workers_connect_with_the_token_alone() {
    let folder = folder();
    let Listening { mut coordinator, port } = listen(&folder, &["--stop", "evaluations 40"]);
    let without = Ran::of(worker(&folder, &port, &[]).output().unwrap());
    without.refused(&["this worker needs the token", "openssl rand -hex 32", "chmod 600"]);
    let wrong = Ran::of(worker(&folder, &port, &[]).env("TUNESMITH_FLEET_TOKEN", "x".repeat(40)).output().unwrap());
    assert!(wrong.code == Some(3) && wrong.stderr.contains("wrong token"), "{wrong:#?}");
    fs::write(folder.path("open"), "t".repeat(40)).unwrap();
    fs::set_permissions(folder.path("open"), fs::Permissions::from_mode(0o644)).unwrap();
    let open = Ran::of(worker(&folder, &port, &["--token-file", "open"]).output().unwrap());
    open.refused(&["others may read it (mode 644)"]);
    let right = Ran::of(worker(&folder, &port, &["--token-file", "token"]).output().unwrap());
    assert!(right.stderr.contains("ready: p on synthetic"), "{right:#?}");
    assert_eq!(coordinator.wait().unwrap().code(), Some(0));
    let said: Vec<String> = BufReader::new(coordinator.stderr.take().unwrap()).lines().map(Result::unwrap).collect();
    let refused = said.iter().filter(|line| line.contains("refused") && line.contains("wrong token")).count();
    assert_eq!(refused, 1, "{said:#?}");
}

#[test]
fn a_fleet_that_is_none_is_refused() {
    let folder = folder();
    let refused = |fleet: &str| Ran::of(tune(&folder, fleet, &[]).output().unwrap());
    refused("local:0").refused(&["`local:0` names no fleet", "1 to 1024"]);
    refused("pbs:x").refused(&["fleets are local:N, listen:PORT"]);
    refused("listen:0").refused(&["needs the token that both sides know"]);
    refused("ssh:hosts.txt").refused(&["hosts.txt"]);
    Ran::of(tune(&folder, "local:1", &["--pools", "--resume"]).output().unwrap()).refused(&["--pools", "--resume"]);
}

/// Returns the processes of local workers whose environment names the folder.
fn workers_of(folder: &Folder) -> Vec<i32> {
    let name = folder.path("temporary").display().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let read = |file: &str| fs::read(entry.path().join(file)).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
        String::from_utf8_lossy(&read("environ")).contains(&name) && arguments.contains(" worker --connect")
    });
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[test]
fn a_local_worker_that_hangs_is_replaced() {
    let folder = folder();
    let slow = ["--fleet-pause", "0.02", "--fleet-lease", "1", "--stop", "evaluations 150"];
    let mut coordinator = tune(&folder, "local:2", &slow).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    wait_until(|| written(&folder) > 10);
    let hung = workers_of(&folder)[0];
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(hung), nix::sys::signal::Signal::SIGSTOP).unwrap();
    let said: Vec<String> = BufReader::new(coordinator.stderr.take().unwrap()).lines().map(Result::unwrap).collect();
    assert_eq!(coordinator.wait().unwrap().code(), Some(0), "{said:#?}");
    let of = |text: &str| said.iter().filter(|line| line.contains(text)).count();
    let hung = format!("process {hung}) did not answer lease");
    assert_eq!(of(&hung), 1, "{said:#?}");
    assert_eq!(of("its process is ended"), 1, "{said:#?}");
    assert_eq!(of("was ended by signal 9; it was started again"), 1, "{said:#?}");
    assert_eq!(written(&folder), 151);
    assert_eq!(processes_of(&folder), 0);
}

#[test]
fn the_status_names_each_worker_while_the_run_goes_on_and_afterwards() {
    let folder = folder();
    let slow = ["--fleet-pause", "0.05", "--stop", "evaluations 2000"];
    let mut coordinator = tune(&folder, "local:2", &slow).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let status = || folder.run(&["fleet", "status", "p.jsonl", "--json"]);
    wait_until(|| written(&folder) > 20 && folder.path("p.fleet.json").exists());
    wait_until(|| status().json()["workers"].as_array().is_some_and(|workers| workers.len() == 2));
    let running = status().json();
    assert_eq!((&running["is_running"], &running["spec"]), (&true.into(), &"local:2".into()), "{running:#}");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(coordinator.id() as i32), nix::sys::signal::Signal::SIGINT)
        .unwrap();
    assert_eq!(coordinator.wait().unwrap().code(), Some(130));
    let ended = folder.run(&["fleet", "status", "."]);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert!(ended.stdout.contains("the run does not go on"), "{ended:#?}");
    assert_eq!(ended.stdout.lines().filter(|line| line.contains("served  worker")).count(), 2, "{ended:#?}");
    assert!(ended.stdout.contains("2 workers made") && ended.stdout.contains("times one device"), "{ended:#?}");
    fs::remove_file(folder.path("p.fleet.json")).unwrap();
    let lost = folder.run(&["fleet", "status", "p.jsonl"]);
    assert!(lost.stdout.contains("its state is lost") && lost.stdout.contains("2 workers made"), "{lost:#?}");
    assert!(folder.run(&["report", "p.jsonl", "-o", "page.html"]).code == Some(0));
    let page = fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(page.contains("<h2>Workers</h2>") && page.contains("worker 2 ("));
    let watched = folder.run(&["watch", "p.jsonl", "--once"]);
    assert_eq!(watched.code, Some(0), "{watched:#?}");
}

#[test]
fn a_run_of_one_device_has_no_fleet_to_show() {
    let folder = folder();
    let arguments = ["tune", "p.toml", "--device", DEVICE, "--stop", "evaluations 5", "--quiet"];
    assert_eq!(folder.run(&arguments).code, Some(0));
    folder.run(&["fleet", "status", "p.jsonl"]).refused(&["one device measured the run", "tune --fleet"]);
}

#[test]
fn a_problem_that_needs_a_file_outside_of_its_folder_is_refused() {
    let folder = Folder::with(&[("common.h", "")]);
    fs::create_dir(folder.path("inner")).unwrap();
    folder.write("inner/p.toml", PROBLEM);
    folder.write("inner/kernel.c", "#include \"../common.h\"\n");
    let arguments = ["tune", "inner/p.toml", "--device", DEVICE, "--fleet", "local:1"];
    folder.run(&arguments).refused(&[
        "kernel.c: line 1 names `../common.h`",
        "outside of the problem's folder",
        "copy it",
    ]);
}
