//! A nest with the transformations that turn it into a kernel.

use super::{Transformation, When};
use crate::error::{NestError, Place};
use crate::ir::Nest;

/// A number in transformations that tuning can vary.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its value if none is given.
    pub default: i64,
    /// The place of its declaration.
    pub place: Option<Place>,
}

/// A transformation with its condition and its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct RecipeStep {
    /// The transformation.
    pub transformation: Transformation,
    /// The condition of the step. With `None` it always applies.
    pub when: Option<When>,
    /// Its place in the text.
    pub place: Option<Place>,
}

/// A nest and the transformations to apply to it, in order.
///
/// ```
/// use tunesmith_loopnest::{Recipe, Tag};
///
/// let recipe = "
///     sizes n
///     array a[n]: f32
///     {[i]: 0 <= i < n}
///     a[i] = 2*a[i]
///     parameter width = 64
///     split i width -> block, lane
///     tag block group.0
///     tag lane local.0
/// ".parse::<Recipe>()?;
/// let kernel = recipe.apply(&[("width", 128)])?;
/// assert_eq!(kernel.local_size()?, [128, 1, 1]);
/// assert_eq!(kernel.group_counts(&[1000]), [8, 1, 1]);
/// # Ok::<(), tunesmith_loopnest::NestError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The computation.
    pub nest: Nest,
    /// Numbers that the transformations take.
    pub parameters: Vec<Parameter>,
    /// The transformations, in order.
    pub steps: Vec<RecipeStep>,
}

impl Recipe {
    /// Returns the transformed nest, with values for some of the parameters.
    ///
    /// # Errors
    ///
    /// Fails if a name is not a parameter, or if a transformation is refused. The error has the
    /// place of the transformation, unless it already has a more precise one.
    pub fn apply(&self, values: &[(&str, i64)]) -> Result<Nest, NestError> {
        let names = || self.parameters.iter().map(|parameter| parameter.name.as_str());
        if let Some((name, _)) = values.iter().find(|(name, _)| !names().any(|known| known == *name)) {
            return Err(NestError::unknown("parameter", name, names()));
        }
        let given = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let default = |name: &str| self.parameters.iter().find(|known| known.name == name).map(|known| known.default);
        let value = |name: &str| given(name).or_else(|| default(name));
        let mut nest = self.nest.clone();
        for step in &self.steps {
            let is_done = match &step.when {
                None => true,
                Some(When { parameter, value: wanted }) => {
                    let unknown = || NestError::unknown("parameter", parameter, names()).at(step.place);
                    value(parameter).ok_or_else(unknown)? == *wanted
                }
            };
            if is_done {
                step.transformation.apply(&mut nest, value).map_err(|error| error.at(step.place))?;
            }
        }
        Ok(nest)
    }
}
