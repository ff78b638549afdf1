//! Our counts of one kernel: `loopnest-bench KERNEL X Y SIZES...`, integers. Prints the JSON that `peer.py` prints for Loopy.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};
use tunesmith_loopnest::kernels::Kernel;
use tunesmith_loopnest::{Counts, Direction, Property};

/// As often as the peer's repeats, and then some: ours take a hundredth of the time.
const REPEATS: usize = 20;
const EVALUATIONS: u32 = 10_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, x, y, sizes @ ..] = arguments.as_slice() else { panic!("loopnest-bench KERNEL X Y SIZES...") };
    let number = |text: &String| text.parse::<i64>().expect("an integer");
    let (x, y, sizes) = (number(x), number(y), sizes.iter().map(number).collect::<Vec<_>>());
    let kernel = Kernel::named(name).expect("a kernel of the cost model");
    let build_and_count = || kernel.nest(x, y, false).and_then(|nest| nest.count()).expect("it can be counted");
    let counts = build_and_count();
    let count = least(|| drop(black_box(build_and_count())));
    let evaluate = least(|| (0..EVALUATIONS).for_each(|_| drop(black_box(counts.evaluate(black_box(&sizes))))));
    let document = serde_json::json!({
        "count": count.as_secs_f64(),
        "evaluate": evaluate.as_secs_f64() / f64::from(EVALUATIONS),
        "counts": named(&counts, &sizes),
    });
    println!("{document}");
}

/// The least time of an action.
fn least(action: impl Fn()) -> Duration {
    let timed = |_| {
        let start = Instant::now();
        action();
        start.elapsed()
    };
    (0..REPEATS).map(timed).min().unwrap_or_default()
}

/// Counts that Loopy has as well, accesses summed over their strides.
fn named(counts: &Counts, sizes: &[i64]) -> BTreeMap<String, i64> {
    let mut named = BTreeMap::new();
    for (property, value) in counts.properties().iter().zip(counts.evaluate(sizes).expect("the sizes are small")) {
        let name = match property {
            Property::Global(_, Direction::Load, _) => "global load".to_string(),
            Property::Global(_, Direction::Store, _) => "global store".to_string(),
            Property::Operations(..) => property.to_string(),
            Property::LocalLoads(_) => "local load".to_string(),
            _ => continue,
        };
        *named.entry(name).or_default() += i64::try_from(value).expect("the sizes are small");
    }
    named.retain(|_, value| *value != 0);
    named
}
