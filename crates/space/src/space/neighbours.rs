//! Neighbourhoods.

use super::{ConfigId, Configuration, Space};

impl Space {
    /// The configurations that differ from `id` in the value of exactly one parameter: by parameter in the user's
    /// order, then by the value's index.
    ///
    /// Each arc beside the configuration's path is followed to the end once: about the number of parameters squared
    /// times the arcs of a node.
    pub fn hamming_neighbours(&self, id: ConfigId) -> Vec<ConfigId> {
        let mut neighbours = Vec::new();
        self.each_neighbour(&self.unrank(id), |_, _, neighbour| neighbours.push(neighbour));
        neighbours
    }

    /// The configurations that differ from `id` in one parameter by the nearest valid step: for each parameter the
    /// valid configurations with the next smaller and the next larger value index, at most two. Values between that a
    /// constraint excludes are stepped over, so that the neighbourhood does not break at gaps.
    pub fn adjacent_neighbours(&self, id: ConfigId) -> Vec<ConfigId> {
        let current = self.unrank(id);
        let mut nearest: Vec<[Option<ConfigId>; 2]> = vec![[None; 2]; self.parameters().len()];
        self.each_neighbour(&current, |parameter, value, neighbour| {
            let [smaller, larger] = &mut nearest[parameter];
            // Values come in ascending order: the last smaller one and the first larger one are nearest.
            if value < current.indices[parameter] {
                *smaller = Some(neighbour);
            } else {
                larger.get_or_insert(neighbour);
            }
        });
        nearest.into_iter().flatten().flatten().collect()
    }

    /// Calls `visit` with parameter, value index and rank of each Hamming neighbour of `current`.
    fn each_neighbour(&self, current: &Configuration, mut visit: impl FnMut(usize, u32, ConfigId)) {
        let Some(id) = self.rank(current) else {
            return;
        };
        let mut found: Vec<Vec<(u32, ConfigId)>> = vec![Vec::new(); self.parameters().len()];
        for (diagram, &weight) in self.inner.diagrams.iter().zip(&self.inner.weights) {
            let Some(own) = diagram.rank_from(0, 0, &current.indices) else {
                continue;
            };
            let rest = id.0 - own * weight;
            diagram.each_neighbour(&current.indices, |parameter, value, rank| {
                found[parameter].push((value, ConfigId(rest + rank * weight)));
            });
        }
        for (parameter, neighbours) in found.into_iter().enumerate() {
            neighbours.into_iter().for_each(|(value, neighbour)| visit(parameter, value, neighbour));
        }
    }
}
