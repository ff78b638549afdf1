//! The values that a kernel gets in one configuration.

use crate::error::DeviceError;
use crate::problem::{Argument, ArgumentKind, ElementType, Scope, Shape};
use serde::{Deserialize, Serialize};
use tunesmith_space::{Expr, ExprError, Value};

/// The value passed for an argument in one configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Passed {
    /// The argument's buffer.
    Buffer,
    /// The argument's buffer with these extents.
    Sized(Vec<u64>),
    /// The bytes of its value.
    Scalar(Vec<u8>),
    /// This many bytes of local memory.
    Local(usize),
}

/// Returns the values passed for all arguments in the configuration of `scope`, in order.
///
/// # Errors
/// An expression cannot be evaluated in `scope`, or the type cannot hold its value.
pub fn passed(arguments: &[Argument], scope: &Scope) -> Result<Vec<Passed>, DeviceError> {
    arguments.iter().map(|argument| pass(argument, scope)).collect()
}

/// Returns the value passed for an argument in the configuration of `scope`.
///
/// # Errors
/// See [`passed`].
pub fn pass(argument: &Argument, scope: &Scope) -> Result<Passed, DeviceError> {
    match &argument.kind {
        ArgumentKind::Scalar(expr) => scalar(argument, expr, scope).map(Passed::Scalar),
        ArgumentKind::Object(bytes) => Ok(Passed::Scalar(bytes.clone())),
        ArgumentKind::Local { shape } => sized(argument, shape, scope).map(|(_, bytes)| Passed::Local(bytes)),
        ArgumentKind::Buffer { shape: Shape::Varying(shape), .. } => {
            sized(argument, shape, scope).map(|(shape, _)| Passed::Sized(shape))
        }
        ArgumentKind::Buffer { shape: Shape::Fixed(_), .. } => Ok(Passed::Buffer),
    }
}

fn scalar(argument: &Argument, expr: &Expr, scope: &Scope) -> Result<Vec<u8>, DeviceError> {
    let value = scope.evaluate(expr).map_err(|source| no_value(argument, expr, source))?;
    encode(argument.element, &value).ok_or_else(|| {
        let problem = format!("its value `{}` is {value}, which {} cannot hold", expr.text(), argument.element);
        DeviceError::Scalar { argument: argument.name.clone(), problem, source: None }
    })
}

/// Returns the extents of an argument in the configuration of `scope`, and its size in bytes.
fn sized(argument: &Argument, shape: &[Expr], scope: &Scope) -> Result<(Vec<u64>, usize), DeviceError> {
    let mut extents = Vec::with_capacity(shape.len());
    for expr in shape {
        let extent = expr.evaluate_int(&|name| scope.get(name).cloned());
        let extent = extent.map_err(|source| no_value(argument, expr, source))?;
        extents.push(u64::try_from(extent).ok().filter(|extent| *extent > 0).ok_or_else(|| {
            let problem = format!("its extent `{}` is {extent}, but must be at least 1", expr.text());
            DeviceError::Scalar { argument: argument.name.clone(), problem, source: None }
        })?);
    }
    match argument.size(extents.iter().copied()) {
        Some(bytes) => Ok((extents, bytes)),
        None => Err(DeviceError::TooLarge { argument: argument.name.clone(), shape: extents }),
    }
}

fn no_value(argument: &Argument, expr: &Expr, source: ExprError) -> DeviceError {
    let problem = format!("its value `{}` cannot be computed: {source}", expr.text());
    DeviceError::Scalar { argument: argument.name.clone(), problem, source: Some(source) }
}

/// Returns the bytes of one element with `value` in every lane.
fn encode(element: ElementType, value: &Value) -> Option<Vec<u8>> {
    let scalar = element.scalar();
    let lane = match value {
        Value::Float(value) => scalar.encode_float(*value)?,
        Value::Int(_) | Value::Bool(_) => scalar.encode_int(value.as_int()?.into())?,
        Value::Str(_) => return None,
    };
    Some(lane.repeat(element.stored_lanes()))
}
