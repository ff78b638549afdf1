//! Arrays and their layouts in memory.

use super::affine::Affine;
use super::expr::Type;
use crate::error::{NestError, Place};

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    /// Device memory that the caller provides. All work-items share it.
    Global,
    /// Memory that the work-items of a work-group share.
    Local,
    /// Memory of one work-item: temporaries.
    Private,
    /// A number that the caller passes. It must be a scalar and may only be read.
    Argument,
}

/// An array. Without axes it is a scalar.
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
    /// The axes from the slowest to the fastest. Neighbours along the fastest axis are adjacent.
    pub order: Vec<usize>,
    /// Cells added to the extent of every axis in memory.
    pub padding: Vec<i128>,
}

/// An order of the axes of an array, from the slowest to the fastest. Neighbours along the fastest
/// axis are adjacent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisOrder {
    /// From the first to the last, as in C.
    Row,
    /// From the last to the first, as in Fortran.
    Column,
    /// The listed order.
    Axes(Vec<usize>),
}

impl Layout {
    /// Returns the layout of an array with `axes` axes. An empty `padding` means no padding.
    ///
    /// # Errors
    ///
    /// Fails if the order does not name every axis once, or if the padding does not have one number
    /// of cells for each axis.
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

    /// Returns the layout with the last axis dense, as in C.
    pub fn row_major(axes: usize) -> Self {
        Layout { order: (0..axes).collect(), padding: vec![0; axes] }
    }

    /// Returns the layout with the first axis dense, as in Fortran.
    pub fn column_major(axes: usize) -> Self {
        Layout { order: (0..axes).rev().collect(), padding: vec![0; axes] }
    }
}

impl Array {
    /// Returns the factors of the distance between neighbours along `axis`, in cells.
    pub fn stride(&self, axis: usize) -> Vec<Affine> {
        let faster = self.layout.order.iter().rev().take_while(|other| **other != axis);
        faster.map(|other| self.shape[*other].plus(self.layout.padding[*other])).collect()
    }

    /// Returns the factors of the number of cells in memory, padding included.
    pub fn cells(&self) -> Vec<Affine> {
        self.shape.iter().zip(&self.layout.padding).map(|(extent, padding)| extent.plus(*padding)).collect()
    }

    /// Returns true if the array is a single number.
    pub fn is_scalar(&self) -> bool {
        self.shape.is_empty()
    }
}
