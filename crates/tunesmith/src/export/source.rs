//! Exports the source of the kernel with the macros of the winner.

use crate::{Error, Problem};
use std::path::{Path, PathBuf};
use tunesmith_choose::wisdom::Portfolio;
use tunesmith_problem::TunedSource;
use tunesmith_study::gathered::sizes;
use tunesmith_study::recorded::problem_of;

/// Returns the source of the kernel of `problem` with the configuration of the only portfolio, and
/// with the sizes that all runs share. A journal says the sizes that are texts, wisdom does not.
pub(super) fn tuned(portfolios: &[Portfolio], runs: &[PathBuf], problem: &Path) -> Result<TunedSource, Error> {
    let (portfolio, config) = tunesmith_export::for_all_inputs(portfolios)?;
    let recorded = runs.iter().find_map(|run| Some((run, tunesmith_store::read_header(run).ok()?)));
    let problem = match recorded {
        Some((run, header)) => problem_of(run, &header, Some(problem))?,
        None => Problem::load(problem, &sizes(&portfolio.constants))?,
    };
    let Portfolio { kernel, device, features, .. } = portfolio;
    let about = format!("Written by tunesmith: {kernel} on {device}, its source with the macros of the configuration.");
    Ok(problem.tuned_source(config, features, &about)?)
}
