//! Loop nests as kernels. Joins `loopnest` with `device`.

mod arguments;
mod generator;

pub use arguments::arguments;
pub use generator::NestGenerator;

use tunesmith_kernel::Language;
use tunesmith_loopnest::{Dialect, NestError};

/// Returns the dialect of generated code for a language of devices.
pub fn dialect(language: Language) -> Dialect {
    match language {
        Language::OpenCl => Dialect::OpenCl,
        Language::Cuda | Language::Hip => Dialect::Cuda,
        _ => Dialect::C,
    }
}

/// Returns an error of a nest as one line, with its place.
pub fn in_words(error: &NestError) -> String {
    match error.place {
        Some(place) => format!("{place}: {}", error.message),
        None => error.message.clone(),
    }
}
