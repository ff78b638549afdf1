//! Starts a tuning run from a timing model.

use crate::Error;
use crate::outside::is_far;
use crate::placed::{reference, robust};
use crate::predict::{Place, PredictOptions, put};
use crate::scorer::Scorer;
use crate::search::{Field, ranked};
use tunesmith_choose::timing::{KnownDevice, TimingModel};
use tunesmith_core::Searcher;
use tunesmith_problem::Problem;
use tunesmith_search::Primed;
use tunesmith_space::lookup;
use tunesmith_space::{Space, Value};

/// Maximum number of the model's candidates that are tried. If that many fail, the strategy goes on
/// without the model.
const CANDIDATES: usize = 25;

/// Number of correct configurations that the strategy begins with.
const WANTED: usize = 5;

/// Returns a strategy that begins with the configurations predicted to be best for `problem` on
/// `device`, and continues as `inner`.
///
/// # Errors
/// The model knows none of the space's parameters.
pub fn primed(
    model: &TimingModel,
    problem: &Problem,
    space: &Space,
    device: &KnownDevice,
    inner: Box<dyn Searcher>,
) -> Result<Box<dyn Searcher>, Error> {
    let knows = |parameter: &&tunesmith_space::Parameter| space.parameter_index(parameter.name()).is_some();
    if !model.parts().frame.parameters.iter().any(|parameter| knows(&parameter)) {
        let text = format!("the timing model is for `{}`, which has other parameters", model.problem());
        return Err(Error::request(text, Some("train a model of this problem".to_string())));
    }
    let is_known = |name: &str| lookup(&model.parts().frame.sizes, name).is_some();
    let known: Vec<(String, Value)> =
        problem.spec().sizes().iter().filter(|(name, _)| is_known(name)).cloned().collect();
    let device = if let [only] = model.devices() { only } else { device };
    let sizes = model.parts().frame.completed(&known);
    let scorer = Scorer::new(model, space, &sizes, Some(device));
    let start = reference(model, space).and_then(|configuration| space.rank(&configuration));
    let PredictOptions { restarts, seed, search, .. } = PredictOptions::default();
    let field = Field { space, start, grid: None, restarts, seed };
    let (mut found, _) = ranked(search, &scorer, &field, CANDIDATES);
    if let Some(place) = Place::of(model, Some(device), is_far(model, scorer.row(), &sizes)) {
        put(&mut found, place, &robust(model, space), &scorer, start, CANDIDATES);
    }
    Ok(Box::new(Primed::new(found.into_iter().map(|ranked| ranked.config), WANTED, inner)))
}
