//! Builds of configurations.

use crate::command::setup::*;
use crate::common::{assert_failed, assert_quiet, config};
use std::time::Duration;
use tunesmith_backend::command::{CommandEvaluator, CommandOptions};
use tunesmith_core::{Evaluator, FailureKind, Interrupt, Request};
use tunesmith_kernel::command::CommandSpec;
use tunesmith_space::Value;

#[test]
fn a_build_is_made_once_per_configuration_in_a_folder_of_its_own() {
    let setup = Setup::new();
    let build = vec![
        shell("echo built $N >> $HERE/log; printf 'exit $((N - %s))' $N > $OUT/prog"),
        shell("test -f $OUT/prog && echo again >> $HERE/log"),
    ];
    let spec = CommandSpec { build, ..setup.spec("sh $OUT/prog") };
    let mut evaluator = setup.evaluator(CommandOptions { jobs: 2, ..options(spec) });
    for n in 0..4 {
        evaluator.submit(Request::timed(config(&setup.space, n))).unwrap();
    }
    for _ in 0..4 {
        let completion = evaluator.next(&Interrupt::default()).unwrap().unwrap();
        assert_correct(&completion);
        assert!(completion.measurement.compile.unwrap().binary_bytes > Some(0));
    }
    let log = setup.file("log");
    assert_eq!((log.matches("built").count(), log.matches("again").count()), (4, 4));
}

#[test]
fn builds_stand_still_while_another_configuration_runs_and_hold_it_not_back() {
    let setup = Setup::new();
    // The first one builds until the second one was measured.
    let build = "if test $N = 0; then until test -e $HERE/done; do echo tick >> $HERE/log; done; \
                 else until test -s $HERE/log; do sleep 0.01; done; fi";
    let script = "echo begin >> $HERE/log; sleep 0.01; echo end >> $HERE/log";
    let spec = CommandSpec { build: vec![shell(build)], ..setup.spec(script) };
    let mut evaluator = setup.evaluator(CommandOptions { jobs: 2, ..options(spec) });
    for n in 0..2 {
        evaluator.submit(Request::timed(config(&setup.space, n))).unwrap();
    }
    let mut answer = || {
        let completion = evaluator.next(&Interrupt::default()).unwrap().unwrap();
        assert_correct(&completion);
        completion.request.unwrap().config
    };
    assert_eq!(answer(), config(&setup.space, 1));
    assert_quiet(&setup.file("log"), 0);
    std::fs::write(setup.folder.path().join("done"), "").unwrap();
    assert_eq!(answer(), config(&setup.space, 0));
}

#[test]
fn a_failed_build_is_a_compile_failure_with_its_log() {
    let setup = Setup::new();
    let build =
        vec![shell("echo compiling; echo \"$OUT/main.c:3: error: no\" >&2; echo more; exit 2"), shell("exit 7")];
    let completion = setup.run(CommandSpec { build, ..setup.spec("echo run >> $HERE/log") });
    assert_failed(
        &completion,
        FailureKind::Compile,
        &["compiling\nmore\n{OUT}/main.c:3: error: no", "ended with status 2"],
    );
    assert_eq!(completion.failure.unwrap().headline(), "`sh`: {OUT}/main.c:3: error: no");
    assert_eq!(setup.file("log"), "");
}

#[test]
fn a_build_that_does_not_end_is_a_compile_failure() {
    let setup = Setup::new();
    let mut options = options(CommandSpec { build: vec![shell("sleep 1000")], ..setup.spec("true") });
    options.policy.limits.compile = Duration::from_millis(100);
    let completion = setup.evaluate(&mut setup.evaluator(options), 2);
    assert_failed(&completion, FailureKind::Compile, &["the build step", "did not end within 100 ms"]);
}

#[test]
fn a_build_has_no_limit_of_memory() {
    let setup = Setup::new();
    let build = vec![shell("dd if=/dev/zero of=/dev/null bs=512M count=1")];
    assert_correct(&setup.run(CommandSpec { build, memory_limit: Some(256 << 20), ..setup.spec("true") }));
}

#[test]
fn a_failed_build_is_summarized_by_the_last_line_of_its_standard_error() {
    let setup = Setup::new();
    let build =
        vec![shell("echo building; echo 'line 1' >&2; printf '\\033[31mno room\\033[0m\\n\\n' >&2; echo done; exit 1")];
    let completion = setup.run(CommandSpec { build, ..setup.spec("true") });
    assert_eq!(completion.failure.unwrap().headline(), "`sh`: no room");
}

#[test]
fn words_of_a_build_that_become_empty_are_left_out() {
    let setup = Setup::new();
    let script = "test $# = 1 && test \"$1\" = a";
    let build = vec![words(&["{EMPTY}", "sh", "-c", script, "sh", "{EMPTY}", "a", ""]), words(&["{EMPTY}"])];
    let spec = CommandSpec { build, ..setup.spec("true") };
    let mut options = options(spec);
    options.sizes = vec![("EMPTY".to_owned(), Value::Str("".into()))];
    let mut evaluator = CommandEvaluator::new(&setup.space, options).unwrap();
    evaluator.preflight(config(&setup.space, 2)).unwrap();
    assert_correct(&setup.evaluate(&mut evaluator, 2));
}
