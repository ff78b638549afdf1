//! The header of a file of wisdom in our format.

use serde_json::{Value as Json, json};

/// The version of the format that this crate writes.
pub const WISDOM_VERSION: u64 = 1;

/// Name of the format in the header.
pub(super) const FORMAT: &str = "tunesmith wisdom";

/// Returns the header that this crate writes.
pub(super) fn header() -> Json {
    json!({ "format": FORMAT, "version": WISDOM_VERSION })
}
