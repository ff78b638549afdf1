//! Checks of what a command prints.

use crate::command::setup::*;
use crate::common::assert_failed;
use std::time::Duration;
use tunesmith_core::FailureKind;
use tunesmith_kernel::command::{CommandSpec, CommandVerify, TextPattern};

#[test]
fn an_output_that_does_not_match_is_wrong() {
    let setup = Setup::new();
    let output = Some(TextPattern::parse("^sum 10$").unwrap());
    let verify = CommandVerify { output, ..CommandVerify::default() };
    assert_correct(&setup.run(CommandSpec { verify: verify.clone(), ..setup.spec("echo sum 10") }));
    let completion = setup.run(CommandSpec { verify, ..setup.spec("echo sum 11") });
    assert_failed(
        &completion,
        FailureKind::Correctness,
        &["the output is wrong: nothing matches `^sum 10$`", "sum 11"],
    );
}

#[test]
fn an_output_that_differs_from_the_expected_one_is_wrong_at_a_line() {
    let setup = Setup::new();
    let expected = setup.folder.path().join("expected.txt");
    std::fs::write(&expected, "1\n2\n3\n").unwrap();
    let verify = CommandVerify { expected_output: Some(expected), ..CommandVerify::default() };
    let run = |script| setup.run(CommandSpec { verify: verify.clone(), ..setup.spec(script) });
    assert_correct(&run("printf '1\\n2\\n3'; echo remark >&2"));
    let words = ["the standard output is wrong from line 2 on: wanted `2`, found `two`"];
    assert_failed(&run("printf '1\\ntwo\\n3\\n'"), FailureKind::Correctness, &words);
    assert_failed(&run("printf '1\\n2\\n'"), FailureKind::Correctness, &["from line 3 on: wanted `3`, found the end"]);
}

#[test]
fn a_check_reads_the_first_output_and_tells_what_is_wrong() {
    let setup = Setup::new();
    let check =
        Some(shell("echo checked $N >> $HERE/log; read sum; test \"$sum\" = 10 || { echo \"sum is $sum\"; exit 1; }"));
    let verify = CommandVerify { check, ..CommandVerify::default() };
    let completion = setup.run(CommandSpec { verify: verify.clone(), ..setup.spec("echo 10") });
    assert_correct(&completion);
    assert!(completion.spent.verify > Duration::ZERO);
    assert_eq!(setup.file("log"), "checked 2\n");
    let completion = setup.run(CommandSpec { verify, ..setup.spec("echo 11") });
    assert_failed(&completion, FailureKind::Correctness, &["the result is wrong: sum is 11", "ended with status 1"]);
    assert!(completion.measurement.times_ms.is_empty());
}
