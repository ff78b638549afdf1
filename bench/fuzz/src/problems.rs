//! Oracles of problems, whatever the form of their file.

use crate::{files, spaces};
use std::num::NonZeroUsize;
use tunesmith_kernel::Language;
use tunesmith_problem::{Problem, ProblemError};
use tunesmith_space::Value;

/// Limits of a device, which constraints may name.
fn limits() -> Vec<(String, Value)> {
    [("max_work_group_size", 1024), ("local_memory", 49152), ("warp_size", 32)]
        .map(|(name, value)| (name.to_string(), Value::Int(value)))
        .to_vec()
}

/// Reads `text` as a problem and, if it is one, builds its space, its inputs and its kernels.
pub fn check(text: &str) {
    match Problem::parse(text, files::folder()) {
        Err(error) => refused(&error),
        Ok(problem) => accepted(&problem, text.as_bytes()),
    }
}

/// A refusal has a message, and every message a place in the text and nothing that a terminal obeys.
fn refused(error: &ProblemError) {
    assert!(!error.messages.is_empty(), "a refusal without a message");
    let length = error.source_file.text.len();
    for message in &error.messages {
        assert!(!message.text.is_empty());
        assert!(message.line >= 1 || length == 0, "{message:?}");
    }
}

fn accepted(problem: &Problem, input: &[u8]) {
    if let Ok((builder, _)) = problem.space_builder(&limits())
        && let Ok(space) = problem.build(builder.limits(spaces::SMALL).threads(NonZeroUsize::MIN))
    {
        spaces::check(&space, input);
        if let Ok(Some(default)) = problem.default_configuration(&space) {
            assert!(space.contains(&default), "the default is not in the space");
        }
    }
    let most = problem.spec().inputs().as_ref().map_or(0, |_| 1);
    if most > 0
        && let Ok(inputs) = problem.input_sizes()
    {
        assert!(!inputs.is_empty(), "no inputs must be refused");
        for input in &inputs {
            assert_eq!(input.len(), problem.spec().sizes().len(), "an input lacks a size");
        }
    }
    // The kernels' files do not exist, which is refused before anything is read.
    let _ = problem.kernel_spec(Language::C);
    // The sizes as they are make the same problem.
    let again = problem.with_sizes(problem.spec().sizes()).map(|again| again.sizes);
    match again {
        Ok(sizes) => assert_eq!(sizes, problem.spec().sizes(), "the sizes change when they are given again"),
        Err(error) => panic!("the problem's own sizes are refused: {error}"),
    }
}
