//! The coordinates in which continuous methods see a space.

use crate::options::{OptionSpec, Options, StrategyError};
use tunesmith_space::{Blocks, ConfigId, Space};

/// The option that chooses the coordinates.
pub(crate) const BLOCKS: OptionSpec = OptionSpec {
    name: "blocks",
    default: "configurations",
    meaning: "configurations, values or index: a coordinate for each parameter, of which a value takes its share of the \
              configurations, or all values take equal parts; or one coordinate for the whole space",
};

/// The meaning of the unit cube's coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axes {
    /// One coordinate for each parameter with more than one value.
    Parameters(Blocks),
    /// One coordinate: the rank of a configuration in the space's order, as a share of the space.
    Index,
}

/// The unit cube of a space. Every place in it stands for a configuration.
#[derive(Debug)]
pub(crate) struct Cube {
    axes: Axes,
    /// The parameters with more than one value. Empty before [`fit`](Self::fit).
    free: Vec<usize>,
    /// The number of configurations, if it can be counted.
    len: Option<u128>,
}

impl Cube {
    /// Returns a cube with the axes that the user chose.
    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        let axes = options.word(BLOCKS.name, |word| match word {
            "configurations" => Some(Axes::Parameters(Blocks::Configurations)),
            "values" => Some(Axes::Parameters(Blocks::Values)),
            "index" => Some(Axes::Index),
            _ => None,
        })?;
        Ok(Self::new(axes))
    }

    pub(crate) fn new(axes: Axes) -> Self {
        Self { axes, free: Vec::new(), len: None }
    }

    /// Takes on the shape of a space.
    pub(crate) fn fit(&mut self, space: &Space) {
        let parameters = space.parameters().iter().enumerate();
        self.free = parameters.filter(|(_, parameter)| parameter.values().len() > 1).map(|(at, _)| at).collect();
        self.len = space.len();
    }

    /// Returns the number of coordinates. It is 0 if no parameter has a choice.
    pub(crate) fn dimensions(&self) -> usize {
        match self.axes {
            Axes::Parameters(_) => self.free.len(),
            Axes::Index => self.free.len().min(1),
        }
    }

    /// Returns the middle of a configuration's part of the cube.
    pub(crate) fn place(&self, space: &Space, config: ConfigId) -> Vec<f64> {
        match self.axes {
            Axes::Parameters(blocks) => {
                let all = space.coordinates(config, blocks);
                self.free.iter().map(|&parameter| all[parameter]).collect()
            }
            Axes::Index => {
                let len = self.len.unwrap_or(u128::MAX) as f64;
                vec![(config.rank() as f64 + 0.5) / len; self.dimensions()]
            }
        }
    }

    /// Returns the configuration at a place in the cube. The index has the resolution of floats: of
    /// more than 2^53 configurations, it reaches some only.
    pub(crate) fn config(&self, space: &Space, place: &[f64]) -> ConfigId {
        let config = match self.axes {
            Axes::Parameters(blocks) => {
                let mut all = vec![0.5; space.parameters().len()];
                self.free.iter().zip(place).for_each(|(&parameter, &coordinate)| all[parameter] = coordinate);
                space.rank(&space.configuration_at(&all, blocks))
            }
            Axes::Index => {
                let len = self.len.unwrap_or(u128::MAX);
                let coordinate = place.first().copied().unwrap_or_default();
                // A float that is too large becomes the largest number.
                space.id(((coordinate * len as f64) as u128).min(len.saturating_sub(1)))
            }
        };
        config.expect("every place of the cube is a configuration, and a space that is searched has ranks")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_space::{Constraint, Parameter, Value};

    fn space() -> Space {
        let parameter = |name, most| Parameter::new(name, (1..=most).map(Value::Int)).unwrap();
        let parameters = [parameter("A", 12), parameter("B", 1), parameter("C", 24)];
        let builder = parameters.into_iter().fold(Space::builder(), |builder, parameter| builder.parameter(parameter));
        builder.constraint(Constraint::parse("C % A == 0").unwrap()).build().unwrap()
    }

    fn cube(axes: Axes) -> Cube {
        let mut cube = Cube::new(axes);
        cube.fit(&space());
        cube
    }

    const ALL: [Axes; 3] = [Axes::Parameters(Blocks::Configurations), Axes::Parameters(Blocks::Values), Axes::Index];

    #[test]
    fn every_configuration_lies_at_its_place() {
        let space = space();
        for axes in ALL {
            let cube = cube(axes);
            assert_eq!(cube.dimensions(), if axes == Axes::Index { 1 } else { 2 });
            for rank in 0..space.len().unwrap() {
                let config = space.id(rank).unwrap();
                let place = cube.place(&space, config);
                assert_eq!(place.len(), cube.dimensions());
                assert_eq!(cube.config(&space, &place), config, "{axes:?}");
            }
        }
    }

    #[test]
    fn the_index_goes_through_the_space_in_its_order() {
        let (space, cube) = (space(), cube(Axes::Index));
        let len = space.len().unwrap();
        let ranks: Vec<u128> = (0..=1000).map(|step| cube.config(&space, &[f64::from(step) / 1000.0]).rank()).collect();
        assert!(ranks.is_sorted());
        assert_eq!((ranks[0], ranks[1000], ranks[500]), (0, len - 1, len / 2));
    }

    #[test]
    fn a_value_has_its_share_of_the_cube() {
        // A = 12 has 2 of all configurations, A = 1 has 24.
        let space = space();
        let first = |axes, coordinate| {
            let config = cube(axes).config(&space, &[coordinate, 0.5]);
            space.unrank(config).indices()[0]
        };
        assert_eq!(first(Axes::Parameters(Blocks::Values), 0.1), 1);
        assert_eq!(first(Axes::Parameters(Blocks::Configurations), 0.1), 0);
    }

    #[test]
    fn every_place_is_a_configuration() {
        let space = space();
        let steps = || (0..=40).map(|step| f64::from(step) / 40.0);
        for (axes, a) in ALL.into_iter().flat_map(|axes| steps().map(move |a| (axes, a))) {
            let cube = cube(axes);
            assert!(steps().all(|b| cube.config(&space, &[a, b]).rank() < space.len().unwrap()), "{axes:?} {a}");
        }
    }
}
