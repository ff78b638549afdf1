//! Limits, interrupts, OpenMP, references and identity: the evaluator as a tuning run uses it.

use crate::common;

use common::*;
use std::time::Duration;
use tunesmith_backend::host::{Compilers, WorkerCommand};
use tunesmith_core::{Evaluator, FailureKind, Interrupt, Request};
use tunesmith_device::{LiveEvaluator, devices};
use tunesmith_kernel::{Access, DeviceError, Fill, KernelSpec, Template, Verify};

fn out(count: u64) -> Vec<tunesmith_kernel::Argument> {
    vec![buffer("out", "i32", count, Access::Out, Fill::Zeros)]
}

#[test]
fn an_openmp_runtime_stays_loaded_while_kernels_come_and_go() {
    let folder = Folder::new();
    let source = "#include <omp.h>\nvoid f(int *out) {\n#pragma omp parallel for num_threads(2 + P % 2)\n\
                  for (int i = 0; i < 64; i++) out[i] = i; }";
    let reference_source = "void r(int *out) { for (int i = 0; i < 64; i++) out[i] = i; }";
    let mut spec = spec(folder.file("f.c", source), "f", out(64));
    spec.kernels[0].options = vec![Template::parse("-fopenmp").unwrap()];
    spec.verify = reference(folder.file("r.c", reference_source), "r");
    let space = space_of("P", 12);
    let mut evaluator = evaluator(&space, spec);
    for config in space.iter() {
        evaluator.submit(Request::timed(config)).unwrap();
    }
    let mut workers = Vec::new();
    for _ in space.iter() {
        assert_correct(&evaluator.next(&Interrupt::default()).unwrap().unwrap());
        workers.push(evaluator.worker_id());
    }
    workers.dedup();
    assert_eq!(workers.len(), 1, "a worker crashed");
}

#[test]
fn launches_before_the_first_sample_are_as_many_as_asked_for() {
    let folder = Folder::new();
    // Right for P launches. Twelve warm-ups and seven samples are nineteen.
    let source = "void f(int *out) { static int launches; out[0] = ++launches <= P; }";
    let mut spec = spec(folder.file("f.c", source), "f", out(1));
    spec.verify = reference(folder.file("r.c", "void r(int *out) { out[0] = 1; }"), "r");
    let space = space_of("P", 20);
    let mut options = options(spec);
    options.policy.sampling.warmups = 12;
    (options.policy.sampling.min_samples, options.policy.sampling.max_samples) = (7, 7);
    let mut evaluator = LiveEvaluator::new(&space, options).unwrap();
    let right = evaluate(&mut evaluator, config(&space, 19));
    assert_correct(&right);
    assert_eq!(right.measurement.times_ms.len(), 7);
    assert_failed(&evaluate(&mut evaluator, config(&space, 18)), FailureKind::Correctness, &["wanted 1, found 0"]);
}

#[test]
fn a_slow_configuration_that_cannot_win_is_launched_once() {
    let folder = Folder::new();
    let source = "#include <unistd.h>\nvoid f(int *out) { usleep(1050000); out[0] = 1; }";
    let mut spec = spec(folder.file("f.c", source), "f", out(1));
    spec.verify = reference(folder.file("r.c", "void r(int *out) { out[0] = 1; }"), "r");
    let space = space_of("P", 2);
    let mut evaluator = evaluator(&space, spec);
    evaluator.race(Some(500.0));
    let slow = evaluate(&mut evaluator, config(&space, 0));
    assert_eq!(slow.failure, None);
    assert_eq!(Some(slow.measurement.times_ms[0]), slow.measurement.warmup_ms);
    assert_eq!(slow.measurement.times_ms.len(), 1);
}

#[test]
fn only_the_first_launch_of_a_slow_configuration_is_judged_and_every_launch_of_one_that_could_win() {
    let folder = Folder::new();
    let source = "void f(int *out) { static int launches; out[0] = ++launches == 2 ? 0 : 1; }";
    let mut spec = spec(folder.file("f.c", source), "f", out(1));
    spec.verify = reference(folder.file("r.c", "void r(int *out) { out[0] = 1; }"), "r");
    let space = space_of("P", 3);
    let mut evaluator = evaluator(&space, spec);
    // Every time lies far above a millionth of a millisecond and far below an hour.
    for (value, bar_ms, is_right) in [(0, Some(1e-6), true), (1, Some(3.6e6), false), (2, None, false)] {
        evaluator.race(bar_ms);
        let failure = evaluate(&mut evaluator, config(&space, value)).failure;
        assert_eq!(failure.is_none(), is_right, "{failure:?}");
    }
    let failure = confirm(&mut evaluator, config(&space, 0)).failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Correctness, "whoever is to win is verified at every launch");
}

#[test]
fn unsafe_mathematics_of_one_kernel_do_not_reach_the_next() {
    let folder = Folder::new();
    // Does the same as loading a library linked with -ffast-math: denormals become zero.
    let source = "#include <xmmintrin.h>\n\
        #if P == 1\n__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }\n#endif\n\
        void f(int *out) { volatile float tiny = 1e-40f; out[0] = tiny * 0.5f > 0; }";
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let mut spec = spec(folder.file("f.c", source), "f", out(1));
    spec.verify = reference(folder.file("r.c", "void r(int *out) { out[0] = 1; }"), "r");
    let space = space_of("P", 2);
    let mut evaluator = evaluator(&space, spec);
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
    assert_failed(&evaluate(&mut evaluator, config(&space, 1)), FailureKind::Correctness, &["wanted 1, found 0"]);
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
}

#[test]
fn a_compilation_that_does_not_end_is_a_compile_failure() {
    let folder = Folder::new();
    let cc = folder.script("slow-cc", "#!/bin/sh\ncase \"$*\" in *-DP=1*' -o '*) sleep 100;; esac\nexec cc \"$@\"\n");
    let space = space_of("P", 2);
    let mut options = options(spec(folder.file("f.c", "void f(int *out) { out[0] = 1; }"), "f", out(1)));
    options.compilers = Compilers { cc, ..Compilers::default() };
    options.policy.limits.compile = Duration::from_secs(2);
    let mut evaluator = LiveEvaluator::new(&space, options).unwrap();
    let completion = evaluate(&mut evaluator, config(&space, 1));
    assert_failed(&completion, FailureKind::Compile, &["the compilation did not end within 2.0 s"]);
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
}

#[test]
fn a_compiler_stands_still_while_another_configuration_is_timed_and_holds_it_not_back() {
    let folder = Folder::new();
    let at = |name: &str| folder.0.path().join(name).display().to_string();
    let (log, done) = (at("log"), at("done"));
    let compile = format!("until test -e {done}; do echo tick >> {log}; done");
    let cc = format!("#!/bin/sh\ncase \"$*\" in *-DP=0*' -o '*) {compile};; esac\nexec cc \"$@\"\n");
    let source = format!(
        "#include <stdio.h>\n#include <unistd.h>\n\
         static void say(const char *text) {{ FILE *log = fopen(\"{log}\", \"a\"); fputs(text, log); fclose(log); }}\n\
         void f(int *out) {{ say(\"begin\\n\"); usleep(1000); say(\"end\\n\"); out[0] = 1; }}"
    );
    let mut options = options(folder.spec(&source, "void r(int *out) { out[0] = 1; }", out(1)));
    options.compilers = Compilers { cc: folder.script("ticking-cc", &cc), ..Compilers::default() };
    options.jobs = 2;
    let space = space_of("P", 2);
    let mut evaluator = LiveEvaluator::new(&space, options).unwrap();
    evaluator.submit(Request::timed(config(&space, 0))).unwrap();
    while !std::path::Path::new(&log).exists() {
        std::thread::yield_now();
    }
    evaluator.submit(Request::timed(config(&space, 1))).unwrap();
    let mut answer = || {
        let completion = evaluator.next(&Interrupt::default()).unwrap().unwrap();
        assert_correct(&completion);
        completion.request.unwrap().config
    };
    assert_eq!(answer(), config(&space, 1));
    // The first launch begins whenever the worker is ready. It is not timed.
    assert_quiet(&std::fs::read_to_string(&log).unwrap(), 1);
    std::fs::write(done, "").unwrap();
    assert_eq!(answer(), config(&space, 0));
}

#[test]
fn an_interrupt_ends_an_endless_kernel_and_the_evaluator_goes_on_when_asked() {
    let folder = Folder::new();
    let source = "void f(int *out) { volatile int more = P; while (more) { } out[0] = 1; }";
    let space = space_of("P", 2);
    let mut options = options(spec(folder.file("f.c", source), "f", out(1)));
    options.policy.limits.first = Duration::from_secs(3600);
    let mut evaluator = LiveEvaluator::new(&space, options).unwrap();
    evaluator.submit(Request::timed(config(&space, 1))).unwrap();
    let interrupt = Interrupt::default();
    interrupt.raise();
    assert!(evaluator.next(&interrupt).unwrap().is_none());
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
}

#[test]
fn an_interrupt_ends_a_compilation() {
    let folder = Folder::new();
    let cc = folder.script("slow-cc", "#!/bin/sh\ncase \"$*\" in *-DP=1*' -o '*) sleep 1000;; esac\nexec cc \"$@\"\n");
    let space = space_of("P", 2);
    let mut options = options(spec(folder.file("f.c", "void f(int *out) { out[0] = 1; }"), "f", out(1)));
    options.compilers = Compilers { cc, ..Compilers::default() };
    let mut evaluator = LiveEvaluator::new(&space, options).unwrap();
    evaluator.submit(Request::timed(config(&space, 1))).unwrap();
    let interrupt = Interrupt::default();
    interrupt.raise();
    assert!(evaluator.next(&interrupt).unwrap().is_none());
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
}

fn reference_error(source: &str, function: &str) -> String {
    let folder = Folder::new();
    let mut spec = spec(folder.file("f.c", "void f(int *out) { out[0] = 1; }"), "f", out(1));
    spec.verify = reference(folder.file("r.c", source), function);
    let space = space_of("P", 1);
    let mut options = options(spec);
    options.policy.limits.reference = Duration::from_millis(500);
    let mut evaluator = LiveEvaluator::new(&space, options).unwrap();
    let error = evaluator.prepare(&Interrupt::default()).unwrap_err();
    assert!(matches!(error, DeviceError::Reference { .. }), "{error}");
    error.to_string()
}

#[test]
fn a_broken_reference_ends_the_run_with_its_file_and_function() {
    let message = reference_error("void r(int *out) { out[0] = oops; }", "r");
    assert!(message.contains("the reference `r` in ") && message.contains("r.c: it does not compile: "), "{message}");
    assert!(message.contains("'oops' undeclared"), "{message}");
    let message = reference_error("void r(int *out) { __builtin_trap(); }", "r");
    assert!(message.contains("r.c: the kernel was killed by SIGILL"), "{message}");
    let message = reference_error("void r(int *out) { volatile int one = 1; while (one) { } }", "r");
    assert!(message.contains("did not end within 500 ms"), "{message}");
    let message = reference_error("void q(int *out) { }", "r");
    assert!(message.contains("defines no function `r`"), "{message}");
    let message = reference_error("void r(float *out) { }", "r");
    assert!(message.contains("argument 1, `out`: the problem says i32*, the function takes float *"), "{message}");
}

#[test]
fn without_verification_a_kernel_is_only_watched() {
    let folder = Folder::new();
    let spec =
        KernelSpec { verify: Verify::default(), ..spec(folder.file("f.c", "void f(int *out) { }"), "f", out(1)) };
    let space = space_of("P", 1);
    assert_correct(&evaluate(&mut evaluator(&space, spec), config(&space, 0)));
}

fn identity_of(spec: &KernelSpec) -> Vec<(String, String)> {
    evaluator(&space_of("P", 1), spec.clone()).identity()
}

#[test]
fn the_identity_changes_with_everything_that_makes_the_code() {
    let folder = Folder::new();
    let header = folder.file("part.h", "#define VALUE 1\n");
    let mut spec = spec(folder.file("f.c", "#include \"part.h\"\nvoid f(int *out) { out[0] = VALUE; }"), "f", out(1));
    spec.verify = reference(folder.file("r.c", "void r(int *out) { out[0] = 1; }"), "r");
    let first = identity_of(&spec);
    let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["backend", "device", "compiler", "kernel", "reference"]);
    assert_eq!(identity_of(&spec), first);

    std::fs::write(header, "#define VALUE 2\n").unwrap();
    let second = identity_of(&spec);
    assert_ne!(second[3], first[3], "an included file");
    assert_eq!(second[4], first[4]);
    spec.kernels[0].options = vec![Template::parse("-O1").unwrap()];
    assert_ne!(identity_of(&spec)[3], second[3], "an option");
    folder.file("r.c", "void r(int *out) { out[0] = 2; }");
    assert_ne!(identity_of(&spec)[4], second[4], "the reference");
}

#[test]
fn the_plan_shows_the_call_and_the_command() {
    let folder = Folder::new();
    let mut spec = spec(folder.file("f.c", "void f(int *out) { }"), "f", out(1));
    spec.kernels[0].options = vec![Template::parse("-funroll-loops").unwrap()];
    let space = space_of("P", 2);
    let plan = evaluator(&space, spec).plan(config(&space, 1)).remove(0).build;
    assert!(plan.source.contains("f(\n        (int *)tunesmith_values[0]\n    );"), "{}", plan.source);
    assert_eq!(plan.command[..3], ["cc", "-O3", "-march=native"]);
    let place = |word: &str| plan.command.iter().position(|known| known == word);
    assert!(place("-funroll-loops") < place("-DP=1"), "{:?}", plan.command);
    assert_eq!(plan.command.last().map(String::as_str), Some("-lm"));
}

#[test]
fn a_program_that_is_no_worker_is_explained() {
    let folder = Folder::new();
    let mut options = options(spec(folder.file("f.c", "void f(int *out) { }"), "f", out(1)));
    options.worker = WorkerCommand::program("/bin/true");
    let space = space_of("P", 1);
    let error = LiveEvaluator::new(&space, options).err().unwrap().to_string();
    assert!(
        error.contains("does the program call `worker::enter_if_worker()` in the first line of `main`?"),
        "{error}"
    );
}

#[test]
fn a_worker_that_does_not_start_is_started_again_once_one_has_worked() {
    let folder = Folder::new();
    let source = "#include <signal.h>\n#include <unistd.h>\nvoid f(int *out) {
        *out = 7; if (P == 1) { kill(getppid(), SIGKILL); for (;;) pause(); } }";
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in *worker*) if [ -e '{0}/busy' ]; then rm '{0}/busy'; exit 1; fi;; esac\nexec '{1}' \"$@\"\n",
        folder.0.path().display(),
        env!("CARGO_BIN_EXE_tunesmith-worker")
    );
    let mut options = options(spec(folder.file("f.c", source), "f", out(1)));
    options.worker = WorkerCommand::program(folder.script("worker", &script));
    let space = space_of("P", 2);
    let mut evaluator = LiveEvaluator::new(&space, options).unwrap();
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
    assert_failed(&evaluate(&mut evaluator, config(&space, 1)), FailureKind::Runtime, &[]);
    folder.file("busy", "");
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
    assert!(!folder.0.path().join("busy").exists());
}

#[test]
fn the_processor_is_a_device_and_a_missing_compiler_is_explained() {
    let (found, missing) = devices(&Compilers::default(), &worker());
    assert_eq!((found[0].id.as_str(), found[0].backend.as_str()), ("c", "c"));
    assert!(missing.iter().all(|missing| missing.backend != "c"), "{missing:?}");
    assert!(found[0].limits["threads"] >= 1.0 && !found[0].name.is_empty());
    let (found, missing) =
        devices(&Compilers { cc: "no-such-cc".into(), cxx: "no-such-cxx".into(), ..Compilers::default() }, &worker());
    assert!(found.iter().all(|device| device.backend != "c"), "{found:?}");
    assert!(missing[0].reason.starts_with("the C compiler `no-such-cc` cannot be started"), "{:?}", missing[0]);
    assert!(missing[1].remedy.contains("set CXX"));
}
