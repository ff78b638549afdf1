//! Re-measures configurations.

use crate::live::LiveEvaluator;
use crate::live::measured::Looking;
use crate::live::programs::BuiltKernels;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_backend::ahead::Build;
use tunesmith_core::{Completion, Error, Interrupt};
use tunesmith_kernel::measure::Sampling;
use tunesmith_space::ConfigId;

/// The programs of the configurations that were re-measured last. Repeated rounds of the same few
/// configurations compile each of them once.
#[derive(Debug, Default)]
pub(super) struct Kept(VecDeque<(ConfigId, Arc<BuiltKernels>)>);

/// The number of programs kept: the finalists of a run, its reference, and some to spare.
const KEPT: usize = 12;

impl Kept {
    pub(super) fn get(&self, config: ConfigId) -> Option<Arc<BuiltKernels>> {
        self.0.iter().find(|(known, _)| *known == config).map(|(_, built)| Arc::clone(built))
    }

    fn add(&mut self, config: ConfigId, built: Arc<BuiltKernels>) {
        self.0.truncate(KEPT - 1);
        self.0.push_front((config, built));
    }
}

impl LiveEvaluator {
    /// Builds the configuration unless its program is kept. Launches it once untimed, and takes
    /// `samples` samples.
    pub(super) fn measure_again(
        &mut self,
        config: ConfigId,
        samples: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, Error> {
        let start = self.now();
        // The steps below may finish before they look at the interrupt.
        if interrupt.is_raised() || !self.prepare(interrupt)? {
            return Ok(None);
        }
        let prepared = self.now();
        let scope = self.scope(config);
        let result = match self.kept.get(config) {
            Some(built) => Ok(built),
            None => self.programs.build(&scope, interrupt),
        };
        let compile = self.now() - prepared;
        if let Ok(built) = &result
            && self.kept.get(config).is_none()
        {
            self.kept.add(config, Arc::clone(built));
        }
        // Takes as many samples as requested, whatever their cost: the caller keeps the budget.
        let sampling = Sampling {
            min_samples: samples,
            max_samples: samples,
            time_cap: Duration::MAX / 8,
            bar_ms: None,
            ..self.options.policy.sampling
        };
        let how = Looking { sampling, profile: false, setting: self.setting(config) };
        let Some(mut completion) = self.complete(&scope, result, how, interrupt)? else { return Ok(None) };
        completion.spent.verify += prepared - start;
        completion.spent.compile += compile;
        Ok(Some(completion))
    }
}
