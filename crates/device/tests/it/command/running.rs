//! The runs of a command: their number, words, environment and input.

use crate::command::setup::*;
use crate::common::{Folder, config};
use std::time::Duration;
use tunesmith_backend::command::CommandEvaluator;
use tunesmith_backend::host::WorkerCommand;
use tunesmith_core::{Evaluator, Interrupt, Request};
use tunesmith_kernel::Template;
use tunesmith_kernel::command::{CommandSpec, CommandVerify};

#[test]
fn a_command_is_run_once_untimed_and_then_sampled() {
    let setup = Setup::new();
    let completion = setup.run(setup.spec("echo run >> $HERE/log"));
    assert_correct(&completion);
    let samples = completion.measurement.times_ms.len();
    assert_eq!(setup.file("log").lines().count(), samples + 1);
    assert!(completion.measurement.warmup_ms.is_some() && completion.measurement.compile.is_none());
    assert!(completion.measurement.times_ms.iter().all(|time| *time > 0.0));
    assert!(completion.spent.run > Duration::ZERO);
}

#[test]
fn a_supervisor_that_does_not_start_is_started_again_before_the_command_runs() {
    let setup = Setup::new();
    let folder = Folder::new();
    let (real, begun) = (env!("CARGO_BIN_EXE_tunesmith-worker"), setup.folder.path().join("begun"));
    // Every other supervisor ends at once.
    let script = format!("#!/bin/sh\nif mkdir {0}; then exit 9; fi\nrmdir {0}\nexec {real} \"$@\"\n", begun.display());
    let mut options = options(spec(setup.folder.path(), "echo run >> runs"));
    options.worker = WorkerCommand::program(folder.script("supervisor", &script));
    options.policy.sampling.max_samples = 1;
    let mut evaluator = CommandEvaluator::new(&setup.space, options).unwrap();
    evaluator.submit(Request::timed(config(&setup.space, 0))).unwrap();
    assert_correct(&evaluator.next(&Interrupt::default()).unwrap().unwrap());
}

#[test]
fn without_a_warm_up_the_first_run_counts() {
    let setup = Setup::new();
    let completion = setup.run(CommandSpec { warmup: false, ..setup.spec("echo run >> $HERE/log") });
    assert_eq!(setup.file("log").lines().count(), completion.measurement.times_ms.len());
    assert_eq!(completion.measurement.warmup_ms, None);
}

#[test]
fn runs_before_the_first_sample_are_as_many_as_asked_for() {
    let setup = Setup::new();
    let mut options = options(setup.spec("echo run >> $HERE/log"));
    options.policy.sampling.warmups = 5;
    let mut evaluator = setup.evaluator(options);
    let first = setup.evaluate(&mut evaluator, 2);
    let runs = setup.file("log").lines().count();
    assert_eq!(runs, 5 + first.measurement.times_ms.len());
    // A configuration that was never measured has its warm-ups, too.
    evaluator.resample(config(&setup.space, 1), 3, &Interrupt::default()).unwrap();
    assert_eq!(setup.file("log").lines().count(), runs + 5 + 3);
}

#[test]
fn more_samples_are_taken_of_a_configuration_when_asked() {
    let setup = Setup::new();
    let build = vec![shell("echo build >> $HERE/log; echo ok > $OUT/made")];
    let spec = CommandSpec { build, ..setup.spec("cat $OUT/made >> $HERE/log") };
    let mut evaluator = setup.evaluator(options(spec));
    let mut again = |samples| {
        let id = config(&setup.space, 1);
        evaluator.resample(id, samples, &Interrupt::default()).unwrap().unwrap().measurement.times_ms.len()
    };
    assert_eq!((again(3), again(2)), (3, 2));
    // Built once, run once untimed, and then sampled.
    let log = setup.file("log");
    assert_eq!((log.matches("build").count(), log.matches("ok").count()), (1, 6));
}

#[test]
fn parameters_and_sizes_are_words_and_environment() {
    let setup = Setup::new();
    let command =
        words(&["sh", "-c", "echo {N} {SIZE} {FAST} $N $SIZE $FAST $MORE \"$0\" > $HERE/seen; test -d {OUT}", "a b"]);
    let environment = vec![here(setup.folder.path()), ("MORE".to_owned(), Template::parse("{N}-{SIZE}").unwrap())];
    assert_correct(&setup.run(CommandSpec { command, environment, ..setup.spec("") }));
    assert_eq!(setup.file("seen"), "2 100 1 2 100 1 2-100 a b\n");
}

#[test]
fn standard_input_is_empty() {
    let setup = Setup::new();
    assert_correct(&setup.run(setup.spec("cat > $HERE/seen")));
    assert_eq!(setup.file("seen"), "");
}

#[test]
fn the_script_of_a_configuration_can_be_run_by_a_shell() {
    let setup = Setup::new();
    let verify = CommandVerify { check: Some(words(&["sed", "s/run/checked {N}/"])), ..CommandVerify::default() };
    let build = vec![words(&["echo", "build {N}"])];
    let evaluator = setup.evaluator(options(CommandSpec { build, verify, ..setup.spec("echo run $SIZE") }));
    let script = evaluator.script(config(&setup.space, 3));
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "build 3\nrun 100\nchecked 3 100\n", "{script}");
}
