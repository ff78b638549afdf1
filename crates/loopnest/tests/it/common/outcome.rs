//! Results of a nest.

use tunesmith_loopnest::{Data, LaneOrder, Nest, Value, interpret};

/// Returns the bits of all cells after a run.
pub(crate) fn outcome(nest: &Nest, sizes: &[i64], order: LaneOrder) -> Vec<Vec<u64>> {
    let mut data = Data::filled(nest, sizes, 5).unwrap();
    interpret::run(nest, sizes, &mut data, order).unwrap_or_else(|error| panic!("{error} in\n{nest}"));
    let bits = |cells: &Vec<Value>| cells.iter().map(|cell| cell.as_f64().to_bits()).collect();
    data.cells.iter().map(bits).collect()
}
