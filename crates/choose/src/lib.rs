//! Chooses configurations of compute kernels at run time. Applications embed this crate.
//!
//! Tuning finds the best configuration for some inputs on some devices. `tunesmith export` writes
//! it down as [`wisdom`], a file that the application ships. [`Selector`] opens the file and
//! answers for any input, in microseconds and without allocating memory:
//!
//! ```
//! use tunesmith_choose::{Selector, Source};
//!
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("gemm.wisdom");
//! std::fs::write(&file, r#"{"format": "tunesmith wisdom", "version": 1}
//! {"kernel": "gemm", "device": "GPU A", "input": {"M": 512}, "config": {"TILE": 32}, "time_ms": 1.5}
//! {"kernel": "gemm", "device": "GPU A", "input": {"M": 64}, "config": {"TILE": 8}, "time_ms": 0.1}
//! "#)?;
//!
//! let selector = Selector::open([&file]);
//! assert!(selector.warnings().is_empty());
//! let choice = selector.select("gemm", "GPU A", &[("M", 1024.0)]).expect("the kernel is known");
//! assert_eq!(choice.int("TILE"), Some(32));
//! assert_eq!(choice.source, Source::NearestInput { distance: 1.0 });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Portfolio`](wisdom::Portfolio) holds a few configurations and a decision tree that chooses
//! among them. [`TimingModel`] predicts the fastest of a few configurations for an input.
//! [`Online`] tunes while the application runs, within a budget, among the candidates that an
//! [`Explore`] gives.
//!
//! The crate uses no drivers, draws no plots, has no command line, and builds in seconds.
//! `tunesmith` re-exports it for programs that also tune.

mod file;
mod judgement;
mod online;
mod selector;
pub mod timing;
pub mod wisdom;

pub use file::{
    Best, Flawed, WISDOM_VERSION, WisdomError, WisdomFile, WisdomFormat, append_wisdom, read_wisdom, wisdom_text,
    write_wisdom,
};
pub use judgement::Judgement;
pub use online::{Ending, Explore, Explorer, Next, Online, OnlineCost, OnlineOptions, Ticket};
pub use selector::{Choice, Selector, Source};
pub use timing::TimingModel;
pub use tunesmith_time::{Clock, ManualClock, SystemClock};
