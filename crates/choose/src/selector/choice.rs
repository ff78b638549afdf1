//! A selected configuration and its source.

use crate::Judgement;
use crate::wisdom::Config;
use std::fmt;
use tunesmith_space::Value;

/// A selected configuration and its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice<'a> {
    /// Parameters and values, in the user's order.
    pub config: &'a Config,
    /// The source of the choice.
    pub source: Source<'a>,
    /// Its measured time in milliseconds, for the input that it was measured for.
    pub time_ms: Option<f64>,
    /// The judgement at fresh sizes of the portfolio or timing model of this device, if it answered. `None` if
    /// its choices were not judged, or if something else answered.
    pub judgement: Option<&'a Judgement>,
}

/// The source of a [`Choice`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source<'a> {
    /// It was measured for this input on this device.
    Exact,
    /// A timing model or the portfolio of this device chose it. Either learned from inputs on this
    /// device.
    Predicted {
        /// Distance of the input from the inputs learned from, in doublings; 0 inside.
        outside: f64,
    },
    /// The most robust configuration of this device's portfolio or timing model, since the input is
    /// far from all that were measured.
    Robust {
        /// Distance of the input from the inputs learned from, in doublings.
        outside: f64,
    },
    /// It was measured for another input on this device.
    NearestInput {
        /// Distance of that input, in doublings.
        distance: f64,
    },
    /// It was measured on another device.
    OtherDevice {
        /// That device.
        device: &'a str,
        /// Distance of its input, in doublings.
        distance: f64,
    },
    /// A timing model or the portfolio of other devices chose it. It learned nothing from this
    /// device.
    PredictedElsewhere {
        /// Those devices.
        devices: &'a str,
        /// Distance of the input from the inputs learned from, in doublings; 0 inside.
        outside: f64,
    },
    /// The kernel's default, since nothing is known.
    Default,
}

impl Source<'_> {
    /// Returns true if a user should hear of it: nothing was measured anywhere near the input.
    pub fn is_doubtful(&self) -> bool {
        match self {
            Self::Exact | Self::NearestInput { .. } => false,
            Self::Predicted { outside } => *outside > 0.0,
            Self::Robust { .. } | Self::OtherDevice { .. } | Self::PredictedElsewhere { .. } | Self::Default => true,
        }
    }
}

/// Prints the source as a sentence.
impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("measured for this input on this device"),
            Self::Predicted { outside: 0.0 } => f.write_str("predicted from inputs measured on this device"),
            Self::Predicted { outside } => {
                write!(
                    f,
                    "predicted, although the input lies {outside:.1} doublings outside of those measured on this device"
                )
            }
            Self::Robust { outside } => write!(
                f,
                "the most robust of the configurations measured on this device: the input lies {outside:.1} \
                 doublings outside of the measured ones"
            ),
            Self::NearestInput { distance } => {
                write!(f, "measured on this device for an input {distance:.1} doublings away")
            }
            Self::OtherDevice { device, distance } => {
                write!(f, "measured on another device, `{device}`, for an input {distance:.1} doublings away")
            }
            Self::PredictedElsewhere { devices, outside } => {
                write!(f, "predicted from other devices, `{devices}`")?;
                if *outside > 0.0 {
                    write!(f, ", although the input lies {outside:.1} doublings outside of those measured there")?;
                }
                Ok(())
            }
            Self::Default => f.write_str("the default configuration: nothing is known of this kernel"),
        }
    }
}

impl<'a> Choice<'a> {
    /// Returns the value of a parameter.
    pub fn value(&self, parameter: &str) -> Option<&'a Value> {
        self.config.iter().find(|(name, _)| name == parameter).map(|(_, value)| value)
    }

    /// Returns the value of a parameter of integers or booleans.
    pub fn int(&self, parameter: &str) -> Option<i64> {
        self.value(parameter)?.as_int()
    }
}
