//! The models of Tunesmith: regressors on rows of numbers.
//!
//! Numbers in, numbers out: nothing here knows spaces, configurations or runs. A function that
//! draws random numbers takes a generator, so the same input gives the same output.
//!
//! The [Gaussian process](GaussianProcess) predicts a value and its uncertainty. It is made for
//! searching: it adds one point at a time and updates its predictions of thousands of
//! [candidates](Candidates), in time linear in the candidates.
//!
//! ```
//! use tunesmith_model::{Candidates, Feature, GaussianProcess, Hyperparameters, Rows, log_expected_improvement};
//!
//! // One feature with eleven levels, measured at three of them.
//! let features = vec![Feature::new((0..=10).map(|level| f64::from(level) / 10.0).collect(), 0.8)];
//! let measured = Rows::from_rows(1, [[0], [5], [10]]);
//! let targets = [1.0, 0.2, 0.9];
//!
//! let parameters = Hyperparameters::fit(&features, &measured, &targets, &[], Hyperparameters::typical(&features));
//! let process = GaussianProcess::new(&features, parameters, &measured);
//! let candidates = Candidates::new(&process, Rows::from_rows(1, (0..=10).map(|level| [level])));
//!
//! let posterior = process.posterior(&targets);
//! let predictions = candidates.predict(&posterior);
//! assert!((predictions[5].mean - 0.2).abs() < 0.05);
//! assert!(predictions[5].deviation < predictions[7].deviation);
//! let gain = |level: usize| log_expected_improvement(predictions[level].mean, predictions[level].deviation, 0.2);
//! assert!(gain(6) > gain(1));
//! ```
//!
//! Trees learn tables of named features, ordinal or categorical, with gaps. There is a single
//! [regression tree](RegressionTree), an average of [randomised trees](RandomisedTrees), and
//! [boosted trees](BoostedTrees). They share the trait [`Regressor`]. They are saved as JSON that
//! people can read.
//!
//! The [expert system](bottleneck) turns the counters of a profiled run into bottlenecks and wanted
//! changes. A [counter model](counters::CounterModel) predicts the counters of configurations that
//! were not run.
//!
//! Without the default feature `fit`, only the parts remain that an application needs to use a
//! saved model: reading [`BoostedTrees`], predicting with them, and their [`Shortlist`]. The crate
//! then has no code for fitting, threads or random numbers.

#[cfg(feature = "fit")]
pub mod bottleneck;
#[cfg(feature = "fit")]
mod cholesky;
#[cfg(feature = "fit")]
pub mod counters;
#[cfg(feature = "fit")]
mod gaussian_process;
#[cfg(feature = "fit")]
mod hypervolume;
mod improvement;
#[cfg(feature = "fit")]
mod level_trees;
#[cfg(feature = "fit")]
mod nnls;
#[cfg(feature = "fit")]
mod prediction;
#[cfg(feature = "fit")]
mod rank_correlation;
mod saved;
mod table;
mod trees;

#[cfg(feature = "fit")]
pub use cholesky::Cholesky;
#[cfg(feature = "fit")]
pub use gaussian_process::{
    Candidates, Feature, GaussianProcess, Hyperparameters, JoinedRows, Kernel, Posterior, Rows, weighted_trends,
    without_trends,
};
#[cfg(feature = "fit")]
pub use hypervolume::{Front, hypervolume};
pub use improvement::{log_expected_improvement, log_probability_below};
#[cfg(feature = "fit")]
pub use level_trees::{LevelForecast, LevelTrees};
#[cfg(feature = "fit")]
pub use nnls::nonnegative_least_squares;
#[cfg(feature = "fit")]
pub use prediction::Prediction;
#[cfg(feature = "fit")]
pub use rank_correlation::rank_correlation;
pub use saved::saved;
pub use table::{Column, Kind, Table};
#[cfg(feature = "fit")]
pub use trees::{
    BoostedSettings, Cuts, Direction, FitError, Loss, RandomisedSettings, RandomisedTrees, RegressionTree,
    TreeSettings, partial_dependence, permutation_importance,
};
pub use trees::{BoostedTrees, ModelError, Node, Regressor, Shortlist, Test, Tree};
