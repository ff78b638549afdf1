//! Conversion between ranks and configurations.

use super::{ConfigId, Configuration, Space};

impl Space {
    /// Returns the configuration with rank `rank`. Returns `None` if the space has at most `rank`
    /// configurations, or more than 128 bits can count.
    pub fn id(&self, rank: u128) -> Option<ConfigId> {
        self.len().filter(|&len| rank < len).map(|_| ConfigId(rank))
    }

    /// Returns the configuration with rank `id`. Costs about the number of parameters times the
    /// logarithm of a node's arcs.
    ///
    /// An `id` of another space gives an arbitrary configuration.
    pub fn unrank(&self, id: ConfigId) -> Configuration {
        let mut indices = Vec::new();
        self.unrank_into(id, &mut indices);
        Configuration { indices }
    }

    /// Writes the value indices of the configuration with rank `id` into `indices`, as
    /// [`Space::unrank`] does, but reuses the buffer.
    pub fn unrank_into(&self, id: ConfigId, indices: &mut Vec<u32>) {
        indices.clear();
        indices.resize(self.parameters().len(), 0);
        let mut rest = id.0;
        for ((diagram, &weight), &length) in
            self.inner.diagrams.iter().zip(&self.inner.weights).zip(&self.inner.lengths)
        {
            diagram.unrank((rest / weight).min(length - 1), indices);
            rest %= weight;
        }
    }

    /// Returns the rank of `configuration`. Returns `None` if a constraint excludes it, or if the
    /// space has more configurations than 128 bits can count. Costs as much as [`Space::unrank`].
    pub fn rank(&self, configuration: &Configuration) -> Option<ConfigId> {
        self.rank_indices(&configuration.indices)
    }

    /// Returns the rank of the configuration with the value indices `indices`, as [`Space::rank`]
    /// does. Returns `None` also if the number of indices is not the number of parameters.
    pub fn rank_indices(&self, indices: &[u32]) -> Option<ConfigId> {
        if indices.len() != self.parameters().len() || self.inner.weights.is_empty() {
            return None;
        }
        let mut rank = 0;
        for (diagram, &weight) in self.inner.diagrams.iter().zip(&self.inner.weights) {
            rank += diagram.rank_from(0, 0, indices)? * weight;
        }
        Some(ConfigId(rank))
    }

    /// Returns an iterator over all configurations in the order of their ranks. It is empty if the
    /// space has more configurations than 128 bits can count.
    pub fn iter(&self) -> impl Iterator<Item = ConfigId> + use<> {
        (0..self.len().unwrap_or(0)).map(ConfigId)
    }
}
