//! Transformations. Each keeps the meaning of the nest or is refused. Only a reduction may round
//! differently.

mod data;
pub(crate) mod dependence;
mod layout;
mod names;
mod order;
mod pipeline;
mod precompute;
mod prefetch;
mod recipe;
mod reduce;
mod reduction;
mod split;
mod tag;
mod tile;

pub use recipe::{Parameter, Recipe, RecipeStep};

use crate::error::NestError;
use crate::ir::{AxisOrder, Memory, Nest, Tag};
use reduce::Sums;
use tile::Tile;

/// A number in a transformation: a literal, or a parameter of the recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A number.
    Number(i64),
    /// A parameter, by its name.
    Parameter(String),
}

/// One transformation. It refers to loops and arrays by name, because earlier transformations
/// create some of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Transformation {
    /// `split i 16 -> io, ii`: splits a loop into two, with `i = 16*io + ii`. The last block is cut
    /// off where `i` ends.
    Split {
        /// The loop to split.
        index: String,
        /// Iterations of the inner loop, at least 1.
        length: Amount,
        /// Name of the loop over blocks.
        outer: String,
        /// Name of the loop within a block.
        inner: String,
    },
    /// `tag io group.0`: sets the way in which a loop is run.
    Tag {
        /// The loop to tag.
        index: String,
        /// Its new tag.
        tag: Tag,
    },
    /// `order k, i`: reorders the named loops so that they nest in this order.
    Order {
        /// The loops, from the outermost to the innermost.
        loops: Vec<String>,
    },
    /// `prefetch a sweep ii, ki -> tile[t0, t1]`: first copies the cells of `a` that are loaded
    /// while the swept loops run into local memory. The new loops copy along the axes of the tile.
    Prefetch {
        /// The array that is read.
        array: String,
        /// The loops whose accesses the tile covers.
        sweep: Vec<String>,
        /// Name of the tile.
        tile: String,
        /// Names of the loops that fill it, one for each axis with more than one cell.
        indices: Vec<String>,
    },
    /// `precompute v sweep ii, ki -> tile[t0, t1]`: first computes the values of a temporary that
    /// are used while the swept loops run. Each value is computed once, into local memory or a
    /// temporary. The new loops run along the axes of the tile, one for each sum of loops on which
    /// the value depends.
    Precompute {
        /// The temporary. Exactly one instruction computes it.
        temporary: String,
        /// The loops whose uses the tile covers.
        sweep: Vec<String>,
        /// The memory of the tile: [`Memory::Local`], or [`Memory::Private`] for a tile of each
        /// work-item.
        memory: Memory,
        /// Name of the tile.
        tile: String,
        /// Names of the loops that fill it, one for each axis with more than one cell.
        indices: Vec<String>,
    },
    /// `reduce acc over ki -> acc_sums[r] local.0`: lets the work-items along an axis run the
    /// iterations of `ki`. Each reduces its own share of the values. They then combine their
    /// results in local memory, in pairs. `reduce low, high over ki -> lows, highs[r] local.0`
    /// reduces two cells of one loop.
    ///
    /// Each cell is updated by a sum, a product, `min` or `max`. A sum or product in floating point
    /// is rounded differently in the new order: this is the only transformation that changes
    /// results.
    Reduce {
        /// The temporaries or arrays of which a cell is updated.
        cells: Vec<String>,
        /// The loop to run by work-items. It runs from 0 to a constant.
        over: String,
        /// Names of the local arrays of their results, one for each cell.
        sums: Vec<String>,
        /// Name of the loop that fills them. Names of further loops begin with it.
        index: String,
        /// The axis of the work-items, from 0 to 2.
        axis: u8,
    },
    /// `pipeline a_tile over ko -> a_next`: loads the cells for the next iteration of `ko` into
    /// temporaries while a tile is used, and stores them in the tile afterwards.
    Pipeline {
        /// The tile: a local array that one instruction within the loop fills.
        tile: String,
        /// The sequential loop.
        over: String,
        /// Name of the temporary that holds the work-item's cells of the next tile. Names of new
        /// loops begin with it.
        next: String,
    },
    /// `layout a column`: sets the layout of an array in memory.
    Layout {
        /// The array.
        array: String,
        /// The order of its axes.
        order: AxisOrder,
        /// Cells added to the extent of every axis. Empty for no padding.
        padding: Vec<i128>,
    },
}

/// `when staged = 1`: applies a step only if a parameter of the recipe has this value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct When {
    /// The parameter.
    pub parameter: String,
    /// Its value.
    pub value: i64,
}

impl Transformation {
    /// Transforms a nest. `parameter` gives the values of named amounts.
    ///
    /// # Errors
    ///
    /// Fails if a name is unknown or taken, or if the transformation would change the meaning of
    /// the nest. The error names the conflicting instructions. The nest stays as it was.
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
            Transformation::Reduce { cells, over, sums, index, axis } => {
                reduce::reduce(&mut changed, cells, over, &Sums { names: sums, index, axis: *axis })?;
            }
            Transformation::Pipeline { tile, over, next } => pipeline::pipeline(&mut changed, tile, over, next)?,
            Transformation::Layout { array, order, padding } => layout::layout(&mut changed, array, order, padding)?,
        }
        crate::ir::check::check(&changed)?;
        *nest = changed;
        Ok(())
    }
}
