//! The integration tests of this crate, in one program: a module for each subject.

mod alternatives;
mod builder;
mod device_settings;
mod directives;
mod edges;
mod failure_places;
mod images;
mod languages;
mod objects;
mod suite_spaces;
mod verification;
