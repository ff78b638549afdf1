//! Order metamorphism: many configurations that misbehave, in shuffled orders. Each must get the
//! same status in every order, because what one does to its process ends with it.

use crate::common;

use common::{Folder, TWICE, entries, twice_problem};
use std::collections::BTreeMap;

/// A deed of a configuration beside computing, and the status that it must get. `None` leaves the
/// status open, but it must be the same in every order.
///
/// The configurations whose names begin with `finds` are innocent and look around: they compute a
/// wrong result if another configuration left something behind.
const CASES: [(&str, &str, Option<&str>); 40] = [
    ("is innocent", "", Some("correct")),
    ("is innocent too", "", Some("correct")),
    ("leaves a thread asleep", "start(asleep);", Some("correct")),
    ("leaves threads busy", "for (int i = 0; i < 4; ++i) start(busy);", Some("correct")),
    ("finds threads", "if (entries(\"/proc/self/task\") != 1) wrong(b);", Some("correct")),
    ("opens files", "for (int i = 0; i < 50; ++i) open(\"/dev/null\", O_RDONLY);", Some("correct")),
    ("closes files", "for (int i = 3; i < 256; ++i) close(i);", None),
    ("closes the standard streams", "for (int i = 0; i < 3; ++i) close(i);", Some("correct")),
    ("finds files", "if (entries(\"/proc/self/fd\") > 40) wrong(b);", Some("correct")),
    ("finds the standard streams", "if (fcntl(0, F_GETFD) < 0 || fcntl(2, F_GETFD) < 0) wrong(b);", Some("correct")),
    ("lowers the limit of files", "limit(RLIMIT_NOFILE, 3);", None),
    ("lowers the limit of processor time", "limit(RLIMIT_CPU, 1);", Some("correct")),
    ("lowers the limit of memory", "limit(RLIMIT_DATA, 1 << 20);", None),
    ("finds limits", "if (limited(RLIMIT_NOFILE, 64) || limited(RLIMIT_CPU, 10)) wrong(b);", Some("correct")),
    ("changes the directory", "if (chdir(\"/proc\")) abort();", Some("correct")),
    (
        "finds the directory",
        "char at[4096]; if (!getcwd(at, 4096) || !strcmp(at, \"/proc\")) wrong(b);",
        Some("correct"),
    ),
    ("sets the environment", "setenv(\"LEFT_BEHIND\", \"1\", 1);", Some("correct")),
    ("finds the environment", "if (getenv(\"LEFT_BEHIND\")) wrong(b);", Some("correct")),
    ("rounds upwards", "fesetround(FE_UPWARD);", Some("correct")),
    ("finds the rounding", "if (fegetround() != FE_TONEAREST) wrong(b);", Some("correct")),
    ("flushes denormal numbers", "flush();", Some("correct")),
    ("needs denormal numbers", "volatile float tiny = 1e-39f; if (tiny * 0.5f == 0) wrong(b);", Some("correct")),
    ("ignores signals", "for (int i = 1; i < 32; ++i) signal(i, SIG_IGN);", Some("correct")),
    ("blocks signals", "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0);", Some("correct")),
    ("finds signals ignored", "if (signal(SIGALRM, SIG_DFL) == SIG_IGN) wrong(b);", Some("correct")),
    ("sets an alarm", "alarm(1);", Some("correct")),
    ("masks permissions", "umask(0777);", Some("correct")),
    ("forks, and the child goes on", "fork();", Some("correct")),
    ("is wrong, and its child is right", "if (fork()) wrong(b);", Some("correctness")),
    ("leaves a daemon", "if (!fork()) { setsid(); if (!fork()) sleep(60); _exit(0); }", Some("correct")),
    ("prints much", "for (int i = 0; i < 20000; ++i) puts(\"nobody reads this\");", Some("correct")),
    ("crashes", "*(volatile int *)8 = 1;", Some("runtime")),
    ("aborts", "abort();", Some("runtime")),
    ("exits", "exit(0);", Some("runtime")),
    ("hangs", "for (;;) sink = 1;", Some("timeout")),
    ("writes beyond its output", "b[N] = 1;", Some("runtime")),
    ("writes to its input", "a[5] = 7;", Some("correctness")),
    ("is wrong", "wrong(b);", Some("correctness")),
    ("is wrong later", "if (++launches == 3) wrong(b);", None),
    ("does not compile", "this is no statement", Some("compile")),
];

const HEAD: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile int sink;
static int launches;

static void wrong(float *b) { b[N / 2] += 1; }
static void *asleep(void *unused) { for (;;) sleep(60); return unused; }
static void *busy(void *unused) { for (;;) sink = 1; return unused; }
static void start(void *(*body)(void *)) { pthread_t thread; pthread_create(&thread, 0, body, 0); }

static void limit(int what, rlim_t most)
{
    struct rlimit limit = {most, most};
    setrlimit(what, &limit);
}

static int limited(int what, rlim_t least)
{
    struct rlimit limit;
    return getrlimit(what, &limit) || limit.rlim_cur < least;
}

static int entries(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    while (folder && readdir(folder))
        ++count;
    if (folder)
        closedir(folder);
    return count - 2;
}

static void flush(void)
{
#ifdef __SSE__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
}

void twice(float *a, float *b)
{
    for (int i = 0; i < N; ++i)
        b[i] = 2 * a[i];
"#;

fn problem() -> String {
    twice_problem(
        "file = \"kernel.c\"\nfunction = \"twice\"\noptions = [\"-O1\", \"-w\"]",
        "CASE = { range = \"0..=39\" }",
    )
}

fn kernel() -> String {
    let case = |(number, (name, body, _)): (usize, &(&str, &str, _))| {
        format!("#if CASE == {number} /* {name} */\n    {body}\n#endif\n")
    };
    let cases: String = CASES.iter().enumerate().map(case).collect();
    format!("{HEAD}{cases}}}\n")
}

/// Tunes in the order of a seed. Returns the status and the message of each case.
fn statuses(seed: usize) -> BTreeMap<usize, (String, String)> {
    let folder = Folder::with(&[("p.toml", &problem()), ("kernel.c", &kernel()), ("reference.c", TWICE)]);
    let ran = folder.run(&["tune", "p.toml", "--seed", &seed.to_string(), "--quiet", "--out", "run.jsonl"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let text = |json: &serde_json::Value| json.as_str().unwrap_or_default().to_owned();
    let entries = entries(&folder.path("run.jsonl"));
    let status = |entry: &serde_json::Value| {
        let case = entry["config"]["CASE"].as_u64().unwrap() as usize;
        (case, (text(&entry["status"]), text(&entry["message"])))
    };
    let found: BTreeMap<_, _> = entries.iter().map(status).collect();
    assert_eq!((entries.len(), found.len()), (CASES.len(), CASES.len()), "every case has one evaluation");
    found
}

/// Tunes in the orders of the seeds, and fails with each case whose status is not what it must be.
fn same_in_orders(seeds: std::ops::Range<usize>) {
    let mut faults = Vec::new();
    let mut first: BTreeMap<usize, String> = BTreeMap::new();
    for seed in seeds {
        for (case, (status, message)) in statuses(seed) {
            let (name, _, stated) = CASES[case];
            let expected =
                stated.map_or_else(|| first.entry(case).or_insert_with(|| status.clone()).clone(), str::to_owned);
            if status != expected {
                let message = message.lines().next().unwrap_or_default().to_owned();
                faults.push(format!("seed {seed}, the kernel that {name}: {status}, not {expected}: {message}"));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn what_a_configuration_does_changes_the_status_of_no_other() {
    same_in_orders(0..2);
}

#[test]
#[ignore = "takes minutes: twenty orders"]
fn what_a_configuration_does_changes_the_status_of_no_other_in_twenty_orders() {
    same_in_orders(2..22);
}
