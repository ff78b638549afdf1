//! Tests of commands: every possible end of a configuration, its limits, its environment and its
//! costs.

mod builds;
mod costs;
mod failures;
mod folder;
mod left_behind;
mod limits;
mod running;
mod setup;
mod verification;
