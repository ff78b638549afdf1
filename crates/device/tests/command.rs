//! Tests of commands: every possible end of a configuration, its limits, its environment and its
//! costs.

mod common;

use common::{Folder, assert_failed, config, space_of};
use std::path::Path;
use std::time::Duration;
use tunesmith_core::{Clock, Completion, Evaluator, FailureKind, Interrupt, Request, SystemClock};
use tunesmith_device::worker::WorkerCommand;
use tunesmith_device::{
    CommandEvaluator, CommandOptions, CommandSpec, CommandVerify, Cost, DeviceError, NumberPattern, Template,
    TextPattern, Unit,
};
use tunesmith_space::{Space, Value};

fn words(words: &[&str]) -> Vec<Template> {
    words.iter().map(|word| Template::parse(word).unwrap()).collect()
}

/// Returns a shell script as a command. Its braces stay as they are, and it reads names from the
/// environment.
fn shell(script: &str) -> Vec<Template> {
    words(&["sh", "-c", &script.replace('{', "{{").replace('}', "}}")])
}

fn spec(folder: &Path, script: &str) -> CommandSpec {
    CommandSpec {
        folder: folder.to_owned(),
        command: shell(script),
        build: Vec::new(),
        environment: Vec::new(),
        cost: Cost::Wall,
        values: Vec::new(),
        warmup: true,
        memory_limit: None,
        writes: Vec::new(),
        verify: CommandVerify::default(),
    }
}

fn printed(pattern: &str, unit: Unit) -> Cost {
    Cost::Printed(NumberPattern::parse(pattern).unwrap(), unit)
}

fn options(spec: CommandSpec) -> CommandOptions {
    let mut options = CommandOptions::new(spec);
    options.worker = WorkerCommand::program(env!("CARGO_BIN_EXE_tunesmith-worker"));
    options.policy.sampling.max_samples = 7;
    options.policy.limits.first = Duration::from_secs(60);
    options
}

/// A space of `N` from 0 to 3, the sizes `SIZE = 100` and `FAST = true`, and a folder.
struct Setup {
    folder: tempfile::TempDir,
    space: Space,
}

impl Setup {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), space: space_of("N", 4) }
    }

    fn spec(&self, script: &str) -> CommandSpec {
        spec(self.folder.path(), script)
    }

    fn evaluator(&self, mut options: CommandOptions) -> CommandEvaluator {
        options.sizes = vec![("SIZE".to_owned(), Value::Int(100)), ("FAST".to_owned(), Value::Bool(true))];
        CommandEvaluator::new(&self.space, options).unwrap()
    }

    fn evaluate(&self, evaluator: &mut CommandEvaluator, n: i64) -> Completion {
        evaluator.submit(Request::timed(config(&self.space, n))).unwrap();
        evaluator.next(&Interrupt::default()).unwrap().unwrap()
    }

    fn run(&self, spec: CommandSpec) -> Completion {
        self.evaluate(&mut self.evaluator(options(spec)), 2)
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }
}

#[track_caller]
fn assert_correct(completion: &Completion) {
    assert_eq!(completion.failure, None);
    assert!(completion.measurement.times_ms.len() >= 3, "{:?}", completion.measurement);
}

#[test]
fn a_command_is_run_once_untimed_and_then_sampled() {
    let setup = Setup::new();
    let completion = setup.run(setup.spec("echo run >> log"));
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
    let completion = setup.run(CommandSpec { warmup: false, ..setup.spec("echo run >> log") });
    assert_eq!(setup.file("log").lines().count(), completion.measurement.times_ms.len());
    assert_eq!(completion.measurement.warmup_ms, None);
}

#[test]
fn runs_before_the_first_sample_are_as_many_as_asked_for() {
    let setup = Setup::new();
    let mut options = options(setup.spec("echo run >> log"));
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
fn parameters_and_sizes_are_words_and_environment() {
    let setup = Setup::new();
    let command =
        words(&["sh", "-c", "echo {N} {SIZE} {FAST} $N $SIZE $FAST $MORE \"$0\" > seen; test -d {OUT}", "a b"]);
    let environment = vec![("MORE".to_owned(), Template::parse("{N}-{SIZE}").unwrap())];
    assert_correct(&setup.run(CommandSpec { command, environment, ..setup.spec("") }));
    assert_eq!(setup.file("seen"), "2 100 1 2 100 1 2-100 a b\n");
}

#[test]
fn standard_input_is_empty() {
    let setup = Setup::new();
    assert_correct(&setup.run(setup.spec("cat > seen")));
    assert_eq!(setup.file("seen"), "");
}

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
fn a_status_other_than_0_is_a_runtime_failure_with_what_was_printed() {
    let setup = Setup::new();
    let completion = setup.run(setup.spec("echo result; echo 'cannot do it' >&2; exit 3"));
    assert_failed(
        &completion,
        FailureKind::Runtime,
        &["the command ended with status 3\nIt printed last:\ncannot do it"],
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
    let completion = setup.run(setup.spec("echo >> log; test $(wc -l < log) -lt 3"));
    assert_failed(&completion, FailureKind::Runtime, &["the command ended with status 1, in a run after the first"]);
    assert_eq!(completion.measurement.times_ms.len(), 1);
}

/// A clock that is an hour ahead for every run that says, by a line in a file, that it will not end.
struct Stalls {
    file: std::path::PathBuf,
    real: SystemClock,
}

impl Clock for Stalls {
    fn now(&self) -> Duration {
        let stalled = std::fs::read_to_string(&self.file).unwrap_or_default().lines().count();
        self.real.now() + Duration::from_secs(3600) * stalled as u32
    }

    fn unix(&self) -> Duration {
        self.real.unix()
    }
}

/// Runs a command whose runs with these numbers, counted from 1, never end.
fn run_with_stalls(setup: &Setup, stalls: &[usize]) -> Completion {
    let numbers = stalls.iter().map(usize::to_string).collect::<Vec<_>>().join("|");
    let script = format!("echo >> log; case $(($(wc -l < log))) in {numbers}) echo >> stalls; sleep 5000;; esac");
    let mut options = options(setup.spec(&script));
    options.clock = std::sync::Arc::new(Stalls { file: setup.folder.path().join("stalls"), real: SystemClock::new() });
    setup.evaluate(&mut setup.evaluator(options), 2)
}

#[test]
fn a_later_run_that_does_not_end_is_taken_again() {
    let setup = Setup::new();
    let completion = run_with_stalls(&setup, &[4]);
    assert_correct(&completion);
    assert!(completion.measurement.times_ms.iter().all(|time| *time < 3_600_000.0), "{completion:?}");
    assert!(completion.measurement.times_ms.len() >= 7, "{completion:?}");
    let note = completion.measurement.note.unwrap();
    assert!(note.starts_with("a run after the first did not end within 60 s"), "{note}");
}

#[test]
fn a_second_stall_ends_sampling_and_the_configuration_keeps_its_samples() {
    let setup = Setup::new();
    let completion = run_with_stalls(&setup, &[4, 7]);
    assert_correct(&completion);
    assert_eq!(completion.measurement.times_ms.len(), 4, "runs 2, 3, 5 and 6");
    let note = completion.measurement.note.unwrap();
    assert!(note.starts_with("2 runs after the first did not end within 60 s"), "{note}");
    assert_eq!(setup.file("log").lines().count(), 7);
}

#[test]
fn stalls_before_there_are_samples_or_in_the_first_run_are_a_timeout() {
    for stalls in [&[1][..], &[2, 3], &[3, 5]] {
        let setup = Setup::new();
        let completion = run_with_stalls(&setup, stalls);
        assert_failed(&completion, FailureKind::Timeout, &["the command did not end within 60 s"]);
        assert_eq!(completion.measurement.note, None);
    }
}

#[test]
fn a_command_that_does_not_end_is_a_timeout_with_the_limit() {
    let setup = Setup::new();
    let mut options = options(setup.spec("echo waiting; sleep $((N * 500))"));
    options.policy.limits.first = Duration::from_millis(500);
    let completion = setup.evaluate(&mut setup.evaluator(options), 2);
    let words = ["the command did not end within 500 ms (the limit while no correct time is known)", "waiting"];
    assert_failed(&completion, FailureKind::Timeout, &words);
}

#[test]
fn the_limit_follows_the_best_time_from_start_to_end_whatever_the_cost() {
    let setup = Setup::new();
    let spec =
        CommandSpec { cost: printed("cost ([0-9]+)", Unit::Seconds), ..setup.spec("echo cost 1; sleep $((N * 500))") };
    let mut options = options(spec);
    options.policy.limits.floor = Duration::from_millis(1500);
    let mut evaluator = setup.evaluator(options);
    assert_correct(&setup.evaluate(&mut evaluator, 0));
    let completion = setup.evaluate(&mut evaluator, 2);
    assert_failed(&completion, FailureKind::Timeout, &["within 1.5 s (more than 10 x the best time of"]);
}

/// Waits until the process with the id in a file is gone. If that never happens, the test hangs.
fn wait_until_gone(number: &str) {
    let path = format!("/proc/{}/stat", number.trim());
    let is_gone = || match std::fs::read_to_string(&path) {
        Err(_) => true,
        // A zombie has ended. Its new parent collects it at some time.
        Ok(stat) => stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')),
    };
    while !is_gone() {
        std::thread::yield_now();
    }
}

#[test]
fn at_a_timeout_grandchildren_are_ended_as_well() {
    let setup = Setup::new();
    let mut options = options(setup.spec("sleep 1000 & echo $! > child; wait"));
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
    let completion = setup.run(setup.spec("sleep 1000 & echo $! >> children"));
    assert_correct(&completion);
    assert!(completion.measurement.times_ms.iter().all(|time| *time < 500_000.0));
    setup.file("children").lines().for_each(wait_until_gone);
}

#[test]
fn a_daemon_that_keeps_the_output_open_is_ended_and_does_not_delay_the_end() {
    let setup = Setup::new();
    let daemon = "setsid sh -c 'echo $$ >> daemons; exec sleep 1000' & until test -s daemons; do :; done; echo cost 3";
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
    let mut options = options(setup.spec("echo $$ > shell; sleep 1000"));
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

#[test]
fn a_limit_of_memory_is_kept_and_named() {
    let setup = Setup::new();
    // `dd` allocates a buffer of its block size.
    let greedy = || setup.spec("dd if=/dev/zero of=/dev/null bs=512M count=1");
    assert_correct(&setup.run(greedy()));
    let completion = setup.run(CommandSpec { memory_limit: Some(256 << 20), ..greedy() });
    let words = ["it may have run out of memory: `memory_limit` allows it 256 MiB\nIt printed last:\n"];
    assert_failed(&completion, FailureKind::Runtime, &words);
}

#[test]
fn a_build_has_no_limit_of_memory() {
    let setup = Setup::new();
    let build = vec![shell("dd if=/dev/zero of=/dev/null bs=512M count=1")];
    assert_correct(&setup.run(CommandSpec { build, memory_limit: Some(256 << 20), ..setup.spec("true") }));
}

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
        Some(shell("echo checked $N >> log; read sum; test \"$sum\" = 10 || { echo \"sum is $sum\"; exit 1; }"));
    let verify = CommandVerify { check, ..CommandVerify::default() };
    let completion = setup.run(CommandSpec { verify: verify.clone(), ..setup.spec("echo 10") });
    assert_correct(&completion);
    assert!(completion.spent.verify > Duration::ZERO);
    assert_eq!(setup.file("log"), "checked 2\n");
    let completion = setup.run(CommandSpec { verify, ..setup.spec("echo 11") });
    assert_failed(&completion, FailureKind::Correctness, &["the result is wrong: sum is 11", "ended with status 1"]);
    assert!(completion.measurement.times_ms.is_empty());
}

#[test]
fn a_command_that_prints_without_end_does_not_fill_the_memory() {
    let setup = Setup::new();
    let spec = setup.spec("head -c 10000000 /dev/zero | tr '\\0' x; echo; echo time 4");
    let completion = setup.run(CommandSpec { cost: printed("time ([0-9]+)", Unit::Milliseconds), ..spec });
    assert_correct(&completion);
    assert_eq!(completion.measurement.times_ms[0], 4.0);
}

#[test]
fn more_samples_are_taken_of_a_configuration_when_asked() {
    let setup = Setup::new();
    let build = vec![shell("echo build >> log; echo ok > $OUT/made")];
    let spec = CommandSpec { build, ..setup.spec("cat $OUT/made >> log") };
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
