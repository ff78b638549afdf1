//! Values of sums and numbers of cells at one point of the loops.

use super::data::extents;
use super::value::Value;
use crate::error::NestError;
use crate::ir::{Access, Affine, Array, Lookup, Nest, Var};
use crate::print;

/// The cells of each array.
type Cells = [Vec<Value>];

/// A point of the loops of a nest with given sizes.
pub(super) struct Point<'a> {
    pub(super) nest: &'a Nest,
    sizes: &'a [i64],
    pub(super) extents: Vec<Vec<i128>>,
    /// The index of each loop.
    pub(super) indices: Vec<i128>,
}

impl<'a> Point<'a> {
    /// Starts with every loop at 0.
    ///
    /// # Errors
    ///
    /// Fails if an array cannot exist in these sizes.
    pub(super) fn new(nest: &'a Nest, sizes: &'a [i64]) -> Result<Self, NestError> {
        let extents = |array: &Array| extents(array, sizes);
        let extents = nest.arrays.iter().map(extents).collect::<Result<_, _>>()?;
        Ok(Point { nest, sizes, extents, indices: vec![0; nest.loops.len()] })
    }

    pub(super) fn value(&self, cells: &Cells, variable: Var) -> i128 {
        match variable {
            Var::Size(id) => self.sizes[id.0].into(),
            Var::Loop(id) => self.indices[id.0],
            Var::Lookup(id) => self.look_up(cells, &self.nest.lookup(id).access),
            Var::Floor(_) => 0,
        }
    }

    pub(super) fn at(&self, cells: &Cells, sum: &Affine) -> i128 {
        sum.evaluate(|variable| self.value(cells, variable))
    }

    /// Returns the value of a cell. [`Point::can_look_up`] must have accepted it.
    fn look_up(&self, cells: &Cells, access: &Access) -> i128 {
        let cell = self.place(cells, access).ok().and_then(|place| cells[access.array.0].get(place));
        cell.map_or(0, |value| value.as_f64() as i128)
    }

    /// Refuses a sum with a value that is looked up outside its array.
    pub(super) fn can_look_up(&self, cells: &Cells, sum: &Affine) -> Result<(), NestError> {
        sum.lookups().try_for_each(|id| {
            let Lookup { access, place, .. } = self.nest.lookup(id);
            self.place(cells, access).map(|_| ()).map_err(|error| error.at(*place))
        })
    }

    /// Returns the number of a cell, with the last axis fastest.
    pub(super) fn place(&self, cells: &Cells, access: &Access) -> Result<usize, NestError> {
        let mut cell = 0;
        for (axis, extent) in self.extents[access.array.0].iter().enumerate() {
            cell = cell * extent + self.along(cells, access, axis)?;
        }
        Ok(cell as usize)
    }

    /// Returns the subscript of an access along an axis.
    pub(super) fn along(&self, cells: &Cells, access: &Access, axis: usize) -> Result<i128, NestError> {
        let (subscript, extent) = (&access.subscripts[axis], self.extents[access.array.0][axis]);
        self.can_look_up(cells, subscript)?;
        let index = self.at(cells, subscript);
        if (0..extent).contains(&index) {
            return Ok(index);
        }
        let text = print::access(self.nest, access);
        Err(NestError::new(format!("{text} is at {index} of axis {axis}, which has {extent} cells")))
    }
}
