//! Loop nests as kernels: what joins `loopnest` with `device`.

mod count;
mod counted;
mod counters;
mod counting;
mod estimates;
mod placed;

pub(crate) use count::{NestCounts, array_bytes};
pub use counted::{ArrayFootprint, CountOptions, ModernCount, NestCount, PropertyCount, count};
pub(crate) use counters::Counted;
pub(crate) use counting::Counting;
pub(crate) use estimates::{Guess, NestEstimates};
pub(crate) use placed::{PlacedNest, read as read_nest};
pub(crate) use tunesmith_problem::nests::{NestGenerator, arguments, dialect, in_words, language};
