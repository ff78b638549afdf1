//! Lists of values, and values as users write them: each prints as a text that reads back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::num::NonZeroUsize;
use tunesmith_fuzz::{one_in, parts, spaces, text};
use tunesmith_space::{Parameter, Space, Value, Values, parse_values};

fuzz_target!(|input: &[u8]| {
    let Some(text) = text(input) else { return };
    let [first, second] = parts(text);
    let first = first.unwrap_or_default();
    let scope = |name: &str| match name {
        "N" => Some(Value::Int(96)),
        "X" => Some(Value::Float(1.5)),
        "S" => Some(Value::Str("s".into())),
        _ => None,
    };
    let mut numbers = first.split(',').filter_map(|number| number.trim().parse::<i64>().ok());
    let numbers: [i64; 3] = std::array::from_fn(|_| numbers.next().unwrap_or(1));
    for list in [
        Values::range(numbers[0], numbers[1], numbers[2]),
        Values::pow2(numbers[0], numbers[1]),
        // Finding the divisors costs the square root.
        Values::divisors_of(numbers[0].min(if one_in(64, input) { 1 << 40 } else { 1 << 20 })),
    ] {
        let Ok(list) = list else { continue };
        assert!(!list.is_empty());
        assert!(list.windows(2).all(|pair| pair[0] != pair[1]));
    }
    let Ok(values) = parse_values(first, &scope) else { return };
    values.iter().take(100).for_each(reads_back);
    // A parameter's values are sorted and compared.
    if values.len() > 10_000 || (values.len() > 200 && !one_in(64, input)) {
        return;
    }
    let Ok(one) = Parameter::new("A", values.clone()) else { return };
    for (at, value) in one.values().iter().enumerate().take(100) {
        assert_eq!(one.index_of(value), Some(at), "{value} is not found at its place");
    }
    let two = second.and_then(|second| parse_values(second, &scope).ok());
    let two = two.and_then(|values| Parameter::new("B", values.into_iter().take(100)).ok());
    let builder = Space::builder().limits(spaces::SMALL).threads(NonZeroUsize::MIN).parameter(one);
    let builder = two.into_iter().fold(builder, |builder, two| builder.parameter(two));
    if let Ok(space) = builder.build() {
        assert_eq!(space.size(), space.cartesian_size());
        spaces::check(&space, input);
    }
});

fn reads_back(value: &Value) {
    let read = Value::parse_as(&value.to_string(), std::slice::from_ref(value));
    assert!(read.as_ref().is_some_and(|read| spaces::same(read, value)), "{value:?} reads back as {read:?}");
    let read = Value::parse_as(&value.define(), std::slice::from_ref(value));
    assert!(read.as_ref().is_some_and(|read| spaces::same(read, value)), "{value:?} is defined as {read:?}");
}
