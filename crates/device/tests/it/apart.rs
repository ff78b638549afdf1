//! Every configuration in C runs on its own: whatever one does to its process, the next one finds a
//! fresh one, and nothing is left behind.

use crate::common;

use common::*;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tunesmith_core::{Completion, Evaluator, FailureKind, Interrupt, Request};
use tunesmith_device::LiveEvaluator;
use tunesmith_kernel::{Access, Fill};
use tunesmith_space::Space;

/// b = 2 * a, each MODE with something that it does to its process, or to its worker. HERE is a
/// folder, and FREE is the number of processors that this process may use.
const KERNEL: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static void *spin(void *nothing)
{
    for (volatile int more = 1; more;) { }
    return nothing;
}

static void catch(int signal) { (void)signal; }

static void leave_a_daemon(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            FILE *file = fopen("HERE/new", "w");
            fprintf(file, "%d", (int)getpid());
            fclose(file);
            rename("HERE/new", "HERE/daemon");
            for (;;)
                pause();
        }
        _exit(0);
    }
    while (access("HERE/daemon", F_OK) != 0)
        usleep(1000);
}

/* Forks and exits as fast as it can. Ends by itself, should nobody end it. HERE/chain grows with it. */
static void leave_a_chain(void)
{
    if (fork() != 0)
        return;
    setsid();
    int file = open("HERE/chain", O_CREAT | O_WRONLY | O_APPEND, 0600);
    time_t end = time(0) + 60;
    while (time(0) < end)
        if (write(file, "x", 1) != 1 || fork() != 0)
            _exit(0);
    _exit(0);
}

static void harm_the_worker(void)
{
    pid_t worker = getppid();
    struct rlimit files;
    prlimit(worker, RLIMIT_NOFILE, 0, &files);
    files.rlim_cur = 100;
    prlimit(worker, RLIMIT_NOFILE, &files, 0);
    setpriority(PRIO_PROCESS, worker, 19);
    cpu_set_t one;
    sched_getaffinity(worker, sizeof one, &one);
    for (int at = 0, found = 0; at < CPU_SETSIZE; at++) {
        if (found)
            CPU_CLR(at, &one);
        found |= CPU_ISSET(at, &one);
    }
    sched_setaffinity(worker, sizeof one, &one);
}

/* Returns true if this process is as it is in a fresh worker on FREE processors. */
static int is_unharmed(void)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    return files.rlim_cur != 100 && getpriority(PRIO_PROCESS, 0) != 19 && CPU_COUNT(&set) == FREE;
}

void twice(const float *a, float *b)
{
    for (int i = 0; i < 100; i++)
        b[i] = 2 * a[i];
    static int launches = 0;
    launches++;
#if MODE == 18
    if (launches > 1 && ((size_t)a % 128 != 64 || (size_t)b % 128 != 64))
        abort();
    if (launches == 1 && (0 - (size_t)(b + 100)) % 4096 >= 64)
        abort();
#endif
    if (launches > 1)
        return;
#if MODE == 1
    fork(); /* The child goes on as if it were the worker. */
#elif MODE == 2
    pthread_t thread;
    for (int i = 0; i < 4; i++)
        pthread_create(&thread, 0, spin, 0);
#elif MODE == 3
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    setrlimit(RLIMIT_NPROC, &none);
    setrlimit(RLIMIT_CORE, &none);
#elif MODE == 4
    for (int i = 3; i < 1024; i++)
        close(i);
#elif MODE == 5
    umask(0777);
    if (chdir("/") != 0)
        abort();
#elif MODE == 6 && defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#elif MODE == 7
    for (int i = 1; i < 32; i++)
        signal(i, i % 2 ? SIG_IGN : catch);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, 0);
#elif MODE == 8
    raise(SIGKILL);
#elif MODE == 9
    leave_a_daemon();
#elif MODE == 10
    signal(SIGPIPE, SIG_IGN);
    for (int i = 3; i < 64; i++) {
        char text[] = "{\"Finished\":null}\n";
        fcntl(i, F_SETFL, O_NONBLOCK);
        if (write(i, text, strlen(text)) < 0)
            continue;
    }
#elif MODE == 11
    kill(getppid(), SIGKILL);
    for (;;)
        pause();
#elif MODE == 12
    raise(SIGSTOP);
#elif MODE == 13
    alarm(1);
#elif MODE == 14
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("PATH", "", 1);
    clearenv();
#elif MODE == 15
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
    setpriority(PRIO_PROCESS, 0, 19);
#elif MODE == 19
    leave_a_daemon();
    kill(getppid(), SIGKILL);
    for (;;)
        pause();
#elif MODE == 20
    for (int i = 0; i < 2; i++)
        leave_a_chain();
#elif MODE == 21
    harm_the_worker();
#elif MODE == 22
    if (!is_unharmed())
        b[0] += 1;
#elif MODE == 16
    ((volatile float *)b)[100 + 1024] = 1;
#elif MODE == 17
    b[0] += ((volatile float *)a)[-100000] - ((volatile float *)a)[-100000];
#endif
}
"#;

const MODES: i64 = 23;

struct Lab {
    folder: tempfile::TempDir,
    space: Space,
    evaluator: LiveEvaluator,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (file, check) = (folder.path().join("twice.c"), folder.path().join("reference.c"));
        let free = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0)).unwrap();
        let free = (0..nix::sched::CpuSet::count()).filter(|processor| free.is_set(*processor).unwrap()).count();
        let kernel = KERNEL.replace("HERE", &folder.path().display().to_string()).replace("FREE", &free.to_string());
        std::fs::write(&file, kernel).unwrap();
        let reference_text =
            "void reference(const float *a, float *b) { for (int i = 0; i < 100; i++) b[i] = 2 * a[i]; }";
        std::fs::write(&check, reference_text).unwrap();
        let arguments =
            vec![buffer("a", "f32", 100, Access::In, Fill::Random), buffer("b", "f32", 100, Access::Out, Fill::Zeros)];
        let mut spec = spec(file, "twice", arguments);
        spec.verify = reference(check, "reference");
        let space = space_of("MODE", MODES);
        let evaluator = evaluator(&space, spec);
        Self { folder, space, evaluator }
    }

    fn evaluate(&mut self, mode: i64) -> Completion {
        evaluate(&mut self.evaluator, config(&self.space, mode))
    }

    fn status(&mut self, mode: i64) -> Option<FailureKind> {
        self.evaluate(mode).failure.map(|failure| failure.kind)
    }
}

/// Returns the status that a mode must have, alone and after any other.
fn expected(mode: i64) -> Option<FailureKind> {
    match mode {
        4 | 8 | 11 | 16 | 17 | 19 => Some(FailureKind::Runtime),
        12 => Some(FailureKind::Timeout),
        _ => None,
    }
}

#[test]
fn every_configuration_has_the_same_status_in_every_order() {
    let forward: Vec<i64> = (0..MODES).collect();
    let backward: Vec<i64> = forward.iter().rev().copied().collect();
    // 7 has no factor in common with the number of modes, so that every mode comes once.
    let mixed: Vec<i64> = (0..MODES).map(|place| place * 7 % MODES).collect();
    for order in [forward, backward, mixed] {
        let mut lab = Lab::new();
        for mode in order {
            assert_eq!(lab.status(mode), expected(mode), "{mode}");
            assert_eq!(lab.status(0), None, "after {mode}");
        }
    }
}

#[test]
fn a_process_that_a_configuration_leaves_behind_ends_with_it() {
    let mut lab = Lab::new();
    assert_correct(&lab.evaluate(9));
    let daemon = std::fs::read_to_string(lab.folder.path().join("daemon")).unwrap();
    // The worker begins a job when it has ended everything that the last one left behind.
    assert_correct(&lab.evaluate(0));
    assert!(!Path::new("/proc").join(&daemon).exists(), "process {daemon} runs on");
}

#[test]
fn processes_that_fork_and_exit_without_pause_end_with_their_configuration() {
    let mut lab = Lab::new();
    // A chain that is ended before its first step has written nothing.
    let length = |lab: &Lab| std::fs::metadata(lab.folder.path().join("chain")).map_or(0, |file| file.len());
    for _ in 0..3 {
        assert_correct(&lab.evaluate(20));
        // The worker begins a job when it has ended everything that the last one left behind.
        assert_correct(&lab.evaluate(0));
        let before = length(&lab);
        assert_correct(&lab.evaluate(0));
        assert_eq!(length(&lab), before, "a chain of processes goes on");
    }
}

#[test]
fn what_a_configuration_does_to_its_worker_from_outside_reaches_no_other() {
    let mut lab = Lab::new();
    assert_correct(&lab.evaluate(22));
    assert_correct(&lab.evaluate(21));
    assert_correct(&lab.evaluate(22));
    assert_correct(&lab.evaluate(21));
    assert_correct(&lab.evaluate(22));
}

#[test]
#[allow(clippy::print_stdout)] // says why it is left out
fn a_process_that_a_configuration_leaves_behind_ends_with_it_even_if_it_killed_its_worker() {
    let mut lab = Lab::new();
    assert_correct(&lab.evaluate(0));
    let worker = lab.evaluator.worker_id().unwrap();
    let group = std::fs::read_to_string(format!("/proc/{worker}/cgroup")).unwrap();
    if !group.lines().any(|line| line.starts_with("0::") && line.contains("/tunesmith-")) {
        println!("skipped: this user may not create control groups of version 2");
        return;
    }
    assert_eq!(lab.status(19), expected(19));
    let daemon = std::fs::read_to_string(lab.folder.path().join("daemon")).unwrap();
    // The first process of the system, which waits for orphans, may take its time.
    let stat = std::fs::read_to_string(format!("/proc/{daemon}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "process {daemon} runs on: {stat}");
    assert_correct(&lab.evaluate(0));
}

#[test]
fn a_configuration_that_closes_its_descriptors_is_told_so() {
    let mut lab = Lab::new();
    assert_failed(&lab.evaluate(4), FailureKind::Runtime, &["descriptors"]);
}

#[test]
fn an_access_far_outside_of_a_buffer_names_the_buffer_and_the_place() {
    let mut lab = Lab::new();
    let words = ["the kernel accessed memory outside of `b`, behind its end: at byte 4496 of a buffer of 400 bytes"];
    assert_failed(&lab.evaluate(16), FailureKind::Runtime, &words);
    let words = ["outside of `a`, before its start: at byte -400000 of a buffer of 400 bytes (SIGSEGV)"];
    assert_failed(&lab.evaluate(17), FailureKind::Runtime, &words);
}

#[test]
fn the_launches_that_count_find_buffers_at_their_alignment_and_no_more() {
    assert_correct(&Lab::new().evaluate(18));
}

#[test]
fn the_end_of_the_evaluator_is_the_end_of_its_worker_and_of_what_runs_under_it() {
    let mut lab = Lab::new();
    assert_correct(&lab.evaluate(9));
    let daemon = std::fs::read_to_string(lab.folder.path().join("daemon")).unwrap();
    let worker = lab.evaluator.worker_id().unwrap().to_string();
    drop(lab);
    for process in [daemon, worker] {
        assert!(!Path::new("/proc").join(&process).exists(), "process {process} runs on");
    }
}

#[test]
fn a_folder_that_is_gone_ends_the_run_and_fails_no_configuration() {
    let mut lab = Lab::new();
    assert_correct(&lab.evaluate(0));
    let plan = lab.evaluator.plan(config(&lab.space, 5));
    let output = plan[0].build.command.iter().skip_while(|word| *word != "-o").nth(1).unwrap().clone();
    std::fs::remove_dir_all(Path::new(&output).parent().unwrap()).unwrap();
    lab.evaluator.submit(Request::timed(config(&lab.space, 5))).unwrap();
    let error = lab.evaluator.next(&Interrupt::default()).unwrap_err().to_string();
    assert!(error.contains("cannot be written") && error.contains("resume the run"), "{error}");
}

#[test]
fn no_zombie_and_no_descriptor_is_left_by_a_hundred_configurations() {
    let mut lab = Lab::new();
    assert_correct(&lab.evaluate(0));
    let worker = lab.evaluator.worker_id().unwrap();
    let count = || std::fs::read_dir(format!("/proc/{worker}/fd")).unwrap().count();
    let before = count();
    let samples = |lab: &mut Lab| {
        let configuration = config(&lab.space, 0);
        lab.evaluator.resample(configuration, 1, &Interrupt::default()).unwrap().unwrap()
    };
    for _ in 0..100 {
        assert_eq!(samples(&mut lab).failure, None);
    }
    assert_eq!(lab.evaluator.worker_id(), Some(worker));
    // The worker still ends the last process, and opens and closes descriptors meanwhile: one look at the
    // number of before decides.
    let is_as_before = || {
        count() <= before || {
            std::thread::sleep(Duration::from_millis(50));
            false
        }
    };
    assert!((0..100).any(|_| is_as_before()), "descriptors are left open");
    let children = Command::new("ps").args(["--ppid", &worker.to_string(), "-o", "pid="]).output().unwrap();
    // The last one's process may still be ending.
    assert!(String::from_utf8_lossy(&children.stdout).lines().count() <= 1);
}
