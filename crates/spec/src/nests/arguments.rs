//! Arguments of a nest's kernels.

use tunesmith_kernel::{Access, Argument, ArgumentKind, ElementType, Fill, Memory};
use tunesmith_loopnest::{ArrayId, CodeParameter, Nest};
use tunesmith_space::Expr;

/// The value of a scalar argument of the nest, unless the user gives one.
const SCALAR: &str = "0.5";

/// Returns the arguments of the function with these parameters, in its order. Arrays are filled at
/// random. Those that the nest writes are the result.
///
/// # Errors
/// An array has no cells, or more than subscripts of 32 bits can address.
pub fn arguments(nest: &Nest, parameters: &[CodeParameter], sizes: &[i64]) -> Result<Vec<Argument>, String> {
    parameters.iter().map(|parameter| argument(nest, *parameter, sizes)).collect()
}

fn argument(nest: &Nest, parameter: CodeParameter, sizes: &[i64]) -> Result<Argument, String> {
    let scalar = |text: &str| Expr::parse(text).map(ArgumentKind::Scalar).map_err(|error| error.to_string());
    match parameter {
        CodeParameter::Array(id) => Ok(named(nest, id, buffer(nest, id, sizes)?)),
        CodeParameter::Argument(id) => Ok(named(nest, id, scalar(SCALAR)?)),
        CodeParameter::Size(id) => {
            let place = id.place();
            let element = element("i32");
            Ok(Argument::new(nest.sizes[place].clone(), element, scalar(&sizes[place].to_string())?))
        }
    }
}

fn named(nest: &Nest, id: ArrayId, kind: ArgumentKind) -> Argument {
    let array = nest.array(id);
    Argument::new(array.name.clone(), element(&array.element.to_string()), kind)
}

/// Returns the type of an argument. Every type of nests is one.
fn element(name: &str) -> ElementType {
    ElementType::parse(name).expect("the types of nests are element types")
}

fn buffer(nest: &Nest, id: ArrayId, sizes: &[i64]) -> Result<ArgumentKind, String> {
    let array = nest.array(id);
    let cells = array.cells().iter().try_fold(1_i128, |cells, extent| cells.checked_mul(extent.at_sizes(sizes)));
    let cells = cells.filter(|cells| (1..1 << 31).contains(cells));
    let cells = cells
        .and_then(|cells| u64::try_from(cells).ok())
        .ok_or_else(|| format!("`{}` would have no cells or 2^31 and more; choose other sizes", array.name))?;
    // A written array may keep some of its cells, at the edges of a stencil for example.
    let access = if nest.uses(id).0 { Access::InOut } else { Access::In };
    Ok(ArgumentKind::Buffer { shape: vec![cells].into(), fill: Fill::Random, access, memory: Memory::Global })
}
