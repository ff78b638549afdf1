//! Measures what each change from the default brings.

use crate::devices::device_for;
use crate::runner::{Extras, Runner};
use crate::{Error, problem::Metric};
use std::sync::Arc;
use tunesmith_core::{Completion, Interrupt, ObjectiveFunction as _, Request, SystemClock, statistics};
use tunesmith_device::Machine;
use tunesmith_explain::{Scores, Trials, one_at_a_time};
use tunesmith_problem::MetricObjective;
use tunesmith_space::ConfigId;
use tunesmith_store::Header;
use tunesmith_study::explain::{Ends, ExplainOptions};
use tunesmith_study::indices_of;
use tunesmith_study::recorded::problem_of;

/// The means to measure the effect of each change from the default.
#[derive(Clone, Debug, Default)]
pub struct MeasureOptions {
    /// The machine that measures.
    pub machine: Machine,
    /// Raised to end it.
    pub interrupt: Interrupt,
}

/// Number of rounds in which the configurations take turns.
const ROUNDS: usize = 5;
/// Number of samples of each configuration in a round.
const SAMPLES: usize = 3;

/// Measures the default, the winner and the configurations between them that differ in one parameter
/// from either, in turn. Adds their scores in the run's objective to `scores`. Returns false if interrupted.
pub(super) fn add(
    how: &MeasureOptions,
    options: &ExplainOptions,
    header: &Header,
    trials: &Trials,
    Ends { default, winner }: &Ends,
    scores: &mut Scores<'_>,
) -> Result<bool, Error> {
    let run = &options.run;
    let metric = Metric::recorded(header.objective.as_ref());
    let problem = problem_of(run, header, options.problem.as_deref())?;
    let device = device_for(&problem, &how.machine)?;
    let space = problem.space_until(&device.limits(&how.machine), how.machine.interrupt())?.space;
    if header.identity.get("space").and_then(|digest| digest.as_str()) != Some(space.digest()) {
        let text = format!(
            "`{}` is not the problem of `{}`: its space differs",
            problem.source_file().path.display(),
            run.display()
        );
        return Err(Error::request(text, Some("name the problem with --problem FILE".to_string())));
    }
    let extras = Extras { energy: metric.needs_energy(), counters: false };
    let mut runner = Runner::open(&problem, &space, &device, &how.machine, extras, Arc::new(SystemClock::new()))?;
    let id = |places: Vec<u32>| {
        let id = space.rank_indices(&indices_of(&space, &trials.values(&places))?)?;
        Some((places, id))
    };
    let ends = [default.clone(), winner.clone()].into_iter();
    let subjects: Vec<(Vec<u32>, ConfigId)> = ends.chain(one_at_a_time(default, winner)).filter_map(id).collect();
    let ids: Vec<ConfigId> = subjects.iter().map(|(_, id)| *id).collect();
    let objective = MetricObjective::new(metric, &space);
    let Some(measured) = measured(&mut runner, &objective, &ids, &how.interrupt)? else { return Ok(false) };
    scores.forget();
    for ((places, _), score) in subjects.into_iter().zip(measured) {
        if let Some(score) = score {
            scores.measured(places, score);
        }
    }
    Ok(true)
}

/// Returns the median score of each of `ids`, or `None` for one that fails or has none. Returns `None` if
/// interrupted.
fn measured(
    runner: &mut Runner<'_>,
    objective: &MetricObjective,
    ids: &[ConfigId],
    interrupt: &Interrupt,
) -> Result<Option<Vec<Option<f64>>>, Error> {
    if !runner.prepare(interrupt)? {
        return Ok(None);
    }
    let scores = |id: ConfigId, completion: Completion| {
        completion.failure.is_none().then(|| objective.samples(id, &completion.measurement).ok()).flatten()
    };
    let mut samples: Vec<Option<Vec<f64>>> = Vec::new();
    for id in ids {
        runner.evaluator().submit(Request::timed(*id))?;
        let Some(completion) = runner.evaluator().next(interrupt)? else { return Ok(None) };
        samples.push(scores(*id, completion));
    }
    for _ in 0..ROUNDS {
        for (id, known) in ids.iter().zip(&mut samples).filter(|(_, known)| known.is_some()) {
            let Some(completion) = runner.evaluator().resample(*id, SAMPLES, interrupt)? else { return Ok(None) };
            *known = scores(*id, completion).zip(known.take()).map(|(new, known)| [known, new].concat());
        }
    }
    Ok(Some(samples.iter().map(|scores| statistics::median(scores.as_ref()?)).collect()))
}
