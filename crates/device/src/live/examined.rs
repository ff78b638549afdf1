//! Configurations that are compiled and not run, so that a strategy can choose among them.

use crate::backends::BuildError;
use crate::backends::ahead::{Build as _, BuildResult};
use crate::live::programs::Programs;
use crate::live::twins::likeness;
use crate::live::{LiveEvaluator, jobs_at_once};
use crate::problem::Scope;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tunesmith_core::{Examined, Failure, FailureKind, Interrupt};
use tunesmith_space::ConfigId;

impl LiveEvaluator {
    /// Compiles `configs`, several at a time, and returns what the compiler told of each, in order.
    /// Fewer if interrupted.
    pub(super) fn examine_all(&self, configs: &[ConfigId], interrupt: &Interrupt) -> Vec<Examined> {
        // One of them will be measured.
        self.programs.reuse();
        let scopes: Vec<Scope> = configs.iter().map(|config| self.scope(*config)).collect();
        let mut built = build_all(&self.programs, &scopes, jobs_at_once(&self.options), interrupt);
        built.sort_by_key(|(at, _)| *at);
        // Only a start of the list has its places.
        let in_order = built.into_iter().enumerate().take_while(|(place, (at, _))| place == at);
        let built = in_order.map(|(_, (_, result))| result).zip(configs.iter().zip(&scopes));
        built.map(|(result, (config, scope))| self.examined(*config, scope, result)).collect()
    }

    fn examined(&self, config: ConfigId, scope: &Scope, result: BuildResult<Programs>) -> Examined {
        let likeness = likeness(&self.options.spec.arguments, scope, &result, self.setting(config));
        let failed = |kind, message| Examined { failure: Some(Failure::new(kind, message)), ..Examined::default() };
        match result {
            Ok(built) => {
                let mut compile = built.compile_data();
                compile.same_binary = self.twins.knows(likeness.as_ref());
                Examined { failure: None, compile }
            }
            Err(BuildError::Failed(message)) => failed(FailureKind::Compile, message),
            Err(BuildError::Refused(message)) => failed(FailureKind::Constraints, message),
            // Its evaluation reports a fault of the problem or of the compiler.
            Err(BuildError::Signature(_) | BuildError::Broken(_) | BuildError::Cancelled) => Examined::default(),
        }
    }
}

/// Builds `scopes` on up to `jobs` threads. Returns the results with their places. Those that an
/// interrupt cancelled are missing.
fn build_all(
    programs: &Arc<Programs>,
    scopes: &[Scope],
    jobs: usize,
    interrupt: &Interrupt,
) -> Vec<(usize, BuildResult<Programs>)> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(scope) = scopes.get(at).filter(|_| !interrupt.is_raised()) else { return done };
            let result = programs.build(scope, interrupt).and_then(|built| match built.is_postponed() {
                // It would say nothing before it is measured.
                true => programs.build_apart(scope, interrupt).map(Arc::new),
                false => Ok(built),
            });
            if !matches!(result, Err(BuildError::Cancelled)) {
                done.push((at, result));
            }
        }
    };
    std::thread::scope(|threads| {
        let workers: Vec<_> = (0..jobs.min(scopes.len())).map(|_| threads.spawn(work)).collect();
        // A panic of a build is one of this thread, too.
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
