//! `tunesmith explain`.

use super::estimate::interval_text;
use super::{Tuned, command, interrupt, interruptible_machine, journal, pairs};
use crate::args::ExplainArgs;
use crate::{Ending, output};
use serde::Serialize;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use tunesmith::core::RunState;
use tunesmith::cost::{Resource, Roof};
use tunesmith::report::{
    BottleneckPage, ExplanationPage, ModelledTime, NextStep, ParameterEffect, RoofPage, Standing, amount, count,
    counted, milliseconds,
};
use tunesmith::space::{Value, lookup};
use tunesmith::store;
use tunesmith::why::Advice;
use tunesmith::{
    Error, Problem,
    cost::EstimatedInterval,
    explain::{ExplainOptions, Explained, Explanation, MeasureOptions},
    study::{CounterExplanation, Effect},
};

pub(crate) fn explain(args: &ExplainArgs) -> Result<Ending, Error> {
    let run = journal(&args.run)?;
    let (options, measure) = (options(args, &run)?, args.measure.then(|| measure(args)).transpose()?);
    let Some(explanation) = tunesmith::explain::explain(&options, measure.as_ref())? else {
        return Ok(Ending::Interrupted);
    };
    let is_about_counters = args.config.is_some() || args.model.is_some();
    if args.json {
        output::json(&Document::new(&run, &explanation));
    } else if let Some(counters) = explanation.counters.as_ref().filter(|_| is_about_counters) {
        let time = counters.time_ms.map(|time| format!("  {}", milliseconds(time))).unwrap_or_default();
        output::print(&format!("{}{time}\n{}", counters.arguments(), page(counters)));
    } else {
        output::print(&text(&run, &explanation));
    }
    Ok(if explanation.correct == 0 { Ending::NothingCorrect } else { Ending::Done })
}

fn options(args: &ExplainArgs, run: &Path) -> Result<ExplainOptions, Error> {
    Ok(ExplainOptions {
        run: run.to_path_buf(),
        config: pairs(&args.config),
        model: args.model.clone(),
        on: args.on.clone(),
        problem: args.problem.clone(),
    })
}

fn measure(args: &ExplainArgs) -> Result<MeasureOptions, Error> {
    let interrupt = interrupt();
    let machine = interruptible_machine(args.device.as_deref(), &interrupt)?;
    Ok(MeasureOptions { machine, interrupt })
}

/// The JSON document: a contract with other programs. See docs/explain.md.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    explanation: &'a Explanation,
    next: Vec<Step>,
}

#[derive(Serialize)]
struct Step {
    reason: String,
    command: Option<String>,
}

impl<'a> Document<'a> {
    fn new(run: &Path, explanation: &'a Explanation) -> Self {
        let steps = next(run, explanation).into_iter();
        Self { explanation, next: steps.map(|NextStep { reason, command }| Step { reason, command }).collect() }
    }
}

/// Returns the explanation of a run as text.
fn text(run: &Path, explanation: &Explanation) -> String {
    let Explanation { evaluations, correct, .. } = explanation;
    let space = explanation.space_size.as_ref().map(|size| format!(" of {}", counted(count(size), "configuration")));
    let evaluated = counted(count(&evaluations.to_string()), "evaluation");
    let title = format!(
        "{}: {evaluated}{}, {} correct",
        explanation.problem,
        space.unwrap_or_default(),
        count(&correct.to_string())
    );
    let standing = explanation.best.as_ref().map(|best| standing(best, explanation));
    // Without a correct configuration nothing is near the optimum.
    let within = explanation.left.iter().filter(|_| standing.is_some()).flat_map(|left| &left.within);
    let bottlenecks = explanation.counters.iter().flat_map(|counters| &counters.bottlenecks);
    ExplanationPage {
        title: &title,
        standing: standing.as_ref(),
        importance: &explanation.importance,
        among_best: explanation.among_best.as_ref(),
        changes: &explanation.changes,
        code: &explanation.code,
        failures: &explanation.failures,
        cut: explanation.cut.as_ref(),
        within: &within.map(|claim| (claim.regret, claim.probability)).collect::<Vec<_>>(),
        bottlenecks: &bottlenecks.map(|found| (found.name.to_string(), found.share)).collect::<Vec<_>>(),
        roof: explanation.roof.as_ref().map(roof).as_ref(),
        next: &next(run, explanation),
    }
    .render()
}

/// Returns what the page says about a loop nest.
fn roof(roof: &Roof) -> RoofPage {
    let time =
        |ms: f64, interval: Option<&EstimatedInterval>| ModelledTime { ms, interval: interval.map(interval_text) };
    let used = roof.modelled.as_ref();
    // What would round to 0 % only fills the line.
    let resources = used.into_iter().flat_map(|used| &used.resources).filter(|own| own.share >= 0.005);
    let properties =
        used.into_iter().flat_map(|used| used.terms.iter().map(move |term| (term, term.time_ms / used.time_ms)));
    RoofPage {
        resources: resources.map(|own| (resource(own.resource).to_string(), own.share)).collect(),
        properties: properties.map(|(term, share)| (term.property.to_string(), share)).collect(),
        modelled: used.map(|used| time(used.time_ms, used.interval.as_ref())),
        limit: roof.limit.as_ref().map(|limit| (time(limit.time_ms, None), limit.share)),
        work: roof.work.map(|work| [(work.operations, work.gflops), (work.bytes, work.gbytes)]),
        notes: roof.notes.clone(),
    }
}

/// Returns what people call a resource.
fn resource(resource: Resource) -> &'static str {
    match resource {
        Resource::Memory => "memory",
        Resource::Compute => "arithmetic",
        Resource::Latency => "waiting for results",
        Resource::Overhead => "launches and barriers",
    }
}

fn standing(best: &Explained, explanation: &Explanation) -> Standing {
    let objective = &explanation.objective;
    let text = |explained: &Explained| amount(explained.value, objective);
    Standing {
        objective: objective.clone(),
        time_ms: best.time_ms,
        ci95_ms: best.ci95_ms,
        config: best.arguments(),
        default: explanation.default.as_ref().map(text).zip(best.gain),
        value: objective.beside_time(text(best)),
        is_better: explanation.better_than_default,
        ties: explanation.ties.len(),
        not_compared: explanation.not_compared.len(),
        end: explanation.state.and_then(RunState::remark).map(str::to_string),
    }
}

/// Returns what to try next, with commands as a shell takes them.
fn next(run: &Path, explanation: &Explanation) -> Vec<NextStep> {
    let recorded = Recorded::new(run);
    let (tuned, run) = (recorded.as_ref().map(Recorded::tuned), run.to_string_lossy());
    let again = |subcommand: &str, more: &[&str]| tuned.as_ref().map(|tuned| tuned.again(subcommand, more));
    let step = |advice: &Advice| {
        let command = match advice {
            Advice::Diagnose { .. } => again("check", &[]),
            Advice::GoOn { evaluations, .. } => {
                let stop = format!("evaluations {evaluations}");
                again("tune", &["--out", &run, "--resume", "--stop", &stop])
            }
            Advice::Quieten { .. } => again("run", &["--best", &run]),
            Advice::Choose { ties } => Some(command(["tunesmith", "top", &run, "-n", &(ties + 1).to_string()])),
            // A recording of another tool is no run of a problem.
            Advice::Ship if explanation.space_size.is_none() => None,
            Advice::Ship => Some(command(["tunesmith", "export", &run, "--as", "flags"])),
            Advice::Exclude { .. } | Advice::Extend { .. } | Advice::LeaveOut { .. } => None,
        };
        NextStep { reason: advice.to_string(), command }
    };
    explanation.next.iter().map(step).collect()
}

/// The problem of a run, as its command named it.
struct Recorded {
    /// The file.
    problem: PathBuf,
    /// The sizes that differ from those of the file, as `--size` takes them.
    sizes: Option<String>,
    /// The device, as `--device` takes it, if it was a formula.
    device: Option<String>,
}

impl Recorded {
    /// Returns the problem beside the journal `run`, if there is one.
    fn new(run: &Path) -> Option<Self> {
        let header = store::read_header(run).ok()?;
        let file = tunesmith::recorded::beside(run);
        let problem = Problem::load(&file, &[]).ok()?;
        let written = |name: &str| lookup(problem.spec().sizes(), name);
        let differs = |(name, json): &(&String, &Json)| written(name) != Value::of_document(*json);
        let sizes: Vec<String> =
            header.sizes.iter().filter(differs).map(|(name, json)| format!("{name}={json}")).collect();
        let sizes = (!sizes.is_empty()).then(|| sizes.join(","));
        let device = header.identity.get("device").and_then(Json::as_str);
        let device = device.filter(|name| name.starts_with("synthetic:")).map(str::to_string);
        Some(Self { problem: file, sizes, device })
    }

    fn tuned(&self) -> Tuned<'_> {
        Tuned { problem: &self.problem, sizes: self.sizes.as_deref(), device: self.device.as_deref() }
    }
}

/// Returns the explanation of counters as text.
pub(super) fn page(explanation: &CounterExplanation) -> String {
    let named = |pairs: &[(String, f64)]| pairs.to_vec();
    let effect = |effect: &Effect| ParameterEffect {
        change: format!("{} {} -> {}", effect.parameter, effect.from, effect.to),
        score: effect.score,
        counters: effect.counters.iter().map(|(name, share)| ((*name).to_string(), *share)).collect(),
        time: effect.time_ms.map(milliseconds),
    };
    let bottlenecks = explanation.bottlenecks.iter();
    let wanted = explanation.wanted.iter();
    BottleneckPage {
        bottlenecks: bottlenecks.map(|found| (found.name.to_string(), found.share, named(&found.counters))).collect(),
        wanted: wanted.map(|wanted| (wanted.counter.to_string(), wanted.change)).collect(),
        parameters: explanation.parameters.iter().map(effect).collect(),
        notes: explanation.notes.clone(),
    }
    .render()
}
