//! Serves the report of a run while it lasts, to browsers on this machine alone.
//!
//! The server answers with what it was given last and computes nothing: a measurement never shares the
//! processors with the drawing of a page. [`Refresher`] draws pages between measurements, on the
//! thread that measures.

mod page;
mod refresh;
mod request;
mod serve;

pub(crate) use refresh::Refresher;
pub(crate) use serve::Live;
