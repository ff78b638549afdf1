//! What the tuner adds to each configuration beyond compiling, running and checking it, and what a crash costs.
//!
//! `cargo bench -p tunesmith-device --bench overhead` prints both; nothing is asserted, since times are the machine's.
#![allow(clippy::print_stdout)] // a bench's job

use std::time::Duration;
use tunesmith_core::{Clock, Completion, Evaluator, Interrupt, Request, SystemClock, statistics};
use tunesmith_device::worker::enter_if_worker;
use tunesmith_device::{
    Access, Argument, ArgumentKind, ElementType, Fill, Kernel, KernelSpec, Language, LiveEvaluator, LiveOptions,
    Memory, Verify,
};
use tunesmith_space::{Parameter, Space, Value};

/// Three buffers of 1 MiB; an odd CRASH makes the kernel abort.
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
    let kind = ArgumentKind::Buffer { shape: vec![512, 512], fill: Fill::Random, access, memory: Memory::Global };
    Argument { name: name.into(), element: ElementType::parse("f32").expect("a type"), kind, symbol: None }
}

fn evaluator(space: &Space, file: std::path::PathBuf) -> LiveEvaluator {
    let kernel = Kernel {
        name: "add".into(),
        language: Language::C,
        file,
        sources: Vec::new(),
        include: Vec::new(),
        function: "add".into(),
        options: Vec::new(),
        arguments: vec![0, 1, 2],
        repeat: None,
        generator: None,
        work: None,
    };
    let spec = KernelSpec {
        problem: "add".into(),
        kernels: vec![kernel],
        sizes: Vec::new(),
        arguments: vec![argument("a", Access::In), argument("b", Access::In), argument("c", Access::Out)],
        verify: Verify::default(),
        seed: 1,
    };
    LiveEvaluator::new(space, LiveOptions::new(spec)).expect("a compiler")
}

/// Evaluates the configuration and returns it with the time nobody has accounted for, in milliseconds.
fn evaluate(evaluator: &mut LiveEvaluator, space: &Space, rank: u128) -> (Completion, f64) {
    let clock = SystemClock::new();
    let start = clock.now();
    evaluator.submit(Request::timed(space.id(rank).expect("a configuration"))).expect("a device");
    let completion = evaluator.next(&Interrupt::default()).expect("a device").expect("no interrupt");
    let spent = completion.spent;
    let rest = (clock.now() - start).saturating_sub(spent.compile + spent.run + spent.verify);
    (completion, milliseconds(rest))
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
    let mut evaluator = evaluator(&space, file);
    let (_, first) = evaluate(&mut evaluator, &space, 0);
    println!("the first configuration, with the start of its worker: {first:.2} ms");
    let quiet: Vec<f64> = (1..30).map(|rank| evaluate(&mut evaluator, &space, 2 * rank).1).collect();
    print("overhead of a configuration", &quiet);
    let mut restarts = Vec::new();
    for rank in 0..15 {
        let (crashed, _) = evaluate(&mut evaluator, &space, 2 * rank + 1);
        assert!(crashed.failure.is_some());
        restarts.push(evaluate(&mut evaluator, &space, 2 * rank).1);
    }
    print("overhead of the configuration after a crash, a new worker included", &restarts);
}
