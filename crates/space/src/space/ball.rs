//! Configurations near one, drawn uniformly.

use rand::{Rng, RngExt as _};

use super::{ConfigId, Space};
use crate::diagram::Differing;

/// The configurations that differ from one, the centre, in at least one and at most `radius`
/// parameters. They are counted, never listed.
#[derive(Clone, Debug)]
pub struct Ball {
    space: Space,
    centre: Vec<u32>,
    /// The counts of each diagram.
    counted: Vec<Differing>,
    /// For each diagram, the number of combinations of paths of it and of all later ones with
    /// exactly 0, 1, ... differences. After the last: one combination, of no paths.
    from: Vec<Vec<f64>>,
}

impl Space {
    /// Returns the configurations that differ from `centre` in at least one and at most `radius`
    /// parameters, to draw from them.
    ///
    /// Costs time linear in the number of arcs of the diagrams times `radius`. Drawing then costs
    /// one walk down each diagram.
    ///
    /// ```
    /// use rand::SeedableRng as _;
    /// use tunesmith_space::{Constraint, Parameter, Space, Values};
    ///
    /// let space = Space::builder()
    ///     .parameter(Parameter::new("A", Values::list([1, 2]))?)
    ///     .parameter(Parameter::new("B", Values::list([1, 2]))?)
    ///     .constraint(Constraint::parse("A == B")?)
    ///     .build()?;
    /// let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    /// let centre = space.id(0).unwrap();
    /// // No single change is valid, but both together are.
    /// assert!(space.ball(centre, 1).is_empty());
    /// assert_eq!(space.ball(centre, 2).sample(&mut rng), space.id(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ball(&self, centre: ConfigId, radius: usize) -> Ball {
        let centre = self.unrank(centre).indices().to_vec();
        let most = radius.min(centre.len());
        let diagrams = self.inner.diagrams.iter();
        let counted: Vec<Differing> = diagrams.map(|diagram| diagram.differing(&centre, most)).collect();
        let mut from = vec![vec![0.0; most + 1]; counted.len() + 1];
        from[counted.len()][0] = 1.0;
        for at in (0..counted.len()).rev() {
            let sums = (0..=most).map(|differences| shares(&counted[at], &from[at + 1], differences).sum());
            from[at] = sums.collect();
        }
        Ball { space: self.clone(), centre, counted, from }
    }
}

impl Ball {
    /// Returns the number of configurations, as a float: exact below 2^53.
    pub fn len(&self) -> f64 {
        self.from[0][1..].iter().sum()
    }

    /// Returns true if no other configuration is this near to the centre.
    pub fn is_empty(&self) -> bool {
        self.len() == 0.0
    }

    /// Draws a configuration uniformly, up to the rounding of floats. Returns `None` if there is
    /// none.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Option<ConfigId> {
        let mut left = 1 + drawn(self.from[0][1..].iter().copied(), rng)?;
        let mut indices = self.centre.clone();
        for (at, diagram) in self.space.inner.diagrams.iter().enumerate() {
            let here = drawn(shares(&self.counted[at], &self.from[at + 1], left), rng)?;
            diagram.sample_differing(&self.counted[at], &self.centre, here, rng, &mut indices);
            left -= here;
        }
        self.space.rank_indices(&indices)
    }
}

/// Returns, for 0, 1, ... up to `differences` differences within one diagram, the number of
/// combinations with those `after` it that have `differences` in all.
fn shares<'a>(here: &'a Differing, after: &'a [f64], differences: usize) -> impl Iterator<Item = f64> + Clone + 'a {
    (0..=differences).map(move |own| here.counts()[own] * after[differences - own])
}

/// Draws a position with chances proportional to the weights. Returns `None` if all are 0.
fn drawn<R: Rng + ?Sized>(weights: impl Iterator<Item = f64> + Clone, rng: &mut R) -> Option<usize> {
    let mut rest = rng.random::<f64>() * weights.clone().sum::<f64>();
    let mut chosen = None;
    for (at, weight) in weights.enumerate().filter(|(_, weight)| *weight > 0.0) {
        chosen = Some(at);
        if rest < weight {
            break;
        }
        rest -= weight;
    }
    chosen
}
