//! Prepares a timing model to choose among a few configurations in microseconds.

use super::columns::{Feature, Origin, derived_number};
use super::device::KnownDevice;
use super::model::TimingModel;
use crate::wisdom::{Config, FAR, apart, outside, widened};
use std::iter::zip;
use tunesmith_model::{Kind, Shortlist};
use tunesmith_space::{Expr, Value, lookup};

/// Maximum number of features of inputs. Their numbers stand on the stack while a question is
/// answered.
const MOST_FEATURES: usize = 32;

/// A timing model laid out for a few configurations on one device.
#[derive(Debug)]
pub(crate) struct ModelChooser {
    configs: Vec<Config>,
    shortlist: Shortlist,
    /// The place of the reference among the configurations.
    reference: Option<usize>,
    /// The place of the most robust configuration, for inputs far outside of the training set.
    robust: Option<usize>,
    /// The features that fill the open columns of the shortlist.
    features: Vec<InputFeature>,
    /// The places of the sizes that are the same throughout the training set.
    constants: Vec<usize>,
    /// All sizes with their default values.
    sizes: Vec<(String, Value)>,
    /// The device's numbers as constraints name them.
    limits: Vec<(String, Value)>,
    /// The constraints that can be checked with these sizes and limits.
    constraints: Vec<Expr>,
}

/// A choice.
#[derive(Debug)]
pub(crate) struct Chosen<'a> {
    pub(crate) config: &'a Config,
    /// Distance of the input from the training set, in doublings.
    pub(crate) outside: f64,
    /// True if the most robust configuration answers, since the input lies far outside.
    pub(crate) is_robust: bool,
}

/// A number that follows from the sizes.
#[derive(Debug)]
struct InputFeature {
    name: String,
    /// The expression that computes it, unless it is itself a size.
    derived: Option<Expr>,
    /// The smallest and largest number in the training set.
    range: Option<(f64, f64)>,
}

impl ModelChooser {
    /// Lays the trees out for at most 32 `configs` on `device`, or, without one, for devices that
    /// the model does not know.
    ///
    /// # Errors
    /// The reason for which the model cannot choose among them.
    pub(crate) fn new(model: &TimingModel, configs: &[Config], device: Option<&KnownDevice>) -> Result<Self, String> {
        let frame = &model.parts().frame;
        let is_known = |(name, _): &(String, Value)| frame.parameters.iter().any(|parameter| parameter.name() == name);
        if !configs.iter().flatten().any(is_known) {
            return Err("it has other parameters than the configurations".to_string());
        }
        let open: Vec<usize> = (0..frame.features.len()).filter(|at| is_of_inputs(&frame.features[*at])).collect();
        if open.len() > MOST_FEATURES {
            return Err(format!("it has {} features of inputs; at most {MOST_FEATURES} are supported", open.len()));
        }
        let rows: Vec<Vec<f64>> = configs.iter().map(|config| row(model, config, device)).collect();
        let shortlist = Shortlist::new(&model.parts().mean, &rows, &open).ok_or_else(|| {
            format!("there are {} configurations, but at most {} are supported", rows.len(), Shortlist::MOST_ROWS)
        })?;
        let limits: Vec<(String, Value)> = device.map(KnownDevice::constants).unwrap_or_default();
        let robust = model.robust();
        let is_constant = |(_, (name, _)): &(usize, &(String, Value))| {
            frame.features.iter().all(|feature| feature.origin != Origin::Size || feature.name != *name)
        };
        Ok(Self {
            robust: configs.iter().position(|config| robust.iter().all(|pair| config.contains(pair))),
            constants: frame.sizes.iter().enumerate().filter(is_constant).map(|(at, _)| at).collect(),
            configs: configs.to_vec(),
            shortlist,
            reference: configs.iter().position(|config| model.reference().iter().all(|pair| config.contains(pair))),
            features: open.iter().map(|at| InputFeature::new(model, &frame.features[*at])).collect(),
            constraints: constraints(model, &limits),
            sizes: frame.sizes.clone(),
            limits,
        })
    }

    /// Returns the configuration predicted fastest for `input`, or the most robust one if the input
    /// lies far outside of the training set.
    ///
    /// Considers the configurations that satisfy the constraints known to the model and are
    /// `acceptable`. A configuration predicted to be slower than the reference never precedes it.
    ///
    /// Costs one walk down the trees, plus the constraints of each configuration until one is
    /// valid. Allocates no memory, unless a feature cannot be computed for this input or calls a
    /// function with three or more arguments.
    pub(crate) fn choose(&self, input: &[(&str, f64)], acceptable: &dyn Fn(&Config) -> bool) -> Option<Chosen<'_>> {
        let size = |name: &str| self.size(name, input);
        let mut numbers = [f64::NAN; MOST_FEATURES];
        for (number, feature) in numbers.iter_mut().zip(&self.features) {
            *number = feature.number(&size).unwrap_or(f64::NAN);
        }
        let mut scores = self.shortlist.predict(&numbers[..self.features.len()]);
        if let Some(reference) = self.reference {
            // The reference is exactly as fast as itself, whatever the model predicts.
            scores[reference] = 0.0;
        }
        let ranges = || zip(numbers, &self.features).filter_map(|(number, feature)| Some((number, feature.range?)));
        let away = apart(self.constants.iter().filter_map(|at| self.constant(*at, input)));
        let is_beyond = |(number, range): (f64, (f64, f64))| {
            let (low, high) = widened(range);
            number < low || number > high
        };
        let is_far = away > FAR.log2() || ranges().any(is_beyond);
        let robust = self.robust.filter(|_| is_far);
        if let Some(robust) = robust {
            scores[robust] = f64::INFINITY;
        }
        let config = self.best(&scores, &|config| acceptable(config) && self.is_valid(config, &size))?;
        // Constraints may exclude it.
        let is_robust = robust.is_some_and(|at| self.configs[at] == *config);
        Some(Chosen { config, outside: outside(ranges()).hypot(away), is_robust })
    }

    /// Returns the given value of a size, and the one that it has throughout the training set.
    fn constant(&self, at: usize, input: &[(&str, f64)]) -> Option<(f64, f64)> {
        let (name, own) = &self.sizes[at];
        let (_, given) = input.iter().find(|(known, _)| known == name)?;
        Some((*given, own.as_float()?))
    }

    /// Returns the given value of a size, or the model's own. Texts cannot be given.
    fn size(&self, name: &str, input: &[(&str, f64)]) -> Option<Value> {
        let (_, own) = self.sizes.iter().find(|(known, _)| known == name)?;
        let given = input.iter().find(|(known, number)| *known == name && !number.is_nan());
        match (given, own) {
            (Some((_, number)), Value::Int(_) | Value::Float(_) | Value::Bool(_)) => Some(Value::of_number(*number)),
            _ => Some(own.clone()),
        }
    }

    /// Returns the valid configuration of the highest score, the first of equal ones.
    fn best(&self, scores: &[f64], is_valid: &dyn Fn(&Config) -> bool) -> Option<&Config> {
        let mut left: u32 = (0..self.configs.len()).fold(0, |left, at| left | 1 << at);
        while left != 0 {
            let candidates = (0..self.configs.len()).filter(|at| left >> at & 1 == 1);
            let best = candidates.reduce(|best, at| if scores[at] > scores[best] { at } else { best })?;
            if is_valid(&self.configs[best]) {
                return Some(&self.configs[best]);
            }
            left &= !(1 << best);
        }
        None
    }

    fn is_valid(&self, config: &Config, size: &dyn Fn(&str) -> Option<Value>) -> bool {
        let value = |name: &str| lookup(config, name).or_else(|| size(name)).or_else(|| lookup(&self.limits, name));
        let is_true = |value: Value| value.as_float().is_none_or(|number| number != 0.0);
        self.constraints.iter().all(|constraint| constraint.evaluate(&value).is_ok_and(is_true))
    }
}

/// Returns true if numbers of inputs decide the column.
fn is_of_inputs(feature: &Feature) -> bool {
    matches!(feature.origin, Origin::Size | Origin::Derived) && feature.column.kind == Kind::Ordinal
}

/// Returns the numbers known of a configuration on a device before there is an input.
fn row(model: &TimingModel, config: &Config, device: Option<&KnownDevice>) -> Vec<f64> {
    let frame = &model.parts().frame;
    let mut row = frame.row(&frame.sizes, device);
    for (cell, feature) in
        row.iter_mut().zip(&frame.features).filter(|(_, feature)| feature.origin == Origin::Parameter)
    {
        *cell = lookup(config, &feature.name).map_or(f64::NAN, |value| feature.number(&value));
    }
    row
}

impl InputFeature {
    fn new(model: &TimingModel, feature: &Feature) -> Self {
        let named = || model.parts().frame.derived.iter().find(|(name, _)| *name == feature.name);
        let derived = (feature.origin == Origin::Derived).then(named).flatten();
        Self {
            name: feature.name.clone(),
            derived: derived.map(|(_, expr)| expr.clone()),
            range: model.parts().ranges.get(&feature.column.name).copied(),
        }
    }

    fn number(&self, size: &dyn Fn(&str) -> Option<Value>) -> Option<f64> {
        match &self.derived {
            Some(expr) => derived_number(expr, size),
            None => size(&self.name)?.as_float(),
        }
    }
}

/// Returns the constraints that use only parameters, sizes and `limits`. Others cannot be checked
/// here.
fn constraints(model: &TimingModel, limits: &[(String, Value)]) -> Vec<Expr> {
    let frame = &model.parts().frame;
    let is_known = |name: &str| {
        let names = frame.sizes.iter().chain(limits).map(|(known, _)| known.as_str());
        names.chain(frame.parameters.iter().map(|parameter| parameter.name())).any(|known| known == name)
    };
    let parsed = model.parts().constraints.iter().filter_map(|(_, text)| Expr::parse(text).ok());
    parsed.filter(|expr| expr.names().iter().all(|name| is_known(&name.text))).collect()
}
