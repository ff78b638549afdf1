//! Writes nests as source code: OpenCL C, CUDA C++ and C.

mod atomic;
mod blocks;
mod bounds;
mod dialect;
mod expression;
mod full;
mod half;
mod items;
mod lanes;
mod names;
mod parameter;
mod preamble;
mod writer;

pub use dialect::Dialect;
pub use parameter::CodeParameter;

use crate::blocks::Known;
use crate::error::NestError;
use crate::ir::Nest;
use crate::schedule::Schedule;
use names::Names;
use parameter::parameters;
use writer::Writer;

/// A nest in a target language.
///
/// The function takes its [parameters](CodeParameter) in order: arrays as pointers, arguments and
/// sizes by value, sizes as 32-bit integers. In OpenCL and CUDA it is launched with
/// [`Nest::group_counts`] work-groups of [`Nest::local_size`] work-items. In C it runs all of them
/// itself. Subscripts are computed in 32 bits, so an array must have fewer than 2^31 cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The source.
    pub text: String,
    /// The name of the function.
    pub function: String,
    /// The parameters, in order.
    pub parameters: Vec<CodeParameter>,
}

/// The options with which compilers of C should compile generated code. They would else call a
/// function for each square root, in case its argument is negative and someone reads `errno`, which
/// generated code never does.
pub const C_OPTIONS: [&str; 1] = ["-fno-math-errno"];

/// Writes a nest as source code in a language.
///
/// ```
/// use tunesmith_loopnest::{Dialect, Nest, codegen};
///
/// let nest: Nest = "
///     nest twice
///     sizes n
///     array a[n]: f32
///     array out[n]: f32
///     {[i]: 0 <= i < n}
///     out[i] = 2*a[i]
/// ".parse()?;
/// let code = codegen::source(&nest, Dialect::C)?;
/// assert!(code.text.contains("void twice(const float *restrict a, float *restrict out, int n)"));
/// assert!(code.text.contains("out[i] = 2.0f * a[i];"));
/// # Ok::<(), tunesmith_loopnest::NestError>(())
/// ```
///
/// # Errors
///
/// Fails if the nest cannot be [scheduled](Schedule), or if its work-items or local arrays have no
/// constant number.
pub fn source(nest: &Nest, dialect: Dialect) -> Result<Code, NestError> {
    let schedule = Schedule::new(nest)?;
    let names = Names::new(Known::new(nest)?, dialect);
    let parameters = parameters(nest);
    let mut writer = Writer::default();
    names.preamble(&mut writer);
    writer.open(&names.signature(&parameters));
    match dialect {
        Dialect::C => lanes::write(&names, &schedule, &mut writer)?,
        Dialect::OpenCl | Dialect::Cuda => items::write(&names, &schedule, &mut writer)?,
    }
    writer.close();
    Ok(Code { text: writer.text(), function: names.function(), parameters })
}
