//! The valid configuration nearest to a point.

use super::{ConfigId, Configuration, Space};

impl Space {
    /// Returns the valid configuration nearest to `point`, which gives each parameter, in the
    /// user's order, a value index as a real number: 0 is the first value of the parameter's list,
    /// 1.5 lies between the second and the third.
    ///
    /// The distance is the sum over parameters of the steps between value indices (L1). Of equally
    /// near configurations the one with the smallest rank is taken, so the result depends on
    /// nothing else. Coordinates outside of a list mean its nearest end; a coordinate that is not a
    /// number, or that is missing at the end of `point`, leaves its parameter free. Exact, and
    /// costs O(arcs) of the diagrams.
    ///
    /// # Panics
    /// The space has more configurations than 128 bits can count; [`Space::len`] says so, and
    /// [`Space::nearest_configuration`] works there too.
    ///
    /// ```
    /// use tunesmith_space::{Constraint, Parameter, Space, Values};
    ///
    /// let space = Space::builder()
    ///     .parameter(Parameter::new("TILE", Values::list([8, 16, 24]))?)
    ///     .parameter(Parameter::new("THREADS", Values::list([8, 12, 16]))?)
    ///     .constraint(Constraint::parse("TILE % THREADS == 0")?)
    ///     .build()?;
    /// // TILE 16 with THREADS 12 is not valid; THREADS 16 is one step away, and so are 8 and TILE 24.
    /// let nearest = space.unrank(space.nearest(&[1.0, 1.1]));
    /// assert_eq!(nearest.indices(), [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nearest(&self, point: &[f64]) -> ConfigId {
        let nearest = self.nearest_configuration(point, &[]);
        self.rank(&nearest).expect("a space of more than 2^128 - 1 configurations has no ranks")
    }

    /// Answers as [`Space::nearest`] does, in spaces of any size, with the steps of each parameter
    /// weighted: `weights` are non-negative, one per parameter in the user's order; those missing
    /// at the end, and those that are not numbers, are 1. With weights `1 / (values - 1)` all
    /// parameters count alike however long their lists are.
    pub fn nearest_configuration(&self, point: &[f64], weights: &[f64]) -> Configuration {
        let parameters = self.parameters();
        let inside = |(at, parameter): (usize, &crate::Parameter)| {
            let last = (parameter.values().len() - 1) as f64;
            // Clamping keeps what is not a number.
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
