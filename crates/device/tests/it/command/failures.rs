//! Commands that fail, and problems that are refused before anything runs.

use crate::command::setup::*;
use crate::common::{assert_failed, config};
use tunesmith_backend::command::CommandEvaluator;
use tunesmith_core::FailureKind;
use tunesmith_kernel::DeviceError;
use tunesmith_kernel::command::{CommandSpec, CommandVerify};

#[test]
fn a_status_other_than_0_is_a_runtime_failure_with_what_was_printed() {
    let setup = Setup::new();
    let completion = setup.run(setup.spec("echo result; echo 'cannot do it' >&2; exit 3"));
    assert_failed(
        &completion,
        FailureKind::Runtime,
        &["the command ended with status 3: cannot do it\nIt printed last:\ncannot do it"],
    );
    let completion = setup.run(setup.spec("exit 139"));
    assert_failed(&completion, FailureKind::Runtime, &["ended with status 139, as after SIGSEGV"]);
}

#[test]
fn a_signal_is_a_runtime_failure_with_its_name() {
    let setup = Setup::new();
    let completion = setup.run(setup.spec("kill -SEGV $$"));
    assert_failed(&completion, FailureKind::Runtime, &["the command was killed by SIGSEGV (it read or wrote memory"]);
}

#[test]
fn a_command_that_ends_its_whole_group_is_a_runtime_failure_and_the_run_goes_on() {
    let setup = Setup::new();
    let mut evaluator = setup.evaluator(options(setup.spec("test $N = 2 && kill -KILL 0; true")));
    let completion = setup.evaluate(&mut evaluator, 2);
    assert_failed(&completion, FailureKind::Runtime, &["ended its own process group", "SIGKILL"]);
    assert_correct(&setup.evaluate(&mut evaluator, 1));
}

#[test]
fn a_program_that_a_configuration_lacks_is_its_runtime_failure() {
    let setup = Setup::new();
    let command = words(&["./variant-{N}"]);
    let completion = setup.run(CommandSpec { command, ..setup.spec("") });
    assert_failed(&completion, FailureKind::Runtime, &["the command could not be started", "No such file"]);
}

#[test]
fn a_failure_after_the_first_run_says_so() {
    let setup = Setup::new();
    let completion = setup.run(setup.spec("echo >> $HERE/log; test $(wc -l < $HERE/log) -lt 3"));
    assert_failed(&completion, FailureKind::Runtime, &["the command ended with status 1, in a run after the first"]);
    assert_eq!(completion.measurement.times_ms.len(), 1);
}

#[test]
fn a_limit_of_memory_is_kept_and_named() {
    let setup = Setup::new();
    // `dd` allocates a buffer of its block size.
    let greedy = || setup.spec("dd if=/dev/zero of=/dev/null bs=512M count=1");
    assert_correct(&setup.run(greedy()));
    let completion = setup.run(CommandSpec { memory_limit: Some(256 << 20), ..greedy() });
    let words = ["ended with status 1: dd: ", "; it may have run out of memory: `memory_limit` allows it 256 MiB\nIt "];
    assert_failed(&completion, FailureKind::Runtime, &words);
}

#[test]
fn a_missing_program_is_found_before_anything_is_measured() {
    let setup = Setup::new();
    let preflight = |spec| setup.evaluator(options(spec)).preflight(config(&setup.space, 0));
    let error = preflight(CommandSpec { command: words(&["no-such-program-anywhere"]), ..setup.spec("") }).unwrap_err();
    assert!(matches!(error, DeviceError::Command { key: "command", .. }), "{error}");
    let build = vec![words(&["./configure"])];
    let error = preflight(CommandSpec { build, ..setup.spec("true") }).unwrap_err();
    assert!(matches!(error, DeviceError::Command { key: "build", .. }), "{error}");
    let check = Some(words(&["./check"]));
    let verify = CommandVerify { check, ..CommandVerify::default() };
    let error = preflight(CommandSpec { verify, ..setup.spec("true") }).unwrap_err();
    assert!(matches!(error, DeviceError::Command { key: "check", .. }), "{error}");
    let build = vec![shell("printf '#!/bin/sh\\n' > $OUT/prog; chmod +x $OUT/prog")];
    preflight(CommandSpec { build, command: words(&["{OUT}/prog"]), ..setup.spec("") }).unwrap();
}

#[test]
fn an_unknown_name_is_refused_at_once() {
    let setup = Setup::new();
    let spec = CommandSpec { command: words(&["echo", "{M}"]), ..setup.spec("") };
    let error = CommandEvaluator::new(&setup.space, options(spec)).err().unwrap();
    assert!(error.to_string().contains("`{M}` is neither a parameter nor a size"), "{error}");
    let awk = CommandSpec { command: words(&["awk", "{print $1}"]), ..setup.spec("") };
    let error = CommandEvaluator::new(&setup.space, options(awk)).err().unwrap();
    let DeviceError::Command { remedy, .. } = &error else { panic!("{error}") };
    assert!(remedy.contains("write `{{print $1}}` if the braces stand for themselves"), "{remedy}");
}
