//! Tests of every possible failure of a configuration. Each has its status and its message, and the
//! run goes on.

use crate::common;

use common::*;
use tunesmith_core::{Evaluator, FailureKind, Interrupt, Request};
use tunesmith_device::LiveEvaluator;
use tunesmith_kernel::{Access, Fill, KernelSpec};
use tunesmith_space::Space;

const MODES: i64 = 22;
const N: u64 = 1000;

fn modes(file: &str) -> KernelSpec {
    let arguments = vec![
        buffer("a", "f32", N, Access::In, Fill::Random),
        buffer("b", "f32", N, Access::InOut, Fill::Random),
        buffer("c", "f32", N, Access::Out, Fill::Zeros),
        scalar("n", "i32", "1000"),
    ];
    KernelSpec {
        verify: reference(kernel_file("modes_reference.c"), "reference"),
        ..spec(kernel_file(file), "kernel", arguments)
    }
}

fn start() -> (Space, LiveEvaluator) {
    let space = space_of("MODE", MODES);
    let evaluator = evaluator(&space, modes("modes.c"));
    (space, evaluator)
}

/// Runs a mode in an evaluator of its own, followed by a correct mode.
#[track_caller]
fn fails(mode: i64, kind: FailureKind, words: &[&str]) {
    for file in ["modes.c", "modes.cpp"] {
        let space = space_of("MODE", MODES);
        let mut evaluator = evaluator(&space, modes(file));
        assert_failed(&evaluate(&mut evaluator, config(&space, mode)), kind, words);
        assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
    }
}

#[test]
fn a_correct_configuration_is_timed_until_its_median_is_stable() {
    for file in ["modes.c", "modes.cpp"] {
        let space = space_of("MODE", MODES);
        let mut evaluator = evaluator(&space, modes(file));
        let completion = evaluate(&mut evaluator, config(&space, 0));
        assert_correct(&completion);
        assert!((7..=10).contains(&completion.measurement.times_ms.len()));
        assert!(completion.measurement.times_ms.iter().all(|time| *time > 0.0));
        assert!(completion.spent.compile.as_nanos() > 0 && completion.spent.run.as_nanos() > 0);
        assert!(completion.measurement.compile.is_some_and(|compile| compile.binary_bytes > Some(0)));
    }
}

#[test]
fn what_does_not_compile_is_recorded_with_the_first_error() {
    fails(1, FailureKind::Compile, &["modes.c", "error: "]);
}

#[test]
fn a_compile_message_shows_nothing_of_the_shim() {
    let (space, mut evaluator) = start();
    let completion = evaluate(&mut evaluator, config(&space, 1));
    let message = completion.failure.unwrap().message;
    assert!(message.lines().next().unwrap().contains("modes.c:"), "{message}");
    assert!(!message.contains("tunesmith-") && !message.contains("In file included"), "{message}");
}

#[test]
fn an_undefined_symbol_is_a_compile_failure() {
    fails(17, FailureKind::Compile, &["undefined reference to `defined_nowhere"]);
}

#[test]
fn a_segmentation_fault_is_a_runtime_failure() {
    fails(2, FailureKind::Runtime, &["the kernel was killed by SIGSEGV (it read or wrote memory that is not its own)"]);
}

#[test]
fn an_abort_is_a_runtime_failure_with_what_was_printed() {
    fails(3, FailureKind::Runtime, &["killed by SIGABRT", "It printed last:\nkernel: assertion failed"]);
}

#[test]
fn an_endless_loop_is_a_timeout_with_the_limit() {
    fails(4, FailureKind::Timeout, &["the kernel did not end within 1.5 s (the limit while no correct time is known)"]);
}

#[test]
fn a_timeout_names_the_best_time_once_there_is_one() {
    let (space, mut evaluator) = start();
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
    let completion = evaluate(&mut evaluator, config(&space, 4));
    assert_failed(&completion, FailureKind::Timeout, &["within 1.5 s (more than 10 x the best time of"]);
}

#[test]
fn a_stack_overflow_is_a_runtime_failure() {
    fails(5, FailureKind::Runtime, &["the kernel overflowed its stack"]);
}

#[test]
fn a_write_behind_a_buffer_is_found_with_argument_and_offset() {
    fails(
        6,
        FailureKind::Runtime,
        &["the kernel wrote outside of `c`, behind its end: at byte 4000 of a buffer of 4000 bytes"],
    );
}

#[test]
fn a_write_before_a_buffer_is_found_with_argument_and_offset() {
    fails(7, FailureKind::Runtime, &["the kernel wrote outside of `c`, before its start: at byte -5"]);
}

#[test]
fn a_write_to_an_input_is_a_correctness_failure() {
    fails(8, FailureKind::Correctness, &["the kernel wrote to its input `a`[3]", "needs access = \"inout\""]);
}

#[test]
fn wrong_numbers_are_a_correctness_failure_with_the_first_index() {
    fails(9, FailureKind::Correctness, &["`c`[5] is wrong: wanted ", ", found ", "(2 of 1000 values are wrong)"]);
}

#[test]
fn an_unwritten_output_is_told_from_a_wrong_one() {
    fails(
        10,
        FailureKind::Correctness,
        &["`c`[7] was not written: wanted ", "1 of 1000 values were not written, 0 are wrong"],
    );
}

#[test]
fn nan_is_wrong() {
    fails(11, FailureKind::Correctness, &["`c`[2] is wrong: wanted ", ", found NaN"]);
}

#[test]
fn exit_ends_the_worker_only() {
    fails(12, FailureKind::Runtime, &["the kernel called exit(0)"]);
    fails(13, FailureKind::Runtime, &["the kernel called exit(3)"]);
}

#[test]
fn what_a_kernel_prints_does_not_disturb_the_protocol() {
    let (space, mut evaluator) = start();
    assert_correct(&evaluate(&mut evaluator, config(&space, 14)));
}

#[test]
fn state_that_a_kernel_keeps_is_found_in_its_result() {
    fails(15, FailureKind::Correctness, &["`b`[1] is wrong"]);
    fails(16, FailureKind::Correctness, &["`c`[0] is wrong", "right after the first launch, wrong after"]);
}

#[test]
fn a_crash_in_a_later_launch_says_so_and_keeps_the_first_time() {
    fails(18, FailureKind::Runtime, &["SIGABRT", "in a launch after the first"]);
    let (space, mut evaluator) = start();
    let completion = evaluate(&mut evaluator, config(&space, 18));
    assert!(completion.measurement.warmup_ms.is_some());
}

#[test]
fn a_worker_outlives_everything_that_configurations_do_to_their_processes() {
    let (space, mut evaluator) = start();
    let mut worker_after = |mode| {
        evaluate(&mut evaluator, config(&space, mode));
        evaluator.worker_id()
    };
    let first = worker_after(0);
    assert!(first.is_some());
    for mode in [2, 3, 4, 5, 6, 8, 9, 13, 0] {
        assert_eq!(worker_after(mode), first, "{mode}");
    }
}

#[test]
fn an_input_that_was_written_to_is_restored_for_the_next_configuration() {
    let (space, mut evaluator) = start();
    assert_failed(&evaluate(&mut evaluator, config(&space, 8)), FailureKind::Correctness, &["input `a`[3]"]);
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
}

#[test]
fn a_damaged_heap_is_not_blamed_on_the_configuration_that_stumbles_over_it() {
    let (space, mut evaluator) = start();
    assert_correct(&evaluate(&mut evaluator, config(&space, 20)));
    assert_correct(&evaluate(&mut evaluator, config(&space, 21)));
}

#[test]
fn a_worker_that_was_killed_while_it_waited_is_replaced() {
    let (space, mut evaluator) = start();
    evaluate(&mut evaluator, config(&space, 0));
    let worker = nix::unistd::Pid::from_raw(i32::try_from(evaluator.worker_id().unwrap()).unwrap());
    nix::sys::signal::kill(worker, nix::sys::signal::Signal::SIGKILL).unwrap();
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
}

#[test]
fn results_in_any_order_name_their_requests_which_are_announced() {
    let (space, mut evaluator) = start();
    let expected =
        [(0, "correct"), (1, "compile"), (2, "runtime"), (9, "correctness"), (11, "correctness"), (17, "compile")];
    let modes = [9, 1, 0, 11, 2, 17];
    for mode in modes {
        evaluator.submit(Request::timed(config(&space, mode))).unwrap();
    }
    let mut kinds = modes.map(|_| {
        let announced = evaluator.upcoming(&Interrupt::default()).unwrap().unwrap();
        let completion = evaluator.next(&Interrupt::default()).unwrap().unwrap();
        assert_eq!(completion.request, Some(announced));
        let mode = modes.into_iter().find(|mode| config(&space, *mode) == announced.config).unwrap();
        (mode, completion.failure.map(|failure| failure.kind.word()).unwrap_or("correct"))
    });
    kinds.sort_unstable();
    assert_eq!(kinds, expected);
}
