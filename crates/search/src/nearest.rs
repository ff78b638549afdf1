//! Moves a point to the nearest valid configuration.

use tunesmith_space::{ConfigId, Space};

/// Returns the valid configuration nearest to `point`, which consists of value indices as real
/// numbers. The length of each parameter's list counts as one. Returns `None` if the configurations
/// of the space have no ranks. Costs O(arcs) of the diagrams, unless the point is valid.
pub(crate) fn nearest(space: &Space, point: &[f64]) -> Option<ConfigId> {
    let rounded = |(at, parameter): (&f64, &tunesmith_space::Parameter)| {
        // Like the space, round a half down and move a coordinate outside of the list to its
        // nearest end.
        let last = (parameter.values().len() - 1) as f64;
        (at - 0.5).ceil().clamp(0.0, last) as u32
    };
    let indices: Vec<u32> = point.iter().zip(space.parameters()).map(rounded).collect();
    if let Some(id) = space.rank_indices(&indices) {
        return Some(id);
    }
    let lengths = space.parameters().iter().map(|parameter| parameter.values().len().saturating_sub(1).max(1));
    let weights: Vec<f64> = lengths.map(|length| 1.0 / length as f64).collect();
    space.rank(&space.nearest_configuration(point, &weights))
}
