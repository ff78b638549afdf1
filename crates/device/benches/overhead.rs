//! Measures the tuner's overhead for each configuration beyond compiling, running and checking it,
//! and the cost of a crash. For CUDA, it uses a driver that follows a script and kernels that take
//! no time. The rest is neither compiling nor the kernel.
//!
//! `cargo bench -p tunesmith-device --bench overhead` prints the results. It asserts nothing,
//! because the times depend on the machine.
#![allow(clippy::print_stdout)] // a bench's job

use std::path::{Path, PathBuf};
use std::time::Duration;
use tunesmith_backend::host::{CudaSetup, WorkerCommand};
use tunesmith_core::{Clock, Completion, Evaluator, Interrupt, Request, SystemClock, statistics};
use tunesmith_device::worker::enter_if_worker;
use tunesmith_device::{LiveEvaluator, LiveOptions, cuda_devices};
use tunesmith_kernel::{
    Access, Argument, ArgumentKind, CudaCompiler, ElementType, Extent, Fill, Kernel, KernelSpec, Language, Memory,
    Verify, WorkSize,
};
use tunesmith_space::{Expr, Parameter, Space, Value};

/// Three buffers of 1 MiB. An odd CRASH makes the kernel abort.
const KERNEL: &str = "
#include <stdlib.h>
void add(const float *a, const float *b, float *c)
{
    for (int i = 0; i < 262144; i++)
        c[i] = a[i] + b[i];
    if (CRASH % 2)
        abort();
}
";

fn argument(name: &str, access: Access) -> Argument {
    let kind =
        ArgumentKind::Buffer { shape: vec![512, 512].into(), fill: Fill::Random, access, memory: Memory::Global };
    Argument::new(name, ElementType::parse("f32").expect("a type"), kind)
}

/// A GPU without hardware. Its driver compiles any source without looking at it.
const SCRIPT: &str = r#"{
    "devices": [{ "name": "Scripted GPU", "memory": 1073741824, "attributes": {
        "COMPUTE_CAPABILITY_MAJOR": 9, "COMPUTE_CAPABILITY_MINOR": 0, "L2_CACHE_SIZE": 52428800,
        "MAX_THREADS_PER_MULTIPROCESSOR": 2048, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448 } }],
    "compiles": true
}"#;

/// Returns the same problem on a scripted GPU.
fn on_cuda(space: &Space, folder: &Path) -> LiveEvaluator {
    let (script, file) = (folder.join("script.json"), folder.join("add.cu"));
    std::fs::write(&script, SCRIPT).expect("a file");
    std::fs::write(&file, "__global__ void add(const float *a, const float *b, float *c) {}").expect("a file");
    let setup = CudaSetup { script: Some(script), ..CudaSetup::default() };
    let device = cuda_devices(&setup, &WorkerCommand::current()).expect("a device").remove(0);
    let expr = |text: &str| vec![Expr::parse(text).expect("an expression")];
    let work = WorkSize { extent: Extent::Global(expr("262144")), local: Some(expr("256")) };
    let options = LiveOptions::new(spec(Language::Cuda, file, Some(work)));
    LiveEvaluator::new(space, LiveOptions { target: device.into(), ..options }).expect("a compiler")
}

fn spec(language: Language, file: PathBuf, work: Option<WorkSize>) -> KernelSpec {
    let kernel = Kernel {
        name: "add".into(),
        language,
        file,
        reading: tunesmith_kernel::Reading::default(),
        sources: Vec::new(),
        include: Vec::new(),
        function: "add".into(),
        options: Vec::new(),
        arguments: vec![0, 1, 2],
        repeat: None,
        generator: None,
        work,
        cuda_compiler: CudaCompiler::default(),
        alternative: None,
    };
    KernelSpec {
        problem: "add".into(),
        kernels: vec![kernel],
        sizes: Vec::new(),
        arguments: vec![argument("a", Access::In), argument("b", Access::In), argument("c", Access::Out)],
        verify: Verify::default(),
        seed: 1,
    }
}

/// Evaluates the configuration. Returns it with the unaccounted time and with the time of
/// everything but compiling, both in milliseconds.
fn evaluate(evaluator: &mut LiveEvaluator, space: &Space, rank: u128) -> (Completion, f64, f64) {
    let clock = SystemClock::new();
    let start = clock.now();
    evaluator.submit(Request::timed(space.id(rank).expect("a configuration"))).expect("a device");
    let completion = evaluator.next(&Interrupt::default()).expect("a device").expect("no interrupt");
    let spent = completion.spent;
    let wall = clock.now() - start;
    let rest = wall.saturating_sub(spent.compile + spent.run + spent.verify);
    (completion, milliseconds(rest), milliseconds(wall.saturating_sub(spent.compile)))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn print(what: &str, times: &[f64]) {
    let median = statistics::median(times).unwrap_or_default();
    let most = times.iter().copied().fold(0.0, f64::max);
    println!("{what}: median {median:.2} ms, most {most:.2} ms, of {}", times.len());
}

fn main() {
    enter_if_worker();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("add.c");
    std::fs::write(&file, KERNEL).expect("a file");
    let crash = Parameter::new("CRASH", (0..60).map(Value::Int)).expect("a parameter");
    let space = Space::builder().parameter(crash).build().expect("a space");
    let c = LiveOptions::new(spec(Language::C, file, None));
    let mut evaluator = LiveEvaluator::new(&space, c).expect("a compiler");
    let (_, first, _) = evaluate(&mut evaluator, &space, 0);
    println!("the first configuration, with the start of its worker: {first:.2} ms");
    let quiet: Vec<f64> = (1..30).map(|rank| evaluate(&mut evaluator, &space, 2 * rank).1).collect();
    print("overhead of a configuration", &quiet);
    let mut restarts = Vec::new();
    for rank in 0..15 {
        let (crashed, ..) = evaluate(&mut evaluator, &space, 2 * rank + 1);
        assert!(crashed.failure.is_some());
        restarts.push(evaluate(&mut evaluator, &space, 2 * rank).1);
    }
    print("overhead of the configuration after a crash, a new worker included", &restarts);
    let mut evaluator = on_cuda(&space, folder.path());
    evaluate(&mut evaluator, &space, 0);
    let cuda: Vec<_> = (1..60).map(|rank| evaluate(&mut evaluator, &space, rank)).collect();
    print("overhead of a configuration on CUDA", &cuda.iter().map(|(_, rest, _)| *rest).collect::<Vec<_>>());
    let all = cuda.iter().map(|(.., all)| *all).collect::<Vec<_>>();
    print("all that is neither compiling nor the kernel on CUDA", &all);
}
