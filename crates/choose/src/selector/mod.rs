//! Selects the configuration for an input at run time.

mod choice;
mod kernel;
mod model;

pub use choice::{Choice, Source};

use crate::Judgement;
use crate::file::{Flawed, read_wisdom};
use crate::timing::TimingModel;
use crate::wisdom::{Config, Wisdom};
use kernel::Kernel;
use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;

/// Selects the configuration of a kernel for an input on a device, from [`Wisdom`], from a
/// [`TimingModel`], or from both.
///
/// The first of these that is known answers, and the answer's [`Source`] names it:
///
/// 1. The fastest entry for exactly this device and input.
/// 2. The timing model, if it was trained on this device. It chooses the configuration that it
///    predicts to be fastest, from this device's portfolio or from its own few
///    [candidates](TimingModel::candidates).
/// 3. The portfolio for this device: its rule, or its most robust configuration if the input lies
///    far outside of the measured ones.
/// 4. The entry for this device with the nearest input ([`distance`](crate::wisdom::distance)).
/// 5. The timing model, by what it learned on other devices.
/// 6. The nearest entry of any other device.
/// 7. The kernel's default configuration, or else the model's reference.
///
/// A timing model or a portfolio whose choices were judged at fresh sizes, and are no faster than the default by the
/// lower end of the interval of their mean speed, answers with the default ([`Judgement`]). The selector measures
/// nothing: [`judgement`](Self::judgement) tells what the file says.
///
/// No question allocates memory or waits, and any number of threads may ask. An exact answer or a
/// portfolio's tree costs a few comparisons. A model costs one walk down its trees. All other
/// answers cost one look at every entry of the kernel.
///
/// ```
/// use tunesmith_choose::wisdom::{Entry, Wisdom};
/// use tunesmith_choose::{Selector, Source};
///
/// let entry = Entry {
///     kernel: "gemm".into(),
///     device: "GPU A".into(),
///     input: [("M".to_string(), 512.0), ("N".to_string(), 512.0)].into(),
///     config: vec![("TILE".into(), 32.into())],
///     time_ms: 1.5,
///     provenance: Default::default(),
/// };
/// let selector = Selector::new(Wisdom { entries: vec![entry], ..Wisdom::default() });
///
/// let choice = selector.select("gemm", "GPU A", &[("M", 512.0), ("N", 512.0)]).unwrap();
/// assert_eq!((choice.int("TILE"), choice.source), (Some(32), Source::Exact));
/// let choice = selector.select("gemm", "GPU A", &[("M", 1024.0), ("N", 512.0)]).unwrap();
/// assert_eq!(choice.source, Source::NearestInput { distance: 1.0 });
/// assert!(selector.select("conv", "GPU A", &[]).is_none());
/// ```
///
/// An application opens the files that it ships with, whatever they are:
///
/// ```no_run
/// use tunesmith_choose::Selector;
///
/// let selector = Selector::open(["gemm.wisdom", "timing.json"]);
/// selector.warnings().iter().for_each(|warning| eprintln!("{warning}"));
/// if let Some(choice) = selector.select("gemm", "GPU A", &[("M", 512.0), ("N", 512.0)]) {
///     if choice.source.is_doubtful() {
///         eprintln!("gemm: {}", choice.source);
///     }
///     let tile = choice.int("TILE");
/// #   let _ = tile;
/// }
/// ```
#[derive(Debug, Default)]
pub struct Selector {
    kernels: HashMap<String, Kernel>,
    warnings: Vec<String>,
}

impl Selector {
    /// Answers from `wisdom`.
    pub fn new(wisdom: Wisdom) -> Self {
        let mut selector = Self::default();
        let mut of_kernel: HashMap<String, Wisdom> = HashMap::new();
        for entry in wisdom.entries {
            of_kernel.entry(entry.kernel.clone()).or_default().entries.push(entry);
        }
        for portfolio in wisdom.portfolios {
            of_kernel.entry(portfolio.kernel.clone()).or_default().portfolios.push(portfolio);
        }
        for (kernel, config) in wisdom.defaults {
            of_kernel.entry(kernel.clone()).or_default().defaults.insert(kernel, config);
        }
        for (name, wisdom) in of_kernel {
            let kernel = Kernel::new(&name, wisdom, &mut selector.warnings);
            selector.kernels.insert(name, kernel);
        }
        selector.warnings.sort_unstable();
        selector
    }

    /// Answers from all that can be read of `paths`: files of wisdom in our format or Kernel
    /// Launcher's, and timing models. Never fails: a file that is missing, foreign or damaged gives
    /// a [warning](Self::warnings), and its content is not known.
    pub fn open<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        let mut wisdom = Wisdom::default();
        let (mut models, mut warnings) = (Vec::new(), Vec::new());
        for path in paths {
            let path = path.as_ref();
            if is_model(path) {
                let read = TimingModel::read(path);
                models.extend(read.map_err(|error| warnings.push(error.to_string())));
                continue;
            }
            match read_wisdom(path) {
                Ok(file) => {
                    let text =
                        |Flawed { line, reason }| format!("`{}`, line {line} is left out: {reason}", path.display());
                    warnings.extend(file.flawed.into_iter().map(text));
                    wisdom.merge(file.wisdom);
                }
                Err(error) => warnings.push(error.to_string()),
            }
        }
        let mut selector = models.iter().fold(Self::new(wisdom), Self::with_model);
        selector.warnings.splice(0..0, warnings);
        selector
    }

    /// Answers also from a timing model. It replaces an earlier one of the same kernel.
    ///
    /// For each device that it knows, the model chooses among the configurations of that device's
    /// portfolio, at most 32, or among its own candidates if the wisdom has no portfolio. It
    /// chooses no configuration that violates one of its constraints for an input.
    #[must_use]
    pub fn with_model(mut self, model: &TimingModel) -> Self {
        self.kernels.entry(model.problem().to_string()).or_default().learn(model, &mut self.warnings);
        self
    }

    /// Replaces the default configuration of a kernel.
    #[must_use]
    pub fn with_default(mut self, kernel: impl Into<String>, config: Config) -> Self {
        self.kernels.entry(kernel.into()).or_default().default = Some(config);
        self
    }

    /// Returns the judgement of what chooses for inputs of `kernel` that nobody measured on `device`. `None` if its
    /// choices were not measured against the default at fresh sizes.
    pub fn judgement(&self, kernel: &str, device: &str) -> Option<&Judgement> {
        self.kernels.get(kernel)?.judgement(device)
    }

    /// Returns the warnings about the files.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the configuration for `input` (sizes by name) of `kernel` on `device`, or `None` if
    /// not even a default is known.
    ///
    /// Ignores sizes that no entry has. Sizes that all entries share may be left out.
    pub fn select(&self, kernel: &str, device: &str, input: &[(&str, f64)]) -> Option<Choice<'_>> {
        self.select_where(kernel, device, input, |_| true)
    }

    /// Returns the configuration as [`select`](Self::select) does, among those that are
    /// `acceptable`. If the first choice does not compile or exceeds a limit of this device, ask
    /// again without it.
    pub fn select_where(
        &self,
        kernel: &str,
        device: &str,
        input: &[(&str, f64)],
        acceptable: impl Fn(&Config) -> bool,
    ) -> Option<Choice<'_>> {
        self.kernels.get(kernel)?.select(device, input, &acceptable)
    }
}

/// Returns true if a file begins as a model does, with its kind. Later damage is then reported as
/// damage of a model.
fn is_model(path: &Path) -> bool {
    let mut start = String::new();
    let read = tunesmith_files::open(path).and_then(|file| file.take(64).read_to_string(&mut start));
    let first_key = start.trim_start().strip_prefix('{').map(str::trim_start);
    read.is_ok() && first_key.is_some_and(|key| key.starts_with("\"kind\""))
}
