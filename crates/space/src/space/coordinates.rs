//! The space as a cube of real coordinates, for strategies that search in one.

use super::{ConfigId, Configuration, Space};
use crate::diagram::Blocks;

impl Space {
    /// Returns the configuration at `coordinates`: one number in the interval (0, 1] for each
    /// parameter, in the user's order (ATF paper, section 5).
    ///
    /// Walks each diagram from its root. A node's interval is divided into one block per value that
    /// is possible there, and the coordinate of the level's parameter selects the block. With `n`
    /// blocks of equal length, the coordinate `l` selects the value number `ceil(l * n)`. Every
    /// point of the cube is a configuration, and every configuration has points.
    ///
    /// A coordinate outside of the interval means its nearest end. A missing coordinate means the
    /// middle. A coordinate that is not a number means the first value. If the space has more
    /// configurations than 128 bits can count, all blocks of a node have equal length.
    ///
    /// Costs about the number of parameters times the logarithm of a node's arcs. With
    /// [`Blocks::Values`], the cost is the number of parameters times a node's arcs.
    pub fn configuration_at(&self, coordinates: &[f64], blocks: Blocks) -> Configuration {
        let coordinate = |at: usize| coordinates.get(at).copied().unwrap_or(0.5).clamp(0.0, 1.0);
        let count = self.parameters().len();
        let coordinates: Vec<f64> = (0..count).map(coordinate).collect();
        let mut indices = vec![0; count];
        self.inner.diagrams.iter().for_each(|diagram| diagram.at_coordinates(&coordinates, blocks, &mut indices));
        Configuration { indices }
    }

    /// Returns the coordinates of a configuration: the middles of its blocks.
    /// [`Space::configuration_at`] leads from them back to the configuration.
    ///
    /// There is one exception. A block of [`Blocks::Configurations`] with less than 2^-52 of its
    /// node's configurations is narrower than the resolution of floats. Its middle may lead to the
    /// value beside it.
    pub fn coordinates(&self, id: ConfigId, blocks: Blocks) -> Vec<f64> {
        let configuration = self.unrank(id);
        let mut coordinates = vec![0.5; self.parameters().len()];
        let indices = &configuration.indices;
        self.inner.diagrams.iter().for_each(|diagram| diagram.coordinates(indices, blocks, &mut coordinates));
        coordinates
    }
}
