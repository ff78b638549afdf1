//! Tunes while the application runs.

mod classes;
mod explore;
mod lore;
mod options;
mod purse;
mod ticket;
mod trials;

#[cfg(test)]
mod budget_tests;

pub use explore::{Explore, Explorer};
pub use options::OnlineOptions;
pub use ticket::{Ending, Next, Ticket};

use crate::file::{Flawed, SharedFile, WisdomError};
use crate::wisdom::{Attempt, AttemptEnd, Config, Entry, Input, Provenance};
use explore::List;
use lore::{Key, Lore, News, key};
use purse::Purse;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use ticket::Guard;
use trials::{Decision, End, Role, Step, Thought, Trials};
use tunesmith_space::{Expr, ExprError};
use tunesmith_time::{Clock, SystemClock};

/// Maximum number of warnings that are kept.
const MOST_WARNINGS: usize = 100;

/// Runs an application's kernel and meanwhile finds a fast configuration for every input.
///
/// Most calls run with the best configuration known for their input. Some try another one, within a
/// budget: all trials together cost at most a share ([`OnlineOptions::slowdown`]) of the time of the
/// other calls. After a failed trial, the call is repeated with the best known configuration, so
/// that the application gets its result. Any number of threads may call at once.
///
/// The candidates come from a list ([`new`](Self::new)), or from a space and a strategy
/// ([`exploring`](Self::exploring)). A new input begins with the default, and first tries the
/// configurations that are fast for the nearest other inputs.
///
/// Results are appended to a file of wisdom. Any number of processes may share the file: each reads
/// what the others found while it runs, and a process that starts later begins with all results so
/// far. [`Selector`](crate::Selector) reads the file as well. Trouble with the file never fails a
/// call; see [`warnings`](Self::warnings).
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
    default: Arc<Config>,
    explore: Box<dyn Explore>,
    options: OnlineOptions,
    clock: Arc<dyn Clock>,
    work: Option<Expr>,
    file: Option<Mutex<SharedFile>>,
    state: Mutex<State>,
}

struct State {
    inputs: HashMap<Key, OfInput>,
    lore: Lore,
    purse: Purse,
    warnings: Vec<String>,
}

struct OfInput {
    input: Input,
    trials: Trials,
}

/// The cost of all tuning so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlineCost {
    /// Time that the application would not have spent without tuning: that of trials beyond the best
    /// known configuration's, of failed calls, and of the strategy.
    pub excess: Duration,
    /// Time of all calls with the best known configuration.
    pub useful: Duration,
}

impl Online {
    /// Tunes `kernel` on `device` among `configs`. The first of them is the configuration that the
    /// application would use without tuning. Returns `None` if `configs` is empty.
    pub fn new(kernel: impl Into<String>, device: impl Into<String>, configs: Vec<Config>) -> Option<Self> {
        let default = configs.first()?.clone();
        Some(Self::exploring(kernel, device, default, Box::new(List::new(configs))))
    }

    /// Tunes `kernel` on `device` among the candidates of `explore`. `default` is the configuration
    /// that the application would use without tuning. It need not be a candidate.
    pub fn exploring(
        kernel: impl Into<String>,
        device: impl Into<String>,
        default: Config,
        explore: Box<dyn Explore>,
    ) -> Self {
        let (kernel, device) = (kernel.into(), device.into());
        let options = OnlineOptions::default();
        let lore = Lore::new(&kernel, &device);
        let (inputs, purse, warnings) = (HashMap::new(), Purse::default(), Vec::new());
        let state = Mutex::new(State { inputs, lore, purse, warnings });
        let default = Arc::new(explore.recognise(&default).unwrap_or(default));
        let clock = Arc::new(SystemClock::new());
        let online = Self { kernel, device, default, explore, options, clock, work: None, file: None, state };
        online.with_options(options)
    }

    /// Sets the budget. Call it before the first call.
    #[must_use]
    pub fn with_options(mut self, options: OnlineOptions) -> Self {
        self.options = options;
        self.state().purse.allow(options.slowdown);
        self
    }

    /// Sets the clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the work of a call: an expression over the sizes of the input, in any unit, such as
    /// `2 * M * N * K`.
    ///
    /// Without it, every input is tuned for itself. With it, times are compared per unit of work, and
    /// inputs whose sizes differ by less than about half a doubling
    /// ([`OnlineOptions::resolution`]) are tuned together. An application whose sizes hardly ever
    /// repeat needs it.
    ///
    /// # Errors
    /// The text is no expression.
    pub fn with_work(mut self, work: &str) -> Result<Self, ExprError> {
        self.work = Some(Expr::parse(work)?);
        Ok(self)
    }

    /// Begins with the results in the file of wisdom at `path`, appends new ones, and takes over
    /// what other processes append. Creates the file with the first result.
    #[must_use]
    pub fn with_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.file = Some(Mutex::new(SharedFile::new(path.into())));
        self.read_file();
        self
    }

    /// Runs the kernel for `input` (sizes by name). `run` is given the configuration and returns
    /// when the kernel is done. All of `run` is timed.
    ///
    /// # Errors
    /// The error of `run` for the default configuration. After the failure of any other, `run` is
    /// called once more, in the end with the default.
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
        loop {
            let guard = Guard::new(self, self.begin(input));
            let (result, took) = run(guard.config());
            let ending = if result.is_ok() { Ending::Took(took) } else { Ending::Failed(took) };
            if guard.end(ending) == Next::Done {
                return result;
            }
        }
    }

    /// Begins a call for `input`. The application runs the kernel with the configuration of the
    /// ticket, and then [ends](Self::end) the call with its time. Use it where a closure does not
    /// fit, as with kernels that end asynchronously.
    pub fn begin(&self, input: &[(&str, f64)]) -> Ticket {
        let input: Input = input.iter().map(|(name, size)| ((*name).to_string(), *size)).collect();
        let (input, units) = self.class(input);
        let key = key(&input);
        if !self.state().inputs.contains_key(&key) {
            self.read_file();
        }
        loop {
            match self.step(&input, &key, units) {
                Step::Run(config, role) => {
                    if let Role::Trial { is_first: true, .. } = role {
                        self.note_attempt(&input, &config);
                    }
                    return Ticket { key, units, config, role };
                }
                Step::Think(thought) => self.think(&key, thought),
            }
        }
    }

    /// Counts the time that the application took to prepare a candidate, to compile it for example.
    /// The next candidate begins only when the budget covers as much again.
    pub fn prepared(&self, took: Duration) {
        self.state().purse.prepare(took.as_secs_f64() * 1e3);
    }

    /// Ends the call of `ticket`. If the answer is [`Next::Repeat`], the configuration failed and
    /// another one is there: begin the call again.
    pub fn end(&self, ticket: Ticket, ending: Ending) -> Next {
        let Ticket { key, units, config, role } = ticket;
        let per_unit = |time: Duration| time.as_secs_f64() * 1e3 / units;
        let end = match ending {
            Ending::Took(time) => End::Took(per_unit(time)),
            Ending::Failed(time) => End::Failed(per_unit(time)),
            Ending::Abandoned => End::Abandoned,
        };
        let mut state = self.state();
        let State { inputs, lore, purse, .. } = &mut *state;
        let Some(of_input) = inputs.get_mut(&key) else { return Next::Done };
        let outcome = of_input.trials.end(&config, role, end, units, purse);
        if let Some(decision) = outcome.decision {
            let input = of_input.input.clone();
            lore.put(&input, true, &decision.config, decision.time);
            for key in lore.similar(&input) {
                let Some(other) = inputs.get_mut(&key) else { continue };
                if decision.has_won {
                    other.trials.suggest(&decision.config);
                } else {
                    other.trials.hint(&decision.config, || lore.slow(&other.input, &decision.config));
                }
            }
            drop(state);
            self.note_decision(input, decision);
            self.read_file();
        }
        if outcome.repeat { Next::Repeat } else { Next::Done }
    }

    /// Returns the best configuration known for an input.
    pub fn best(&self, input: &[(&str, f64)]) -> Arc<Config> {
        self.with_trials(input, |trials| Arc::clone(trials.best()))
    }

    /// Returns true if nothing is left to try for an input, unless the machine drifts.
    pub fn is_settled(&self, input: &[(&str, f64)]) -> bool {
        self.with_trials(input, |trials| trials.is_settled())
    }

    /// Returns the cost of all tuning so far.
    pub fn cost(&self) -> OnlineCost {
        let (excess, useful) = self.state().purse.spent();
        let duration = |ms: f64| Duration::try_from_secs_f64(ms * 1e-3).unwrap_or(Duration::MAX);
        OnlineCost { excess: duration(excess), useful: duration(useful) }
    }

    /// Returns the warnings about the file and about the work of inputs.
    pub fn warnings(&self) -> Vec<String> {
        self.state().warnings.clone()
    }

    fn with_trials<T>(&self, input: &[(&str, f64)], ask: impl FnOnce(&Trials) -> T) -> T {
        let input: Input = input.iter().map(|(name, size)| ((*name).to_string(), *size)).collect();
        let (input, _) = self.class(input);
        let mut state = self.state();
        let key = key(&input);
        ask(self.trials(&mut state, &input, &key).0)
    }

    fn class(&self, input: Input) -> (Input, f64) {
        let class = classes::class(&input, self.work.as_ref(), self.options.resolution);
        class.unwrap_or_else(|problem| {
            self.warn(&mut self.state(), [problem]);
            (input, 1.0)
        })
    }

    fn step(&self, input: &Input, key: &Key, units: f64) -> Step {
        let mut state = self.state();
        let (trials, purse) = self.trials(&mut state, input, key);
        trials.step(units, purse)
    }

    /// Lets the strategy think, without holding up other threads. Its time is part of the cost.
    fn think(&self, key: &Key, mut thought: Thought) {
        let start = self.clock.now();
        self.read_file();
        let candidate = thought.think();
        let took = self.clock.now().saturating_sub(start).as_secs_f64() * 1e3;
        let mut state = self.state();
        let State { inputs, lore, purse, .. } = &mut *state;
        if let Some(of_input) = inputs.get_mut(key) {
            let judged = candidate.map(|config| {
                let slow = lore.slow(&of_input.input, &config);
                (config, slow)
            });
            of_input.trials.take_back(thought, judged, took, purse);
        }
    }

    fn trials<'s>(&self, state: &'s mut State, input: &Input, key: &Key) -> (&'s mut Trials, &'s mut Purse) {
        let State { inputs, lore, purse, .. } = state;
        if !inputs.contains_key(key) {
            let (known, taught) = (lore.known(input), lore.taught(input));
            let trials = Trials::new(self.options, &self.default, known, taught, self.explore.begin(input));
            inputs.insert(key.clone(), OfInput { input: input.clone(), trials });
        }
        let of_input = inputs.get_mut(key).expect("it was put there");
        (&mut of_input.trials, purse)
    }

    /// Takes over what other processes appended to the file.
    fn read_file(&self) {
        let Some(file) = &self.file else { return };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let news = file.news();
        let mut state = self.state();
        match news {
            Ok(read) => {
                let path = file.path().display();
                let text = |Flawed { line, reason }| format!("`{path}`, line {line} is left out: {reason}");
                self.warn(&mut state, read.flawed.into_iter().map(text));
                let State { inputs, lore, purse, .. } = &mut *state;
                for News { input, config, time } in lore.read(read.wisdom, &*self.explore) {
                    lore.slowdown(&input, &config).into_iter().for_each(|slowdown| purse.learn(slowdown));
                    if let Some(of_input) = inputs.get_mut(&key(&input)) {
                        of_input.trials.know(config, time);
                    }
                }
            }
            Err(error) => self.warn(&mut state, [error.to_string()]),
        }
    }

    /// Writes down that a candidate is tried for the first time. If it ends the process, later ones
    /// know.
    fn note_attempt(&self, input: &Input, config: &Config) {
        let (kernel, device) = (self.kernel.clone(), self.device.clone());
        let (input, config) = (input.clone(), config.clone());
        let attempt = Attempt { kernel, device, input, config, date: Some(self.date()), end: AttemptEnd::None };
        self.write(|file| file.write_attempt(&attempt));
    }

    fn date(&self) -> f64 {
        self.clock.unix().as_secs_f64()
    }

    fn note_decision(&self, input: Input, decision: Decision) {
        let (kernel, device, config) = (self.kernel.clone(), self.device.clone(), (*decision.config).clone());
        match decision.time {
            None => {
                let date = Some(self.date());
                let attempt = Attempt { kernel, device, input, config, date, end: AttemptEnd::Failed };
                self.write(|file| file.write_attempt(&attempt));
            }
            // The file holds no times of 0.
            Some(time_ms) if time_ms > 0.0 => {
                let provenance = Provenance {
                    tool: Some(format!("tunesmith {} online", env!("CARGO_PKG_VERSION"))),
                    date: Some(self.date()),
                    samples: Some(decision.samples),
                    guarded_speedup: None,
                };
                let entry = Entry { kernel, device, input, config, time_ms, provenance };
                self.write(|file| file.write_entry(&entry));
            }
            Some(_) => {}
        }
    }

    fn write(&self, write: impl FnOnce(&mut SharedFile) -> Result<(), WisdomError>) {
        let Some(file) = &self.file else { return };
        let written = write(&mut file.lock().unwrap_or_else(PoisonError::into_inner));
        if let Err(error) = written {
            self.warn(&mut self.state(), [error.to_string()]);
        }
    }

    fn warn(&self, state: &mut State, warnings: impl IntoIterator<Item = String>) {
        for warning in warnings {
            if state.warnings.len() < MOST_WARNINGS && !state.warnings.contains(&warning) {
                state.warnings.push(warning);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No update is left half done when a thread panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
