//! Changes the order of an array's cells in memory.

use crate::error::NestError;
use crate::ir::{AxisOrder, Layout, Nest};

/// Sets the layout. The caller of the kernel provides global arrays in the new layout. Subscripts
/// stay as they are.
pub(super) fn layout(nest: &mut Nest, array: &str, order: &AxisOrder, padding: &[i128]) -> Result<(), NestError> {
    let id = nest.array_id(array)?;
    nest.arrays[id.0].layout = Layout::new(nest.array(id).shape.len(), order, padding)?;
    Ok(())
}
