//! The integration tests of this crate, in one program: a module for each subject.

mod boosting;
mod oracle;
mod shortlist;
mod trees;
