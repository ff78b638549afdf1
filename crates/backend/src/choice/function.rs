//! A function of the program in place of a device.

use std::fmt;
use std::sync::Arc;
use tunesmith_core::{Failure, Interrupt, Measurement};
use tunesmith_space::{ConfigId, Space};

/// A function that takes the place of a device: it measures a configuration in a way of its own.
///
/// ```
/// use tunesmith_core::{Failure, Interrupt, Measurement};
/// use tunesmith_backend::Function;
/// use tunesmith_space::{ConfigId, Space};
///
/// /// A model of a kernel: the larger the first parameter, the faster.
/// struct Model;
///
/// impl Function for Model {
///     fn name(&self) -> &str {
///         "model"
///     }
///
///     fn call(&self, space: &Space, config: ConfigId, _: &Interrupt) -> Result<Option<Measurement>, Failure> {
///         let tile = space.value(&space.unrank(config), 0).as_float().unwrap_or(1.0);
///         Ok(Some(Measurement { times_ms: vec![32.0 / tile], ..Measurement::default() }))
///     }
/// }
/// ```
pub trait Function: Send + Sync {
    /// Returns the name of the device in journals. A resumed run must have the same.
    fn name(&self) -> &str;

    /// Measures a configuration of `space`. Returns `None` if the run shall end, by `interrupt` or by
    /// a wish of the function.
    ///
    /// # Errors
    /// The configuration fails.
    fn call(&self, space: &Space, config: ConfigId, interrupt: &Interrupt) -> Result<Option<Measurement>, Failure>;
}

/// A shared [`Function`], as a choice of device holds it.
#[derive(Clone)]
pub struct OwnFunction(Arc<dyn Function>);

impl OwnFunction {
    /// Shares `function`.
    pub fn new(function: impl Function + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// Returns the function's name.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Measures a configuration, as [`Function::call`].
    ///
    /// # Errors
    /// The configuration fails.
    pub fn call(&self, space: &Space, config: ConfigId, interrupt: &Interrupt) -> Result<Option<Measurement>, Failure> {
        self.0.call(space, config, interrupt)
    }
}

impl fmt::Debug for OwnFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnFunction({:?})", self.name())
    }
}
