//! Lets an application explore a search space while it runs.
//!
//! [`Online`] tries configurations within a budget. Here they come from a [`Space`] and a
//! [strategy](StrategySpec), which learns from every trial:
//!
//! ```
//! use std::time::Duration;
//! use tunesmith_choose::{Ending, Online};
//! use tunesmith_explore::SpaceExploration;
//! use tunesmith_space::{Constraint, Parameter, Space, Values};
//!
//! let space = Space::builder()
//!     .parameter(Parameter::new("ROWS", Values::pow2(1, 64)?)?)
//!     .parameter(Parameter::new("COLUMNS", Values::pow2(1, 64)?)?)
//!     .constraint(Constraint::parse("ROWS * COLUMNS <= 1024")?)
//!     .build()?;
//! let default = vec![("ROWS".to_string(), 1.into()), ("COLUMNS".to_string(), 1.into())];
//! let exploration = SpaceExploration::new(space, "hill_climbing".parse()?);
//! let online = Online::exploring("blur", "this CPU", default, Box::new(exploration));
//!
//! for _ in 0..2000 {
//!     let call = online.begin(&[("N", 512.0)]);
//!     let [rows, columns] = [0, 1].map(|at| call.config()[at].1.as_float().unwrap());
//!     // Run the kernel with `rows` and `columns` here. This formula takes its place.
//!     let seconds = 1e-3 * (1.0 + (rows.log2() - 3.0).abs() + (columns.log2() - 5.0).abs());
//!     online.end(call, Ending::Took(Duration::from_secs_f64(seconds)));
//! }
//! assert_eq!(*online.best(&[("N", 512.0)]), [("ROWS".to_string(), 8.into()), ("COLUMNS".to_string(), 32.into())]);
//! assert!(online.cost().excess <= online.cost().useful.mul_f64(0.05));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Online`]: tunesmith_choose::Online

use std::sync::Arc;
use tunesmith_choose::wisdom::{Config, Input};
use tunesmith_choose::{Explore, Explorer};
use tunesmith_core::{AskTell, Failure, FailureKind};
use tunesmith_search::{Knowledge, StrategySpec};
use tunesmith_space::{ConfigId, Space, Value};

/// The number of candidates for each input, if the application does not say.
pub const CANDIDATES: usize = 100;

/// The number of candidates that a strategy names at once. Its thoughts cost as much as many calls of
/// a short kernel, and a thought about several candidates hardly takes longer than one about a single
/// one. On the times of `tests/matrix_product.rs`, the last 500 of 2,000 calls were 9.5 % slower than
/// the best with one candidate at once, and 5.5 % with four.
const AT_ONCE: usize = 4;

/// The configurations of a space, in the order in which a strategy asks for them.
#[derive(Clone, Debug)]
pub struct SpaceExploration {
    space: Arc<Space>,
    strategy: StrategySpec,
    seed: u64,
    candidates: usize,
}

impl SpaceExploration {
    /// Explores `space` by `strategy`.
    pub fn new(space: impl Into<Arc<Space>>, strategy: StrategySpec) -> Self {
        Self { space: space.into(), strategy, seed: 0, candidates: CANDIDATES }
    }

    /// Sets the seed of the strategy. Every input has a generator of its own. Processes that share a
    /// file of wisdom try the same candidates at the same time unless their seeds differ.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of candidates for each input, after which its exploration ends. The default
    /// is 100. Candidates that similar inputs and other processes teach do not count.
    #[must_use]
    pub fn with_candidates(mut self, candidates: usize) -> Self {
        self.candidates = candidates;
        self
    }

    /// Returns the space.
    pub fn space(&self) -> &Arc<Space> {
        &self.space
    }
}

impl Explore for SpaceExploration {
    fn begin(&self, input: &Input) -> Box<dyn Explorer> {
        // A parsed strategy can be built. One that cannot asks for nothing.
        let searcher = self.strategy.build(&Knowledge::default()).ok();
        let seed = self.seed ^ mixed(input);
        let search =
            |searcher| AskTell::new(Arc::clone(&self.space), searcher, seed).with_budget(self.candidates as u64);
        Box::new(Exploration { search: searcher.map(search), named: Vec::new(), left: self.candidates })
    }

    fn recognise(&self, config: &Config) -> Option<Config> {
        Some(config_of(&self.space, id_of(&self.space, config)?))
    }
}

/// The exploration for one input.
struct Exploration {
    search: Option<AskTell>,
    /// The candidates that the strategy named and that were not proposed yet, the last one first.
    named: Vec<ConfigId>,
    /// The number of candidates that may still be proposed.
    left: usize,
}

impl Explorer for Exploration {
    fn propose(&mut self) -> Option<Config> {
        self.left = self.left.checked_sub(1)?;
        let search = self.search.as_mut()?;
        if self.named.is_empty() {
            self.named = search.ask(AT_ONCE.min(self.left + 1));
            self.named.reverse();
        }
        Some(config_of(search.space(), self.named.pop()?))
    }

    fn learn(&mut self, config: &Config, time_ms: Option<f64>) {
        let Some(search) = self.search.as_mut() else { return };
        // The default need not be in the space.
        let Some(id) = id_of(search.space(), config) else { return };
        let failure = || Failure::new(FailureKind::Runtime, "the application reported a failure");
        // A clock may show no time at all; a cost is above 0.
        let cost = time_ms.map(|time| time.max(f64::MIN_POSITIVE)).ok_or_else(failure);
        // A result that was told before is no news.
        let _ = search.tell(id, cost);
    }
}

/// Returns the values of `id` by the names of their parameters.
pub fn config_of(space: &Space, id: ConfigId) -> Config {
    space.values(&space.unrank(id)).map(|(name, value)| (name.to_string(), value.clone())).collect()
}

/// Returns the rank of `config`, or `None` if it is not a configuration of `space`: a parameter is
/// missing or unknown, a value is not in its list, or a constraint excludes it.
pub fn id_of(space: &Space, config: &Config) -> Option<ConfigId> {
    let is_given = |name: &str| config.iter().any(|(given, _)| given == name);
    if config.len() != space.parameters().len() || !space.parameters().iter().all(|own| is_given(own.name())) {
        return None;
    }
    let pairs: Vec<(&str, Value)> = config.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    space.rank(&space.configuration(&pairs, None).ok()?)
}

/// Returns a number that differs between inputs (FNV-1a, which is the same in every process).
fn mixed(input: &Input) -> u64 {
    let bytes = input.iter().flat_map(|(name, size)| name.bytes().chain(size.to_bits().to_le_bytes()));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
