//! The integration tests of this crate, in one program: a module for each subject.

mod brute_force;
mod budgets;
mod closures;
mod common;
mod digest;
mod expressions;
mod oracle;
mod parallel;
mod published_spaces;
mod refusals;
mod sampling;
mod stored;
