//! Counts and estimates of loop nests.

mod count;
mod counted;
mod counters;
mod counting;
mod estimates;
mod placed;

pub use count::NestCounts;
pub(crate) use count::{array_bytes, least_work, touched_bytes};
pub use counted::{ArrayFootprint, CountOptions, ModernCount, NestCount, PropertyCount, count};
pub use counters::Counted;
pub use counting::Counting;
pub(crate) use estimates::outside_of_measured;
pub use estimates::{Guess, Limit, NestEstimates, notes_on};
pub(crate) use placed::{PlacedNest, read as read_nest};
pub(crate) use tunesmith_problem::nests::{NestGenerator, arguments, dialect, in_words};
