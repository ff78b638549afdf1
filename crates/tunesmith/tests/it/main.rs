//! The integration tests of this crate, in one program: a module for each subject.

mod architecture;
mod baselines;
mod chooser_sizes;
mod common;
mod counter_baselines;
mod directives;
mod export;
mod exported;
mod filterbank_export;
mod odd_files;
mod online;
mod selector;
mod selector_model;
mod strategies;
mod t1_problems;
