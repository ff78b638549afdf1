//! Checks the contents of the arrays that a nest looks up values in, before anything runs.

use crate::arguments::StatedArgument;
use crate::fault::Key;
use crate::nests::in_words;
use crate::values::Sizes;
use std::collections::BTreeSet;
use tunesmith_kernel::data::{Given, contents};
use tunesmith_loopnest::{ArrayId, Data, Nest, NestError, interpret};

/// Checks the data that a nest looks up. Reports lookups outside of their arrays, and accesses at
/// looked-up places outside of theirs. Warns of statistics that the data do not have.
///
/// `key` is the part that names the nest, `values` are the nest's sizes, and `sizes` are those of the problem by
/// name. Returns true if a run is safe. Costs up to 1 us for each cell of these arrays.
pub(crate) fn check(
    (nest, key): (&Nest, &Key),
    values: &[i64],
    arguments: &[StatedArgument],
    sizes: Sizes<'_>,
) -> bool {
    let Some(data) = looked_up(nest, values, arguments, sizes) else { return false };
    let refused = |error: &NestError| {
        let remedy =
            "change the contents of the arrays that values are looked up in, or make the array larger".to_string();
        sizes.faults.error(key.clone(), in_words(error), Some(error.remedy.clone().unwrap_or(remedy)));
    };
    if let Err(error) = interpret::refuse_data(nest, values, &data) {
        refused(&error);
        return false;
    }
    for (id, statistic) in &nest.statistics {
        let (stated, name) = (statistic.at_sizes(values), &nest.loop_at(*id).name);
        match interpret::mean_iterations(nest, *id, values, &data) {
            // A statistic is an integer, so that it states the rounded mean.
            Ok(Some(mean)) if (mean - stated as f64).abs() > 0.5 => {
                let text =
                    format!("the data give loop `{name}` {mean:.1} iterations on average, its statistic {stated}");
                let remedy = format!("set the statistic to {mean:.0}: counts and estimates use it");
                sizes.faults.warning(key.clone(), text, Some(remedy));
            }
            Ok(_) => {}
            Err(error) => refused(&error),
        }
    }
    true
}

/// Returns the arrays in which the nest looks up values.
fn looked_up(nest: &Nest, values: &[i64], arguments: &[StatedArgument], sizes: Sizes<'_>) -> Option<Data> {
    let mut data = Data::empty(nest);
    let arrays: BTreeSet<ArrayId> = nest.lookups.iter().map(|lookup| lookup.access.array).collect();
    for id in arrays {
        let (argument, key) = arguments.iter().find(|(argument, _)| argument.name == nest.array(id).name)?;
        // Random numbers have the same magnitude for every seed.
        let bytes = contents(argument, Given { seed: 0, sizes: sizes.sizes });
        let bytes =
            bytes.map_err(|error| sizes.faults.error(key.clone(), format!("`{}`: {error}", argument.name), None));
        // An argument with the wrong length was already reported.
        data.set_memory(nest, values, id, &bytes.ok()?).ok()?;
    }
    Some(data)
}
