//! Transformations that keep the meaning of a nest, or are refused.

mod data;
mod dependence;
mod layout;
mod order;
mod precompute;
mod prefetch;
mod recipe;
mod split;
mod tag;
mod tile;

pub use recipe::{Parameter, Recipe, RecipeStep};

use crate::error::NestError;
use crate::ir::{AxisOrder, Memory, Nest, Tag};
use tile::Tile;

/// A number of a transformation: given, or a parameter of the recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A number.
    Number(i64),
    /// A parameter by its name.
    Parameter(String),
}

/// One transformation. Loops and arrays have their names, since earlier transformations make some
/// of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Transformation {
    /// `split i 16 -> io, ii`: the loop becomes two, `i = 16*io + ii`, the last block cut off where
    /// `i` ends.
    Split {
        /// The loop.
        index: String,
        /// Iterations of the inner loop, at least 1.
        length: Amount,
        /// Name of the loop over blocks.
        outer: String,
        /// Name of the loop within a block.
        inner: String,
    },
    /// `tag io group.0`: how a loop is run.
    Tag {
        /// The loop.
        index: String,
        /// The way in which it is to be run.
        tag: Tag,
    },
    /// `order k, i`: the named loops change places so that they nest in this order.
    Order {
        /// From the outermost.
        loops: Vec<String>,
    },
    /// `prefetch a sweep ii, ki -> tile[t0, t1]`: what the loads of `a` touch while the swept loops
    /// run is first copied into local memory. The new loops copy along the axes of the tile.
    Prefetch {
        /// The array that is read.
        array: String,
        /// The loops whose accesses the tile covers.
        sweep: Vec<String>,
        /// Name of the tile.
        tile: String,
        /// Names of the loops that fill it, one for each axis along which the tile has more than
        /// one cell.
        indices: Vec<String>,
    },
    /// `precompute v sweep ii, ki -> tile[t0, t1]`: the values of a temporary that are used while
    /// the swept loops run are first computed, each once, into local memory or a temporary. The new
    /// loops run along the axes of the tile, one for each sum of loops on which the value depends.
    Precompute {
        /// The temporary, which one instruction computes.
        temporary: String,
        /// The loops whose uses the tile covers.
        sweep: Vec<String>,
        /// Where the tile lives: [`Memory::Local`], or [`Memory::Private`] for one of each
        /// work-item.
        memory: Memory,
        /// Name of the tile.
        tile: String,
        /// Names of the loops that fill it, one for each axis along which the tile has more than
        /// one cell.
        indices: Vec<String>,
    },
    /// `layout a column`: how an array lies in memory.
    Layout {
        /// The array.
        array: String,
        /// The order of its axes.
        order: AxisOrder,
        /// Cells added to the extent of every axis; empty for none.
        padding: Vec<i128>,
    },
}

/// `when staged = 1`: a step is done only where a parameter of the recipe has this value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct When {
    /// The parameter.
    pub parameter: String,
    /// Its value.
    pub value: i64,
}

impl Transformation {
    /// Transforms a nest; `parameter` gives the values of named amounts.
    ///
    /// # Errors
    ///
    /// A name is unknown or taken, or the transformation would change the meaning of the nest. The
    /// error names the instructions that stand against it, and the nest is left as it was.
    pub fn apply(&self, nest: &mut Nest, parameter: impl Fn(&str) -> Option<i64>) -> Result<(), NestError> {
        let mut changed = nest.clone();
        match self {
            Transformation::Split { index, length, outer, inner } => {
                let length = match length {
                    Amount::Number(number) => *number,
                    Amount::Parameter(name) => {
                        parameter(name).ok_or_else(|| NestError::new(format!("there is no parameter `{name}`")))?
                    }
                };
                split::split(&mut changed, index, length, [outer, inner])?;
            }
            Transformation::Tag { index, tag } => tag::tag(&mut changed, index, *tag)?,
            Transformation::Order { loops } => order::order(&mut changed, loops)?,
            Transformation::Prefetch { array, sweep, tile, indices } => {
                let tile = Tile { name: tile, indices, memory: Memory::Local };
                prefetch::prefetch(&mut changed, array, sweep, &tile)?;
            }
            Transformation::Precompute { temporary, sweep, memory, tile, indices } => {
                let tile = Tile { name: tile, indices, memory: *memory };
                precompute::precompute(&mut changed, temporary, sweep, &tile)?;
            }
            Transformation::Layout { array, order, padding } => layout::layout(&mut changed, array, order, padding)?,
        }
        crate::ir::check::check(&changed)?;
        *nest = changed;
        Ok(())
    }
}

/// Refuses a name that is taken or is none.
fn fresh(nest: &Nest, name: &str) -> Result<(), NestError> {
    if nest.names().any(|taken| taken == name) {
        return Err(NestError::new(format!("the name `{name}` is taken")).remedy("choose another name"));
    }
    if crate::ir::check::is_identifier(name) { Ok(()) } else { Err(NestError::new(format!("`{name}` is not a name"))) }
}
