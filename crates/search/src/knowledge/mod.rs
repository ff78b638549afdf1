//! What is known of a kernel before its search begins.

mod past_times;

pub use past_times::{Misfit, PastTimes};

use crate::guide::Guide;
use std::sync::Arc;
use tunesmith_space::ConfigId;

/// The knowledge of a kernel before its search begins. Every strategy is
/// [built](crate::StrategySpec::build) with it; those that use it say so. The default is to know
/// nothing.
///
/// Each kind of knowledge is one field. A strategy turns it into what it works with:
/// `gaussian_process` into features of configurations and into those it asks first.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    /// Times of the same kernel on other devices, or for other sizes.
    pub history: Option<PastTimes>,
    /// The configurations that `grid` evaluates.
    pub grid: Option<Arc<[ConfigId]>>,
    /// A counter model made ready for the space that is searched.
    pub guide: Option<Guide>,
}
