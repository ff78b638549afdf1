//! Engines that start the workers of a fleet, as scripts in their place: they fail, hang and write what they like.

use crate::common;
use crate::fleet::{folder, is_empty, listen, processes_of, tune, wait_until, worker, workers_of, written};

use common::{Folder, Ran};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// An `ssh` whose hosts differ: a login shell on `chatty` greets on both streams and in the middle of a line, `down`
/// cannot be reached and takes no token, `stuck` never logs in. All begin with the same options.
const SSH: &str = r#"#!/bin/sh
[ "$1 $2 $3" = "-o BatchMode=yes --" ] || exit 99
host=$4; shift 4
export SSH_CONNECTION="127.0.0.1 1 127.0.0.1 22"
case $host in
down) exec <&-; echo "ssh: connect to host down port 22: Connection refused" >&2; exit 255 ;;
stuck) echo "Welcome to stuck" >&2; sleep 600 & wait ;;
chatty) echo '{"evaluations": "from the login shell"}'; printf 'connected to the cluster ' >&2; exec sh -c "$1" ;;
flood) yes '{"banner": 1}' | head -n 100000; yes banner | head -n 100000 >&2; exec sh -c "$1" ;;
*) exec sh -c "$1" ;;
esac
"#;

/// Writes a program that comes before all others of its name.
fn program(folder: &Folder, name: &str, script: &str) {
    fs::create_dir_all(folder.path("bin")).unwrap();
    folder.write(&format!("bin/{name}"), script);
    fs::set_permissions(folder.path("bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

#[allow(clippy::disallowed_methods)] // the programs of the tests come before those of the environment
fn with_programs(folder: &Folder, command: &mut Command) -> Ran {
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", folder.path("bin").display())).env_remove("TUNESMITH_SSH");
    Ran::of(command.output().unwrap())
}

/// Tunes on these hosts.
fn on_hosts(hosts: &str, more: &[&str]) -> (Folder, Ran) {
    let folder = folder();
    program(&folder, "ssh", SSH);
    folder.write("hosts.txt", hosts);
    let ran = with_programs(&folder, &mut tune(&folder, "ssh:hosts.txt", more));
    // What was killed may need a moment to end.
    wait_until(|| processes_of(&folder) == 0);
    (folder, ran)
}

#[test]
fn hosts_that_fail_or_hang_are_named_and_the_run_goes_on_with_the_others() {
    let slow = ["--fleet-pause", "0.05", "--fleet-wait", "3", "--stop", "evaluations 110"];
    let (folder, ran) = on_hosts("down\nstuck\nplain\n", &slow);
    assert_eq!((ran.code, written(&folder)), (Some(0), 111), "{ran:#?}");
    let said = |parts: &[&str]| {
        let is_it = |line: &&str| parts.iter().all(|part| line.contains(part));
        assert_eq!(ran.stderr.lines().filter(is_it).count(), 1, "{parts:?}: {ran:#?}");
    };
    said(&["ssh down ended with code 255 (it said last: ssh: connect to host down port 22: Connection refused)"]);
    said(&["stuck has no worker: `ssh stuck` brought none within 3 s (--fleet-wait)", "Welcome to stuck"]);
    said(&["does `ssh stuck true` end?"]);
}

#[test]
fn a_fleet_whose_hosts_all_fail_ends_and_names_them() {
    let (_, ran) = on_hosts("down\ndown # again\n", &["--quiet"]);
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    let flat = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("no worker is left") && flat.contains("host down port 22: Connection refused"), "{ran:#?}");
    let (_, ran) = on_hosts("stuck\n", &["--quiet", "--fleet-wait", "1"]);
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    assert!(ran.stderr.contains("stuck has no worker") && ran.stderr.contains("is ended"), "{ran:#?}");
}

#[test]
fn what_a_login_shell_writes_is_no_result_and_no_worker() {
    let (_, ran) = on_hosts("chatty\n", &["--json", "--quiet", "--stop", "evaluations 20"]);
    assert_eq!((ran.code, &ran.json()["evaluations"]), (Some(0), &20.into()), "{ran:#?}");
    let (_, ran) = on_hosts("flood\n", &["--json", "--quiet", "--stop", "evaluations 20"]);
    assert_eq!((ran.code, &ran.json()["evaluations"]), (Some(0), &20.into()), "{ran:#?}");
}

#[test]
fn an_engine_that_does_not_exist_is_named() {
    let folder = folder();
    folder.write("hosts.txt", "one\ntwo\n");
    let mut command = tune(&folder, "ssh:hosts.txt", &["--quiet"]);
    let ran = Ran::of(command.env("TUNESMITH_SSH", "no-such-ssh").output().unwrap());
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    let flat = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("one has no worker: cannot start `no-such-ssh`") && flat.contains("two has no"), "{ran:#?}");
}

/// Tunes with a HyperQueue that is this script.
fn on_queue(script: &str, more: &[&str]) -> (Folder, Ran) {
    let folder = folder();
    program(&folder, "hq", script);
    let ran = with_programs(&folder, &mut tune(&folder, "hq:--cpus 1", more));
    wait_until(|| processes_of(&folder) == 0);
    let files = fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let tokens = files.filter(|name| name.to_string_lossy().starts_with(".tunesmith-fleet-")).count();
    assert_eq!(tokens, 0, "no file with a token is left");
    (folder, ran)
}

#[track_caller]
fn failed(ran: &Ran, parts: &[&str]) {
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    let flat = ran.stderr.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    parts.iter().for_each(|part| assert!(flat.contains(part), "`{part}` is missing in {flat}"));
}

#[test]
fn a_queue_that_hangs_or_fails_or_names_no_job_is_named() {
    let more = ["--quiet", "--fleet-wait", "1"];
    let (_, ran) = on_queue("#!/bin/sh\necho waiting for the server >&2\nsleep 600 & wait\n", &more);
    failed(&ran, &["`hq submit` failed: it did not answer within 1 s, and is ended", "waiting for the server"]);
    failed(&ran, &["does `hq server info` answer?"]);
    let (_, ran) = on_queue("#!/bin/sh\necho no server is running >&2\nexit 1\n", &more);
    failed(&ran, &["`hq submit` failed: it ended with code 1 (it said last: no server is running)"]);
    let (_, ran) = on_queue("#!/bin/sh\necho Welcome\n", &more);
    failed(&ran, &["`hq submit` failed: it named no job (it said last: Welcome)"]);
}

#[test]
fn the_job_of_a_queue_is_found_among_other_lines_and_a_cancel_that_hangs_ends() {
    let script = r#"#!/bin/sh
if [ "$1" = job ]; then echo "$*" > cancelled; sleep 600 & wait; fi
while [ "$1" != -- ]; do shift; done
shift
echo 'Welcome to the 3rd cluster'
setsid "$@" >/dev/null 2>&1 </dev/null &
echo 42
echo 'Have a nice day'
"#;
    let (folder, ran) = on_queue(script, &["--quiet", "--fleet-wait", "2", "--stop", "evaluations 20"]);
    assert_eq!((ran.code, written(&folder)), (Some(0), 21), "{ran:#?}");
    assert_eq!(fs::read_to_string(folder.path("cancelled")).unwrap(), "job cancel 42\n");
}

#[test]
fn a_job_step_that_brings_no_worker_is_named() {
    let folder = folder();
    program(&folder, "srun", "#!/bin/sh\necho from the prolog\nsleep 600 & wait\n");
    let mut command = tune(&folder, "slurm:-N 2", &["--quiet", "--json", "--fleet-wait", "1"]);
    let ran = with_programs(&folder, &mut command);
    failed(&ran, &["no worker is left (srun still runs; --fleet-wait waits longer)"]);
    assert_eq!(ran.stdout, "", "{ran:#?}");
    wait_until(|| processes_of(&folder) == 0);
}

#[test]
fn the_folder_of_a_killed_worker_is_removed_by_the_next_one_and_no_other_is() {
    let folder = folder();
    let slow = ["--fleet-pause", "0.05", "--quiet", "--stop", "evaluations 60"];
    let mut listening = listen(&folder, &slow);
    let start = || {
        let mut command = worker(&folder, &listening.port, &["--token-file", "token", "--pause", "0.05"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let folders = || {
        let all = fs::read_dir(folder.path("temporary")).unwrap().map(|entry| entry.unwrap().path());
        all.filter(|path| path.join("problem/p.toml").exists()).collect::<Vec<_>>()
    };
    let mut killed = start();
    wait_until(|| folders().len() == 1 && written(&folder) > 3);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = folders();
    assert_eq!((left.len(), workers_of(&folder).len()), (1, 0));
    // A folder of the user's with such a name stays.
    fs::create_dir(folder.path("temporary/tunesmith-notes")).unwrap();
    folder.write("temporary/tunesmith-notes/notes.txt", "mine");
    let mut second = start();
    wait_until(|| folders().len() == 1 && !left[0].exists());
    let used = folders();
    let mut third = start();
    wait_until(|| folders().len() == 2);
    assert!(used[0].exists(), "it is in use");
    assert_eq!(listening.coordinator.wait().unwrap().code(), Some(0));
    assert_eq!([second.wait().unwrap().code(), third.wait().unwrap().code()], [Some(0); 2]);
    fs::remove_dir_all(folder.path("temporary/tunesmith-notes")).unwrap();
    assert!(is_empty(&folder.path("temporary")));
}

/// A size of stacks for which no system has the memory: it refuses every thread.
const NO_THREADS: (&str, &str) = ("RUST_MIN_STACK", "4611686018427387904");

#[test]
fn a_refused_thread_is_an_error_of_the_fleet_its_workers_and_the_page() {
    let folder = folder();
    let without = |command: &mut Command| Ran::of(command.env(NO_THREADS.0, NO_THREADS.1).output().unwrap());
    let ran = without(&mut tune(&folder, "local:1", &["--quiet"]));
    failed(&ran, &["no thread can be started that listens for workers", "see `ulimit -u`"]);
    let page = ["tune", "p.toml", "--device", "synthetic:X + Y", "--quiet", "--live", "0"];
    without(&mut folder.command(&page)).refused(&[
        "no thread can be started for --live",
        "`ulimit -u`",
        "without --live",
    ]);
    let mut listening = listen(&folder, &["--quiet", "--stop", "evaluations 20"]);
    let ran = without(&mut worker(&folder, &listening.port, &["--token-file", "token"]));
    failed(&ran, &["no thread can be started that hears the coordinator"]);
    let ran = Ran::of(worker(&folder, &listening.port, &["--token-file", "token"]).output().unwrap());
    assert_eq!((ran.code, listening.coordinator.wait().unwrap().code()), (Some(0), Some(0)), "{ran:#?}");
}
