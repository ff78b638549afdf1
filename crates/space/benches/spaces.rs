//! Construction of the published spaces and queries to them: `cargo bench -p tunesmith-space`.

#[path = "../tests/it/common/mod.rs"]
mod common;

use divan::{Bencher, black_box};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

fn main() {
    divan::main();
}

/// Measures compiling the expressions and building the diagrams, without reading the file.
#[divan::bench(args = common::names(), sample_count = 10, max_time = 3)]
fn construction(bencher: Bencher<'_, '_>, name: &str) {
    let builder = common::builder(name);
    bencher.with_inputs(|| builder.clone()).bench_values(|builder| black_box(builder.build()).is_ok());
}

/// Measures one uniform sample, as value indices.
#[divan::bench(args = common::names(), max_time = 0.2)]
fn sample(bencher: Bencher<'_, '_>, name: &str) {
    let space = common::space(name);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut indices = Vec::new();
    bencher.bench_local(|| {
        space.unrank_into(space.sample(&mut rng), &mut indices);
        indices.len()
    });
}

/// Measures all Hamming neighbours of one configuration.
#[divan::bench(args = common::names(), max_time = 0.2)]
fn neighbours(bencher: Bencher<'_, '_>, name: &str) {
    let space = common::space(name);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    bencher.bench_local(|| space.hamming_neighbours(space.sample(&mut rng)).len());
}
