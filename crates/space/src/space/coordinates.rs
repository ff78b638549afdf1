//! The space as a cube of real coordinates, for strategies that need one.

use super::{ConfigId, Configuration, Space};
use crate::diagram::Blocks;

impl Space {
    /// Returns the configuration at `coordinates`, one for each parameter in the user's order, from
    /// the interval (0, 1] (ATF paper, section 5).
    ///
    /// From the root of each diagram down, a node's interval is divided into one block per value
    /// that is possible there, and the coordinate of the level's parameter says which block is
    /// entered: with blocks of equal length the value number `ceil(l * n)` of `n`. Every point of
    /// the cube is a configuration, and every configuration has points. Coordinates outside of the
    /// interval, or missing ones, mean its nearest end or its middle; what is not a number means
    /// the first value. Costs about the number of parameters times the logarithm of a node's arcs
    /// ([`Blocks::Values`]: times a node's arcs). In spaces of more configurations than 128 bits
    /// can count all blocks are equal.
    pub fn configuration_at(&self, coordinates: &[f64], blocks: Blocks) -> Configuration {
        let coordinate = |at: usize| coordinates.get(at).copied().unwrap_or(0.5).clamp(0.0, 1.0);
        let count = self.parameters().len();
        let coordinates: Vec<f64> = (0..count).map(coordinate).collect();
        let mut indices = vec![0; count];
        self.inner.diagrams.iter().for_each(|diagram| diagram.at_coordinates(&coordinates, blocks, &mut indices));
        Configuration { indices }
    }

    /// Returns the coordinates of a configuration: the middles of its blocks, so that
    /// [`Space::configuration_at`] leads back. (A block of [`Blocks::Configurations`] that holds
    /// less than 2^-52 of its node's configurations is narrower than floats can tell; its middle
    /// may lead to the value beside it.)
    pub fn coordinates(&self, id: ConfigId, blocks: Blocks) -> Vec<f64> {
        let configuration = self.unrank(id);
        let mut coordinates = vec![0.5; self.parameters().len()];
        let indices = &configuration.indices;
        self.inner.diagrams.iter().for_each(|diagram| diagram.coordinates(indices, blocks, &mut coordinates));
        coordinates
    }
}
