//! Judges choices at fresh sizes before they ship.

use super::turns::{Duels, GuardOptions};
use crate::{Error, Problem, Selector};
use std::path::PathBuf;
use tunesmith_choose::wisdom::{Config, Input, Measured, Portfolio};
use tunesmith_choose::{Judgement, TimingModel};
use tunesmith_export::for_all_inputs;
use tunesmith_study::fresh::{JudgedChooser, judge};
use tunesmith_study::guard::{default_alone, is_on};

/// Returns the portfolio with its judgement, or the default alone if its choices are not faster. A build takes the
/// one configuration for all inputs of `is_single` forms. Returns `None` when interrupted.
pub(super) fn judged(
    portfolio: Portfolio,
    (measured, default): (Measured, &Config),
    is_single: bool,
    duels: &Duels<'_>,
    seed: u64,
) -> Result<Option<Portfolio>, Error> {
    let single = for_all_inputs(std::slice::from_ref(&portfolio))?.1;
    let choose = |input: &Input| Some(if is_single { single } else { portfolio.choose(input) }.clone());
    let (device, made_from) = (portfolio.device.as_str(), measured.inputs.as_slice());
    let chooser = JudgedChooser { device, default, choose: &choose, made_from, measured: &[], seed };
    let problem = Problem::load(&duels.problem, &[])?;
    let judgement = judge(&chooser, &problem, &mut |input, config| duels.measure(input, config))?;
    let Some(judgement) = judgement else { return Ok(None) };
    let ships = match judgement.is_faster() {
        true => portfolio,
        false => default_alone((&portfolio.kernel, &portfolio.device), measured, default)?,
    };
    Ok(Some(Portfolio { judgement: Some(judgement), ..ships }))
}

/// A timing model to judge.
#[derive(Clone, Debug)]
pub struct JudgeModelOptions {
    /// The file of the model, which receives the judgement.
    pub model: PathBuf,
    /// The problem of the recordings.
    pub problem: PathBuf,
    /// The inputs that the model was fitted to.
    pub made_from: Vec<Input>,
    /// The inputs that were held out.
    pub held_out: Vec<Input>,
    /// The machine that measures.
    pub measuring: GuardOptions,
    /// The seed of the draw of sizes.
    pub seed: u64,
}

/// Measures the choices of a timing model in turn with its reference at fresh sizes, and writes the judgement into its
/// file. The journals lie beside it. Returns `None` when interrupted; the file then says that nobody judged it.
///
/// # Errors
/// The model cannot be read or written, the device is not one of the model's, there are no fresh sizes, or nothing
/// could be compared.
pub fn judge_model(options: &JudgeModelOptions) -> Result<Option<Judgement>, Error> {
    let model = TimingModel::read(&options.model)?;
    let problem = Problem::load(&options.problem, &[])?;
    let journal = options.model.with_extension("judge.jsonl");
    let duels = Duels { problem: options.problem.clone(), options: &options.measuring, journal };
    let device = device_of(&model, &duels, options.made_from.first())?;
    let Some(device) = device else { return Ok(None) };
    let (selector, reference) = (Selector::default().with_model(&model), model.reference());
    let choose = |input: &Input| {
        let sizes: Vec<(&str, f64)> = input.iter().map(|(name, size)| (name.as_str(), *size)).collect();
        selector.select(model.problem(), &device, &sizes).map(|choice| choice.config.clone())
    };
    let chooser = JudgedChooser {
        device: &device,
        default: &reference,
        choose: &choose,
        made_from: &options.made_from,
        measured: &options.held_out,
        seed: options.seed,
    };
    let judgement = judge(&chooser, &problem, &mut |input, config| duels.measure(input, config))?;
    let Some(judgement) = judgement else { return Ok(None) };
    let text = model.with_judgement(judgement.clone()).to_json();
    tunesmith_files::replace(&options.model, text).map_err(Error::write(&options.model))?;
    Ok(Some(judgement))
}

/// Returns the name of the device that measures, as the model knows it: its only one, or the one that measures the
/// default. Returns `None` when interrupted.
fn device_of(model: &TimingModel, duels: &Duels<'_>, input: Option<&Input>) -> Result<Option<String>, Error> {
    if let [only] = model.devices() {
        return Ok(Some(only.name.clone()));
    }
    let Some(outcome) = duels.measure(input.unwrap_or(&Input::new()), None)? else { return Ok(None) };
    let known = model.devices().iter().find(|known| is_on(&known.name, &outcome));
    let refuse = || {
        let text = format!("the model does not know the device `{}`", outcome.device);
        Error::request(text, Some("judge it on a device of its recordings (--device)".to_string()))
    };
    known.map(|known| Some(known.name.clone())).ok_or_else(refuse)
}
