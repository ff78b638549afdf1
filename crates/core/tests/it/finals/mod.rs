//! The final re-measurement: its order, its storage before use, its resumption, interruption and
//! failures.

mod baseline;
mod holding;
mod lost;
mod probes;
mod setup;
mod verification;
