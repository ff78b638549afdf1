//! Why a device cannot take a configuration, as far as its limits tell before anything is compiled.

use crate::problem::Grid;
use crate::worker::layout::Passed;
use std::collections::BTreeMap;

/// The first limit of the device called `name` that work-groups or local memory exceed. Limits that it does not tell are
/// not checked.
pub(crate) fn refusal(limits: &BTreeMap<String, f64>, name: &str, grid: &Grid, passed: &[Passed]) -> Option<String> {
    let local_memory: usize =
        passed.iter().map(|passed| if let Passed::Local(bytes) = passed { *bytes } else { 0 }).sum();
    let exceeds = |what: &str, used: usize, limit: &str| {
        let most = *limits.get(limit)? as usize;
        (used > most).then(|| format!("{what} is {used}, and {name} has {limit} = {most}"))
    };
    let sizes = grid.local.iter().flatten().enumerate().find_map(|(dimension, items)| {
        let what = format!("the work-group's size in dimension {dimension}");
        exceeds(&what, *items, &format!("max_work_item_size_{dimension}"))
    });
    let items = grid.local.iter().flatten().fold(1, |product: usize, items| product.saturating_mul(*items));
    sizes
        .or_else(|| exceeds("the work-group's size", items, "max_work_group_size"))
        .or_else(|| exceeds("local memory in bytes", local_memory, "local_memory"))
}
