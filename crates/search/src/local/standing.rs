//! The state of a configuration in the search.

use tunesmith_core::{Request, View};
use tunesmith_space::ConfigId;

/// The state of one configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Standing {
    /// Not asked yet.
    New,
    /// In flight.
    InFlight,
    /// Told, with its score unless it failed.
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
