//! Explains a recorded run.

mod counters;
mod options;
mod roof;

pub use options::ExplainOptions;

use crate::outcome::arguments;
use crate::top::{TopConfig, state, top_of};
use crate::{CounterExplanation, Error, JudgedRun, Left, is_configuration, space_of_journal, trials, values_of};
use serde::Serialize;
use serde_json::{Map, Value as Json};
use tunesmith_core::{Gain, Objective, Recording, RunState, statistics};
use tunesmith_cost::Roof;
use tunesmith_explain::{
    Advice, AmongBest, Change, CodeNumber, CutCause, Facts, FailureCause, Importance, Scores, Surrogate, Trials,
    advice, among_best, changes, code, cut_cause, failure_causes, importance, serialize_known_gain,
};
use tunesmith_problem::Metric;
use tunesmith_store::{Header, Journal, Outline};

/// The explanation of a run. It is also the JSON document of `explain`, but for [`next`](Self::next).
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The name of the problem or of the recording.
    pub problem: String,
    /// The objective of the run.
    pub objective: Objective,
    /// Number of evaluations.
    pub evaluations: usize,
    /// Number of correct ones.
    pub correct: usize,
    /// The number of configurations in decimal, if it is known.
    pub space_size: Option<String>,
    /// The best configuration.
    pub best: Option<Explained>,
    /// The configuration that speed-ups refer to, if it was correct.
    pub default: Option<Explained>,
    /// True if the best is better than the default beyond doubt.
    pub better_than_default: bool,
    /// The configurations that are indistinguishable from the best.
    pub ties: Vec<Explained>,
    /// The finalists that were measured too seldom to be compared with the best.
    pub not_compared: Vec<Explained>,
    /// The state in which the run ended. `None` if its record does not tell.
    #[serde(serialize_with = "state")]
    pub state: Option<RunState>,
    /// The importance of the parameters.
    #[serde(flatten)]
    pub importance: Importance,
    /// The values of the parameters among the best.
    pub among_best: Option<AmongBest>,
    /// The differences between the default and the best.
    pub changes: Vec<Change>,
    /// The resources that the compiled kernels use, if they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<CodeNumber>,
    /// The failures by kind, the commonest first.
    pub failures: Vec<FailureCause>,
    /// The configurations that limits from the best time cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutCause>,
    /// The speed that is probably left to find.
    pub left: Option<Left>,
    /// The next steps.
    #[serde(skip)]
    pub next: Vec<Advice>,
    /// The bottlenecks, if the run has counters.
    #[serde(flatten)]
    pub counters: Option<CounterExplanation>,
    /// The resource that bounds the best configuration and its distance from the modelled limit, if
    /// the kernel is a loop nest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roof: Option<Roof>,
}

/// A configuration of the run.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// Parameters and values.
    pub config: Map<String, Json>,
    /// The median time.
    pub time_ms: f64,
    /// A 95 % interval of the median, if there are samples.
    pub ci95_ms: Option<(f64, f64)>,
    /// The value of the objective.
    pub value: f64,
    /// The gain over the default, in the objective. In files, it is `ratio`, or `difference` where
    /// a ratio has no meaning.
    #[serde(flatten, serialize_with = "serialize_known_gain")]
    pub gain: Option<Gain>,
}

impl Explained {
    /// Returns the configuration in the form that `--config` takes.
    pub fn arguments(&self) -> String {
        arguments(&self.config)
    }
}

impl From<TopConfig> for Explained {
    fn from(config: TopConfig) -> Self {
        let TopConfig { config, time_ms, ci95_ms, value, gain, .. } = config;
        Self { config, time_ms, ci95_ms, value, gain }
    }
}

/// The two configurations whose differences are explained, as places of a run's [`Trials`].
pub struct Ends {
    /// The default.
    pub default: Vec<u32>,
    /// The winner.
    pub winner: Vec<u32>,
}

/// Measures what each change between the ends brings, for the run with this header, and adds it to the
/// scores. Returns false if interrupted.
pub type Measuring<'a> = dyn Fn(&Header, &Trials, &Ends, &mut Scores<'_>) -> Result<bool, Error> + 'a;

/// Explains the run of `options`. The effects of changes from the default are measured by `measure`, or
/// else predicted. Returns `None` if the measurements were interrupted.
///
/// # Errors
/// A file cannot be read, a named configuration has no counters, or the changes cannot be measured.
pub fn explain(options: &ExplainOptions, measure: Option<&Measuring<'_>>) -> Result<Option<Explanation>, Error> {
    let (recording, outline) = crate::read_recording_with_outline(&options.run)?;
    if outline.is_none() && (measure.is_some() || options.problem.is_some() || options.on.is_some()) {
        let text = format!("`{}` is no journal: nothing says how its configurations are run", options.run.display());
        return Err(Error::request(text, Some("leave --measure, --problem and --on out".to_string())));
    }
    let counters = counters::explain(options, &recording, outline.as_ref())?;
    let metric = match &outline {
        Some(outline) => Metric::recorded(outline.header.objective.as_ref()),
        None => crate::metric_of(&recording, &options.run)?,
    };
    let trials = trials(&recording, &metric);
    let standing = outline.as_ref().map_or_else(|| Standing::of_rows(&recording), Standing::of_journal);
    let space = outline.as_ref().and_then(|outline| space_of_journal(&outline.header, &recording));
    let model = Surrogate::fit(&trials);
    let is_valid = |places: &[u32]| match &space {
        Some(space) => is_configuration(space, &trials.values(places)),
        // What a recording lacks is no configuration. A journal may lack any.
        None => outline.is_some(),
    };
    let mut scores = Scores::new(&trials, model.as_ref(), &is_valid);
    let places = |explained: &Explained| trials.places(&values_of(recording.parameters(), &explained.config)?);
    let winner = standing.best.as_ref().and_then(places);
    let default = recording.context.reference.as_ref().and_then(|values| trials.places(values));
    let ends = default.zip(winner).map(|(default, winner)| Ends { default, winner });
    let header = outline.as_ref().map(|outline| &outline.header);
    if let (Some(measure), Some(ends), Some(header)) = (measure, &ends, header)
        && !measure(header, &trials, ends, &mut scores)?
    {
        return Ok(None);
    }
    let roof = match header.zip(standing.best.as_ref()) {
        Some((header, best)) => roof::explain(options, header, space.as_ref(), best)?,
        None => None,
    };
    let changes = ends.map(|ends| changes(&scores, &ends.default, &ends.winner)).unwrap_or_default();
    let left = space.as_ref().and_then(|space| Left::new(space, &recording, &trials));
    let found = importance(&trials, model.as_ref());
    let found = Found {
        objective: metric.objective().clone(),
        trials: &trials,
        importance: found,
        changes,
        left,
        counters,
        roof,
    };
    Ok(Some(standing.explanation(&recording, outline.as_ref(), found)))
}

/// The findings about a run.
struct Found<'a> {
    objective: Objective,
    trials: &'a Trials,
    importance: Importance,
    changes: Vec<Change>,
    left: Option<Left>,
    counters: Option<CounterExplanation>,
    roof: Option<Roof>,
}

/// The verdict on a run.
struct Standing {
    best: Option<Explained>,
    default: Option<Explained>,
    better_than_default: bool,
    ties: Vec<Explained>,
    not_compared: Vec<Explained>,
    state: Option<RunState>,
}

impl Standing {
    fn of_journal(outline: &Outline) -> Self {
        let judged = JudgedRun::new(outline);
        let (ties, open) = (judged.verdict.ties.len(), judged.verdict.not_compared.len());
        let top = top_of(&judged, 1 + ties + open);
        let default = outline.header.default.clone().zip(top.default_ms.zip(top.default_value));
        let mut configs = top.configs.into_iter().map(Explained::from);
        Self {
            best: configs.next(),
            default: default.map(|(config, (time_ms, value))| Explained {
                config,
                time_ms,
                ci95_ms: None,
                value,
                gain: None,
            }),
            better_than_default: top.better_than_default,
            ties: configs.by_ref().take(ties).collect(),
            not_compared: configs.collect(),
            state: judged.state(),
        }
    }

    /// Returns the verdict on a recording, whose rows were measured once: the one of the best score is the best.
    fn of_rows(recording: &Recording) -> Self {
        let best = recording.best().and_then(|(row, value)| Some((row, value, row.time_ms()?)));
        let best = best.map(|(row, value, time_ms)| {
            let pairs = recording.parameters().iter().zip(&row.values);
            let config = pairs.map(|(parameter, value)| (parameter.name().to_string(), Journal::value(value)));
            let ci95_ms = statistics::reported_interval(&row.measurement.times_ms);
            Explained { config: config.collect(), time_ms, ci95_ms, value, gain: None }
        });
        Self {
            best,
            default: None,
            better_than_default: false,
            ties: Vec::new(),
            not_compared: Vec::new(),
            state: None,
        }
    }

    fn explanation(self, recording: &Recording, outline: Option<&Outline>, found: Found<'_>) -> Explanation {
        let (best, failures) = (among_best(found.trials), failure_causes(found.trials));
        let space_size = outline.map(|outline| outline.header.space_size.clone());
        let values = |explained: &Explained| values_of(recording.parameters(), &explained.config);
        let [best_values, default_values] = [&self.best, &self.default].map(|found| found.as_ref().and_then(values));
        let facts = Facts {
            evaluations: recording.rows().len(),
            correct: recording.correct(),
            possible: match &space_size {
                Some(size) => size.parse().ok(),
                None => Some(recording.rows().len() as f64),
            },
            ties: self.ties.len(),
            spread: self
                .best
                .as_ref()
                .and_then(|best| best.ci95_ms.map(|(low, high)| (high - low) / 2.0 / best.time_ms)),
            near_optimum: found.left.as_ref().and_then(Left::near),
            is_default: self.default.as_ref().zip(self.best.as_ref()).is_some_and(|(a, b)| a.config == b.config),
            importance: &found.importance,
            best: best.as_ref(),
            failures: &failures,
        };
        Explanation {
            problem: recording.kernel.clone().unwrap_or_else(|| recording.name.clone()),
            objective: found.objective,
            evaluations: facts.evaluations,
            correct: facts.correct,
            next: advice(&facts),
            space_size,
            best: self.best,
            default: self.default,
            better_than_default: self.better_than_default,
            ties: self.ties,
            not_compared: self.not_compared,
            state: self.state,
            importance: found.importance,
            among_best: best,
            changes: found.changes,
            code: code(recording, best_values.as_deref(), default_values.as_deref()),
            failures,
            cut: cut_cause(found.trials),
            left: found.left,
            counters: found.counters,
            roof: found.roof,
        }
    }
}
