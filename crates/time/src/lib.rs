//! The one reader of the system's time, and statistics of times.
//!
//! Tuning runs (`tunesmith-core`) and applications that tune themselves (`tunesmith-choose`) share
//! both. Neither needs the other. The crate depends on the standard library alone.
//!
//! ```
//! use std::time::Duration;
//! use tunesmith_time::{Clock, ManualClock, statistics};
//!
//! let clock = ManualClock::default();
//! let times_ms: Vec<f64> = [3, 1, 2]
//!     .map(|milliseconds| {
//!         let start = clock.now();
//!         clock.advance(Duration::from_millis(milliseconds)); // what is timed
//!         (clock.now() - start).as_secs_f64() * 1e3
//!     })
//!     .into();
//! assert_eq!(statistics::median(&times_ms), Some(2.0));
//! ```

mod clock;
pub mod statistics;

pub use clock::{Clock, ManualClock, SystemClock};

use std::time::Duration;

/// The longest time that a user can state, about 30 years. Sums and products of such times do not overflow.
pub const LONGEST: Duration = Duration::from_secs(1_000_000_000);

/// Returns a number of seconds that a user states as a time, or `None` if it is below 0 or beyond [`LONGEST`].
pub fn stated_seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok().filter(|time| *time <= LONGEST)
}
