//! Where evaluations come from.

use crate::{Error, Failure, Interrupt, Measurement, Request};
use std::time::Duration;
use tunesmith_space::ConfigId;

/// Answers requests: a live device, a recording or a function.
///
/// Requests are answered in the order submitted, one at a time; an implementation may prepare later
/// ones (compile them) while an earlier one is measured. A configuration that fails is a
/// [`Completion`] with a failure; an [`Error`] means that no later request can be answered either.
///
/// ```
/// # use tunesmith_core::*;
/// /// Every configuration takes one millisecond.
/// #[derive(Default)]
/// struct Constant(std::collections::VecDeque<Request>);
/// impl Evaluator for Constant {
///     fn submit(&mut self, request: Request) -> Result<(), Error> {
///         self.0.push_back(request);
///         Ok(())
///     }
///     fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
///         let measurement = Measurement { times_ms: vec![1.0], ..Measurement::default() };
///         Ok(self.0.pop_front().map(|_| Completion { measurement, ..Completion::default() }))
///     }
/// }
/// ```
pub trait Evaluator {
    /// Accepts a request. Cheap: it may start work in the background but does not wait for it.
    fn submit(&mut self, request: Request) -> Result<(), Error>;

    /// Waits for the oldest request submitted and not yet returned. `None` when `interrupt` was
    /// raised meanwhile: the request is dropped, nothing was measured. Called only while a request
    /// is outstanding.
    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error>;

    /// Sets the time in milliseconds above which the configurations returned from now on may be
    /// given up after few samples, by [`is_beaten`](crate::judge::racing::is_beaten); `None` to
    /// measure them in full.
    ///
    /// The default ignores it: what has no noise takes no samples to save.
    fn race(&mut self, bar_ms: Option<f64>) {
        let _ = bar_ms;
    }

    /// Takes `samples` more samples of a configuration that was correct before: for comparing the
    /// leaders at the end of a run, and for watching a reference drift. It may be called while
    /// requests wait, since they are measured within [`next`](Self::next) alone. `None` when
    /// `interrupt` was raised meanwhile.
    ///
    /// The default takes none: what has no noise, or is a recording, has nothing to add.
    fn resample(
        &mut self,
        config: ConfigId,
        samples: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, Error> {
        let _ = (config, samples, interrupt);
        Ok(Some(Completion::default()))
    }
}

/// The answer of an evaluator about one configuration.
#[derive(Clone, Debug, Default)]
pub struct Completion {
    /// The reason why the configuration is not correct; `None` when it is.
    pub failure: Option<Failure>,
    /// The measurement.
    pub measurement: Measurement,
    /// The time that the measuring thread spent on it.
    pub spent: Spent,
    /// The reason why counters that were asked for were not read, for users; `None` where they
    /// were, or were not asked for.
    pub unprofiled: Option<String>,
}

/// The time of the measuring thread for one request, by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Waiting for the compiler, and for what a driver does before it runs a kernel for the first
    /// time.
    pub compile: Duration,
    /// Running the kernel: warm-up, samples, and restoring its buffers.
    pub run: Duration,
    /// Comparing its output.
    pub verify: Duration,
}
