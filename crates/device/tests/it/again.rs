//! Races and re-measures configurations: the services of the live evaluator to a comparison of
//! configurations.

use crate::common;

use common::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tunesmith_core::{Completion, Evaluator, FailureKind, Interrupt, Request};
use tunesmith_device::LiveEvaluator;
use tunesmith_kernel::{Access, Fill};
use tunesmith_space::ConfigId;

/// A kernel in a folder that lives as long as this value.
struct Source(tempfile::TempDir);

impl Source {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f.c"), text).unwrap();
        Self(folder)
    }

    fn evaluator(&self, count: i64) -> (tunesmith_space::Space, LiveEvaluator) {
        let space = space_of("P", count);
        let file: PathBuf = self.0.path().join("f.c");
        let arguments = vec![buffer("out", "i32", 1, Access::Out, Fill::Zeros)];
        let evaluator = evaluator(&space, spec(file, "f", arguments));
        (space, evaluator)
    }
}

fn again(evaluator: &mut LiveEvaluator, config: ConfigId, samples: usize) -> Completion {
    evaluator.resample(config, samples, &Interrupt::default()).unwrap().unwrap()
}

#[test]
fn as_many_samples_are_taken_as_asked_and_a_program_is_compiled_once() {
    let source = Source::new("void f(int *out) { out[0] = P; }");
    let (space, mut evaluator) = source.evaluator(3);
    let first = again(&mut evaluator, config(&space, 1), 3);
    assert_eq!((first.failure.clone(), first.measurement.times_ms.len()), (None, 3));
    std::fs::remove_file(source.0.path().join("f.c")).unwrap();
    for samples in [1, 5, 2] {
        let more = again(&mut evaluator, config(&space, 1), samples);
        assert_eq!((more.failure, more.measurement.times_ms.len()), (None, samples));
    }
    let other = evaluator.resample(config(&space, 2), 1, &Interrupt::default()).unwrap_err();
    assert!(other.to_string().contains("f.c` changed during the run"), "{other}");
}

#[test]
fn what_is_compiled_before_the_first_evaluation_is_compiled_once() {
    let source = Source::new("void f(int *out) { out[0] = P; }");
    let (space, mut evaluator) = source.evaluator(3);
    evaluator.preflight_all(&[0, 1].map(|value| config(&space, value))).unwrap();
    std::fs::remove_file(source.0.path().join("f.c")).unwrap();
    for value in [0, 1] {
        assert_correct(&evaluate(&mut evaluator, config(&space, value)));
        assert_eq!(again(&mut evaluator, config(&space, value), 2).failure, None);
    }
}

#[test]
fn requests_that_wait_are_answered_whatever_is_measured_again_meanwhile() {
    let source = Source::new("#if P == 1\n#error odd\n#endif\nvoid f(int *out) { out[0] = P; }");
    let (space, mut evaluator) = source.evaluator(3);
    for value in 0..3 {
        evaluator.submit(Request::timed(config(&space, value))).unwrap();
    }
    let mut statuses = BTreeMap::new();
    for _ in 0..3 {
        assert_eq!(again(&mut evaluator, config(&space, 2), 1).failure, None);
        let completion = evaluator.next(&Interrupt::default()).unwrap().unwrap();
        statuses.insert(completion.request.unwrap().config, completion.failure.map(|failure| failure.kind));
    }
    assert_eq!(statuses.into_values().collect::<Vec<_>>(), [None, Some(FailureKind::Compile), None]);
}

#[test]
fn a_configuration_that_fails_later_is_a_failure_and_an_interrupt_measures_nothing() {
    let source = Source::new(
        "#include <stdio.h>\n#include <stdlib.h>\n\
         void f(int *out) { FILE *mark = fopen(FLAG, \"r\"); if (mark) abort(); out[0] = P; }",
    );
    let flag = source.0.path().join("flag");
    let text = std::fs::read_to_string(source.0.path().join("f.c")).unwrap();
    std::fs::write(source.0.path().join("f.c"), text.replace("FLAG", &format!("{:?}", flag.display().to_string())))
        .unwrap();
    let (space, mut evaluator) = source.evaluator(1);
    assert_eq!(again(&mut evaluator, config(&space, 0), 1).failure, None);
    std::fs::write(&flag, "").unwrap();
    assert_failed(&again(&mut evaluator, config(&space, 0), 1), FailureKind::Runtime, &["SIGABRT"]);
    let interrupt = Interrupt::default();
    interrupt.raise();
    let (_, mut fresh) = source.evaluator(1);
    assert!(fresh.resample(config(&space, 0), 1, &interrupt).unwrap().is_none());
}

#[test]
fn a_configuration_raced_out_stays_correct_with_the_few_samples_it_has() {
    let source = Source::new("void f(int *out) { volatile int n = 20000; while (n--) { } out[0] = P; }");
    let (space, mut evaluator) = source.evaluator(2);
    // Every time lies far above a millionth of a millisecond and far below an hour.
    evaluator.race(Some(1e-6));
    let raced = evaluate(&mut evaluator, config(&space, 0));
    assert_eq!((raced.failure, raced.measurement.times_ms.len()), (None, 3));
    evaluator.race(Some(3.6e6));
    assert!(evaluate(&mut evaluator, config(&space, 1)).measurement.times_ms.len() >= 7);
    evaluator.race(None);
    assert!(evaluate(&mut evaluator, config(&space, 1)).measurement.times_ms.len() >= 7);
}
