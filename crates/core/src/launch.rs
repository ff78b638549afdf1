//! The work-items of a kernel's launch.

use tunesmith_space::{Expr, Parameter, Space, Value};

/// The work-items of a launch on a GPU, as expressions over parameters and [`constants`](Self::constants).
/// Strategies know from it what a configuration asks of the device.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The extents of a work-group. Their product is its number of work-items.
    pub local: Vec<Expr>,
    /// The numbers of work-groups. Their product is the number of all.
    pub groups: Vec<Expr>,
    /// The values of names that are no parameters: sizes, and limits of the device.
    pub constants: Vec<(String, Value)>,
}

/// The combinations of the values of some parameters, counted so that the last parameter varies
/// fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combinations {
    /// The position of each parameter in its space, and the distance of neighbouring values.
    strides: Vec<(usize, usize)>,
}

impl Combinations {
    /// Counts the combinations of parameters, each with its position in the space and the number of
    /// its values.
    pub fn new(parameters: &[(usize, usize)]) -> Self {
        let stride = |at: usize| parameters[at + 1..].iter().map(|(_, width)| width).product();
        Self { strides: parameters.iter().enumerate().map(|(at, (position, _))| (*position, stride(at))).collect() }
    }

    /// Returns the number of the combination of a configuration, whose values have these indices.
    pub fn place(&self, indices: &[u32]) -> usize {
        self.strides.iter().map(|&(position, stride)| indices[position] as usize * stride).sum()
    }
}

/// A number that depends on some parameters of a space, for all their values.
#[derive(Clone, Debug, PartialEq)]
pub struct Volume {
    /// The combinations of the parameters' values.
    pub combinations: Combinations,
    /// The number of every combination, 1 or more. A combination without a value has `None`: it is
    /// in no valid configuration, or the launch is empty.
    pub numbers: Vec<Option<f64>>,
}

/// Maximum number of combinations in a [`Volume`].
const MAX_COMBINATIONS: usize = 1 << 18;

impl Launch {
    /// Returns the number of work-items of a work-group, or `None` as [`items`](Self::items) does.
    pub fn group_items(&self, space: &Space) -> Option<Volume> {
        self.volume(space, &self.local.iter().collect::<Vec<_>>())
    }

    /// Returns the number of work-items of a launch. Returns `None` if there are no extents, if a
    /// name is unknown, or if the parameters have more than 2^18 combinations.
    pub fn items(&self, space: &Space) -> Option<Volume> {
        self.volume(space, &self.groups.iter().chain(&self.local).collect::<Vec<_>>())
    }

    /// Returns the product of `factors`. Costs an evaluation for each combination of the values of
    /// the parameters that they name.
    fn volume(&self, space: &Space, factors: &[&Expr]) -> Option<Volume> {
        let constant = |name: &str| self.constants.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let names = || factors.iter().flat_map(|factor| factor.names()).map(|name| name.text.as_str());
        let parameters = || space.parameters().iter().enumerate();
        let own: Vec<(usize, &Parameter)> =
            parameters().filter(|(_, parameter)| names().any(|name| name == parameter.name())).collect();
        let is_known =
            |name: &str| own.iter().any(|(_, parameter)| parameter.name() == name) || constant(name).is_some();
        let count = own.iter().try_fold(1_usize, |all, (_, parameter)| all.checked_mul(parameter.values().len()))?;
        if factors.is_empty() || !names().all(is_known) || count > MAX_COMBINATIONS {
            return None;
        }
        let widths: Vec<(usize, usize)> = own.iter().map(|(at, parameter)| (*at, parameter.values().len())).collect();
        let combinations = Combinations::new(&widths);
        let number = |combination: usize| {
            let scope = |name: &str| {
                let known = own.iter().zip(&combinations.strides).find(|((_, parameter), _)| parameter.name() == name);
                let value = |values: &[Value], stride: usize| values[combination / stride % values.len()].clone();
                known
                    .map(|((_, parameter), (_, stride))| value(parameter.values(), *stride))
                    .or_else(|| constant(name).cloned())
            };
            let factor = |expr: &&Expr| expr.evaluate(&scope).ok()?.as_float();
            let product = factors.iter().try_fold(1.0, |product, expr| Some(product * factor(expr)?))?;
            (product >= 1.0 && product.is_finite()).then_some(product)
        };
        let numbers = (0..count).map(number).collect();
        Some(Volume { combinations, numbers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exprs(texts: &[&str]) -> Vec<Expr> {
        texts.iter().map(|text| Expr::parse(text).unwrap()).collect()
    }

    fn space() -> Space {
        let list = |name: &str, values: &[i64]| Parameter::new(name, values.iter().copied().map(Value::Int)).unwrap();
        let builder = Space::builder().parameter(list("X", &[8, 16, 32])).parameter(list("UNROLL", &[1, 2]));
        builder.parameter(list("Y", &[1, 4])).parameter(list("TILE", &[0, 3])).build().unwrap()
    }

    fn launch(local: &[&str], groups: &[&str]) -> Launch {
        Launch { local: exprs(local), groups: exprs(groups), constants: vec![("N".to_string(), Value::Int(100))] }
    }

    #[test]
    fn volumes_are_those_of_every_configuration() {
        let space = space();
        let launch = launch(&["X", "Y"], &["ceildiv(N, X * TILE)"]);
        let (group, all) = (launch.group_items(&space).unwrap(), launch.items(&space).unwrap());
        assert_eq!((group.numbers.len(), all.numbers.len()), (6, 12));
        for id in space.iter() {
            let configuration = space.unrank(id);
            let value = |name| configuration_value(&space, &configuration, name);
            let mut indices = Vec::new();
            space.unrank_into(id, &mut indices);
            let of = |volume: &Volume| volume.numbers[volume.combinations.place(&indices)];
            assert_eq!(of(&group), Some((value("X") * value("Y")) as f64));
            let tile = value("X") * value("TILE");
            let groups = (tile > 0).then(|| (100 + tile - 1) / tile);
            assert_eq!(of(&all), groups.map(|groups| (groups * value("X") * value("Y")) as f64));
        }
    }

    fn configuration_value(space: &Space, configuration: &tunesmith_space::Configuration, name: &str) -> i64 {
        let found = space.values(configuration).find(|(known, _)| *known == name).and_then(|(_, value)| value.as_int());
        found.expect("the space has the parameter")
    }

    #[test]
    fn what_cannot_be_known_is_none() {
        let space = space();
        assert_eq!(launch(&[], &[]).group_items(&space), None);
        assert_eq!(launch(&["X * M"], &[]).group_items(&space), None, "M is unknown");
        let long = |name: &str| Parameter::new(name, (1..=600).map(Value::Int)).unwrap();
        let large = Space::builder().parameter(long("X")).parameter(long("Y")).build().unwrap();
        assert_eq!(launch(&["X", "Y"], &[]).group_items(&large), None);
        assert!(launch(&["X"], &[]).group_items(&large).is_some());
    }
}
