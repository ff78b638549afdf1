//! Between ranks and configurations.

use super::{ConfigId, Configuration, Space};

impl Space {
    /// Returns the configuration with rank `rank`: `None` when the space has no more than `rank`
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

    /// Unranks as [`Space::unrank`] does, into a buffer that is used again: `indices` becomes the
    /// index of each parameter's value.
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

    /// Returns the rank of `configuration`: `None` when a constraint excludes it, or when the space
    /// has more configurations than 128 bits can count. Costs as [`Space::unrank`].
    pub fn rank(&self, configuration: &Configuration) -> Option<ConfigId> {
        self.rank_indices(&configuration.indices)
    }

    /// Ranks as [`Space::rank`] does, for the configuration whose value indices are `indices`;
    /// `None` also when there are not as many as parameters.
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

    /// Returns all configurations in the order of their ranks, made one at a time. Nothing comes
    /// from a space of more configurations than 128 bits can count.
    pub fn iter(&self) -> impl Iterator<Item = ConfigId> + use<> {
        (0..self.len().unwrap_or(0)).map(ConfigId)
    }
}
