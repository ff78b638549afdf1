//! Knowledge of a kernel before its search begins.

mod past_times;

pub use past_times::{Misfit, PastTimes};

use crate::guide::Guide;
use std::sync::Arc;
use tunesmith_core::{DeviceClass, Launch};
use tunesmith_space::ConfigId;

/// The knowledge of a kernel before its search begins. Every strategy is
/// [built](crate::StrategySpec::build) with it, and those that use it document that. The default is
/// no knowledge.
///
/// Each kind of knowledge is one field. A strategy converts it to its own form: `gaussian_process`
/// makes features and first configurations of it.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    /// Times of the same kernel on other devices, or for other sizes.
    pub history: Option<PastTimes>,
    /// The class of the device.
    pub device: Option<DeviceClass>,
    /// The work-items of the launches on a GPU.
    pub launch: Option<Launch>,
    /// The configurations that `grid` evaluates.
    pub grid: Option<Arc<[ConfigId]>>,
    /// A counter model prepared for the space that is searched.
    pub guide: Option<Guide>,
}
