//! A predicted value and its uncertainty.

/// The mean that a model predicts and the remaining deviation, in the unit of the targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The mean.
    pub mean: f64,
    /// The standard deviation, without the noise of a measurement.
    pub deviation: f64,
}
