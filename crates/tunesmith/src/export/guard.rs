//! Guards an export: first measures every choice in turn with the default configuration, so that
//! only faster ones ship.

use crate::tune::{JournalOptions, Search, Session, TuningTask, tune};
use crate::{Error, Outcome, Problem};
use std::collections::HashMap;
use std::path::Path;
use tunesmith_choose::wisdom::{
    Config, Entry, Input, Measured, Portfolio, PortfolioOptions, Provenance, Rules, TreeOptions,
};
use tunesmith_core::{Interrupt, Stop, Target};
use tunesmith_device::Machine;
use tunesmith_export::Guarded;
use tunesmith_space::Value;
use tunesmith_study::gathered::config;
use tunesmith_study::outcome::Candidate;

/// Options for guarding choices.
#[derive(Clone, Debug, Default)]
pub struct GuardOptions {
    /// The machine that measures the choices.
    pub machine: Machine,
    /// Raised to end it.
    pub interrupt: Interrupt,
}

/// Options of a tree that may single out one input: a refusal concerns that input alone.
const EVERY_INPUT: TreeOptions = TreeOptions { depth: 12, leaf: 1, gain: 0.0 };

/// The guarded configurations of a kernel on a device.
pub(super) struct Remaining {
    pub(super) portfolio: Portfolio,
    pub(super) entries: Vec<Entry>,
    pub(super) guarded: Guarded,
}

/// The guard of one kernel on one device.
pub(super) struct Guard<'a> {
    pub(super) kernel: &'a str,
    pub(super) device: &'a str,
    pub(super) options: &'a GuardOptions,
    pub(super) problem: &'a Path,
    /// The exported file. The journals of the measurements go beside it.
    pub(super) out: &'a Path,
    pub(super) measured: Measured,
    /// Number of the default configuration.
    pub(super) default: usize,
    /// The speed-up of a confirmed choice, by input and configuration; `None` if it was refused.
    pub(super) verdicts: HashMap<(usize, usize), Option<f64>>,
}

impl Guard<'_> {
    /// Guards every choice until all are confirmed or the default. Returns the fastest
    /// configuration of each input and the portfolio's configurations, or `None` when interrupted.
    ///
    /// If the fastest configuration of an input is refused, all its others go with it, since they
    /// were slower. If the portfolio's choice is refused, it goes alone and the portfolio is chosen
    /// anew. Every choice is measured once, so that this ends.
    pub(super) fn run(mut self, how: PortfolioOptions) -> Result<Option<Remaining>, Error> {
        let how = PortfolioOptions { tree: EVERY_INPUT, always: Some(self.default), rules: Rules::Tree, ..how };
        loop {
            let portfolio = Portfolio::new(self.kernel, self.device, &self.measured, how)
                .map_err(|error| Error::request(error.to_string(), None))?;
            let open = self.open(&portfolio);
            if open.is_empty() {
                return Ok(Some(self.remaining(portfolio)));
            }
            for (input, choice) in open {
                let Some(verdict) = self.measure(input, choice)? else { return Ok(None) };
                self.judge(input, choice, verdict);
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

    /// Tunes two configurations, the default and the choice. A search of two evaluations ends with
    /// the interleaved final re-measurement, as every search does. Returns `None` when interrupted.
    fn measure(&self, input: usize, choice: usize) -> Result<Option<Outcome>, Error> {
        let sizes: Vec<(String, Value)> = sizes(&self.measured.inputs[input]);
        let problem = Problem::load(self.problem, &sizes)?;
        let start =
            self.measured.configs[choice].iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
        let search = Search {
            strategy: Some("random".parse()?),
            stop: Some(Stop::evaluations(2)),
            objective: Some(Target::default()),
            start,
            ..Search::default()
        };
        let journal = JournalOptions { out: Some(self.out.with_extension("guard.jsonl")), ..JournalOptions::default() };
        let mut session = Session { interrupt: self.options.interrupt.clone(), ..Session::default() };
        let task = TuningTask::new(&problem).machine(self.options.machine.clone()).search(search).journal(journal);
        let outcome = tune(&task, &mut session)?;
        if self.options.interrupt.is_raised() {
            return Ok(None);
        }
        if ![self.device.to_string(), format!("command ({})", self.device)].contains(&outcome.device) {
            let text = format!("the runs were made on `{}`, but this device is `{}`", self.device, outcome.device);
            let remedy = "guard on the device of the runs, or name it with --device";
            return Err(Error::request(text, Some(remedy.to_string())));
        }
        Ok(Some(outcome))
    }

    /// Keeps a confirmed choice with the times of the guard, and drops a refused one.
    fn judge(&mut self, input: usize, choice: usize, outcome: Outcome) {
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

/// Adds the default configuration to the measurements if it is missing, and returns its number.
pub(super) fn with_default(measured: &mut Measured, default: &Config) -> usize {
    if let Some(number) = measured.configs.iter().position(|config| config == default) {
        return number;
    }
    measured.configs.push(default.clone());
    measured.times_ms.iter_mut().for_each(|times| times.push(None));
    measured.configs.len() - 1
}

/// Returns sizes as a problem takes them: whole numbers as integers.
pub(super) fn sizes(input: &Input) -> Vec<(String, Value)> {
    input.iter().map(|(name, size)| (name.clone(), Value::of_number(*size))).collect()
}
