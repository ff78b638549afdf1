//! Problems made of cases.

use crate::common::Folder;
use crate::common::cuda::script;
use crate::faults::cases::{Case, Ready, numbered};
use std::net::TcpListener;

/// Three buffers: `c` gets twice `a`, and `b` grows by one.
const ARGUMENTS: &str = r#"
[[arguments]]
name = "a"
type = "f32"
shape = ["N"]

[[arguments]]
name = "b"
type = "f32"
shape = ["N"]
access = "inout"

[[arguments]]
name = "c"
type = "f32"
shape = ["N"]
access = "out"

[verify]
reference = { file = "twice.c", function = "twice" }
"#;

const REFERENCE: &str = "void twice(const float *a, float *b, float *c)\n\
    {\n    for (int i = 0; i < N; ++i) { c[i] = 2 * a[i]; b[i] += 1; }\n}\n";

/// Returns the measuring of these cases: with short limits if a case uses them up, else with limits that no busy machine
/// reaches. There is no final, which would run cases again, and no racing: on a busy machine it would spare a case the
/// launches in which it is wrong.
fn measure(cases: &[Case]) -> String {
    let is_slow = |case: &Case| case.statuses.contains(&"timeout") || case.name == "meets_a_compiler_that_hangs";
    // Requests have no cases; one of them has a reference that never ends.
    let (launch, compile) = if cases.is_empty() || cases.iter().any(is_slow) { (2.0, 5.0) } else { (60.0, 60.0) };
    format!(
        "\n[measure]\nracing = false\nfirst_limit = {launch:?}\nlaunch_limit = {launch:?}\ntime_cap = 0.05\n\
         compile_limit = {compile:?}\nreference_limit = {launch:?}\nfinal = false\ndrift = false\n"
    )
}

const C_HEAD: &str = "
#define _GNU_SOURCE
#include <alloca.h>
#include <arpa/inet.h>
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <linux/seccomp.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
";

/// The result wanted of every launch, and the number of earlier launches.
const C_RIGHT: &str = "
static volatile int sink;
static int launches;
#define RIGHT right(a, b, c)
static void right(const float *a, float *b, float *c)
{
    for (int i = 0; i < N; ++i) {
        c[i] = 2 * a[i];
        b[i] += 1;
    }
}
";

/// Returns the source with a function for each case.
fn c_source(cases: &[Case], head: &str, linkage: &str, innocent: &str) -> String {
    let function = |number: usize, before: &str, body: &str| {
        format!(
            "\n#if CASE == {number}\n{before}\n{linkage}void fault(float *a, float *b, float *c)\n{{\n    \
             const int n = N, launch = launches++;\n    (void)n; (void)launch;\n    {body}\n}}\n#endif\n"
        )
    };
    let cases = numbered(cases, |number, case| function(number, case.before, case.body));
    format!("{head}{C_RIGHT}{}{cases}", function(0, "", innocent))
}

fn c_problem(cases: &[Case], file: &str, options: &str) -> String {
    let (last, measure) = (cases.len(), measure(cases));
    format!(
        "[problem]\nsizes = {{ N = 1024 }}\n\n[kernel]\nfile = \"{file}\"\nfunction = \"fault\"\noptions = [{options}]\n\n\
         [parameters]\nCASE = {{ range = \"0..={last}\" }}\n{ARGUMENTS}{measure}"
    )
}

fn ready(files: &[(&str, &str)]) -> Ready {
    let folder = Folder::with(files);
    folder.write("twice.c", REFERENCE);
    Ready { folder, environment: Vec::new(), _kept: None }
}

fn c_ready(cases: &[Case], more: &str, options: &str) -> Ready {
    let source = c_source(cases, &format!("{C_HEAD}{more}"), "", "RIGHT;");
    ready(&[("p.toml", &c_problem(cases, "faults.c", options)), ("faults.c", &source)])
}

pub(crate) fn c(cases: &[Case]) -> Ready {
    c_ready(cases, "", "\"-O1\", \"-w\"")
}

pub(crate) fn openmp(cases: &[Case]) -> Ready {
    c_ready(cases, "#include <omp.h>\n", "\"-O1\", \"-w\", \"-fopenmp\"")
}

/// The innocent configuration is slower than all others, and the final decides. No search reaches a tenth launch.
pub(crate) fn cheats(cases: &[Case]) -> Ready {
    let source = c_source(cases, C_HEAD, "", "usleep(500); RIGHT;");
    let problem = c_problem(cases, "faults.c", "\"-O1\", \"-w\"").replace("final = false\n", "max_samples = 7\n");
    ready(&[("p.toml", &problem), ("faults.c", &source)])
}

pub(crate) fn cpp(cases: &[Case]) -> Ready {
    let head = "#include <cstdlib>\n#include <thread>\n#include <unistd.h>\n";
    let source = c_source(cases, head, "extern \"C\" ", "RIGHT;");
    let options = "\"-O1\", \"-w\", \"-pthread\", \"-ftemplate-depth=200\"";
    ready(&[("p.toml", &c_problem(cases, "faults.cpp", options)), ("faults.cpp", &source)])
}

/// The compiler itself misbehaves in some cases. The number of a case stands in its options.
pub(crate) fn compilers(cases: &[Case]) -> Ready {
    let ready = c_ready(cases, "", "\"-O1\"");
    let number = |name: &str| cases.iter().position(|case| case.name == name).map(|at| at + 1);
    let acts = [
        ("meets_a_compiler_that_hangs", "exec sleep 300"),
        (
            "meets_a_compiler_that_is_deaf",
            "trap '' HUP INT QUIT TERM; setsid sleep 300 & sleep 300 & while :; do sleep 300; done",
        ),
        ("meets_a_compiler_that_crashes", "kill -SEGV $$"),
        ("meets_a_compiler_that_floods", "head -c 16777216 /dev/zero | tr '\\0' 'x' >&2; exit 1"),
        ("meets_a_compiler_that_writes_nothing", "exit 0"),
        (
            "meets_a_compiler_that_writes_nonsense",
            "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && echo nonsense > \"$2\"; shift; done; exit 0",
        ),
        ("meets_a_compiler_that_leaves_a_daemon", "setsid sleep 300 > /dev/null 2>&1 < /dev/null &"),
    ];
    let acts: String =
        acts.iter().filter_map(|(name, act)| Some(format!("    *-DCASE={}\\ *) {act};;\n", number(name)?))).collect();
    ready.folder.write("cc", &format!("#!/bin/sh\ncase \"$* \" in\n{acts}esac\nexec cc \"$@\"\n"));
    let compiler = format!("sh {}", ready.folder.path("cc").display());
    Ready { environment: vec![("CC", compiler)], ..ready }
}

pub(crate) fn opencl(cases: &[Case]) -> Ready {
    let function = |number: usize, before: &str, body: &str| {
        format!(
            "\n#if CASE == {number}\n{before}\nkernel void fault(global float *a, global float *b, global float *c)\n\
             {{\n    const size_t i = get_global_id(0);\n    {body}\n}}\n#endif\n"
        )
    };
    let source = numbered(cases, |number, case| function(number, case.before, case.body));
    let source = format!("#define RIGHT c[i] = 2 * a[i]; b[i] += 1\n{}{source}", function(0, "", "RIGHT;"));
    let large = cases.iter().position(|case| case.before.contains("#define LOCAL")).map_or(0, |at| at + 1);
    let problem = c_problem(cases, "faults.cl", "").replace(
        "options = []\n",
        &format!("global = [\"16384\"]\nlocal = [\"16384 if {large} > 0 and CASE == {large} else 64\"]\n"),
    );
    // The first kernel waits until the driver has loaded its compiler.
    let problem = problem.replace("N = 1024", "N = 16384").replace("compile_limit = 5.0", "compile_limit = 60.0");
    ready(&[("p.toml", &problem), ("faults.cl", &source)])
}

pub(crate) fn command(cases: &[Case]) -> Ready {
    let script = |part: fn(&Case) -> &str| numbered(cases, |number, case| format!("{number})\n{}\n;;\n", part(case)));
    let run = format!("case $1 in\n0) echo 'answer 42'; echo 'cost 100 us';;\n{}esac\n", script(|case| case.body));
    let build = format!("case $1 in\n0) ;;\n{}esac\n", script(|case| case.build));
    let problem = format!(
        "[kernel]\ncommand = [\"sh\", \"run.sh\", \"{{CASE}}\"]\nbuild = [\"sh\", \"build.sh\", \"{{CASE}}\"]\n\
         cost = \"cost (\\\\S+) us\"\nunit = \"us\"\nmemory_limit = \"512MiB\"\n\n\
         [parameters]\nCASE = {{ range = \"0..={}\" }}\n\n[verify]\noutput = \"^answer 42$\"\n{}",
        cases.len(),
        measure(cases)
    );
    ready(&[("p.toml", &problem), ("run.sh", &run), ("build.sh", &build)])
}

pub(crate) fn cuda(cases: &[Case]) -> Ready {
    let rule = |number: usize, body: &str| format!("{{ \"defines\": {{ \"CASE\": \"{number}\" }}, {} }}", body.trim());
    let right = "\"times_us\": [90], \"writes\": [{ \"to\": 1, \"from\": { \"parameter\": 0 }, \"bytes\": 4096 }]";
    let rules = numbered(cases, |number, case| format!(",\n{}", rule(number, case.body)));
    let script = script((9, 0), true, &format!("[{}{rules}]", rule(0, right)));
    let problem = format!(
        "[problem]\nsizes = {{ N = 1024 }}\n\n[kernel]\nfile = \"faults.cu\"\nfunction = \"fault\"\nglobal = [\"N\"]\n\
         local = [\"64\"]\n\n[parameters]\nCASE = {{ range = \"0..={}\" }}\n\n\
         [[arguments]]\nname = \"a\"\ntype = \"f32\"\nshape = [\"N\"]\n\n\
         [[arguments]]\nname = \"c\"\ntype = \"f32\"\nshape = [\"N\"]\naccess = \"out\"\n\n\
         [verify]\nreference = {{ file = \"copy.c\", function = \"copy\" }}\n{}",
        cases.len(),
        measure(cases)
    );
    let source = "extern \"C\" __global__ void fault(const float *a, float *c) {}\n";
    let copy = "void copy(const float *a, float *c) { for (int i = 0; i < N; ++i) c[i] = a[i]; }\n";
    let ready = ready(&[("p.toml", &problem), ("faults.cu", source), ("copy.c", copy), ("script.json", &script)]);
    let path = |name: &str| ready.folder.path(name).display().to_string();
    let environment = vec![("TUNESMITH_CUDA_SCRIPT", path("script.json")), ("XDG_CACHE_HOME", path("cache"))];
    Ready { environment, ..ready }
}

/// The kernels know the folders that they must not touch, and a port that somebody listens on.
pub(crate) fn sandbox(cases: &[Case]) -> Ready {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let ready = c_ready(cases, "", "\"-O1\", \"-w\"");
    let folder = ready.folder.path("").canonicalize().unwrap();
    let home = folder.join("home");
    std::fs::create_dir_all(home.join(".ssh")).unwrap();
    std::fs::write(home.join(".ssh/id_test"), "a secret\n").unwrap();
    let made = "static int made(const char *name)\n{\n    int file = open(name, O_CREAT | O_WRONLY, 0600);\n    \
        if (file >= 0) close(file);\n    return file >= 0;\n}\n";
    let known = format!(
        "#define HOME \"{}\"\n#define FOLDER \"{}\"\n#define PORT {}\n{made}",
        home.display(),
        folder.display(),
        listener.local_addr().unwrap().port()
    );
    let source = c_source(cases, &format!("{C_HEAD}{known}"), "", "RIGHT;");
    ready.folder.write("faults.c", &source);
    Ready { environment: vec![("HOME", home.display().to_string())], _kept: Some(listener), ..ready }
}

/// The same with clang, whose kernels may write shared memory.
pub(crate) fn sandbox_of_clang(cases: &[Case]) -> Ready {
    let mut ready = sandbox(cases);
    ready.environment.push(("CC", "clang".to_owned()));
    ready
}

/// Returns the problem of a request, changed as the lines of the case say.
pub(crate) fn request(cases: &[Case]) -> Ready {
    let ready = c_ready(&[], "", "\"-O1\"");
    let text = |name: &str| std::fs::read_to_string(ready.folder.path(name)).unwrap();
    for line in cases[0].body.lines() {
        let Some((file, edit)) = line.split_once(": ") else { continue };
        let file = match file {
            "toml" => "p.toml",
            "reference" => "twice.c",
            _ => continue,
        };
        let (old, new) = edit.split_once(" => ").unwrap();
        assert!(text(file).contains(old), "`{old}` is not in {file}");
        ready.folder.write(file, &text(file).replace(old, &new.replace("\\n", "\n")));
    }
    ready
}
