//! Re-measures configurations.

use crate::live::LiveEvaluator;
use crate::live::sampling_depth::SamplingDepth;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_backend::ahead::Build;
use tunesmith_core::{Completion, Error, Interrupt};
use tunesmith_kernel::measure::Sampling;
use tunesmith_space::ConfigId;

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
        let how = SamplingDepth { sampling, profile: false, setting: self.setting(config) };
        let Some(mut completion) = self.complete(&scope, result, how, interrupt)? else { return Ok(None) };
        completion.spent.verify += prepared - start;
        completion.spent.compile += compile;
        Ok(Some(completion))
    }
}
