//! Commands for tests, and a folder and a space to run them in.

use crate::common::{config, space_of};
use std::path::Path;
use std::time::Duration;
use tunesmith_backend::command::{CommandEvaluator, CommandOptions};
use tunesmith_backend::host::WorkerCommand;
use tunesmith_core::{Completion, Evaluator, Interrupt, Request};
use tunesmith_kernel::Template;
use tunesmith_kernel::command::{CommandSpec, CommandVerify, Cost, NumberPattern, Unit};
use tunesmith_space::{Space, Value};

pub(crate) fn words(words: &[&str]) -> Vec<Template> {
    words.iter().map(|word| Template::parse(word).unwrap()).collect()
}

/// Returns a shell script as a command. Its braces stay as they are, and it reads names from the
/// environment.
pub(crate) fn shell(script: &str) -> Vec<Template> {
    words(&["sh", "-c", &script.replace('{', "{{").replace('}', "}}")])
}

/// Returns the variable with the problem's folder, of which commands run in a copy.
pub(crate) fn here(folder: &Path) -> (String, Template) {
    ("HERE".to_owned(), Template::parse(folder.to_str().unwrap()).unwrap())
}

pub(crate) fn spec(folder: &Path, script: &str) -> CommandSpec {
    CommandSpec {
        folder: folder.to_owned(),
        command: shell(script),
        build: Vec::new(),
        environment: vec![here(folder)],
        cost: Cost::Wall,
        values: Vec::new(),
        warmup: true,
        memory_limit: None,
        writes: Vec::new(),
        verify: CommandVerify::default(),
    }
}

pub(crate) fn printed(pattern: &str, unit: Unit) -> Cost {
    Cost::Printed(NumberPattern::parse(pattern).unwrap(), unit)
}

pub(crate) fn options(spec: CommandSpec) -> CommandOptions {
    let mut options = CommandOptions::new(spec);
    options.worker = WorkerCommand::program(env!("CARGO_BIN_EXE_tunesmith-worker"));
    options.policy.sampling.max_samples = 7;
    options.policy.limits.first = Duration::from_secs(60);
    options
}

/// A space of `N` from 0 to 3, the sizes `SIZE = 100` and `FAST = true`, and a folder.
pub(crate) struct Setup {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) space: Space,
}

impl Setup {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), space: space_of("N", 4) }
    }

    pub(crate) fn spec(&self, script: &str) -> CommandSpec {
        spec(self.folder.path(), script)
    }

    pub(crate) fn evaluator(&self, mut options: CommandOptions) -> CommandEvaluator {
        options.sizes = vec![("SIZE".to_owned(), Value::Int(100)), ("FAST".to_owned(), Value::Bool(true))];
        CommandEvaluator::new(&self.space, options).unwrap()
    }

    pub(crate) fn evaluate(&self, evaluator: &mut CommandEvaluator, n: i64) -> Completion {
        evaluator.submit(Request::timed(config(&self.space, n))).unwrap();
        evaluator.next(&Interrupt::default()).unwrap().unwrap()
    }

    pub(crate) fn run(&self, spec: CommandSpec) -> Completion {
        self.evaluate(&mut self.evaluator(options(spec)), 2)
    }

    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }
}

#[track_caller]
pub(crate) fn assert_correct(completion: &Completion) {
    assert_eq!(completion.failure, None);
    assert!(completion.measurement.times_ms.len() >= 3, "{:?}", completion.measurement);
}

/// Waits until the process with the id in a file is gone. If that never happens, the test hangs.
pub(crate) fn wait_until_gone(number: &str) {
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
