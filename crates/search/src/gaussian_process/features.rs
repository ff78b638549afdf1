//! The features of configurations for a model.

use super::history::{self, Column};
use tunesmith_core::{Combinations, Launch, Request, Rng, View, Volume};
use tunesmith_model::{Feature, Rows};
use tunesmith_space::{ConfigId, Parameter, Space, Value};

/// Median of the prior of the length scale of a base feature. Base features span \[0, 1\].
const BASE_LENGTH: f64 = 0.8;
/// Median for a derived feature. It is larger, because a derived feature need not repeat what the
/// base features explain.
const DERIVED_LENGTH: f64 = 1.6;
/// Maximum number of pairs. More pairs drown the other features: 28 of them made gemm worse.
const MAX_PAIRS: usize = 10;
/// Maximum number of levels of a feature. Values closer together than a 1024th of the range are one
/// level, so tables stay small.
const MAX_LEVELS: usize = 1024;
/// Minimum number of values of a parameter with a dyadic feature, and of one with products.
const DYADIC_VALUES: usize = 4;
const PRODUCT_VALUES: usize = 3;

/// Features of the configurations of a space, over its parameters with at least two values:
///
/// - base: `ln(v / v_min) / ln(v_max / v_min)` for positive numbers, else the index of the value
///   divided by the last index;
/// - dyadic: the number of trailing zero bits, for at least four positive integers whose trailing
///   zero bits do not grow strictly with the value (a warp of 32 prefers 96 to 80, although 80 is
///   nearer to 64);
/// - products: the logarithm of the product of each two positive numeric parameters with at least
///   three values, if there are at most ten pairs (the size of a work-group, the area of a tile);
/// - history: the slowdown of the configuration on each other known device;
/// - volumes: the logarithms of the numbers of work-items, of a work-group and of all, in a space
///   too large to list.
///
/// Derived features are scaled to \[0, 1\] like the base features.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    features: Vec<Feature>,
    sources: Vec<Derivation>,
    bases: usize,
}

/// The rule that derives the level of a feature from the indices of a configuration.
#[derive(Clone, Debug)]
enum Derivation {
    /// A table of levels by the index of one parameter's value.
    One { parameter: usize, levels: Vec<u16> },
    /// A table of levels by configuration.
    Known(Column),
    /// A table of levels by the combination of several parameters' values.
    Several { combinations: Combinations, levels: Vec<u16> },
}

/// Maximum number of pairs of values in the table of a product. Parameters with more have no
/// products.
const MAX_TABLE: usize = 1 << 16;

impl Features {
    /// Returns the features of the configurations of `space`. Costs about the number of values of
    /// its parameters and of their pairs.
    pub(crate) fn new(space: &Space) -> Self {
        let varying: Vec<(usize, &Parameter)> =
            space.parameters().iter().enumerate().filter(|(_, parameter)| parameter.values().len() > 1).collect();
        let mut all = Self { features: Vec::new(), sources: Vec::new(), bases: 0 };
        for &(parameter, declared) in &varying {
            all.add(&base(declared), BASE_LENGTH, |levels| Derivation::One { parameter, levels });
        }
        all.bases = all.features.len();
        for &(parameter, declared) in &varying {
            if let Some(numbers) = dyadic(declared) {
                all.add(&numbers, DERIVED_LENGTH, |levels| Derivation::One { parameter, levels });
            }
        }
        all.add_products(&varying);
        all
    }

    fn add_products(&mut self, varying: &[(usize, &Parameter)]) {
        let logarithms: Vec<(usize, Vec<f64>)> = varying
            .iter()
            .filter(|(_, parameter)| parameter.values().len() >= PRODUCT_VALUES)
            .filter_map(|&(index, parameter)| Some((index, logarithms(parameter)?)))
            .collect();
        if logarithms.len() * logarithms.len().saturating_sub(1) / 2 > MAX_PAIRS {
            return;
        }
        for (at, (first, x)) in logarithms.iter().enumerate() {
            for (second, y) in &logarithms[at + 1..] {
                if x.len() * y.len() <= MAX_TABLE {
                    let sums: Vec<f64> = x.iter().flat_map(|x| y.iter().map(move |y| x + y)).collect();
                    let combinations = Combinations::new(&[(*first, x.len()), (*second, y.len())]);
                    self.add(&sums, DERIVED_LENGTH, |levels| Derivation::Several { combinations, levels });
                }
            }
        }
    }

    /// Adds the logarithms of the numbers of work-items, of a work-group and of all, unless an equal
    /// feature exists. In a space too large to list they tell apart what single parameters do not;
    /// in small spaces they gained nothing.
    pub(super) fn with_volumes(mut self, launch: &Launch, space: &Space) -> Self {
        for volume in [launch.group_items(space), launch.items(space)].into_iter().flatten() {
            let Volume { combinations, numbers } = volume;
            let logarithms: Vec<f64> = numbers.iter().map(|number| number.map_or(0.0, f64::ln)).collect();
            let (known, levels) = levels(&scaled(&logarithms));
            let is_known = |(feature, source): (&Feature, &Derivation)| match source {
                Derivation::One { parameter, levels: own } => {
                    combinations == Combinations::new(&[(*parameter, own.len())])
                        && *own == levels
                        && feature.levels() == known
                }
                Derivation::Several { combinations: own, levels: table } => {
                    *own == combinations && *table == levels && feature.levels() == known
                }
                Derivation::Known(_) => false,
            };
            if known.len() > 1 && !self.features.iter().zip(&self.sources).any(is_known) {
                self.features.push(Feature::new(known, DERIVED_LENGTH));
                self.sources.push(Derivation::Several { combinations, levels });
            }
        }
        self
    }

    /// Adds a feature with these numbers.
    fn add(&mut self, numbers: &[f64], length: f64, source: impl FnOnce(Vec<u16>) -> Derivation) {
        let (levels, indices) = levels(&scaled(numbers));
        self.features.push(Feature::new(levels, length));
        self.sources.push(source(indices));
    }

    /// Adds a feature for each column, whose numbers depend on the configuration and not on single
    /// values.
    pub(super) fn with(mut self, columns: Vec<Column>) -> Self {
        for column in columns {
            self.features.push(Feature::new(Column::numbers(), history::LENGTH));
            self.sources.push(Derivation::Known(column));
        }
        self
    }

    /// Returns the features in the form that models take.
    pub(crate) fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Returns the levels of the features of each configuration, in the given order.
    pub(crate) fn rows(&self, space: &Space, configs: &[ConfigId]) -> Rows {
        let mut rows = Rows::new(self.features.len());
        let mut indices = Vec::new();
        for &config in configs {
            space.unrank_into(config, &mut indices);
            let levels: Vec<u16> = self.sources.iter().map(|source| source.level(config, &indices)).collect();
            rows.push(&levels);
        }
        rows
    }

    /// Returns the distance of two rows: the sum of the distances in the base features, each of
    /// which spans \[0, 1\].
    pub(crate) fn distance(&self, a: &[u16], b: &[u16]) -> f64 {
        let apart = |feature: usize| {
            let levels = self.features[feature].levels();
            (levels[usize::from(a[feature])] - levels[usize::from(b[feature])]).abs()
        };
        (0..self.bases).map(apart).sum()
    }

    /// Draws some random configurations that are neither told nor in flight. Returns the one whose
    /// nearest of `known` is farthest away, less what is `expected` of each, or `None` if none is left.
    pub(crate) fn farthest(
        &self,
        view: &View<'_>,
        known: &[ConfigId],
        (draws, expected): (usize, impl Fn(&[ConfigId]) -> Vec<f64>),
        rng: &mut Rng,
    ) -> Option<ConfigId> {
        let space = view.space();
        let draws: Vec<ConfigId> =
            (0..draws).map(|_| space.sample(rng)).filter(|&config| !view.is_known(Request::timed(config))).collect();
        let expected = expected(&draws);
        let (known, rows) = (self.rows(space, known), self.rows(space, &draws));
        let known: Vec<Vec<u16>> = (0..known.len()).map(|row| known.row(row)).collect();
        let nearest = |draw: usize| {
            let draw = rows.row(draw);
            known.iter().map(|known| self.distance(known, &draw)).min_by(f64::total_cmp).unwrap_or(0.0)
        };
        // Take the first of equal ones. All are equal if nothing is known or expected.
        let values: Vec<f64> = (0..draws.len()).map(|draw| nearest(draw) - expected[draw]).collect();
        let farthest = (0..draws.len()).rev().max_by(|&a, &b| values[a].total_cmp(&values[b]))?;
        Some(draws[farthest])
    }
}

impl Derivation {
    fn level(&self, config: ConfigId, indices: &[u32]) -> u16 {
        match self {
            Self::One { parameter, levels } => levels[indices[*parameter] as usize],
            Self::Known(column) => column.level(config),
            Self::Several { combinations, levels } => levels[combinations.place(indices)],
        }
    }
}

/// Returns the logarithms of a parameter's values if all are positive numbers.
fn logarithms(parameter: &Parameter) -> Option<Vec<f64>> {
    let logarithm = |value: &Value| match value {
        Value::Int(_) | Value::Float(_) => {
            value.as_float().filter(|number| *number > 0.0 && number.is_finite()).map(f64::ln)
        }
        Value::Bool(_) | Value::Str(_) => None,
    };
    parameter.values().iter().map(logarithm).collect()
}

fn base(parameter: &Parameter) -> Vec<f64> {
    logarithms(parameter).unwrap_or_else(|| (0..parameter.values().len()).map(|index| index as f64).collect())
}

/// Returns the trailing zero bits of each value if they add information to the value.
fn dyadic(parameter: &Parameter) -> Option<Vec<f64>> {
    let positive = |value: &Value| match value {
        Value::Int(value) if *value > 0 => Some(*value),
        _ => None,
    };
    let values: Vec<i64> = parameter.values().iter().map(positive).collect::<Option<_>>()?;
    let mut ascending = values.clone();
    ascending.sort_unstable();
    let grow = ascending.windows(2).all(|pair| pair[0].trailing_zeros() < pair[1].trailing_zeros());
    let same = ascending.windows(2).all(|pair| pair[0].trailing_zeros() == pair[1].trailing_zeros());
    let numbers = || values.iter().map(|value| f64::from(value.trailing_zeros())).collect();
    (values.len() >= DYADIC_VALUES && !grow && !same).then(numbers)
}

/// Moves and scales the numbers to \[0, 1\]. Equal numbers become 0.
fn scaled(numbers: &[f64]) -> Vec<f64> {
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let width = if high > low { high - low } else { 1.0 };
    numbers.iter().map(|number| (number - low) / width).collect()
}

/// Returns the distinct numbers in ascending order, and the index of each number among them.
fn levels(numbers: &[f64]) -> (Vec<f64>, Vec<u16>) {
    // Products of the same size differ by rounding: 2 x 32 and 8 x 8 must be one level.
    let fine: Vec<f64> = numbers.iter().map(|number| (number * 1e9).round() / 1e9).collect();
    let distinct = |numbers: &[f64]| {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.dedup();
        sorted
    };
    let mut rounded = fine;
    let mut levels = distinct(&rounded);
    if levels.len() > MAX_LEVELS {
        let steps = (MAX_LEVELS - 1) as f64;
        rounded.iter_mut().for_each(|number| *number = (*number * steps).round() / steps);
        levels = distinct(&rounded);
    }
    let index = |number: &f64| levels.partition_point(|level| level < number) as u16;
    let indices = rounded.iter().map(index).collect();
    (levels, indices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_space::Expr;

    fn space(parameters: &[(&str, Vec<Value>)]) -> Space {
        let parameter = |(name, values): &(&str, Vec<Value>)| Parameter::new(*name, values.clone()).unwrap();
        parameters.iter().fold(Space::builder(), |builder, given| builder.parameter(parameter(given))).build().unwrap()
    }

    fn ints(values: impl IntoIterator<Item = i64>) -> Vec<Value> {
        values.into_iter().map(Value::Int).collect()
    }

    fn numbers(features: &Features, feature: usize, space: &Space) -> Vec<f64> {
        let configs: Vec<ConfigId> = space.iter().collect();
        let rows = features.rows(space, &configs);
        rows.column(feature).iter().map(|&level| features.features()[feature].levels()[usize::from(level)]).collect()
    }

    #[test]
    fn positive_numbers_are_seen_by_their_logarithm_and_others_by_their_place() {
        let space = space(&[("X", ints([1, 2, 4])), ("Y", ints([0, 1, 7])), ("C", ints([5]))]);
        let features = Features::new(&space);
        assert_eq!(features.features().len(), 2);
        assert_eq!(numbers(&features, 0, &space), [0.0, 0.0, 0.0, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0]);
        assert_eq!(numbers(&features, 1, &space), [0.0, 0.5, 1.0, 0.0, 0.5, 1.0, 0.0, 0.5, 1.0]);
    }

    #[test]
    fn trailing_zero_bits_count_where_they_do_not_grow_with_the_value() {
        let multiples = space(&[("X", ints([16, 32, 48, 64]))]);
        let features = Features::new(&multiples);
        assert_eq!(numbers(&features, 1, &multiples), [0.0, 0.5, 0.0, 1.0]);
        assert_eq!(Features::new(&space(&[("X", ints([1, 2, 4, 8]))])).features().len(), 1);
        assert_eq!(Features::new(&space(&[("X", ints([1, 3, 5, 7]))])).features().len(), 1);
    }

    #[test]
    fn equal_products_are_one_level() {
        let space = space(&[("X", ints([2, 4, 8, 16])), ("Y", ints([2, 4, 8, 16]))]);
        let features = Features::new(&space);
        assert_eq!(features.features().len(), 3);
        assert_eq!(features.features()[2].levels().len(), 7);
    }

    #[test]
    fn many_parameters_have_no_products_and_many_values_few_levels() {
        let many: Vec<(&str, Vec<Value>)> =
            ["A", "B", "C", "D", "E", "F"].into_iter().map(|name| (name, ints([1, 2, 4]))).collect();
        assert_eq!(Features::new(&space(&many)).features().len(), 6);
        let long = Features::new(&space(&[("X", ints(1..=5000))]));
        assert!(long.features().iter().all(|feature| feature.levels().len() <= MAX_LEVELS));
    }

    #[test]
    fn volumes_are_features_unless_an_equal_one_exists() {
        let space = space(&[("X", ints([2, 4, 8])), ("Y", ints([2, 4, 8])), ("T", ints([1, 2]))]);
        let exprs = |texts: &[&str]| texts.iter().map(|text| Expr::parse(text).unwrap()).collect();
        let launch = |groups: &[&str]| Launch { local: exprs(&["X", "Y"]), groups: exprs(groups), ..Launch::default() };
        let plain = Features::new(&space);
        let count = |groups: &[&str]| plain.clone().with_volumes(&launch(groups), &space).features().len();
        assert_eq!(plain.features().len(), 4);
        assert_eq!(count(&["64 // (X * T)"]), 5, "the product of X and Y is known");
        assert_eq!(count(&["7"]), 4);
        let more = plain.clone().with_volumes(&launch(&["64 // (X * T)"]), &space);
        // 64 // (X * T) * X * Y is least at Y = 2, T = 2 and most at Y = 8, T = 1.
        let (numbers, values) = (numbers(&more, 4, &space), |id| space.unrank(id));
        for (number, id) in numbers.iter().zip(space.iter()) {
            let configuration = values(id);
            let value = |name| {
                let mut all = space.values(&configuration);
                all.find(|(known, _)| *known == name).unwrap().1.as_float().unwrap()
            };
            let expected = ((64.0 / value("T") * value("Y")).ln() - 64f64.ln()) / 8f64.ln();
            assert!((number - expected).abs() < 1e-6, "{number} {expected}");
        }
    }

    #[test]
    fn a_space_of_one_configuration_has_no_features() {
        let space = space(&[("X", ints([3]))]);
        let features = Features::new(&space);
        assert!(features.features().is_empty());
        assert_eq!(features.rows(&space, &[space.id(0).unwrap()]).len(), 1);
    }
}
