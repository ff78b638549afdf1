//! Builds of configurations.

use crate::command::setup::*;
use crate::common::{assert_failed, config};
use std::time::Duration;
use tunesmith_core::{Evaluator, FailureKind, Interrupt, Request};
use tunesmith_device::{CommandOptions, CommandSpec};

#[test]
fn a_build_is_made_once_per_configuration_in_a_folder_of_its_own() {
    let setup = Setup::new();
    let build = vec![
        shell("echo built $N >> log; printf 'exit $((N - %s))' $N > $OUT/prog"),
        shell("test -f $OUT/prog && echo again >> log"),
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
fn a_failed_build_is_a_compile_failure_with_its_log() {
    let setup = Setup::new();
    let build =
        vec![shell("echo compiling; echo \"$OUT/main.c:3: error: no\" >&2; echo more; exit 2"), shell("exit 7")];
    let completion = setup.run(CommandSpec { build, ..setup.spec("echo run >> log") });
    assert_failed(
        &completion,
        FailureKind::Compile,
        &["compiling\n{OUT}/main.c:3: error: no\nmore", "ended with status 2"],
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
