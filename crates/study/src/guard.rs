//! Guards an export: decides which choices ship, by measurements of each in turn with the default.

use crate::Error;
use crate::gathered::config;
use crate::outcome::{Candidate, Outcome};
use std::collections::HashMap;
use tunesmith_choose::wisdom::{
    Config, Entry, Input, Measured, Portfolio, PortfolioOptions, Provenance, Rules, TreeOptions,
};
use tunesmith_export::Guarded;

/// Measures a configuration in turn with the default for an input, or the default alone if there is none. Returns
/// `None` when interrupted.
pub type Turns<'a> = dyn FnMut(&Input, Option<&Config>) -> Result<Option<Outcome>, Error> + 'a;

/// Options of a tree that may single out one input: a refusal concerns that input alone.
const EVERY_INPUT: TreeOptions = TreeOptions { depth: 12, leaf: 1, gain: 0.0 };

/// The guarded configurations of a kernel on a device.
pub struct Remaining {
    /// Chooses among the confirmed configurations.
    pub portfolio: Portfolio,
    /// The fastest confirmed configuration of each input, or the default.
    pub entries: Vec<Entry>,
    /// The numbers of confirmed and refused choices.
    pub guarded: Guarded,
}

/// The guard of one kernel on one device.
pub struct Guard<'a> {
    kernel: &'a str,
    device: &'a str,
    measured: Measured,
    /// Number of the default configuration.
    default: usize,
    /// The speed-up of a confirmed choice, by input and configuration; `None` if it was refused.
    verdicts: HashMap<(usize, usize), Option<f64>>,
}

impl<'a> Guard<'a> {
    /// Guards the choices that are made from `measured`.
    pub fn new((kernel, device): (&'a str, &'a str), mut measured: Measured, default: &Config) -> Self {
        let default = with_default(&mut measured, default);
        Self { kernel, device, measured, default, verdicts: HashMap::new() }
    }

    /// Guards every choice until all are confirmed or the default. Returns the fastest
    /// configuration of each input and the portfolio's configurations, or `None` when interrupted.
    ///
    /// If the fastest configuration of an input is refused, all its others go with it, since they
    /// were slower. If the portfolio's choice is refused, it goes alone and the portfolio is chosen
    /// anew. Every choice is measured once, so that this ends.
    ///
    /// # Errors
    /// No portfolio can be made, a choice cannot be measured, or another device measured it.
    pub fn run(mut self, how: PortfolioOptions, turns: &mut Turns<'_>) -> Result<Option<Remaining>, Error> {
        let how = PortfolioOptions { tree: EVERY_INPUT, always: Some(self.default), rules: Rules::Tree, ..how };
        loop {
            let portfolio = portfolio((self.kernel, self.device), &self.measured, how)?;
            let open = self.open(&portfolio);
            if open.is_empty() {
                return Ok(Some(self.remaining(portfolio)));
            }
            for (input, choice) in open {
                let config = &self.measured.configs[choice];
                let Some(outcome) = turns(&self.measured.inputs[input], Some(config))? else { return Ok(None) };
                check_device(self.device, &outcome)?;
                self.judge(input, choice, &outcome);
            }
        }
    }

    /// Returns the choices that were not yet measured in turn with the default: the fastest of each
    /// input, and the portfolio's.
    fn open(&self, portfolio: &Portfolio) -> Vec<(usize, usize)> {
        let choices = (0..self.measured.inputs.len()).flat_map(|input| {
            let chosen = portfolio.choose(&self.measured.inputs[input]);
            let chosen = self.measured.configs.iter().position(|config| config == chosen);
            [self.fastest(input), chosen].into_iter().flatten().map(move |choice| (input, choice))
        });
        let mut open: Vec<(usize, usize)> =
            choices.filter(|choice| choice.1 != self.default && !self.verdicts.contains_key(choice)).collect();
        open.dedup();
        open
    }

    /// Returns the fastest configuration of an input over all files. It only proposes what to
    /// measure: each file's own verdict ranks its configurations.
    fn fastest(&self, input: usize) -> Option<usize> {
        let times = self.measured.times_ms[input].iter().enumerate();
        let times = times.filter_map(|(config, time)| Some((config, (*time)?)));
        times.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(config, _)| config)
    }

    /// Keeps a confirmed choice with the times of the guard, and drops a refused one.
    fn judge(&mut self, input: usize, choice: usize, outcome: &Outcome) {
        let is = |candidate: &Candidate, number: usize| config(&candidate.config) == self.measured.configs[number];
        let default_ms = outcome.default.as_ref().and_then(|default| default.time_ms);
        let best = outcome.best.as_ref().filter(|best| is(best, choice));
        // Against a default that fails, whatever is correct is better.
        let is_confirmed = outcome.better_than_default() || default_ms.is_none();
        let confirmed = best.filter(|_| is_confirmed).and_then(|best| best.time_ms);
        let is_fastest = self.fastest(input) == Some(choice);
        let times = &mut self.measured.times_ms[input];
        times[self.default] = default_ms;
        match confirmed {
            Some(time_ms) => times[choice] = Some(time_ms),
            None => times[choice] = None,
        }
        if confirmed.is_none() && is_fastest {
            let confirmed = |config: usize| self.verdicts.get(&(input, config)).is_some_and(Option::is_some);
            let others =
                times.iter_mut().enumerate().filter(|(config, _)| *config != self.default && !confirmed(*config));
            others.for_each(|(_, time)| *time = None);
        }
        let speedup = confirmed.map(|time_ms| default_ms.map_or(f64::INFINITY, |default| default / time_ms));
        self.verdicts.insert((input, choice), speedup);
    }

    fn remaining(self, portfolio: Portfolio) -> Remaining {
        let entry = |input: usize| {
            let number = self.fastest(input)?;
            let speedup = self.verdicts.get(&(input, number)).copied().flatten().filter(|speedup| speedup.is_finite());
            Some(Entry {
                kernel: self.kernel.to_string(),
                device: self.device.to_string(),
                input: self.measured.inputs[input].clone(),
                config: self.measured.configs[number].clone(),
                time_ms: self.measured.times_ms[input][number]?,
                provenance: Provenance {
                    tool: Some(format!("tunesmith {} export --guard", env!("CARGO_PKG_VERSION"))),
                    guarded_speedup: speedup,
                    ..Provenance::default()
                },
            })
        };
        let confirmed = self.verdicts.values().flatten().count();
        let guarded = Guarded { confirmed, refused: self.verdicts.len() - confirmed };
        Remaining { entries: (0..self.measured.inputs.len()).filter_map(entry).collect(), portfolio, guarded }
    }
}

/// Returns the portfolio of a kernel on a device that answers with the default for all inputs.
///
/// # Errors
/// Nothing was measured.
pub fn default_alone(of: (&str, &str), mut measured: Measured, default: &Config) -> Result<Portfolio, Error> {
    let default = with_default(&mut measured, default);
    measured.default = Some(default);
    let how = PortfolioOptions { most: 1, always: Some(default), rules: Rules::Tree, ..PortfolioOptions::default() };
    portfolio(of, &measured, how)
}

fn portfolio((kernel, device): (&str, &str), measured: &Measured, how: PortfolioOptions) -> Result<Portfolio, Error> {
    Portfolio::new(kernel, device, measured, how).map_err(|error| Error::request(error.to_string(), None))
}

/// Adds the default configuration to the measurements if it is missing, and returns its number.
fn with_default(measured: &mut Measured, default: &Config) -> usize {
    let known = measured.configs.iter().position(|config| config == default);
    let number = known.unwrap_or_else(|| {
        measured.configs.push(default.clone());
        measured.times_ms.iter_mut().for_each(|times| times.push(None));
        measured.configs.len() - 1
    });
    measured.default = Some(number);
    number
}

/// Returns true if the device of this name measured.
pub fn is_on(device: &str, outcome: &Outcome) -> bool {
    [device.to_string(), format!("command ({device})")].contains(&outcome.device)
}

/// Refuses a measurement on another device than `expected`, on which the runs were made.
pub(crate) fn check_device(expected: &str, outcome: &Outcome) -> Result<(), Error> {
    if is_on(expected, outcome) {
        return Ok(());
    }
    let text = format!("the runs were made on `{expected}`, but this device is `{}`", outcome.device);
    let remedy = "measure on the device of the runs, or name it with --device";
    Err(Error::request(text, Some(remedy.to_string())))
}
