//! Uniform random configurations that are not evaluated yet.

use rand::seq::SliceRandom;
use tunesmith_core::{Rng, View};
use tunesmith_space::ConfigId;

/// Draws configurations that are neither told nor in flight, each equally likely.
///
/// While at most half of the space is known, it draws until a configuration is new. That takes at
/// most two draws on average, and nothing is listed, however large the space. Beyond that, it lists
/// the unknown configurations once. There are no more of them than known ones.
#[derive(Debug, Default)]
pub(crate) struct Unseen {
    left: Option<Vec<ConfigId>>,
}

impl Unseen {
    /// Returns an unknown configuration, or `None` if none is left.
    pub(crate) fn draw(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<ConfigId> {
        let is_new = |id: &ConfigId| !view.is_measured(*id);
        if self.left.is_none() {
            let known = view.known() as u128;
            if view.space().len().is_none_or(|size| known.saturating_mul(2) <= size) {
                return std::iter::repeat_with(|| view.space().sample(rng)).find(is_new);
            }
            let mut left: Vec<ConfigId> = view.space().iter().filter(is_new).collect();
            left.shuffle(rng);
            self.left = Some(left);
        }
        let left = self.left.as_mut()?;
        std::iter::from_fn(|| left.pop()).find(is_new)
    }
}
