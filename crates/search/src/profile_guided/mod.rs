//! Counter-guided search.
//!
//! Implements Filipovic et al., Using hardware performance counters to speed up autotuning
//! convergence on GPUs (2022). Profiled runs show bottlenecks, and a model of counters predicts the
//! configurations that relieve them.
//!
//! # Tried without gain
//!
//! A counter model learned during the search when there is none: trees fitted to the first 8, 16
//! and 32 profiled runs, whose choices alternated with the Gaussian process. On five of six
//! recordings (60 searches each) it needed more evaluations than the Gaussian process alone: 7.4
//! instead of 5.8 on coulomb3d of the RTX 2080 Ti, 25.0 instead of 22.2 on convolution, 8.0 instead
//! of 6.5 and 9.4 instead of 8.3 on the paper's GTX 680 and 1070. Other kinds of models and other
//! schedules were not examined fully.

mod draw;
mod fed_back;
mod published;
mod reacting;

pub use crate::guide::{Guide, GuideError, counter_data, name_of, number, readings, size};

use crate::GaussianProcess;
use crate::options::{OptionSpec, Options, StrategyError};
use fed_back::FedBack;
use published::Published;
use reacting::Reacting;
use std::fmt;
use tunesmith_core::{Request, Rng, Searcher, Told, View};
use tunesmith_model::bottleneck::Variant;

/// Counter-guided search: in the published form (`paper`), as its authors simulate it (`authors`),
/// or with the measured times fed back (`ours`). Without a counter model, it is `gaussian_process`.
///
/// Cost per evaluation: a score of every configuration if a profiled run is the fastest so far.
/// `ours` also predicts the time of every configuration. If that finds nothing better for a while,
/// every second evaluation also costs as much as with `gaussian_process`.
pub struct ProfileGuided(Box<dyn Searcher>);

impl fmt::Debug for ProfileGuided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProfileGuided")
    }
}

impl ProfileGuided {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec { name: "variant", default: "ours", meaning: "ours, paper or authors" },
        OptionSpec {
            name: "reaction",
            default: "auto",
            meaning: "auto, or a number from 0 to below 1: the stress of instructions from which on the search reacts \
                 to them",
        },
        OptionSpec {
            name: "batch",
            default: "5",
            meaning: "a whole number from 1: configurations timed between two profiled ones, for the variants paper \
                 and authors",
        },
    ];

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        let variant = options.word("variant", |word| match word {
            "ours" => Some(Variant::Mended),
            "paper" => Some(Variant::Paper),
            "authors" => Some(Variant::Authors),
            _ => None,
        })?;
        let reaction = options.word("reaction", |word| match word {
            "auto" => Some(None),
            number => number.parse().ok().filter(|reaction| (0.0..1.0).contains(reaction)).map(Some),
        })?;
        let batch = options.number("batch", |batch| batch >= 1.0 && batch.fract() == 0.0)? as usize;
        let rules = Reacting { variant, reaction };
        let defaults = options.defaults_of(GaussianProcess::OPTIONS);
        let surrogate = GaussianProcess::from_options(&defaults)?;
        let Some(guide) = &options.knowledge().guide else { return Ok(Self(Box::new(surrogate))) };
        Ok(Self(match variant {
            Variant::Mended => Box::new(FedBack::new(guide.clone(), rules, surrogate)),
            Variant::Paper | Variant::Authors => Box::new(Published::new(guide.clone(), rules, batch)),
        }))
    }
}

impl Searcher for ProfileGuided {
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request> {
        self.0.ask(view, room, rng)
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        self.0.tell(view, told);
    }
}
