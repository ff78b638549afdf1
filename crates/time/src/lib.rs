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
