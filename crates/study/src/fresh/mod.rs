//! Judges a chooser at fresh sizes: sizes that it covers, but was not made from.
//!
//! `sizes` draws them, and `speed` averages the speeds. The measurements come through [`Turns`]: each choice and the
//! default take turns, as they do in the final of a search.

mod sizes;
mod speed;

use crate::Error;
use crate::gathered::config;
use crate::guard::{Turns, check_device};
use crate::outcome::Outcome;
use sizes::{Known, fresh_sizes};
use speed::mean_speed;
use tunesmith_choose::Judgement;
use tunesmith_choose::wisdom::{Config, Input};
use tunesmith_problem::Problem;

/// Number of fresh sizes that judge a chooser. A chooser that gains 10 % on average is told from one that gains nothing
/// if its speeds spread by less than a fifth.
pub const FRESH_SIZES: usize = 20;

/// Maximum number of sizes that are tried for each that is compared. At the others, the default is not valid or fails.
const TRIED_FOR_EACH: usize = 3;

/// A chooser that answers for inputs that nobody measured.
pub struct JudgedChooser<'a> {
    /// The device that it chooses for, by name.
    pub device: &'a str,
    /// The configuration that it competes with.
    pub default: &'a Config,
    /// Returns its configuration for an input. Without one, the default answers.
    pub choose: &'a dyn Fn(&Input) -> Option<Config>,
    /// The inputs that it was made from. It covers what lies between them.
    pub made_from: &'a [Input],
    /// Further inputs that were measured, and are therefore not fresh.
    pub measured: &'a [Input],
    /// The seed of the draw.
    pub seed: u64,
}

/// The comparison of a choice with the default at one size.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SizeComparison {
    /// The speed relative to the default, with its 95 % interval if it has one.
    Speed(f64, Option<(f64, f64)>),
    /// The choice failed or is not valid there. The default is correct.
    Failed,
    /// The default is not correct there, so that nothing can be compared.
    Unusable,
}

/// The comparisons so far.
#[derive(Debug, Default)]
struct Tally {
    speeds: Vec<(f64, Input)>,
    slower: usize,
    defaults: usize,
    failed: usize,
}

/// Judges `chooser` at [`FRESH_SIZES`] sizes of `problem`: from its `[inputs]` as far as these have further ones, then
/// drawn evenly in their logarithms. Returns `None` when interrupted.
///
/// # Errors
/// There are no fresh sizes, another device measured, nothing could be compared at any size, or the device fails.
pub fn judge(
    chooser: &JudgedChooser<'_>,
    problem: &Problem,
    turns: &mut Turns<'_>,
) -> Result<Option<Judgement>, Error> {
    let known = Known { made_from: chooser.made_from, measured: chooser.measured };
    let candidates = fresh_sizes(problem, &known, FRESH_SIZES * TRIED_FOR_EACH, chooser.seed)?;
    if candidates.is_empty() {
        return Err(no_sizes());
    }
    let (mut tally, mut refusal) = (Tally::default(), None);
    for input in candidates {
        if tally.speeds.len() + tally.failed == FRESH_SIZES {
            break;
        }
        let choice = (chooser.choose)(&input).filter(|choice| choice != chooser.default);
        let Some(choice) = choice else {
            tally.defaults += 1;
            tally.speeds.push((1.0, input));
            continue;
        };
        let Some(compared) = compared(chooser, &input, &choice, turns, &mut refusal)? else { return Ok(None) };
        tally.add(compared, input);
    }
    match tally.judgement(chooser) {
        Some(judgement) => Ok(Some(judgement)),
        None => Err(refusal.unwrap_or_else(nothing_compared)),
    }
}

/// Compares a choice with the default at one size. Keeps the first reason why a size cannot be used.
fn compared(
    chooser: &JudgedChooser<'_>,
    input: &Input,
    choice: &Config,
    turns: &mut Turns<'_>,
    refusal: &mut Option<Error>,
) -> Result<Option<SizeComparison>, Error> {
    match turns(input, Some(choice)) {
        Ok(None) => Ok(None),
        Ok(Some(outcome)) => {
            check_device(chooser.device, &outcome)?;
            check_default(chooser.default, &outcome)?;
            Ok(Some(SizeComparison::of(&outcome)))
        }
        // Either the choice is not valid at this size, or the problem is not.
        Err(error) if error.is_request() => match turns(input, None) {
            Ok(None) => Ok(None),
            Ok(Some(outcome)) if has_default(&outcome) => Ok(Some(SizeComparison::Failed)),
            Ok(Some(_)) => Ok(Some(SizeComparison::Unusable)),
            Err(again) if again.is_request() => {
                refusal.get_or_insert(error);
                Ok(Some(SizeComparison::Unusable))
            }
            Err(other) => Err(other),
        },
        Err(error) => Err(error),
    }
}

/// Refuses a problem with another default than the runs had: the choices would compete with something else.
fn check_default(expected: &Config, outcome: &Outcome) -> Result<(), Error> {
    let text =
        |config: &Config| config.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",");
    let found = outcome.default.as_ref().map(|default| config(&default.config)).filter(|found| found != expected);
    let Some(found) = found else { return Ok(()) };
    let text =
        format!("the choices compete with {}, but the default of the problem is {}", text(expected), text(&found));
    let remedy = "name the problem of the runs with --problem, and leave --reference out";
    Err(Error::request(text, Some(remedy.to_string())))
}

fn has_default(outcome: &Outcome) -> bool {
    outcome.default.as_ref().is_some_and(|default| default.failure.is_none() && default.time_ms.is_some())
}

impl SizeComparison {
    /// Reads the outcome of a run that evaluated the default and one choice.
    fn of(outcome: &Outcome) -> Self {
        match &outcome.comparison {
            _ if !has_default(outcome) => Self::Unusable,
            None => Self::Failed,
            Some(found) => found.gain.ratio().map_or(Self::Unusable, |ratio| Self::Speed(ratio, found.ci95)),
        }
    }
}

impl Tally {
    fn add(&mut self, compared: SizeComparison, input: Input) {
        match compared {
            SizeComparison::Speed(speed, interval) => {
                self.slower += usize::from(interval.is_some_and(|(_, high)| high < 1.0));
                self.speeds.push((speed, input));
            }
            SizeComparison::Failed => self.failed += 1,
            SizeComparison::Unusable => {}
        }
    }

    /// Returns the judgement, or `None` if nothing was compared.
    fn judgement(self, chooser: &JudgedChooser<'_>) -> Option<Judgement> {
        let speeds: Vec<f64> = self.speeds.iter().map(|(speed, _)| *speed).collect();
        let all_failed = (self.failed > 0).then_some((0.0, None));
        let (speed, ci95) = mean_speed(&speeds).or(all_failed)?;
        let slowest = self.speeds.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let (slowest, slowest_at) = slowest.unwrap_or_default();
        Some(Judgement {
            device: chooser.device.to_string(),
            sizes: speeds.len(),
            defaults: self.defaults,
            failed: self.failed,
            speed,
            ci95,
            slowest,
            slowest_at,
            slower: self.slower,
            seed: chooser.seed,
        })
    }
}

fn no_sizes() -> Error {
    let text = "there are no fresh sizes: nothing lies between the measured inputs that was not measured";
    let remedy = "tune inputs that are further apart (`tune --inputs`), or leave --judge out; `export --guard` \
                  confirms the choices for measured inputs";
    Error::request(text, Some(remedy.to_string()))
}

fn nothing_compared() -> Error {
    let text = "the choices could be compared with the default at no fresh size: the default failed at each of them";
    let remedy = "name the sizes that the kernel takes in [inputs] of the problem, or leave --judge out";
    Error::request(text, Some(remedy.to_string()))
}

#[cfg(test)]
mod tests;
