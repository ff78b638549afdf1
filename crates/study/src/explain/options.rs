//! The options of an explanation.

use std::path::PathBuf;

/// The run to explain, and the means.
#[derive(Clone, Debug, Default)]
pub struct ExplainOptions {
    /// A journal or recording.
    pub run: PathBuf,
    /// Parameters and values of the configuration whose counters are explained; the others are as in
    /// the fastest configuration with counters.
    pub config: Vec<(String, String)>,
    /// The counter model, which predicts the effect of parameters on counters.
    pub model: Option<PathBuf>,
    /// The device file by which the best configuration of a loop nest is explained. By default the one
    /// with whose estimates the run searched.
    pub on: Option<PathBuf>,
    /// The problem that the run tuned. By default the `.toml` beside the journal with its name.
    pub problem: Option<PathBuf>,
}
