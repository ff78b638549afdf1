//! The names of new loops and arrays.

use crate::error::NestError;
use crate::ir::Nest;

/// Refuses a name that is taken or is not an identifier.
pub(super) fn fresh(nest: &Nest, name: &str) -> Result<(), NestError> {
    if nest.names().any(|taken| taken == name) {
        return Err(NestError::new(format!("the name `{name}` is taken")).remedy("choose another name"));
    }
    if crate::ir::check::is_identifier(name) { Ok(()) } else { Err(NestError::new(format!("`{name}` is not a name"))) }
}
