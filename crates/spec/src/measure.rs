//! The rules for measuring and comparing configurations.

use crate::limit::Limit;
use tunesmith_core::Judging;
use tunesmith_kernel::measure::Policy;
use tunesmith_space::Expr;

/// The rules for measuring and comparing configurations, and the numbers that follow from a measurement.
#[derive(Clone, Debug, Default)]
pub struct Measure {
    /// The floating-point operations of one launch.
    pub flops: Option<Expr>,
    /// The bytes that one launch moves.
    pub bytes: Option<Expr>,
    /// The metrics, each with the text of its expression, in the user's order.
    pub metrics: Vec<(String, String)>,
    /// The limits.
    pub limits: Vec<Limit>,
    /// The rules for measuring configurations.
    pub policy: Policy,
    /// The rules for comparing configurations.
    pub judging: Judging,
}
