//! The integration tests of this crate, in one program: a module for each subject.

mod csv;
mod follow;
mod journal;
mod names;
mod recordings;
mod resamples;
mod starts;
mod statements;
