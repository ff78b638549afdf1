//! Helpers of the integration tests: small problems, and an evaluator with this crate's own worker.
#![allow(dead_code, unreachable_pub)] // each test file uses a part

pub mod backends;
pub mod compiler;
pub mod scripted;

use std::path::{Path, PathBuf};
use std::time::Duration;
use tunesmith_backend::host::WorkerCommand;
use tunesmith_core::{Claim, Completion, Confirmed, Evaluator, FailureKind, Interrupt, Request};
use tunesmith_device::{LiveEvaluator, LiveOptions};
use tunesmith_kernel::{
    Access, Argument, ArgumentKind, CudaCompiler, ElementType, Fill, Kernel, KernelSpec, Language, Memory, Reference,
    Verify,
};
use tunesmith_space::{ConfigId, Expr, Parameter, Space, Value};

/// A temporary folder for sources.
pub struct Folder(pub tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Writes a file. Returns its path.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes a script that can be run. Returns its path.
    pub fn script(&self, name: &str, text: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let path = self.file(name, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    /// Returns a problem with a kernel `f` and a reference `r`, both in C.
    pub fn spec(&self, kernel: &str, reference_source: &str, arguments: Vec<Argument>) -> KernelSpec {
        let mut spec = spec(self.file("f.c", kernel), "f", arguments);
        spec.verify = reference(self.file("r.c", reference_source), "r");
        spec
    }
}

/// Returns the path of a file of `tests/kernels`.
pub fn kernel_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels").join(name)
}

/// Returns a space of one parameter with the values 0 to `count` - 1.
pub fn space_of(name: &str, count: i64) -> Space {
    let parameter = Parameter::new(name, (0..count).map(Value::Int)).unwrap();
    Space::builder().parameter(parameter).build().unwrap()
}

/// Returns a space of one parameter with the given values.
pub fn space_with(name: &str, values: &[i64]) -> Space {
    let parameter = Parameter::new(name, values.iter().copied().map(Value::Int)).unwrap();
    Space::builder().parameter(parameter).build().unwrap()
}

/// Returns a space of one configuration, for kernels without parameters.
pub fn one() -> Space {
    space_with("P", &[1])
}

/// Returns the configuration in which the only parameter has the given value.
pub fn config(space: &Space, value: i64) -> ConfigId {
    let has = |id: &ConfigId| {
        let configuration = space.unrank(*id);
        *space.value(&configuration, 0) == Value::Int(value)
    };
    space.iter().find(has).unwrap()
}

pub fn element(name: &str) -> ElementType {
    ElementType::parse(name).unwrap()
}

pub fn buffer(name: &str, element_name: &str, count: u64, access: Access, fill: Fill) -> Argument {
    let kind = ArgumentKind::Buffer { shape: vec![count].into(), fill, access, memory: Memory::Global };
    Argument::new(name, element(element_name), kind)
}

pub fn scalar(name: &str, element_name: &str, value: &str) -> Argument {
    Argument::new(name, element(element_name), ArgumentKind::Scalar(Expr::parse(value).unwrap()))
}

/// Returns a problem with one kernel, without sizes, options and verification.
pub fn spec(file: impl Into<PathBuf>, function: &str, arguments: Vec<Argument>) -> KernelSpec {
    let file = file.into();
    let kernel = Kernel {
        name: function.into(),
        language: Language::from_suffix(&file).unwrap(),
        file,
        reading: tunesmith_kernel::Reading::default(),
        sources: Vec::new(),
        include: Vec::new(),
        function: function.into(),
        options: Vec::new(),
        arguments: (0..arguments.len()).collect(),
        repeat: None,
        generator: None,
        work: None,
        cuda_compiler: CudaCompiler::default(),
        alternative: None,
    };
    KernelSpec {
        problem: "test".into(),
        kernels: vec![kernel],
        sizes: Vec::new(),
        arguments,
        verify: Verify::default(),
        seed: 1,
    }
}

pub fn reference(file: impl Into<PathBuf>, function: &str) -> Verify {
    let file = file.into();
    let language = Language::from_suffix(&file).unwrap();
    Verify { reference: Some(Reference::new(language, file, function)), ..Verify::default() }
}

/// Returns the command of this crate's own worker.
pub fn worker() -> WorkerCommand {
    WorkerCommand::program(env!("CARGO_BIN_EXE_tunesmith-worker"))
}

/// Returns options with limits that end hangs soon.
pub fn options(spec: KernelSpec) -> LiveOptions {
    let mut options = LiveOptions::new(spec);
    options.worker = worker();
    options.policy.limits.first = Duration::from_millis(1500);
    options.policy.limits.floor = Duration::from_millis(1500);
    options.policy.sampling.max_samples = 10;
    options
}

/// Returns options with which a last verification makes all of its launches, however busy the machine is.
pub fn uncapped(spec: KernelSpec) -> LiveOptions {
    let mut options = options(spec);
    options.policy.repetition.time_cap = Duration::from_secs(300);
    options
}

/// Verifies a configuration as the tuner verifies a winner.
pub fn confirm(evaluator: &mut LiveEvaluator, config: ConfigId) -> Confirmed {
    evaluator.confirm(config, Claim::Best, &Interrupt::default()).unwrap().unwrap()
}

/// Checks that no compiler wrote `tick` into a log while something was measured, which wrote `begin` and `end`, and that
/// it wrote before. The first `unmeasured` spans do not count.
#[track_caller]
pub fn assert_quiet(log: &str, unmeasured: usize) {
    let (before, measured) = log.split_once("begin\n").expect("nothing was measured");
    assert!(before.contains("tick"), "{log}");
    for span in measured.split("begin\n").skip(unmeasured) {
        let (inside, _) = span.split_once("end\n").expect("a measurement ends");
        assert_eq!(inside, "", "{log}");
    }
}

pub fn evaluator(space: &Space, spec: KernelSpec) -> LiveEvaluator {
    LiveEvaluator::new(space, options(spec)).unwrap()
}

pub fn evaluate(evaluator: &mut LiveEvaluator, config: ConfigId) -> Completion {
    evaluator.submit(Request::timed(config)).unwrap();
    evaluator.next(&Interrupt::default()).unwrap().unwrap()
}

/// Checks that a configuration failed with this kind, and with these words in its message.
#[track_caller]
pub fn assert_failed(completion: &Completion, kind: FailureKind, words: &[&str]) {
    let failure = completion.failure.as_ref().unwrap_or_else(|| panic!("no failure, expected {kind}: {words:?}"));
    assert_eq!(failure.kind, kind, "{failure}");
    for word in words {
        assert!(failure.message.contains(word), "`{word}` is not in: {failure}");
    }
}

#[track_caller]
pub fn assert_correct(completion: &Completion) {
    assert_eq!(completion.failure, None);
    assert!(completion.measurement.times_ms.len() >= 3, "{:?}", completion.measurement);
    assert!(completion.measurement.warmup_ms.is_some());
    // Not every driver returns a binary.
    let compile = completion.measurement.compile.as_ref();
    assert!(compile.is_some_and(|compile| compile.time_ms > 0.0 && compile.binary_bytes != Some(0)), "{compile:?}");
}

/// Returns the folder with NVIDIA's libraries that TUNESMITH_NVIDIA names. Without it, the function
/// prints the reason and the tests are left out. In continuous integration, they must run.
#[allow(clippy::disallowed_methods, clippy::print_stdout)] // the environment allows to skip, and tests say so
pub fn nvidia() -> Option<PathBuf> {
    let folder = std::env::var_os("TUNESMITH_NVIDIA").filter(|folder| !folder.is_empty());
    if folder.is_none() {
        assert!(std::env::var_os("CI").is_none(), "CI runs the tests of NVIDIA's libraries");
        println!("skipped: TUNESMITH_NVIDIA names no folder with NVIDIA's libraries (scripts/nvidia-wheels FOLDER)");
    }
    folder.map(PathBuf::from)
}
