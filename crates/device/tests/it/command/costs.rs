//! Costs: printed numbers and processor times.

use crate::command::setup::*;
use crate::common::assert_failed;
use tunesmith_core::{Completion, FailureKind};
use tunesmith_kernel::command::{CommandSpec, Cost, NumberPattern, Unit};

#[test]
fn a_printed_cost_is_the_last_match_in_its_unit() {
    let setup = Setup::new();
    let run = |unit, script| {
        let spec = CommandSpec { cost: printed("^time ([0-9.e-]+)$", unit), ..setup.spec(script) };
        setup.run(spec).measurement.times_ms[0]
    };
    assert_eq!(run(Unit::Milliseconds, "echo time 1; echo time 2.5"), 2.5);
    assert_eq!(run(Unit::Seconds, "echo time 2 >&2"), 2000.0);
    assert_eq!(run(Unit::Microseconds, "echo time 500"), 0.5);
    assert_eq!(run(Unit::Nanoseconds, "echo time 5e5"), 0.5);
}

#[test]
fn a_cost_that_is_not_printed_or_no_time_is_a_runtime_failure() {
    let setup = Setup::new();
    let run = |script| setup.run(CommandSpec { cost: printed("time (.*)", Unit::Seconds), ..setup.spec(script) });
    let words = ["the command did not print `cost`: nothing matches `time (.*)`", "It printed last:\nno clock"];
    assert_failed(&run("echo no clock"), FailureKind::Runtime, &words);
    assert_failed(&run("echo time unknown"), FailureKind::Runtime, &["`cost` is `unknown`, which is not a number"]);
    assert_failed(&run("echo time 0.00"), FailureKind::Runtime, &["`cost` is 0, but a time is a number above 0"]);
    assert_failed(&run("echo time inf"), FailureKind::Runtime, &["no finite number"]);
}

#[test]
fn a_part_of_a_printed_number_fails_the_configuration() {
    let setup = Setup::new();
    let run = |pattern: &str, printed_text: &str| {
        let script = format!("printf '%b\\n' '{printed_text}'");
        setup.run(CommandSpec { cost: printed(pattern, Unit::Seconds), ..setup.spec(&script) })
    };
    let exponent = ["`cost` is `05`, which the pattern takes out of `9.8e-05`", "write the group as `([-+0-9.eE]+)`"];
    assert_failed(&run("([0-9.]+) s", "took 9.8e-05 s"), FailureKind::Runtime, &exponent);
    assert_failed(&run("([0-9.]+) s", "took 2,01 s"), FailureKind::Runtime, &["takes out of `2,01`", "LC_ALL"]);
    assert_failed(&run("took ([0-9]+)", "took 1e400 s"), FailureKind::Runtime, &["takes out of `1e400`"]);
    assert_failed(&run("took ([-+0-9.eE]+)", "took 1e400 s"), FailureKind::Runtime, &["no finite number"]);
    assert_failed(&run("took ([-+0-9.eE]+)", "took -1 s"), FailureKind::Runtime, &["`cost` is -1", "above 0"]);
    let unit = ["`cost` is `1.5us`", "leave `us` outside of the group", "`unit`"];
    assert_failed(&run("took (.*)", "took 1.5us"), FailureKind::Runtime, &unit);
    let coloured = run("took ([-+0-9.eE]+) s", "took \\0033[32m9.8e-05\\0033[0m s");
    assert_correct(&coloured);
    assert!((coloured.measurement.times_ms[0] - 0.098).abs() < 1e-12);
}

#[test]
fn further_numbers_are_kept_for_every_sample() {
    let setup = Setup::new();
    let pattern = |text| NumberPattern::parse(text).unwrap();
    let values = vec![("loss".to_owned(), pattern("loss=(.*)")), ("rate".to_owned(), pattern("rate=(.*)"))];
    let spec = CommandSpec { values: values.clone(), ..setup.spec("echo rate=-3 loss=0.5 | tr ' ' '\\n'") };
    let completion = setup.run(spec);
    assert_correct(&completion);
    let samples = completion.measurement.times_ms.len();
    assert_eq!(completion.measurement.values["loss"], vec![0.5; samples]);
    assert_eq!(completion.measurement.values["rate"], vec![-3.0; samples]);
    let completion = setup.run(CommandSpec { values, ..setup.spec("echo loss=1") });
    assert_failed(&completion, FailureKind::Runtime, &["the command did not print `rate`"]);
}

#[test]
fn processor_time_counts_work_and_not_sleep() {
    let setup = Setup::new();
    let run = |cost: Cost, script| setup.run(CommandSpec { cost, ..setup.spec(script) });
    let median = |completion: Completion| {
        assert_correct(&completion);
        tunesmith_core::statistics::median(&completion.measurement.times_ms).unwrap()
    };
    const SLEEP: &str = "sleep 0.3";
    assert!(median(run(Cost::Wall, SLEEP)) >= 300.0);
    assert!(median(run(Cost::Cpu, SLEEP)) < 300.0);
    assert!(median(run(Cost::User, SLEEP)) < 300.0);
    // A child process, for which the command waits, does the work.
    let work = "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'; true";
    assert!(median(run(Cost::User, work)) > median(run(Cost::User, "true")));
}

#[test]
fn a_command_that_prints_without_end_does_not_fill_the_memory() {
    let setup = Setup::new();
    let spec = setup.spec("head -c 10000000 /dev/zero | tr '\\0' x; echo; echo time 4");
    let completion = setup.run(CommandSpec { cost: printed("time ([0-9]+)", Unit::Milliseconds), ..spec });
    assert_correct(&completion);
    assert_eq!(completion.measurement.times_ms[0], 4.0);
}
