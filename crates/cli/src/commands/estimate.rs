//! `tunesmith estimate`.

use super::{load, pairs};
use crate::args::{EstimateArgs, ProblemArgs};
use crate::{Ending, output};
use tunesmith::core::Refusal;
use tunesmith::report::{count, counted, milliseconds};
use tunesmith::{
    Error,
    cost::{
        CorrectionKind, EstimateBasis, EstimateOptions, EstimateSpaceOptions, EstimatedInterval, EstimatedNest,
        EstimatedSpace,
    },
};

pub(crate) fn estimate(args: &EstimateArgs) -> Result<Ending, Error> {
    let is_nest = args.kernel.extension().is_some_and(|extension| extension == "nest");
    if is_nest { one(args) } else { several(args) }
}

/// Estimates a nest at given sizes.
fn one(args: &EstimateArgs) -> Result<Ending, Error> {
    if args.out.is_some() {
        let text = "`-o` takes the estimates of a problem's configurations, and this is a nest alone".to_string();
        let remedy = Some("name a problem that has the nest as its kernel (`.toml`)".to_string());
        return Err(Error::from(Refusal { text, remedy }));
    }
    let options = EstimateOptions {
        kernel: args.kernel.clone(),
        on: args.on.clone(),
        sizes: pairs(&args.size),
        form: args.form.clone(),
        measured: args.measured.clone(),
    };
    let estimated = tunesmith::cost::estimate(&options)?;
    estimated.warnings.iter().for_each(|warning| output::note(&format!("warning: {warning}")));
    if args.json {
        output::json(&estimated);
    } else {
        output::print(&text(&estimated));
    }
    Ok(Ending::Done)
}

/// Estimates the configurations of a problem.
fn several(args: &EstimateArgs) -> Result<Ending, Error> {
    let problem = load(&ProblemArgs { problem: args.kernel.clone(), size: args.size.clone() })?;
    let options = EstimateSpaceOptions {
        on: args.on.clone(),
        form: args.form.clone(),
        count: args.count,
        measured: args.measured.clone(),
        out: args.out.clone(),
    };
    let estimated = tunesmith::cost::estimate_space(&problem, &options)?;
    estimated.notes.iter().for_each(|note| output::note(note));
    if args.json {
        output::json(&estimated);
    } else {
        output::print(&listed(&estimated));
    }
    Ok(Ending::Done)
}

fn listed(space: &EstimatedSpace) -> String {
    let (estimated, size) = (count(&space.estimated.to_string()), counted(count(&space.space_size), "configuration"));
    let mut text = format!(
        "{}: {estimated} of {size} estimated, for {} in {} (model `{}`)\n",
        space.problem, space.device, space.backend, space.form
    );
    if let Some((limit, bound)) = space.limit_ms.zip(space.limit_bound) {
        text += &format!("{:>10}  modelled limit: no configuration does {bound} faster\n", milliseconds(limit));
    }
    text += &basis(space.measured.as_ref());
    for config in &space.best {
        let interval = config.interval.map_or_else(String::new, |own| format!("  {:<20}", range(&own)));
        let outside = if config.outside.is_empty() { "" } else { "  (outside of what was measured)" };
        text += &format!("{:>10}{interval}  {}{outside}\n", milliseconds(config.time_ms), config.arguments());
    }
    text
}

/// Returns the line about the measurements that corrected an estimate.
fn basis(measured: Option<&EstimateBasis>) -> String {
    let Some(EstimateBasis { files, measurements, kind, factor }) = measured else { return String::new() };
    let files: Vec<String> = files.iter().map(|file| format!("`{}`", file.display())).collect();
    let factor = factor.map(|factor| format!(" by {factor:.3}")).unwrap_or_default();
    let kind = match kind {
        CorrectionKind::Factor => "scaled",
        CorrectionKind::Fit => "corrected, as their counts tell,",
    };
    format!("{kind}{factor} from {} in {}\n", counted(*measurements as u64, "measurement"), files.join(", "))
}

/// Returns an interval with its probability.
pub(super) fn interval_text(interval: &EstimatedInterval) -> String {
    format!("{:.0} %: {}", interval.coverage * 100.0, range(interval))
}

fn range(interval: &EstimatedInterval) -> String {
    let low = milliseconds(interval.low_ms);
    interval.high_ms.map_or_else(|| format!("at least {low}"), |high| format!("{low} to {}", milliseconds(high)))
}

fn text(estimated: &EstimatedNest) -> String {
    let EstimatedNest { device, backend, form, .. } = estimated;
    let is_measured = estimated.interval.is_none_or(|interval| interval.high_ms.is_some());
    let (time, least) = (milliseconds(estimated.time_ms), if is_measured { "" } else { "more than " });
    let interval = estimated.interval.map_or_else(String::new, |own| format!(", {}", interval_text(&own)));
    let mut text = format!("{least}{time} on {device} in {backend} (model `{form}`{interval})\n");
    text += &basis(estimated.measured.as_ref());
    for term in &estimated.terms {
        let share = 100.0 * term.time_ms / estimated.time_ms;
        text += &format!("{share:6.1} %  {:<28} {:>12.4e} x {:.3e} s\n", term.property, term.count, term.weight);
    }
    text
}
