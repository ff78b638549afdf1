//! Text and tables from tuning runs: pure functions from what was measured to what a person reads.

mod comparison;
mod format;
mod summary;
mod table;

pub use comparison::{ComparisonRow, comparison_table};
pub use format::{count, duration, milliseconds};
pub use summary::{FailureLine, Summary, Winner};
pub use table::{TopRow, count_table, top_table};
