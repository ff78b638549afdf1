//! The cost of counting: builds, transforms and counts each kernel, and evaluates its counts.

use tunesmith_loopnest::count;
use tunesmith_loopnest::kernels::{Groups, KERNELS, Kernel};

fn main() {
    divan::main();
}

fn nest(kernel: &Kernel) -> tunesmith_loopnest::Nest {
    let (x, y) = if kernel.groups == Groups::Line { (256, 1) } else { (16, 12) };
    kernel.nest(x, y, false).expect("the kernel is sound")
}

#[divan::bench(args = KERNELS.iter().map(|kernel| kernel.name))]
fn build_transform_and_count(bencher: divan::Bencher, name: &str) {
    let kernel = Kernel::named(name).expect("the list has it");
    bencher.bench(|| count::count(&nest(kernel)).expect("it can be counted"));
}

#[divan::bench(args = KERNELS.iter().map(|kernel| kernel.name))]
fn evaluate_all_properties(bencher: divan::Bencher, name: &str) {
    let kernel = Kernel::named(name).expect("the list has it");
    let counts = count::count(&nest(kernel)).expect("it can be counted");
    let sizes = kernel.size_values(1237, 256);
    bencher.bench(|| counts.evaluate(divan::black_box(&sizes)));
}
