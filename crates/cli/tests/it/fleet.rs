//! Runs of several workers, as a user starts them.

use crate::common;

use common::{Folder, Ran, TWICE, cuda, entries, twice_problem};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PROBLEM: &str = "[parameters]\nX = { range = '1..=60' }\nY = [1, 2, 4, 8]\n";
const DEVICE: &str = "synthetic:abs(X - 17) + Y";

pub(crate) fn folder() -> Folder {
    Folder::with(&[("p.toml", PROBLEM)])
}

/// Returns a `tune` of the problem with a fleet, whose workers keep their files in the folder.
pub(crate) fn tune(folder: &Folder, fleet: &str, more: &[&str]) -> Command {
    let arguments = ["tune", "p.toml", "--device", DEVICE, "--fleet", fleet, "--strategy", "random"];
    let mut command = folder.command(&[&arguments[..], more].concat());
    fs::create_dir_all(folder.path("temporary")).unwrap();
    command.env("TMPDIR", folder.path("temporary"));
    command
}

pub(crate) fn written(folder: &Folder) -> usize {
    fs::read_to_string(folder.path("p.jsonl")).unwrap_or_default().lines().count()
}

/// Waits until `done`, for a minute at most.
#[track_caller]
pub(crate) fn wait_until(mut done: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it did not happen within a minute");
}

/// Returns the number of processes whose parameters or environment name the folder.
pub(crate) fn processes_of(folder: &Folder) -> usize {
    let name = folder.path("temporary").display().to_string();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let environments = entries.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
    environments.filter(|environment| String::from_utf8_lossy(environment).contains(&name)).count()
}

pub(crate) fn is_empty(folder: &Path) -> bool {
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

#[test]
fn a_coordinator_killed_five_times_with_leases_open_loses_and_repeats_nothing() {
    let folder = folder();
    let arguments = ["--fleet-pause", "0.05", "--stop", "evaluations 240"];
    let mut before = String::new();
    for (round, lines) in [2, 9, 5, 17, 11].into_iter().enumerate() {
        let resume: &[&str] = if round == 0 { &[] } else { &["--resume"] };
        let mut command = tune(&folder, "local:4", &[&arguments[..], resume].concat());
        let made = written(&folder);
        let mut coordinator = command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        // Each worker takes a while, so that leases are open at any moment.
        wait_until(|| written(&folder) >= made + lines || coordinator.try_wait().unwrap().is_some());
        coordinator.kill().unwrap();
        coordinator.wait().unwrap();
        wait_until(|| processes_of(&folder) == 0);
        let text = fs::read_to_string(folder.path("p.jsonl")).unwrap();
        let complete = text.rfind('\n').map_or("", |end| &text[..=end]);
        assert!(complete.starts_with(&before), "a line of an earlier part is gone");
        before = complete.to_string();
    }
    let more = ["--stop", "evaluations 240", "--resume", "--json", "--quiet"];
    let ran = Ran::of(tune(&folder, "local:4", &more).output().unwrap());
    assert_eq!((ran.code, &ran.json()["evaluations"]), (Some(0), &240.into()), "{ran:#?}");
    let made = entries(&folder.path("p.jsonl"));
    let indices: BTreeSet<&str> = made.iter().map(|entry| entry["index"].as_str().unwrap()).collect();
    assert_eq!((made.len(), indices.len()), (240, 240), "every configuration is there once");
}

pub(crate) struct Listening {
    pub(crate) coordinator: Child,
    pub(crate) port: String,
}

/// Starts a coordinator that waits for workers, with the token of the file.
pub(crate) fn listen(folder: &Folder, more: &[&str]) -> Listening {
    listen_with(folder, |fleet| {
        let mut command = tune(folder, fleet, more);
        command.stderr(Stdio::piped());
        command
    })
}

/// Starts a coordinator whose fleet has this name.
fn listen_with(folder: &Folder, command: impl Fn(&str) -> Command) -> Listening {
    let token = folder.path("token");
    fs::write(&token, "t".repeat(40)).unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let probe = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = probe.local_addr().unwrap().port().to_string();
    drop(probe);
    let fleet = format!("listen:127.0.0.1:{port}");
    let mut command = command(&fleet);
    let coordinator = command.args(["--token-file", "token"]).stdout(Stdio::null()).spawn().unwrap();
    wait_until(|| std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_ok());
    Listening { coordinator, port }
}

#[test]
fn a_fleet_tells_the_port_that_it_got_and_peers_that_say_nothing_keep_no_worker_out() {
    let folder = folder();
    fs::write(folder.path("token"), "t".repeat(40)).unwrap();
    fs::set_permissions(folder.path("token"), fs::Permissions::from_mode(0o600)).unwrap();
    let mut command = tune(&folder, "listen:0", &["--token-file", "token", "--quiet", "--stop", "evaluations 8"]);
    let mut coordinator = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(coordinator.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = said.next().unwrap();
    let port = line.split("HOST:").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().to_string();
    let silent: Vec<_> = (0..40).map(|_| std::net::TcpStream::connect(format!("127.0.0.1:{port}")).unwrap()).collect();
    let ran = Ran::of(worker(&folder, &port, &["--token-file", "token"]).output().unwrap());
    assert!(ran.stderr.contains("ready: p on synthetic"), "{ran:#?}");
    assert_eq!(coordinator.wait().unwrap().code(), Some(0));
    drop(silent);
}

pub(crate) fn worker(folder: &Folder, port: &str, more: &[&str]) -> Command {
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
pub(crate) fn workers_of(folder: &Folder) -> Vec<i32> {
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
    interrupt(&coordinator);
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

/// A run of one worker that measures and one that compiles for it.
struct Together<'a> {
    folder: &'a Folder,
    /// The parameters of `tune` behind the problem.
    tune: &'a [&'a str],
    measures: &'a [&'a str],
    compiles: &'a [&'a str],
    /// The variables of both workers, and of each.
    both: Vec<(&'static str, String)>,
    of_measuring: Vec<(&'static str, String)>,
    of_compiling: Vec<(&'static str, String)>,
}

impl Together<'_> {
    /// Runs until machine code of the one worker was measured by the other a few times. Returns the state.
    fn run(&self) -> Json {
        let arguments =
            [&["tune", "p.toml", "--strategy", "random", "--stop", "evaluations 100000"], self.tune].concat();
        fs::create_dir_all(self.folder.path("temporary")).unwrap();
        let Listening { mut coordinator, port } = listen_with(self.folder, |fleet| {
            let mut command = self.folder.command(&[&arguments[..], &["--fleet", fleet]].concat());
            command.env("TMPDIR", self.folder.path("temporary")).stderr(Stdio::null());
            command
        });
        let start = |more: &[&str], own: &[(&str, String)]| {
            let arguments = [&["--token-file", "token", "--no-sandbox", "--jobs", "1"], more].concat();
            let mut command = worker(self.folder, &port, &arguments);
            command.envs(self.both.iter().chain(own).map(|(name, value)| (*name, value.as_str())));
            command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
        };
        let workers = [
            start(&[&["--compile-only"], self.compiles].concat(), &self.of_compiling),
            start(&[&["--pause", "0.05"], self.measures].concat(), &self.of_measuring),
        ];
        let status = || self.folder.run(&["fleet", "status", "p.jsonl", "--json"]);
        let compiled =
            |json: &Json| json["workers"].as_array().unwrap().iter().any(|one| one["compiled"].as_u64() > Some(4));
        // Some of the first are compiled where they are measured, before the other worker is ready.
        wait_until(|| {
            let is_begun = self.folder.path("p.fleet.json").exists() && written(self.folder) > 12;
            is_begun && compiled(&status().json())
        });
        interrupt(&coordinator);
        assert_eq!(coordinator.wait().unwrap().code(), Some(130));
        ended(workers);
        status().json()
    }
}

/// Waits until all of these processes have ended.
fn ended(processes: impl IntoIterator<Item = Child>) {
    for mut process in processes {
        process.wait().unwrap();
    }
}

fn interrupt(process: &Child) {
    let id = nix::unistd::Pid::from_raw(process.id() as i32);
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).unwrap();
}

/// Returns two processors that this process may use.
#[allow(clippy::print_stderr)] // says why a test is left out
fn two_processors() -> Option<[String; 2]> {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_string();
    let mut numbers = list.split([',', '-']).map(str::to_string);
    let (first, last) = (numbers.next(), numbers.next_back());
    if last.is_none() {
        eprintln!("skipped: one processor cannot measure while another compiles");
    }
    Some([first?, last?])
}

/// A compiler that notes its command in the file that `COMPILED` names.
const NOTING_COMPILER: &str = "#!/bin/sh\n[ -z \"$COMPILED\" ] || echo \"$*\" >> \"$COMPILED\"\nexec cc \"$@\"\n";

#[test]
fn libraries_of_c_that_one_worker_compiled_are_measured_by_another() {
    let Some([first, second]) = two_processors() else { return };
    let problem = twice_problem("file = \"twice.c\"\nfunction = \"twice\"", "S = { range = '1..=2000' }");
    let folder = Folder::with(&[("p.toml", &problem), ("twice.c", TWICE), ("reference.c", TWICE)]);
    folder.write("noting-cc", NOTING_COMPILER);
    fs::set_permissions(folder.path("noting-cc"), fs::Permissions::from_mode(0o755)).unwrap();
    let log = |name: &str| folder.path("temporary").join(name).display().to_string();
    let state = Together {
        folder: &folder,
        tune: &[],
        measures: &["--cpus", &first],
        compiles: &["--cpus", &second],
        both: vec![("CC", folder.path("noting-cc").display().to_string())],
        of_measuring: vec![("COMPILED", log("measuring"))],
        of_compiling: vec![("COMPILED", log("compiling"))],
    }
    .run();
    let roles: Vec<&str> =
        state["workers"].as_array().unwrap().iter().map(|one| one["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["measures", "compiles"], "{state:#}");
    let built = |name: &str| -> BTreeSet<String> {
        let text = fs::read_to_string(log(name)).unwrap();
        text.split_whitespace().filter(|word| word.starts_with("-DS=")).map(str::to_string).collect()
    };
    let (here, there) = (built("measuring"), built("compiling"));
    let measured: BTreeSet<String> = entries(&folder.path("p.jsonl"))
        .iter()
        .filter(|entry| entry["status"] == "correct")
        .map(|entry| format!("-DS={}", entry["config"]["S"]))
        .collect();
    let travelled = measured.iter().filter(|one| there.contains(*one) && !here.contains(*one)).count();
    assert!(travelled >= 3, "{travelled} of {measured:?}\nhere {here:?}\nthere {there:?}");
    let shown = folder.run(&["fleet", "status", "p.jsonl"]);
    assert!(shown.stdout.contains("compiles") && shown.stdout.contains("1 worker compiled"), "{shown:#?}");
    assert_eq!(folder.run(&["report", "p.jsonl", "-o", "page.html"]).code, Some(0));
    let page = fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(page.contains("1 further worker only compiled") && page.contains("only compiles: "), "{page}");
}

/// Compiles for a scripted GPU where neither a GPU nor its driver is, and checks that the measuring
/// worker's own cache lacks what it measured.
fn code_for_gpus_travels(backend: &str, script: &str, of_script: &'static str, libraries: (&'static str, PathBuf)) {
    let folder = Folder::with(&[("script.json", script)]);
    assert_eq!(folder.run(&["init", "--backend", backend]).code, Some(0));
    let problem = fs::read_to_string(folder.path("problem.toml")).unwrap();
    folder.write("p.toml", &problem.replace("fill = \"random\" ", "fill = \"ones\" "));
    let cache = |name: &str| vec![("XDG_CACHE_HOME", folder.path("temporary").join(name).display().to_string())];
    let scripted = (of_script, folder.path("script.json").display().to_string());
    Together {
        folder: &folder,
        tune: &["--size", "N=128"],
        measures: &[],
        compiles: &[],
        both: vec![(libraries.0, libraries.1.display().to_string())],
        of_measuring: [cache("measuring"), vec![scripted]].concat(),
        of_compiling: cache("compiling"),
    }
    .run();
    let correct = entries(&folder.path("p.jsonl")).iter().filter(|entry| entry["status"] == "correct").count();
    let kept = |name: &str| {
        let folders = [folder.path("temporary").join(name).join("tunesmith")];
        let inner = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
        let files = inner.flat_map(|inner| fs::read_dir(inner.path()).into_iter().flatten().flatten());
        files.filter(|file| file.path().extension().is_some_and(|extension| extension == "bin")).count()
    };
    let (here, there) = (kept("measuring"), kept("compiling"));
    assert!(here + 3 <= correct && there >= 4, "{correct} are correct; {here} compiled here, {there} elsewhere");
}

/// A kernel of the starter that is right while all elements are the same.
const RIGHT: &str = r#"[{ "times_us": [30],
    "writes": [{ "to": 1, "from": { "parameter": 0 }, "bytes": 65536 }] }]"#;

#[test]
fn cubins_are_compiled_without_a_gpu_and_measured_by_another_worker() {
    let Some(nvidia) = cuda::nvidia() else { return };
    let script = cuda::script((9, 0), false, RIGHT);
    code_for_gpus_travels("cuda", &script, "TUNESMITH_CUDA_SCRIPT", ("TUNESMITH_NVIDIA", nvidia));
}

#[test]
fn code_for_hip_is_compiled_without_a_gpu_and_measured_by_another_worker() {
    let Some(rocm) = cuda::rocm() else { return };
    let device = r#"{ "name": "Scripted Instinct", "memory": 1073741824, "architecture": "gfx90a:sramecc+:xnack-",
        "attributes": { "WARP_SIZE": 64, "L2_CACHE_SIZE": 8388608, "MAX_THREADS_PER_BLOCK": 1024,
        "MAX_THREADS_PER_MULTIPROCESSOR": 2048, "MAX_SHARED_MEMORY_PER_BLOCK": 65536,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 65536 } }"#;
    let script =
        format!(r#"{{ "version": "6.2.41133", "devices": [{device}], "compiles": false, "kernels": {RIGHT} }}"#);
    code_for_gpus_travels("hip", &script, "TUNESMITH_HIP_SCRIPT", ("TUNESMITH_ROCM", rocm));
}

/// A kernel that takes three times as long where the variable `SLOW` is set.
const SLEEPING: &str = "#include <stdlib.h>\n#include <time.h>\n\
    void twice(const float *a, float *b) {\n\
    struct timespec pause = { 0, getenv(\"SLOW\") ? 30000000 : 10000000 };\n\
    nanosleep(&pause, 0);\n\
    for (int i = 0; i < N; ++i) b[i] = 2 * a[i];\n}\n";

#[test]
fn a_worker_whose_kernels_take_longer_is_set_aside_and_named() {
    let measure = "min_samples = 1\nmax_samples = 1\nlaunch_limit = 5.0";
    let problem = twice_problem("file = \"sleeping.c\"\nfunction = \"twice\"", "S = { range = '1..=2000' }");
    let problem = problem.replace("launch_limit = 1.5", measure);
    let folder = Folder::with(&[("p.toml", &problem), ("sleeping.c", SLEEPING), ("reference.c", TWICE)]);
    fs::create_dir_all(folder.path("temporary")).unwrap();
    let Listening { mut coordinator, port } = listen_with(&folder, |fleet| {
        let mut command = folder.command(&["tune", "p.toml", "--stop", "evaluations 100000", "--fleet", fleet]);
        command.env("TMPDIR", folder.path("temporary")).stderr(Stdio::null());
        command
    });
    let start = |is_slow: bool| {
        let mut command = worker(&folder, &port, &["--token-file", "token", "--jobs", "1"]);
        command.envs(is_slow.then_some(("SLOW", "1"))).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
    };
    let usual: Vec<Child> = (0..3).map(|_| start(false)).collect();
    let status = || folder.run(&["fleet", "status", "p.jsonl", "--json"]);
    let workers = || status().json()["workers"].as_array().cloned().unwrap_or_default();
    wait_until(|| folder.path("p.fleet.json").exists() && workers().len() == 3);
    let slow = start(true);
    let name = format!("process {})", slow.id());
    let is_slow = |one: &Json| one["name"].as_str().unwrap().ends_with(&name);
    wait_until(|| workers().iter().any(|one| is_slow(one) && one["state"] == "set_aside"));
    interrupt(&coordinator);
    assert_eq!(coordinator.wait().unwrap().code(), Some(130));
    ended(usual.into_iter().chain([slow]));
    let workers = workers();
    let slow = workers.iter().find(|one| is_slow(one)).unwrap();
    let reason = slow["reason"].as_str().unwrap();
    assert!(reason.contains("more time than the others for the same configuration"), "{slow:#}");
    assert!(slow["level"].as_f64().unwrap() > 1.3, "{slow:#}");
    let text = folder.run(&["fleet", "status", "p.jsonl"]).stdout;
    assert!(text.lines().any(|line| line.contains(&name) && line.contains("is set aside: it takes")), "{text}");
}
