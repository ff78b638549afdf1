//! Loop nests: a nest prints as a text that parses as the same nest; schedules, counts and code do not
//! panic; no count is negative; the interpreter agrees with the bounds of its arrays.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tunesmith_fuzz::{one_in, text};
use tunesmith_loopnest::{Counts, Dialect, Nest, Recipe, Schedule, codegen, count, schedule};

fuzz_target!(|input: &[u8]| {
    let Some(text) = text(input) else { return };
    let Ok(recipe) = text.parse::<Recipe>() else { return };
    prints_as_itself(&recipe.nest);
    work(&recipe.nest, input);
    if let Ok(nest) = recipe.apply(&[]) {
        // A transformed nest numbers its loops in another order, which is that of its sums.
        prints_as_itself(&read(&nest.to_string()));
        work(&nest, input);
    }
    let halves: Vec<(&str, i64)> =
        recipe.parameters.iter().map(|known| (known.name.as_str(), known.default / 2)).collect();
    if let Ok(nest) = recipe.apply(&halves) {
        work(&nest, input);
    }
});

fn prints_as_itself(nest: &Nest) {
    let text = nest.to_string();
    assert_eq!(read(&text).to_string(), text, "printed again, it differs");
}

fn read(text: &str) -> Nest {
    text.parse().unwrap_or_else(|error| panic!("the printed nest is refused: {error}\n{text}"))
}

/// Schedules the nest and writes it as code in one language. For one in eight inputs, writes it in all of
/// them, and counts: that takes longest.
fn work(nest: &Nest, input: &[u8]) {
    let _ = Schedule::new(nest);
    let _ = schedule::copying(nest);
    let closely = one_in(8, input);
    for (at, dialect) in [Dialect::OpenCl, Dialect::Cuda, Dialect::C].into_iter().enumerate() {
        if closely || input.len() % 3 == at {
            let _ = codegen::source(nest, dialect);
        }
    }
    let _ = nest.local_size();
    if !closely {
        return;
    }
    let mut sizes = [1, 2, 7, 100, 4096].map(|size| vec![size; nest.sizes.len()]).to_vec();
    sizes.retain(|sizes| nest.admits(sizes));
    if let Ok(counts) = count::count(nest) {
        not_negative(&counts, &sizes);
    }
    if let Ok(outside) = count::outside(nest) {
        for sizes in &sizes {
            let _ = outside.refuse(sizes);
        }
    }
    for array in nest.array_ids() {
        if let Ok(counts) = count::footprint(nest, array) {
            not_negative(&counts, &sizes);
        }
    }
}

fn not_negative(counts: &Counts, sizes: &[Vec<i64>]) {
    for sizes in sizes {
        let Ok(values) = counts.evaluate(sizes) else { continue };
        for (property, value) in counts.properties().iter().zip(values) {
            assert!(value >= 0, "{property} is {value} at {sizes:?}");
        }
    }
}
