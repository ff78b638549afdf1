//! `tunesmith calibrate`.

use super::{interrupt, interruptible_machine};
use crate::args::CalibrateArgs;
use crate::{Ending, output};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use tunesmith::core::{Interrupt, SystemClock};
use tunesmith::cost::{CostModel, CostProperty, DeviceFile};
use tunesmith::report::{counted, milliseconds};
use tunesmith::{
    Error, Machine,
    cost::{CalibrateOptions, CalibrationStep, Judgement},
};

pub(crate) fn calibrate(args: &CalibrateArgs) -> Result<Ending, Error> {
    let interrupt = interrupt();
    let machine = interruptible_machine(Some(&args.device), &interrupt)?;
    let options = CalibrateOptions { machine, out: args.out.clone(), limit: args.minutes, own: args.own.clone() };
    let clock = Arc::new(SystemClock::new());
    let mut show = |step: &CalibrationStep<'_>| {
        if !args.quiet {
            output::note(&progress(step));
        }
    };
    let Some(calibration) = tunesmith::cost::calibrate(&options, clock.clone(), &interrupt, &mut show)? else {
        output::note("interrupted; the same command continues");
        return Ok(Ending::Interrupted);
    };
    calibration.notes.iter().for_each(|note| output::note(&format!("warning: {note}")));
    let judgement = judged(args, &calibration.file, &options.machine, clock, &interrupt, &mut show)?;
    if args.json {
        output::json(&document(args, &calibration.file, &calibration.notes, judgement.as_ref()));
    } else {
        output::print(&text(&calibration.file, judgement.as_ref()));
        output::print(&format!("wrote {}\n", args.out.display()));
    }
    Ok(Ending::Done)
}

fn judged(
    args: &CalibrateArgs,
    file: &DeviceFile,
    machine: &Machine,
    clock: Arc<SystemClock>,
    interrupt: &Interrupt,
    show: &mut dyn FnMut(&CalibrationStep<'_>),
) -> Result<Option<Judgement>, Error> {
    if args.judge { Ok(Judgement::of(file, machine, clock, interrupt, show)?) } else { Ok(None) }
}

fn progress(step: &CalibrationStep<'_>) -> String {
    let time = step.seconds.map_or_else(|| "left out".to_string(), |seconds| milliseconds(seconds * 1e3));
    format!("{:4}  {} of size {}: {time}", step.measured, step.kernel, step.size)
}

fn document(args: &CalibrateArgs, file: &DeviceFile, notes: &[String], judgement: Option<&Judgement>) -> Json {
    json!({
        "kind": "device",
        "device": file.provenance.device,
        "cases": file.cases.len(),
        "noise": file.provenance.noise,
        "models": file.models,
        "judgement": judgement,
        "notes": notes,
        "out": args.out,
    })
}

fn text(file: &DeviceFile, judgement: Option<&Judgement>) -> String {
    let about = &file.provenance;
    let launch = milliseconds(about.launch_seconds * 1e3);
    let mut text = format!(
        "{} ({}): {}, a launch takes {launch}\n",
        about.device,
        about.backend,
        counted(file.cases.len(), "case")
    );
    file.models.iter().for_each(|model| text += &model_text(model));
    text + &judgement.map(judgement_text).unwrap_or_default()
}

/// Returns the weights, as in the paper's Table 2, and the errors of the model on the data it was
/// fitted to.
fn model_text(model: &CostModel) -> String {
    let (form, exponent, terms) = (model.form.name(), model.exponent, model.terms.len());
    let units = if model.units > 1.0 { format!(", {} compute units", model.units) } else { String::new() };
    let mut text = format!("\nmodel `{form}`, exponent {exponent}{units}, rank {} of {terms}\n", model.rank);
    for term in &model.terms {
        let spread = term.spread.map_or_else(|| "one kernel".to_string(), |spread| format!("+- {spread:.1e}"));
        let rate = if term.weight > 0.0 { format!("{:10.3e} /s", 1.0 / term.weight) } else { String::new() };
        text += &format!("  {:<28} {:>10.3e} s  {spread:<12} {rate}\n", term.property, term.weight);
    }
    for merged in &model.merged {
        text += &format!("  indistinguishable: {}\n", listed(merged));
    }
    for dependent in &model.dependent {
        text += &format!("  {} is a sum of {}\n", dependent.property, listed(&dependent.on));
    }
    if let Some(reach) = &model.reach {
        let (percent, factor) = (reach.coverage * 100.0, reach.factor(0.0));
        text += &format!("  {percent:.0} % of {} nests left out were within a factor of {factor:.2}\n", reach.nests);
    }
    for (class, residual) in &model.residuals {
        let (mean, largest) = (residual.mean * 100.0, residual.largest * 100.0);
        text += &format!("  {class:<20} {:4} cases missed by {mean:5.1} %, at most {largest:6.1} %\n", residual.cases);
    }
    text
}

/// Returns the properties as a list.
fn listed(properties: &[CostProperty]) -> String {
    properties.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns the predicted and measured times, as in the paper's Table 1.
fn judgement_text(judgement: &Judgement) -> String {
    let mut text = String::from("\ntest kernels, in ms\n");
    let forms: Vec<&str> = judgement.mean.keys().copied().collect();
    let columns =
        |number: &dyn Fn(&str) -> String| forms.iter().map(|form| format!("{:>12}", number(form))).collect::<String>();
    text += &format!("  {:<36}{:>12}{}\n", "", "measured", columns(&|form: &str| form.to_string()));
    for own in &judgement.kernels {
        let name = format!("{} of size {}", own.kernel, own.size);
        let predicted = columns(&|form: &str| format!("{:.4}", own.predicted_ms[form]));
        text += &format!("  {name:<36}{:>12.4}{predicted}\n", own.measured_ms);
    }
    let summaries =
        [("geometric mean of errors", &judgement.mean), ("median", &judgement.median), ("largest", &judgement.largest)];
    for (name, errors) in summaries {
        text += &format!("  {name:<48}{}\n", columns(&|form: &str| format!("{:.1} %", errors[form] * 100.0)));
    }
    let within =
        |form: &str| judgement.within.get(form).map_or_else(String::new, |own| format!("{:.1} %", own * 100.0));
    text + &format!("  {:<48}{}\n", "within their intervals", columns(&within))
}
