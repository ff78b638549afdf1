//! Loop nests as kernels: what joins `loopnest` with `device`.

mod arguments;
mod count;
mod counted;
mod counters;
mod counting;
mod estimates;
mod generator;
mod placed;

pub(crate) use arguments::arguments;
pub(crate) use count::{NestCounts, array_bytes};
pub use counted::{ArrayFootprint, CountOptions, ModernCount, NestCount, PropertyCount, count};
pub(crate) use counters::Counted;
pub(crate) use counting::Counting;
pub(crate) use estimates::{Guess, NestEstimates};
pub(crate) use generator::NestGenerator;
pub(crate) use placed::{PlacedNest, read as read_nest};

use tunesmith_device::{Language, Target};
use tunesmith_loopnest::{Dialect, NestError};

/// The language that a nest is compiled from for a device.
pub(crate) fn language(target: &Target) -> Language {
    match target {
        Target::OpenCl(_) => Language::OpenCl,
        Target::Cuda(_) => Language::Cuda,
        Target::Processor => Language::C,
    }
}

/// The language of a dialect, as devices know it.
pub(crate) fn dialect(language: Language) -> Dialect {
    match language {
        Language::OpenCl => Dialect::OpenCl,
        Language::Cuda => Dialect::Cuda,
        _ => Dialect::C,
    }
}

/// An error of a nest as one line, with its place.
pub(crate) fn in_words(error: &NestError) -> String {
    match error.place {
        Some(place) => format!("{place}: {}", error.message),
        None => error.message.clone(),
    }
}
