//! Chooses configurations of compute kernels at run time.

mod file;
mod json;
mod online;
mod selector;
pub mod timing;
mod trials;
pub mod wisdom;

pub use file::{
    Flawed, WISDOM_VERSION, WisdomError, WisdomFile, WisdomFormat, append_wisdom, read_wisdom, wisdom_text,
    write_wisdom,
};
pub use online::Online;
pub use selector::{Choice, Selector, Source};
pub use timing::TimingModel;
pub use trials::{Call, OnlineOptions, Trials};
pub use tunesmith_time::{Clock, ManualClock, SystemClock};
