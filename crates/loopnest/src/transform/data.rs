//! Refusals: transformations leave loops and accesses that depend on data as they are.

use crate::error::NestError;
use crate::ir::{ArrayId, LoopId, Nest};
use crate::print;

/// Refuses a loop whose bounds depend on data.
pub(super) fn refuse_data(nest: &Nest, id: LoopId) -> Result<(), NestError> {
    let own = nest.loop_at(id);
    match own.constraints.iter().flat_map(|sum| sum.lookups()).next() {
        None => Ok(()),
        Some(lookup) => {
            let array = &nest.array(nest.lookup(lookup).access.array).name;
            Err(NestError::new(format!("the bounds of loop `{}` depend on the data in `{array}`", own.name))
                .remedy("transform the loops around it")
                .at(own.place))
        }
    }
}

/// Refuses loads of an array whose cells depend on data: the cells that they touch are not known.
pub(super) fn refuse_data_accesses(nest: &Nest, array: ArrayId) -> Result<(), NestError> {
    for instruction in &nest.instructions {
        for (access, place, _) in instruction.accesses().filter(|(access, ..)| access.array == array) {
            let place = place.or(instruction.place);
            if let Some(id) = access.subscripts.iter().flat_map(|sum| sum.lookups()).next() {
                let (text, name) = (print::access(nest, access), &nest.lookup(id).name);
                return Err(
                    NestError::new(format!("which cells {text} touches depends on the value of `{name}`")).at(place)
                );
            }
            instruction.within.iter().try_for_each(|id| refuse_data(nest, *id)).map_err(|error| error.at(place))?;
        }
    }
    Ok(())
}
