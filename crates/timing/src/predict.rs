//! Predicts the best configuration for an input without running anything.

use crate::Error;
use crate::outside::{Outside, is_far, outside};
use crate::placed::{is_unknown, prefers_robust, reference, robust};
use crate::scorer::Scorer;
use crate::search::{Field, ModelSearch, Ranked, ranked};
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use tunesmith_choose::timing::{KnownDevice, TimingModel};
use tunesmith_core::Clock;
use tunesmith_problem::Problem;
use tunesmith_space::lookup;
use tunesmith_space::{ConfigId, Constraint, Space, SpaceError, Value, closest};
use tunesmith_store::Journal;

/// The source of a choice for an unknown device that is not the model's.
const SINGLE: &str = "best_single";

/// The source of a choice for an input far outside of the training set.
const ROBUST: &str = "robust";

/// The source of a choice of a model that is no faster than its reference at fresh sizes.
const REFERENCE: &str = "reference";

/// A question to a timing model.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictOptions {
    /// Sizes of the input. Others are as in the training set.
    pub input: Vec<(String, Value)>,
    /// The device. Without one, the only device of the training set, if it has just one.
    pub device: Option<KnownDevice>,
    /// The search for the best configuration.
    pub search: ModelSearch,
    /// Number of climbs, each from another configuration.
    pub restarts: usize,
    /// The seed of random draws.
    pub seed: u64,
    /// Number of candidates to return.
    pub count: usize,
}

impl Default for PredictOptions {
    fn default() -> Self {
        Self { input: Vec::new(), device: None, search: ModelSearch::Auto, restarts: 4, seed: 0, count: 10 }
    }
}

/// The answer of a model for an input. Its JSON form is a contract: see `predict --json` in the
/// interface.
#[derive(Clone, Debug, Serialize)]
pub struct Predicted {
    /// The configuration predicted best.
    #[serde(flatten)]
    pub best: Prediction,
    /// The search that found it. `best_single` if the device is unknown and the answer is the most
    /// robust configuration over the known devices; `robust` if it is that because the input lies
    /// far outside of the training set; `reference` if it is the reference because the model's choices are no
    /// faster than it at fresh sizes.
    pub source: String,
    /// Time of the search.
    pub seconds: f64,
    /// The best configurations, the best first. If one turns out to be invalid, try the next.
    pub candidates: Vec<Prediction>,
    /// The features of the input or the device that lie outside of the training set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<Outside>,
    /// Notes for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A configuration with its predictions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// Parameters and values, in the user's order.
    pub config: Map<String, Json>,
    /// The speed relative to the reference configuration.
    pub predicted_speedup: f64,
    /// An 80 % interval of the speed: a tenth of the training set is slower than the first number,
    /// and a tenth is faster than the second.
    pub predicted_speedup_80: (f64, f64),
    /// The time in milliseconds, if enough inputs were measured to predict it.
    pub predicted_time_ms: Option<f64>,
}

/// Returns the best configuration for an input by `model`, without running anything.
///
/// With `problem`, which has the input's sizes, searches its space or its grid. Without it,
/// searches the space that the model knows: the values and constraints of the recordings that it
/// was trained on.
///
/// # Errors
/// The model does not know a size, the problem has no grid, or no configuration is valid for the
/// input.
pub fn predict(
    model: &TimingModel,
    problem: Option<&Problem>,
    options: &PredictOptions,
    clock: &dyn Clock,
) -> Result<Predicted, Error> {
    let sizes = checked(model, &options.input)?;
    let mut notes = Vec::new();
    let device = device(model, options, &mut notes);
    let space = match problem {
        Some(problem) => problem.space(&device.map(KnownDevice::limits).unwrap_or_default())?.space,
        None => known_space(model, &sizes, &device.map(KnownDevice::constants).unwrap_or_default(), &mut notes)?,
    };
    if space.len().is_none() {
        return Err(Error::request("the space has more than 2^128 configurations", None));
    }
    let reference = reference(model, &space);
    let grid = match problem {
        Some(problem) => problem.grid(&space, reference.as_ref())?,
        None => None,
    };
    if options.search == ModelSearch::Grid && grid.is_none() {
        let remedy = "name the problem with --problem, and write `[tuning] grid = { NAME = [..] }` there".to_string();
        return Err(Error::request("the problem has no grid to search", Some(remedy)));
    }
    let start = reference.and_then(|configuration| space.rank(&configuration));
    let field = Field { space: &space, start, grid: grid.as_deref(), restarts: options.restarts, seed: options.seed };
    let began = clock.now();
    let scorer = Scorer::new(model, &space, &sizes, device);
    let (mut found, source) = best(options, &scorer, &field);
    let robust = robust(model, &space);
    let place = Place::of(model, device, is_far(model, scorer.row(), &sizes)).filter(|_| !robust.is_empty());
    if let Some(place) = place {
        put(&mut found, place, &robust, &scorer, start, options.count);
        notes.push(place.note(model));
    }
    let mut source = place.and_then(Place::source).map_or(source, str::to_string);
    let refused = device.is_some_and(|device| model.is_refused_on(&device.name));
    if let Some(config) = start.filter(|_| refused) {
        found.retain(|ranked| ranked.config != config);
        found.insert(0, Ranked { config, log_speedup: 0.0 });
        found.truncate(options.count.max(1));
        source = REFERENCE.to_string();
        notes.extend(model.judgement().map(|judgement| format!("warning: the model was judged: {judgement}")));
    }
    let seconds = (clock.now() - began).as_secs_f64();
    let reference_ms = model.parts().reference_time.as_ref().and_then(|time| time.predict(scorer.row()));
    let candidates: Vec<Prediction> =
        found.iter().map(|ranked| prediction(&scorer, &space, *ranked, start, reference_ms)).collect();
    let best = candidates.first().cloned();
    let best = best.ok_or_else(|| Error::request("there is no configuration to choose from", None))?;
    Ok(Predicted { best, source, seconds, candidates, outside: outside(model, scorer.row(), &sizes), notes })
}

/// Returns the result of the search. The reference is exactly as fast as itself, so that no
/// configuration predicted to be slower precedes it.
fn best(options: &PredictOptions, scorer: &Scorer<'_>, field: &Field<'_>) -> (Vec<Ranked>, String) {
    let count = options.count.max(1);
    let (mut found, source) = ranked(options.search, scorer, field, count);
    if let Some(config) = field.start {
        found.retain(|ranked| ranked.config != config);
        let at = found.partition_point(|ranked| ranked.log_speedup > 0.0);
        found.insert(at, Ranked { config, log_speedup: 0.0 });
        found.truncate(count);
    }
    (found, source)
}

/// The place of the robust configurations among the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The first, since the input lies far outside of the training set.
    FarInput,
    /// The first ones, since they do better than the model on unknown devices.
    UnknownDevice,
    /// After the model's first choice for an unknown device.
    AfterChoice,
}

impl Place {
    /// Returns the place for an input on a device, or `None` if the model's choice stands alone.
    pub(crate) fn of(model: &TimingModel, device: Option<&KnownDevice>, is_far: bool) -> Option<Self> {
        match (is_far, is_unknown(model, device)) {
            (true, _) => Some(Self::FarInput),
            (false, true) if prefers_robust(model) => Some(Self::UnknownDevice),
            (false, true) => Some(Self::AfterChoice),
            (false, false) => None,
        }
    }

    fn source(self) -> Option<&'static str> {
        match self {
            Self::FarInput => Some(ROBUST),
            Self::UnknownDevice => Some(SINGLE),
            Self::AfterChoice => None,
        }
    }

    fn note(self, model: &TimingModel) -> String {
        let percent =
            |share: Option<f64>| share.map_or_else(|| "?".to_string(), |share| format!("{:.1} %", share * 100.0));
        let unseen = model.unseen_device();
        let own = percent(unseen.map(|unseen| unseen.model));
        let first = percent(unseen.map(|unseen| unseen.robust.unwrap_or(unseen.best_single)));
        let five = percent(unseen.and_then(|unseen| unseen.robust_of_5));
        match self {
            Self::FarInput => {
                "warning: the input lies far outside of the training set, so that the answer is the most \
                 robust configuration of the training set"
                    .to_string()
            }
            Self::UnknownDevice if unseen.is_none() => {
                "the device is unknown, so that the answer is the configuration that \
                 is most robust in the training set; measure the first candidates and keep the fastest"
                    .to_string()
            }
            Self::UnknownDevice => format!(
                "the device is unknown, so that the answer is the configuration that is most robust over the known ones: \
                 on devices left out one by one, it reached {first} of the best, the model's choice {own}; the best of \
                 the first five candidates reached {five}"
            ),
            Self::AfterChoice if unseen.is_none() => {
                "the device is unknown: measure the first candidates and keep the \
                 fastest; the model was trained on one device"
                    .to_string()
            }
            Self::AfterChoice => format!(
                "the device is unknown: on devices left out one by one, the model's choice reached {own} of the best; \
                 measure the next candidates too, of which the best of five reached {five}"
            ),
        }
    }
}

/// Puts the robust configurations at their place and keeps at most `count` candidates.
pub(crate) fn put(
    found: &mut Vec<Ranked>,
    place: Place,
    robust: &[ConfigId],
    scorer: &Scorer<'_>,
    reference: Option<ConfigId>,
    count: usize,
) {
    let (at, robust) = match place {
        Place::FarInput => (0, &robust[..robust.len().min(1)]),
        Place::UnknownDevice => (0, robust),
        Place::AfterChoice => (1, robust),
    };
    let kept = found.first().map(|ranked| ranked.config).filter(|_| at > 0);
    let robust: Vec<ConfigId> = robust.iter().copied().filter(|config| Some(*config) != kept).collect();
    found.retain(|ranked| !robust.contains(&ranked.config));
    let ranked = |config: ConfigId| {
        let log_speedup = if reference == Some(config) { 0.0 } else { scorer.one(config) };
        Ranked { config, log_speedup }
    };
    let at = at.min(found.len());
    found.splice(at..at, robust.into_iter().map(ranked));
    found.truncate(count.max(1));
}

fn prediction(
    scorer: &Scorer<'_>,
    space: &Space,
    ranked: Ranked,
    reference: Option<ConfigId>,
    reference_ms: Option<f64>,
) -> Prediction {
    let predicted_speedup = ranked.log_speedup.exp();
    let (low, high) = match reference == Some(ranked.config) {
        true => (0.0, 0.0),
        // The three models were fitted separately, so that their predictions may cross.
        false => scorer.quantiles(ranked.config),
    };
    let range = (low.min(ranked.log_speedup).exp(), high.max(ranked.log_speedup).exp());
    Prediction {
        config: Journal::config(space, &space.unrank(ranked.config)),
        predicted_speedup,
        predicted_speedup_80: range,
        predicted_time_ms: reference_ms.map(|ms| ms / predicted_speedup),
    }
}

/// Returns all sizes of the input. Fails for a size that the model does not know.
fn checked(model: &TimingModel, input: &[(String, Value)]) -> Result<Vec<(String, Value)>, Error> {
    let names: Vec<&str> = model.parts().frame.sizes.iter().map(|(name, _)| name.as_str()).collect();
    if let Some((unknown, _)) = input.iter().find(|(name, _)| !names.contains(&name.as_str())) {
        let remedy = closest(unknown, names.iter().copied()).map_or_else(
            || match names.is_empty() {
                true => "it was trained on recordings without sizes: leave --input out".to_string(),
                false => format!("its sizes are {}", names.join(", ")),
            },
            |name| format!("did you mean `{name}`?"),
        );
        return Err(Error::request(format!("the model knows no size `{unknown}`"), Some(remedy)));
    }
    Ok(model.parts().frame.completed(input))
}

/// Returns the device of `model` whose name contains `part`. A device that the model does not know
/// has this name, and no numbers.
pub fn named_device(model: &TimingModel, part: &str) -> KnownDevice {
    let part_lower = part.to_lowercase();
    let found = model.devices().iter().find(|device| device.name.to_lowercase().contains(&part_lower));
    found.cloned().unwrap_or_else(|| KnownDevice { name: part.to_string(), features: BTreeMap::new() })
}

fn device<'a>(model: &'a TimingModel, options: &'a PredictOptions, notes: &mut Vec<String>) -> Option<&'a KnownDevice> {
    match (&options.device, model.devices()) {
        (Some(device), known) => {
            if is_unknown(model, Some(device)) {
                let names: Vec<&str> = known.iter().map(|device| device.name.as_str()).collect();
                notes.push(format!("the model knows no device `{}`, only {}", device.name, names.join(", ")));
            }
            Some(device)
        }
        (None, [only]) => Some(only),
        (None, several) => {
            let names: Vec<&str> = several.iter().map(|device| device.name.as_str()).collect();
            notes.push(format!("no device is named: the mean of {} is predicted", names.join(", ")));
            None
        }
    }
}

/// Returns the space of the values and constraints that the model knows. Leaves out constraints on
/// names that are unknown here, mostly limits of a device.
fn known_space(
    model: &TimingModel,
    sizes: &[(String, Value)],
    limits: &[(String, Value)],
    notes: &mut Vec<String>,
) -> Result<Space, Error> {
    let constants: Vec<(String, Value)> = sizes.iter().chain(limits).cloned().collect();
    let is_known = |name: &str| {
        lookup(&constants, name).is_some()
            || model.parts().frame.parameters.iter().any(|parameter| parameter.name() == name)
    };
    let parameters = model.parts().frame.parameters.iter().cloned();
    let mut builder = parameters.fold(Space::builder(), |builder, parameter| builder.parameter(parameter));
    builder = constants.iter().fold(builder, |builder, (name, value)| builder.constant(name, value.clone()));
    for (name, text) in &model.parts().constraints {
        let constraint = Constraint::parse(text).map_err(|error| Error::request(error.to_string(), None))?;
        if constraint.expr().names().iter().all(|name| is_known(&name.text)) {
            builder = builder.constraint(constraint);
        } else {
            notes.push(format!("the constraint `{name}` is left out: it uses a name that is unknown here"));
        }
    }
    let refuse = |error: SpaceError| {
        let remedy =
            "the values are those of the training set; name the problem with --problem for its own".to_string();
        Error::request(format!("no configuration is valid for this input: {error}"), Some(remedy))
    };
    builder.build().map_err(refuse)
}
