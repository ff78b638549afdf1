//! The values of one parameter, in order and in cells.

use std::collections::HashMap;
use tunesmith_space::{Parameter, Value, ValueKind};

/// Maximum number of cells of an axis. A table of two axes then has 4096 numbers, however long the
/// lists of values are.
const MOST_CELLS: usize = 64;

/// A parameter as the analyses see it. A *place* is the position of a value: numbers and truth
/// values are in ascending order, texts in the user's. A *cell* is a run of neighbouring places;
/// with up to 64 values, each has its own.
#[derive(Clone, Debug)]
pub struct Axis {
    name: String,
    values: Vec<Value>,
    is_ordered: bool,
    places: HashMap<Value, u32>,
}

impl Axis {
    /// Creates the axis of `parameter`.
    pub fn new(parameter: &Parameter) -> Self {
        let is_ordered = parameter.kind() != ValueKind::Str;
        let mut values = parameter.values().to_vec();
        if is_ordered {
            values.sort();
        }
        let places = values.iter().cloned().zip(0..).collect();
        Self { name: parameter.name().to_string(), values, is_ordered, places }
    }

    /// Returns the parameter's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the values by their places.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Returns true if neighbouring places resemble each other. Texts have no such order.
    pub fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// Returns true if there is more than one value.
    pub(crate) fn is_free(&self) -> bool {
        self.values.len() > 1
    }

    /// Returns the place of `value`, or `None` if the parameter does not have it.
    pub fn place(&self, value: &Value) -> Option<u32> {
        self.places.get(value).copied()
    }

    /// Returns the number of cells.
    pub(crate) fn cells(&self) -> usize {
        self.values.len().min(MOST_CELLS)
    }

    /// Returns the cell of a place.
    pub(crate) fn cell(&self, place: u32) -> usize {
        place as usize * self.cells() / self.values.len()
    }

    /// Returns the first place of a cell. That of the cell after the last one is the number of
    /// values.
    pub(crate) fn start(&self, cell: usize) -> usize {
        (cell * self.values.len()).div_ceil(self.cells())
    }

    /// Returns the share of the values that each cell holds.
    pub(crate) fn weights(&self) -> Vec<f64> {
        let share = |cell| (self.start(cell + 1) - self.start(cell)) as f64 / self.values.len() as f64;
        (0..self.cells()).map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_ascending_order_and_texts_stay() {
        let axis = |values: &[Value]| Axis::new(&Parameter::new("P", values.to_vec()).unwrap());
        assert_eq!(axis(&[8.into(), 2.into(), 4.into()]).values(), [2.into(), 4.into(), 8.into()]);
        assert_eq!(axis(&["b".into(), "a".into()]).values(), ["b".into(), "a".into()]);
        assert_eq!(axis(&[8.into(), 2.into()]).place(&8.into()), Some(1));
        assert_eq!(axis(&[8.into(), 2.into()]).place(&3.into()), None);
    }

    #[test]
    fn cells_divide_the_places_without_gaps() {
        for length in [1, 2, 63, 64, 65, 100, 129, 1000] {
            let axis = Axis::new(&Parameter::new("P", (0..length).map(Value::Int)).unwrap());
            for place in 0..length as u32 {
                let cell = axis.cell(place);
                assert!((axis.start(cell)..axis.start(cell + 1)).contains(&(place as usize)), "{place} of {length}");
            }
            assert!((axis.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert_eq!(axis.start(axis.cells()), length as usize);
        }
    }
}
