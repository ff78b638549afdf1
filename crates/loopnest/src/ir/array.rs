//! Arrays and how they lie in memory.

use super::affine::Affine;
use super::expr::Type;
use crate::error::{NestError, Place};

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    /// Device memory that the caller provides; one for all work-items.
    Global,
    /// One for each work-group.
    Local,
    /// One for each work-item: temporaries.
    Private,
    /// A number that the caller gives; only scalars, only read.
    Argument,
}

/// An array, or a scalar when it has no axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its name, an identifier.
    pub name: String,
    /// Type of its cells.
    pub element: Type,
    /// Its kind of memory.
    pub memory: Memory,
    /// Extent of every axis, sums of sizes.
    pub shape: Vec<Affine>,
    /// The layout of its cells in memory.
    pub layout: Layout,
    /// The place of its declaration.
    pub place: Option<Place>,
}

/// The layout of the cells of an array in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The axes from the one whose neighbours are farthest apart to the one whose neighbours touch.
    pub order: Vec<usize>,
    /// Cells added to the extent of every axis in memory.
    pub padding: Vec<i128>,
}

/// The axes of an array from the one whose neighbours are farthest apart to the one whose
/// neighbours touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisOrder {
    /// From the first to the last, as in C.
    Row,
    /// From the last to the first, as in Fortran.
    Column,
    /// As listed.
    Axes(Vec<usize>),
}

impl Layout {
    /// Returns a layout of an array with so many axes; an empty `padding` is none.
    ///
    /// # Errors
    ///
    /// Where the order does not name every axis once, or the padding is not one number of cells for
    /// each axis.
    pub fn new(axes: usize, order: &AxisOrder, padding: &[i128]) -> Result<Self, NestError> {
        let mut layout = match order {
            AxisOrder::Row => Layout::row_major(axes),
            AxisOrder::Column => Layout::column_major(axes),
            AxisOrder::Axes(order) => Layout { order: order.clone(), ..Layout::row_major(axes) },
        };
        let mut named = layout.order.clone();
        named.sort_unstable();
        if !named.into_iter().eq(0..axes) {
            return Err(NestError::new(format!("the order does not name each of {axes} axes once"))
                .remedy("axes are counted from 0"));
        }
        if !padding.is_empty() {
            layout.padding = padding.to_vec();
        }
        if layout.padding.len() != axes || padding.iter().any(|cells| *cells < 0) {
            return Err(NestError::new(format!("the padding is not a number of cells for each of {axes} axes")));
        }
        Ok(layout)
    }

    /// Returns the layout whose last axis is dense, as in C.
    pub fn row_major(axes: usize) -> Self {
        Layout { order: (0..axes).collect(), padding: vec![0; axes] }
    }

    /// Returns the layout whose first axis is dense, as in Fortran.
    pub fn column_major(axes: usize) -> Self {
        Layout { order: (0..axes).rev().collect(), padding: vec![0; axes] }
    }
}

impl Array {
    /// Returns the factors whose product is the distance in cells between neighbours along `axis`.
    pub fn stride(&self, axis: usize) -> Vec<Affine> {
        let faster = self.layout.order.iter().rev().take_while(|other| **other != axis);
        faster.map(|other| self.shape[*other].plus(self.layout.padding[*other])).collect()
    }

    /// Returns the factors whose product is the number of cells in memory, padding included.
    pub fn cells(&self) -> Vec<Affine> {
        self.shape.iter().zip(&self.layout.padding).map(|(extent, padding)| extent.plus(*padding)).collect()
    }

    /// Returns whether it is a single number.
    pub fn is_scalar(&self) -> bool {
        self.shape.is_empty()
    }
}
