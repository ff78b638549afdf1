//! Neighbourhoods.

use super::{ConfigId, Space};
use crate::diagram::{Blocks, Segment};

/// The rule that makes configurations neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Neighbourhood {
    /// Configurations that differ in the value of exactly one parameter.
    Hamming,
    /// Configurations that differ in one parameter by the nearest valid step. Each parameter has at
    /// most two: the valid configurations with the next smaller and the next larger value index.
    /// Steps pass over the values that a constraint excludes, so gaps do not break the
    /// neighbourhood.
    Adjacent,
    /// Configurations whose [coordinates](Space::coordinates), as ATF defines them, differ in one
    /// block. One parameter takes another value that is possible after the parameters above it in
    /// the diagram. The parameters below it keep their place among their possible values. Only this
    /// neighbourhood always connects every configuration to every other.
    Coordinates,
}

/// One configuration of a neighbourhood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The configuration.
    pub id: ConfigId,
    /// The index of the parameter whose value differs. With [`Neighbourhood::Coordinates`], several
    /// may differ; this is the first in the diagram's order.
    pub parameter: usize,
    /// The index of that parameter's value.
    pub value: u32,
}

/// The neighbours of one configuration, numbered from 0 by parameter in the user's order, then by
/// value index. They are stored as runs of consecutive values, never one by one.
#[derive(Clone, Debug)]
pub struct Neighbours {
    segments: Vec<Segment>,
    /// The number of neighbours up to the end of each segment.
    ends: Vec<u64>,
}

impl Neighbours {
    /// Returns the number of neighbours.
    pub fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Returns true if there are no neighbours.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns neighbour number `k`, or `None` if there are at most `k`. Costs the logarithm of the
    /// number of runs.
    pub fn get(&self, k: u64) -> Option<Neighbour> {
        let at = self.ends.partition_point(|&end| end <= k);
        let segment = self.segments.get(at)?;
        let start = self.ends[at] - u64::from(segment.values);
        Some(neighbour(segment, (k - start) as u32))
    }

    /// Returns all neighbours, in order.
    pub fn iter(&self) -> impl Iterator<Item = Neighbour> + '_ {
        self.segments.iter().flat_map(|segment| (0..segment.values).map(|step| neighbour(segment, step)))
    }
}

fn neighbour(segment: &Segment, step: u32) -> Neighbour {
    let id = ConfigId(segment.rank + u128::from(step) * segment.stride);
    Neighbour { id, parameter: segment.parameter, value: segment.first + step }
}

impl Space {
    /// Returns the neighbours of `id`, to count them, pick them by number, or walk through them.
    ///
    /// Follows each run of values beside the configuration's path to the end once. Costs about the
    /// number of the group's parameters times the number of those runs, whatever their length.
    pub fn neighbours(&self, id: ConfigId, neighbourhood: Neighbourhood) -> Neighbours {
        let current = self.unrank(id);
        let indices = &current.indices[..];
        let coordinates = match neighbourhood {
            Neighbourhood::Coordinates => self.coordinates(id, Blocks::Values),
            Neighbourhood::Hamming | Neighbourhood::Adjacent => Vec::new(),
        };
        let mut segments = Vec::with_capacity(4 * indices.len());
        for (diagram, &weight) in self.inner.diagrams.iter().zip(&self.inner.weights) {
            let Some(own) = diagram.rank_from(0, 0, indices) else { continue };
            let rest = id.0 - own * weight;
            let mut add = |segment: Segment| {
                segments.push(Segment {
                    rank: rest + segment.rank * weight,
                    stride: segment.stride * weight,
                    ..segment
                });
            };
            let hamming = |node, level| diagram.rank_from(node, level, indices);
            let by_coordinates = |node, level| Some(diagram.rank_at(node, level, &coordinates, Blocks::Values));
            match neighbourhood {
                Neighbourhood::Hamming => diagram.siblings(indices, &hamming, &mut add),
                Neighbourhood::Coordinates => diagram.siblings(indices, &by_coordinates, &mut add),
                Neighbourhood::Adjacent => diagram.adjacent(indices, &mut add),
            }
        }
        // Segments of one parameter already come in order; a stable sort keeps it.
        segments.sort_by_key(|segment| segment.parameter);
        let mut end = 0;
        let ends = segments.iter().map(|segment| {
            end += u64::from(segment.values);
            end
        });
        let ends = ends.collect();
        Neighbours { segments, ends }
    }

    /// Returns all neighbours by [`Neighbourhood::Hamming`].
    pub fn hamming_neighbours(&self, id: ConfigId) -> Vec<ConfigId> {
        self.neighbours(id, Neighbourhood::Hamming).iter().map(|neighbour| neighbour.id).collect()
    }

    /// Returns all neighbours by [`Neighbourhood::Adjacent`].
    pub fn adjacent_neighbours(&self, id: ConfigId) -> Vec<ConfigId> {
        self.neighbours(id, Neighbourhood::Adjacent).iter().map(|neighbour| neighbour.id).collect()
    }
}
