//! Renders tuning runs for people as text, tables, plots and pages. All functions are pure.

mod bottlenecks;
mod comparison;
mod explanation;
mod format;
mod front;
mod page;
mod plot;
mod roof;
mod summary;
mod table;
mod visible;

pub use bottlenecks::{BottleneckPage, ParameterEffect};
pub use comparison::{ComparisonRow, SecondsRow, comparison_table, seconds_table};
pub use explanation::{ExplanationPage, NextStep, Standing};
pub use format::{amount, count, counted, cuts, date, duration, gained, milliseconds, quantity};
pub use front::Front;
pub use page::{
    BuildText, EVALUATIONS, Evaluations, Form, NoteLine, Page, ParameterValues, RunNotes, RunSection, SampleSet,
    Samples, Spent, Subject, WorkerLine, Written, page_html,
};
pub use plot::{ComparisonPlot, DrawingError, PlotError, PlotSeries, Stretch, comparison_svg};
pub use roof::{ModelledTime, RoofPage};
pub use summary::{Baseline, FailureLine, SpeedupSource, Summary, Winner, equal_code, not_compared};
pub use table::{TopRow, count_table, top_table};
pub use visible::{MESSAGE_WIDTH, fitted, folded, message, visible};
