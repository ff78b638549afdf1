//! What is known of a configuration.

use tunesmith_core::{Request, View};
use tunesmith_space::ConfigId;

/// The knowledge of one configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Standing {
    /// Nothing: it can be asked.
    New,
    /// It is being evaluated.
    InFlight,
    /// It was told, with its score unless it failed.
    Told(Option<f64>),
}

/// Returns the standing of `config`. Costs a hash.
pub(crate) fn standing(view: &View<'_>, config: ConfigId) -> Standing {
    match view.score(config) {
        Some(score) => Standing::Told(score),
        None if view.is_known(Request::timed(config)) => Standing::InFlight,
        None => Standing::New,
    }
}
