//! The valid configuration nearest to a point.

use super::{ConfigId, Configuration, Space};

impl Space {
    /// Returns the valid configuration nearest to `point`. A point gives each parameter, in the
    /// user's order, a value index as a real number: 0 is the first value of the parameter's list,
    /// 1.5 lies between the second and the third.
    ///
    /// The distance is the sum over parameters of the steps between value indices (L1). Among
    /// equally near configurations, the smallest rank wins. A coordinate outside of a list means
    /// its nearest end. A coordinate that is missing or not a number leaves its parameter free. The
    /// result is exact. Costs O(arcs) of the diagrams.
    ///
    /// # Panics
    /// Panics if [`Space::len`] is `None`: the number of configurations exceeds 128 bits.
    /// [`Space::nearest_configuration`] works in such spaces too.
    ///
    /// ```
    /// use tunesmith_space::{Constraint, Parameter, Space, Values};
    ///
    /// let space = Space::builder()
    ///     .parameter(Parameter::new("TILE", Values::list([8, 16, 24]))?)
    ///     .parameter(Parameter::new("THREADS", Values::list([8, 12, 16]))?)
    ///     .constraint(Constraint::parse("TILE % THREADS == 0")?)
    ///     .build()?;
    /// // TILE 16 with THREADS 12 is not valid. THREADS 16 is one step away, and so are 8 and
    /// // TILE 24.
    /// let nearest = space.unrank(space.nearest(&[1.0, 1.1]));
    /// assert_eq!(nearest.indices(), [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nearest(&self, point: &[f64]) -> ConfigId {
        let nearest = self.nearest_configuration(point, &[]);
        self.rank(&nearest).expect("a space of more than 2^128 - 1 configurations has no ranks")
    }

    /// Returns the nearest configuration like [`Space::nearest`], but in spaces of any size and
    /// with a weight for the steps of each parameter.
    ///
    /// `weights` has one non-negative number per parameter, in the user's order. A weight that is
    /// missing at the end or not a number is 1. With weights `1 / (values - 1)`, all parameters
    /// count alike, whatever the length of their lists.
    pub fn nearest_configuration(&self, point: &[f64], weights: &[f64]) -> Configuration {
        let parameters = self.parameters();
        let inside = |(at, parameter): (usize, &crate::Parameter)| {
            let last = (parameter.values().len() - 1) as f64;
            // Clamping keeps a NaN.
            point.get(at).map_or(f64::NAN, |coordinate| coordinate.clamp(0.0, last))
        };
        let point: Vec<f64> = parameters.iter().enumerate().map(inside).collect();
        let usable = |weight: &f64| weight.is_finite() && *weight >= 0.0;
        let weight = |at: usize| weights.get(at).copied().filter(usable).unwrap_or(1.0);
        let weights: Vec<f64> = (0..parameters.len()).map(weight).collect();
        let mut indices = vec![0; parameters.len()];
        self.inner.diagrams.iter().for_each(|diagram| diagram.nearest(&point, &weights, &mut indices));
        Configuration { indices }
    }
}
