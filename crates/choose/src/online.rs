//! Tunes while the application runs.

use crate::file::{WisdomError, append_wisdom, read_wisdom};
use crate::trials::{Call, OnlineOptions, Trials};
use crate::wisdom::{Config, Entry, Input, Provenance};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tunesmith_time::{Clock, SystemClock};

/// Runs an application's kernel and meanwhile finds the fastest of several configurations.
///
/// Most calls run with the best configuration known for their input. Some try another one, within a
/// [budget](Trials) that bounds the cost of trying. After a failed trial, the call is repeated with
/// the best known configuration, so that the application gets its result. Every input is tuned for
/// itself. Any number of threads may call at once.
///
/// Results are appended to a file of wisdom. Any number of processes may share the file, and
/// [`Selector`](crate::Selector) reads it: a process that starts later begins with all results so
/// far. Trouble with the file never fails a call; see [`warnings`](Self::warnings).
///
/// ```
/// use tunesmith_choose::Online;
/// use tunesmith_choose::wisdom::Config;
///
/// // The first configuration is what the application runs with today.
/// let configs: Vec<Config> = [16, 32, 64].map(|tile| vec![("TILE".to_string(), tile.into())]).into();
/// let online = Online::new("gemm", "this CPU", configs).expect("there are configurations");
/// for _ in 0..10 {
///     let result: Result<i64, std::convert::Infallible> = online.call(&[("N", 512.0)], |config| {
///         let tile = config[0].1.as_int().unwrap(); // choose the kernel, launch it, wait for it
///         Ok(512 / tile)
///     });
///     assert!(result.is_ok());
/// }
/// ```
pub struct Online {
    kernel: String,
    device: String,
    configs: Vec<Config>,
    options: OnlineOptions,
    clock: Arc<dyn Clock>,
    file: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    inputs: HashMap<Vec<(String, u64)>, OfInput>,
    /// Results of others: input, number of the configuration, and time.
    known: Vec<(Input, usize, f64)>,
    warnings: Vec<String>,
}

/// The state of one input.
struct OfInput {
    trials: Trials,
    /// True while a trial is under way: another one would spend the same budget.
    is_trying: bool,
}

impl Online {
    /// Tunes `kernel` on `device` among `configs`. The first of them is the configuration that the
    /// application would use without tuning. Returns `None` if `configs` is empty.
    pub fn new(kernel: impl Into<String>, device: impl Into<String>, configs: Vec<Config>) -> Option<Self> {
        (!configs.is_empty()).then(|| Self {
            kernel: kernel.into(),
            device: device.into(),
            configs,
            options: OnlineOptions::default(),
            clock: Arc::new(SystemClock::new()),
            file: None,
            state: Mutex::default(),
        })
    }

    /// Sets the budget. Call it before the first call.
    #[must_use]
    pub fn with_options(mut self, options: OnlineOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Begins with the results in the file of wisdom at `path` and appends new ones. Creates the
    /// file with the first result.
    #[must_use]
    pub fn with_file(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let found = if path.exists() { read_wisdom(&path) } else { Ok(Default::default()) };
        let mut state = self.state();
        match found {
            Ok(file) => {
                let own = file.wisdom.entries.into_iter().filter(|entry| self.is_own(entry));
                state
                    .known
                    .extend(own.filter_map(|entry| Some((entry.input, self.number(&entry.config)?, entry.time_ms))));
                state.warnings.extend(file.flawed.iter().map(|flawed| {
                    format!("`{}`, line {} is left out: {}", path.display(), flawed.line, flawed.reason)
                }));
            }
            Err(error) => state.warnings.push(error.to_string()),
        }
        drop(state);
        self.file = Some(path);
        self
    }

    fn is_own(&self, entry: &Entry) -> bool {
        (&entry.kernel, &entry.device) == (&self.kernel, &self.device)
    }

    fn number(&self, config: &Config) -> Option<usize> {
        self.configs.iter().position(|own| own == config)
    }

    /// Runs the kernel for `input` (sizes by name). `run` is given the configuration and returns
    /// when the kernel is done. All of `run` is timed.
    ///
    /// # Errors
    /// The error of `run` for the best known configuration. After a failed trial, `run` is called
    /// once more with that configuration.
    pub fn call<T, E>(&self, input: &[(&str, f64)], mut run: impl FnMut(&Config) -> Result<T, E>) -> Result<T, E> {
        self.call_timed(input, |config| {
            let start = self.clock.now();
            let result = run(config);
            (result, self.clock.now().saturating_sub(start))
        })
    }

    /// Runs the kernel as [`call`](Self::call) does, but `run` returns the kernel's time itself,
    /// for example from a device's own timer.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn call_timed<T, E>(
        &self,
        input: &[(&str, f64)],
        mut run: impl FnMut(&Config) -> (Result<T, E>, Duration),
    ) -> Result<T, E> {
        let input: Input = input.iter().map(|(name, size)| ((*name).to_string(), *size)).collect();
        loop {
            let call = self.next(&input);
            let (result, took) = run(&self.configs[call.config()]);
            self.tell(&input, call, took, result.is_ok());
            match (call, result) {
                (Call::Trial(_), Err(_)) => {}
                (_, result) => return result,
            }
        }
    }

    /// Returns the best configuration known for an input.
    pub fn best(&self, input: &[(&str, f64)]) -> &Config {
        let input: Input = input.iter().map(|(name, size)| ((*name).to_string(), *size)).collect();
        let best = self.of_input(&mut self.state(), &input).trials.best();
        &self.configs[best]
    }

    /// Returns true if all configurations have been decided about for an input.
    pub fn is_settled(&self, input: &[(&str, f64)]) -> bool {
        let input: Input = input.iter().map(|(name, size)| ((*name).to_string(), *size)).collect();
        self.of_input(&mut self.state(), &input).trials.is_settled()
    }

    /// Returns the warnings about the file.
    pub fn warnings(&self) -> Vec<String> {
        self.state().warnings.clone()
    }

    fn next(&self, input: &Input) -> Call {
        let mut state = self.state();
        let of_input = self.of_input(&mut state, input);
        match of_input.trials.next() {
            Call::Trial(_) if of_input.is_trying => Call::Best(of_input.trials.best()),
            call => {
                of_input.is_trying |= matches!(call, Call::Trial(_));
                call
            }
        }
    }

    fn tell(&self, input: &Input, call: Call, took: Duration, worked: bool) {
        let mut state = self.state();
        let of_input = self.of_input(&mut state, input);
        of_input.is_trying &= matches!(call, Call::Best(_));
        let decided = of_input.trials.tell(call, took.as_secs_f64() * 1e3, worked);
        if let (Some((config, Some(time_ms))), Some(path)) = (decided, &self.file) {
            let written = self.write(path, input, config, time_ms);
            state.warnings.extend(written.err().map(|error| error.to_string()));
        }
    }

    fn write(&self, path: &Path, input: &Input, config: usize, time_ms: f64) -> Result<(), WisdomError> {
        if time_ms <= 0.0 {
            return Ok(());
        }
        let provenance = Provenance {
            tool: Some(format!("tunesmith {} online", env!("CARGO_PKG_VERSION"))),
            date: Some(self.clock.unix().as_secs_f64()),
            samples: Some(self.options.samples),
            guarded_speedup: None,
        };
        let entry = Entry {
            kernel: self.kernel.clone(),
            device: self.device.clone(),
            input: input.clone(),
            config: self.configs[config].clone(),
            time_ms,
            provenance,
        };
        append_wisdom(path, &[entry])
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No update is left half done when a thread panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of_input<'s>(&self, state: &'s mut State, input: &Input) -> &'s mut OfInput {
        let key = input.iter().map(|(name, size)| (name.clone(), size.to_bits())).collect();
        let known = &state.known;
        state.inputs.entry(key).or_insert_with(|| {
            let mut trials = Trials::new(self.configs.len(), self.options);
            // The latest line of a configuration counts.
            let own = known.iter().filter(|(of, ..)| of == input);
            own.for_each(|(_, config, time_ms)| trials.know(*config, *time_ms));
            OfInput { trials, is_trying: false }
        })
    }
}
