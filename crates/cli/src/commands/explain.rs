//! `tunesmith explain`.

use super::pairs;
use crate::args::ExplainArgs;
use crate::{Ending, output};
use tunesmith::report::{BottleneckPage, ParameterEffect, milliseconds};
use tunesmith::{Effect, Error, ExplainOptions, Explanation};

pub(crate) fn explain(args: &ExplainArgs) -> Result<Ending, Error> {
    let options = ExplainOptions { run: args.run.clone(), config: pairs(&args.config), model: args.model.clone() };
    let explanation = tunesmith::explain(&options)?;
    if args.json {
        output::json(&explanation);
    } else {
        let time = explanation.time_ms.map(|time| format!("  {}", milliseconds(time))).unwrap_or_default();
        output::print(&format!("{}{time}\n{}", explanation.arguments(), page(&explanation)));
    }
    Ok(Ending::Done)
}

/// Returns the explanation as text.
pub(super) fn page(explanation: &Explanation) -> String {
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
