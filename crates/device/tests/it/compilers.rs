//! The system's compilers, as a run finds them.

use crate::common;

use common::*;
use tunesmith_backend::host::Compilers;
use tunesmith_device::{LiveEvaluator, LiveOptions};
use tunesmith_kernel::{Access, Fill, KernelSpec};

fn problem(folder: &tempfile::TempDir) -> KernelSpec {
    let file = folder.path().join("f.c");
    std::fs::write(&file, "void f(int *out) { out[0] = P; }").unwrap();
    spec(file, "f", vec![buffer("out", "i32", 1, Access::Out, Fill::Zeros)])
}

fn options_with(cc: &str, spec: KernelSpec) -> LiveOptions {
    LiveOptions { compilers: Compilers { cc: cc.into(), ..Compilers::default() }, ..options(spec) }
}

#[test]
fn a_missing_compiler_is_explained_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let options = options_with("no-such-compiler -m64", problem(&folder));
    let error = LiveEvaluator::new(&one(), options).err().unwrap().to_string();
    assert!(error.starts_with("the C compiler `no-such-compiler -m64` cannot be started:"), "{error}");
    assert!(error.ends_with("or set CC"), "{error}");
}

#[test]
fn a_compiler_may_be_called_with_arguments_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let space = one();
    let mut evaluator = LiveEvaluator::new(&space, options_with("env cc '-DA=1 2'", problem(&folder))).unwrap();
    let plan = evaluator.plan(config(&space, 1));
    assert_eq!(plan[0].build.command[..3], ["env", "cc", "-DA=1 2"]);
    assert_correct(&evaluate(&mut evaluator, config(&space, 1)));
}
