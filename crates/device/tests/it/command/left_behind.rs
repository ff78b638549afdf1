//! Processes that a command leaves behind, also when it is interrupted.

use crate::command::setup::*;
use crate::common::{assert_failed, config};
use std::time::Duration;
use tunesmith_core::{Evaluator, FailureKind, Interrupt, Request};
use tunesmith_kernel::command::{CommandSpec, Unit};

#[test]
fn at_a_timeout_grandchildren_are_ended_as_well() {
    let setup = Setup::new();
    let mut options = options(setup.spec("sleep 1000 & echo $! > $HERE/child; wait"));
    options.policy.limits.first = Duration::from_secs(2);
    let mut evaluator = setup.evaluator(options);
    // On a very busy machine even the start of a shell may take too long.
    while setup.file("child").trim().is_empty() {
        assert_failed(&setup.evaluate(&mut evaluator, 2), FailureKind::Timeout, &["did not end"]);
    }
    wait_until_gone(&setup.file("child"));
}

#[test]
fn what_a_command_leaves_behind_is_ended_and_does_not_delay_its_end() {
    let setup = Setup::new();
    let completion = setup.run(setup.spec("sleep 1000 & echo $! >> $HERE/children"));
    assert_correct(&completion);
    assert!(completion.measurement.times_ms.iter().all(|time| *time < 500_000.0));
    setup.file("children").lines().for_each(wait_until_gone);
}

#[test]
fn a_daemon_that_keeps_the_output_open_is_ended_and_does_not_delay_the_end() {
    let setup = Setup::new();
    let daemon = "setsid sh -c 'echo $$ >> $HERE/daemons; exec sleep 1000' & \
                  until test -s $HERE/daemons; do :; done; echo cost 3";
    let spec = CommandSpec { cost: printed("cost ([0-9]+)", Unit::Milliseconds), ..setup.spec(daemon) };
    let completion = setup.run(spec);
    assert_correct(&completion);
    assert_eq!(completion.measurement.times_ms[0], 3.0);
    let daemons = setup.file("daemons");
    assert!(!daemons.is_empty());
    daemons.lines().for_each(wait_until_gone);
}

#[test]
fn an_interrupt_ends_the_command_and_drops_the_configuration() {
    let setup = Setup::new();
    let mut options = options(setup.spec("echo $$ > $HERE/shell; sleep 1000"));
    options.policy.limits.first = Duration::from_secs(1000);
    let mut evaluator = setup.evaluator(options);
    let interrupt = Interrupt::default();
    evaluator.submit(Request::timed(config(&setup.space, 0))).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while setup.file("shell").trim().is_empty() {
                std::thread::yield_now();
            }
            interrupt.raise();
        });
        assert!(evaluator.next(&interrupt).unwrap().is_none());
    });
    wait_until_gone(&setup.file("shell"));
}
