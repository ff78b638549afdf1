//! Clocks as tuning parameters, with the whole program: it is killed at many moments, and the device
//! is reset. The device is a script, whose state is a file.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value as Json;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// One sample suffices on a device without noise. The energy of a sample takes 0.3 s.
const MEASURE: &str = "[measure]\nmin_samples = 1\nmax_samples = 1\nfinal = false\ndrift = false\n";

/// A scripted CUDA device whose power is a script, and a problem.
struct Lab(tempfile::TempDir);

impl Lab {
    fn new(clocks: &str, more: &str) -> Self {
        let lab = Self(tempfile::tempdir().unwrap());
        let (power, state) = (lab.path("power.json"), lab.path("state"));
        fs::write(
            lab.path("driver.json"),
            format!(
                r#"{{"devices": [{{"name": "Scripted GPU", "memory": 67108864, "attributes": {{
                    "COMPUTE_CAPABILITY_MAJOR": 9, "COMPUTE_CAPABILITY_MINOR": 0, "MULTIPROCESSOR_COUNT": 132,
                    "CLOCK_RATE": 1980000, "WARP_SIZE": 32, "L2_CACHE_SIZE": 1048576, "MAX_THREADS_PER_BLOCK": 1024,
                    "MAX_THREADS_PER_MULTIPROCESSOR": 2048, "MAX_BLOCK_DIM_X": 1024, "MAX_BLOCK_DIM_Y": 1024,
                    "MAX_BLOCK_DIM_Z": 64, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448,
                    "MAX_SHARED_MEMORY_PER_BLOCK": 49152}}}}],
                    "compiles": true, "power": {power:?},
                    "kernels": [{{"defines": {{"TILE": "2"}}, "times_us": [900]}}, {{"times_us": [1000]}}]}}"#
            ),
        )
        .unwrap();
        let supported: Vec<u32> = (400..=1975).step_by(15).collect();
        fs::write(
            &power,
            format!(
                r#"{{"clocks_mhz": {supported:?}, "state": {state:?}, "latency_ms": 2,
                    "power": {{"idle_w": 60, "alpha": 0.12, "ridge_mhz": 1100, "beta": 0.0007}}{more}}}"#
            ),
        )
        .unwrap();
        fs::write(lab.path("k.cu"), "extern \"C\" __global__ void k(float *x) { x[0] = TILE; }\n").unwrap();
        fs::write(
            lab.path("p.toml"),
            format!(
                "[problem]\nsizes = {{ N = 64 }}\nflops = \"1e6 * N\"\n[kernel]\nfile = \"k.cu\"\nfunction = \"k\"\n\
                 global = [\"N\"]\nlocal = [\"64\"]\n[parameters]\nTILE = [1, 2]\n[device_settings]\n\
                 clock_mhz = {clocks}\n[[arguments]]\nname = \"x\"\ntype = \"f32\"\nshape = [\"N\"]\n\
                 access = \"inout\"\n{MEASURE}"
            ),
        )
        .unwrap();
        lab
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tunesmith"));
        command.args(arguments).current_dir(self.0.path());
        command.env("TUNESMITH_CUDA_SCRIPT", self.path("driver.json")).env("TUNESMITH_LOCKS", self.path("locks"));
        command
    }

    fn tune(&self, more: &[&str]) -> (Json, String) {
        let arguments = [&["tune", "p.toml", "--json", "--stop", "evaluations 8"], more].concat();
        let output = self.command(&arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}\n{said}"));
        (json, said)
    }

    /// Returns the clock that is locked.
    fn locked(&self) -> Json {
        let text = fs::read_to_string(self.path("state")).unwrap_or_else(|_| "{}".to_string());
        serde_json::from_str::<Json>(&text).map_or(Json::Null, |state| state["clock_mhz"].clone())
    }

    /// Returns the notes. A guard that is killed before it has written one leaves an empty file, and a
    /// device that nobody has set.
    fn notes(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.path("locks")) else { return Vec::new() };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| fs::metadata(path).is_ok_and(|file| file.len() > 0)).collect()
    }
}

fn eventually(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..2000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{what} did not come true");
}

#[test]
fn the_model_picks_clocks_near_the_optimum_and_the_best_is_found_there() {
    let lab = Lab::new("\"model\"", "");
    let (json, said) = lab.tune(&["--objective", "gflops_per_w"]);
    assert!(said.contains("expects the optimum at 1") && said.contains("are searched"), "{said}");
    let best = &json["best"]["config"];
    // At 1100 MHz the energy is least: 1 / f falls until the ridge, and the square of the voltage rises above.
    let mhz = best["clock_mhz"].as_u64().unwrap();
    assert!((1000..=1250).contains(&mhz) && best["TILE"] == 2, "{best}");
    assert!(json["space_size"].as_str().unwrap().parse::<u32>().unwrap() <= 18);
    assert_eq!((lab.locked(), lab.notes()), (Json::Null, Vec::new()));
    // A resumed run keeps its clocks, whatever the model would pick now.
    let (again, _) = lab.tune(&["--resume", "--objective", "gflops_per_w"]);
    assert_eq!(again["space_size"], json["space_size"]);
}

#[test]
fn clocks_that_the_device_lacks_and_a_user_without_rights_are_refused_before_the_search() {
    let lab = Lab::new("[1000, 1001]", "");
    let output = lab.command(&["tune", "p.toml"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("this device has no clock of 1001 MHz") && said.contains("1000 MHz is the nearest"),
        "{said}"
    );
    let lab = Lab::new("[1000, 1105]", ", \"forbidden\": true");
    let output = lab.command(&["tune", "p.toml"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("you may not set `clock_mhz` of Scripted GPU"), "{said}");
    assert!(!lab.path("p.jsonl").exists() && lab.notes().is_empty());
}

/// Starts a long run, and kills it at one of many moments.
fn killed(lab: &Lab, moment: u64, with_guard: bool) {
    let _ = fs::remove_file(lab.path("p.jsonl"));
    let mut command = lab.command(&["tune", "p.toml", "--stop", "evaluations 100000"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let note = || lab.notes().iter().find_map(|path| serde_json::from_slice::<Json>(&fs::read(path).ok()?).ok());
    eventually("a note", || note().is_some());
    std::thread::sleep(Duration::from_millis(7 * moment));
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap());
    kill(id, Signal::SIGSTOP).unwrap();
    let guard = note().filter(|_| with_guard).map(|note| i32::try_from(note["guard"].as_i64().unwrap()).unwrap());
    if let Some(guard) = guard {
        let _ = kill(Pid::from_raw(guard), Signal::SIGKILL);
    }
    kill(id, Signal::SIGKILL).unwrap();
    child.wait().unwrap();
    // A signal is sent before it is obeyed.
    eventually("the end of the guard", || guard.is_none_or(has_ended));
}

/// Returns true if a process is gone, or waits for its parent alone.
fn has_ended(id: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z'))
}

#[test]
fn a_killed_run_leaves_a_device_that_its_guard_resets() {
    let lab = Lab::new("{ all = 8 }", "");
    for moment in 0..6 {
        killed(&lab, moment * 5, false);
        eventually("the reset", || lab.locked() == Json::Null && lab.notes().is_empty());
    }
}

#[test]
fn a_killed_run_without_its_guard_is_cleared_up_at_the_next_start_and_the_user_is_told() {
    let lab = Lab::new("{ all = 8 }", "");
    let mut told = 0;
    for moment in 0..6 {
        killed(&lab, moment * 20, true);
        // The run opens the device twice, and between them nothing is set.
        let is_left = !lab.notes().is_empty();
        let output = lab.command(&["check", "p.toml"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_told = said.contains("an earlier run was killed and left the clock of Scripted GPU set");
        assert_eq!(is_told, is_left, "{said}");
        told += usize::from(is_told);
        assert_eq!((lab.locked(), lab.notes()), (Json::Null, Vec::new()));
        let output = lab.command(&["check", "p.toml"]).output().unwrap();
        assert!(!String::from_utf8_lossy(&output.stderr).contains("an earlier run"), "told once");
    }
    assert!(told > 0);
}

/// Writes a counter of processors that rises by itself while `work` runs.
fn with_counters(lab: &Lab, work: impl FnOnce()) {
    let zone = lab.path("powercap").join("intel-rapl:0");
    fs::create_dir_all(&zone).unwrap();
    fs::write(zone.join("name"), "package-0\n").unwrap();
    fs::write(zone.join("max_energy_range_uj"), "999999999999\n").unwrap();
    let counter = zone.join("energy_uj");
    fs::write(&counter, format!("{:020}\n", 0)).unwrap();
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            use std::os::unix::fs::FileExt;
            let file = fs::OpenOptions::new().write(true).open(&counter).unwrap();
            let mut energy = 0u64;
            while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                energy += 5000;
                file.write_all_at(format!("{energy:020}\n").as_bytes(), 0).unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        work();
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn the_energy_of_c_kernels_and_of_commands_is_that_of_the_processors() {
    let lab = Lab::new("[1000]", "");
    fs::write(lab.path("k.c"), "void k(float *x) { for (int i = 0; i < TILE * 1000; i++) x[i % 64] += i; }\n").unwrap();
    let argument = "[[arguments]]\nname = \"x\"\ntype = \"f32\"\nshape = [\"64\"]\naccess = \"inout\"\n";
    let c = format!("[kernel]\nfile = \"k.c\"\nfunction = \"k\"\n[parameters]\nTILE = [1, 2]\n{argument}{MEASURE}");
    let command = "[kernel]\ncommand = [\"sleep\", \"0.0{TILE}\"]\n[parameters]\nTILE = [1, 2]\n".to_string() + MEASURE;
    with_counters(&lab, || {
        for (name, text) in [("c.toml", c.as_str()), ("command.toml", command.as_str())] {
            fs::write(lab.path(name), text).unwrap();
            let mut tune = lab.command(&["tune", name, "--objective", "energy", "--json", "--out", "run.jsonl"]);
            let output = tune.env("TUNESMITH_POWERCAP", lab.path("powercap")).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{said}");
            let journal = fs::read_to_string(lab.path("run.jsonl")).unwrap();
            let line: Json = serde_json::from_str(journal.lines().nth(1).unwrap()).unwrap();
            let energies = line["values"]["energy_mj"].as_array().unwrap();
            assert!(energies.iter().all(|energy| energy.as_f64().unwrap() > 0.0), "{line}");
            fs::remove_file(lab.path("run.jsonl")).unwrap();
        }
    });
    let mut tune = lab.command(&["tune", "c.toml", "--objective", "energy"]);
    let output = tune.env("TUNESMITH_POWERCAP", lab.path("nothing")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("shows no energy counters") && said.contains("sudo modprobe intel_rapl_msr"), "{said}");
}
