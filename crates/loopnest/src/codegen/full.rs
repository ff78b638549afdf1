//! Versions of code for tiles that no size cuts off.
//!
//! A tile that a size may cut off costs a test in every iteration. The test keeps compilers from
//! unrolling loops and from making vectors of work-items. Most tiles are whole. Generated C
//! therefore has three versions of code without barriers: one for whole tiles, where all bounds
//! with sizes are known to hold, one for whole rows, and one for the rest.
//!
//! OpenCL and CUDA have one version. GPUs mask lanes at no cost, and PoCL 3.1 computes wrong
//! results if work-groups branch around loops that differ.

use super::names::Names;
use super::writer::Writer;
use crate::error::NestError;
use crate::ir::{Affine, LoopId};
use crate::schedule::Step;

/// Writes three versions of steps without a barrier: for whole tiles, for whole rows, and for all
/// others. `body` writes each of them.
pub(super) fn versions(
    names: &Names,
    steps: &[Step],
    writer: &mut Writer,
    body: impl Fn(&Names, &mut Writer) -> Result<(), NestError>,
) -> Result<(), NestError> {
    let facts = names.known.in_whole_tiles(steps);
    let Some(test) = names.test(&facts) else { return body(names, writer) };
    writer.open(&test);
    body(&names.knowing(facts.clone(), false), writer)?;
    writer.close();
    let rows = names.known.in_whole_rows(steps);
    if let Some(test) = names.test(&rows).filter(|_| rows != facts) {
        writer.open(&format!("else {test}"));
        body(&names.knowing(rows, true), writer)?;
        writer.close();
    }
    writer.open("else");
    body(&names.knowing(Vec::new(), true), writer)?;
    writer.close();
    Ok(())
}

impl Names<'_> {
    /// Returns the names inside a loop.
    pub(super) fn inside(&self, id: LoopId) -> Self {
        Names { known: self.known.inside(id), ..self.clone() }
    }

    /// Returns the names for one value of the index of a loop.
    pub(super) fn at(&self, id: LoopId, value: i128) -> Self {
        Names { known: self.known.at(id, value), ..self.clone() }
    }

    /// Returns the names with `facts` added to what is known.
    fn knowing(&self, facts: Vec<Affine>, is_general: bool) -> Self {
        Names { known: self.known.with(facts, is_general), ..self.clone() }
    }
}
