//! Counts by name: those of a run, and those that are formulas in the sizes.

use std::collections::BTreeMap;
use tunesmith_loopnest::{Counts, Direction, Memory, Nest, Operation, Property, Tally};

/// Returns the counts that the interpreter found one by one.
pub(crate) fn tallied(nest: &Nest, tally: &Tally) -> BTreeMap<String, i128> {
    let mut counts = BTreeMap::from([("groups".to_string(), i128::from(tally.groups)), ("launch".to_string(), 1)]);
    let mut add = |name: String, times: u64| *counts.entry(name).or_default() += i128::from(times);
    for ((operation, kind), times) in &tally.operations {
        if kind.is_float() || matches!(operation, Operation::Convert(_)) {
            add(format!("op:{kind}:{operation}"), *times);
        }
    }
    for ((array, operation), times) in &tally.atomics {
        let array = nest.array(*array);
        let letter = if array.memory == Memory::Local { "l" } else { "g" };
        add(format!("atomic:{}:{operation}:{letter}", array.element), *times);
    }
    for ((array, direction), times) in &tally.accesses {
        let array = nest.array(*array);
        let bits = array.element.bits();
        match (array.memory, direction) {
            (Memory::Global, _) => add(format!("g:{bits}:{direction}"), *times),
            (Memory::Local, Direction::Load) => add(format!("l:{bits}:load"), *times),
            _ => {}
        }
    }
    add("barriers".to_string(), tally.barriers);
    counts.retain(|_, times| *times != 0);
    counts
}

/// Returns the symbolic counts at those sizes, accesses summed over their strides.
pub(crate) fn evaluated(counts: &Counts, sizes: &[i64]) -> BTreeMap<String, i128> {
    let mut named = BTreeMap::new();
    for (property, value) in counts.properties().iter().zip(counts.evaluate(sizes).unwrap()) {
        let name = match property {
            Property::Global(bits, direction, _) => format!("g:{bits}:{direction}"),
            Property::LoadsAndStores(..) => continue,
            Property::Atomic(operation, kind, memory, _) => {
                let letter = if *memory == Memory::Local { "l" } else { "g" };
                format!("atomic:{kind}:{operation}:{letter}")
            }
            other => other.to_string(),
        };
        *named.entry(name).or_default() += value;
    }
    named.retain(|_, times| *times != 0);
    named
}
