//! Learns from recordings: compares strategies on them, trains counter models, and uses them as the
//! history of new runs. Tells what a finished run found, and runs nothing for it.
//!
//! [`compare`] lets strategies search recordings and scores them. [`train_counters`] fits a counter
//! model. [`ModelChoice`] names one. [`Past`] holds the recordings that a user gives as history and
//! selects those that fit a space. [`Left`] estimates how much a run left to find. [`run_section`]
//! gathers what a page of the report shows about a run, and [`page`] writes it. [`outcome`] holds the result
//! of a run, [`top`](top()) ranks its best configurations, [`explain`] says why it ended as it did, and
//! [`gathered`] reads runs for an export, whose choices [`guard`] and [`fresh`] judge by measurements. [`WinnerCheck`] is a run's winner, measured
//! again. [`convert`] writes recordings in other formats. [`read_recording`] reads a file with the
//! numbers that rank its rows.

mod comparison;
mod convert;
mod counter_explanation;
mod counter_gaps;
mod counter_models;
pub mod explain;
pub mod fresh;
mod front;
pub mod gathered;
pub mod guard;
pub mod guided;
mod judged_run;
mod left;
mod measurements;
mod model_choice;
pub mod outcome;
pub mod page;
mod past;
pub mod recorded;
mod recordings;
pub mod top;
mod trials;
mod winner;

pub use comparison::{
    AtSeconds, Baseline, CompareOptions, Comparison, InSeconds, Measures, Overall, Score, TimeTransfer, compare,
};
pub use convert::{ConvertOptions, Converted, convert, convert_apart};
pub use counter_explanation::{
    BottleneckShare, CounterExplanation, CounterLook, CounterSubject, Effect, REMEDY, Suggestible, Wanted,
    row_with_counters,
};
pub use counter_gaps::lacking;
pub use counter_models::{METHODS, TrainOptions, Trained, learnable, train_counters, unknown};
pub use front::{FrontMember, front_of_journal, front_of_run};
pub use judged_run::{JudgedRun, key_of, samples_of};
pub use left::{Left, Within, indices_of, is_configuration, space_of_journal};
pub use measurements::{Measurements, final_medians};
pub use model_choice::{ModelChoice, model_kind, no_model, read_model};
pub use page::run_section;
pub use past::{Fitting, JudgedRecording, LeftOut, Past, WhyLeftOut};
pub use recordings::{metric_of, read_recording, read_recording_with_outline};
pub use top::{Top, TopConfig, UNVERIFIED, top};
pub use trials::{trials, values_of};
pub use tunesmith_core::AnyError as Error;
pub use winner::{Estimate, GainEstimate, Place, Regression, Remeasured, WinnerCheck, WinnerEvidence};
