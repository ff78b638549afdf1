//! Draws sizes that a chooser covers and nobody measured.

use crate::Error;
use crate::gathered::sizes;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use tunesmith_choose::wisdom::{Coverage, Input};
use tunesmith_core::Rng;
use tunesmith_problem::Problem;
use tunesmith_space::Value;

/// Maximum number of draws for each size that is wanted. Most fall outside of what a chooser covers if its inputs have
/// similar proportions.
const DRAWS_FOR_EACH: usize = 500;

/// The inputs that are known.
pub(super) struct Known<'a> {
    /// The inputs that a chooser was made from.
    pub(super) made_from: &'a [Input],
    /// Further measured inputs.
    pub(super) measured: &'a [Input],
}

/// A size that differs between inputs.
struct VaryingSize {
    name: String,
    range: (f64, f64),
    is_whole: bool,
    /// An earlier one of which this is the same multiple in all inputs: its place, and the factor.
    tied: Option<(usize, f64)>,
}

/// Returns at most `count` fresh inputs: the further ones of the problem's `[inputs]` in a random order, then others that
/// their filter passes, drawn evenly in the logarithms of their sizes. All of them lie within the ranges of the known
/// sizes, of their product and of their ratios.
///
/// # Errors
/// An expression of `[inputs]` cannot be evaluated.
pub(super) fn fresh_sizes(problem: &Problem, known: &Known<'_>, count: usize, seed: u64) -> Result<Vec<Input>, Error> {
    let varying = known.varying();
    if varying.is_empty() {
        return Ok(Vec::new());
    }
    let coverage = Coverage::of(&known.made_from.iter().map(|input| row(input, &varying)).collect::<Vec<_>>());
    let covers = |input: &Input| coverage.outside(&row(input, &varying)) == 0.0 && known.has_constants(input, &varying);
    let mut rng = Rng::seed_from_u64(seed);
    let mut fresh: Vec<Input> = Vec::new();
    let mut stated: Vec<Input> = match problem.spec().inputs() {
        Some(_) => problem.all_input_sizes()?.iter().map(|sizes| known.input(sizes)).collect(),
        None => Vec::new(),
    };
    stated.shuffle(&mut rng);
    for input in stated {
        if fresh.len() < count && covers(&input) && known.is_fresh(&input) && !fresh.contains(&input) {
            fresh.push(input);
        }
    }
    for _ in 0..count * DRAWS_FOR_EACH {
        if fresh.len() >= count {
            break;
        }
        let drawn = known.completed(&varying, draw(&varying, &mut rng));
        let Some(sizes) = problem.admitted(&sizes(&drawn))? else { continue };
        let input = known.input(&sizes);
        if covers(&input) && known.is_fresh(&input) && !fresh.contains(&input) {
            fresh.push(input);
        }
    }
    Ok(fresh)
}

fn row(input: &Input, varying: &[VaryingSize]) -> Vec<f64> {
    varying.iter().map(|size| input.get(&size.name).copied().unwrap_or(f64::NAN)).collect()
}

/// Draws each size evenly in its logarithm, and those that follow from others by these.
fn draw(varying: &[VaryingSize], rng: &mut Rng) -> Vec<f64> {
    let mut drawn: Vec<f64> = Vec::with_capacity(varying.len());
    for size in varying {
        let (low, high) = size.range;
        let number = match size.tied {
            Some((earlier, factor)) => drawn[earlier] * factor,
            None if low > 0.0 => rng.random_range(low.ln()..=high.ln()).exp(),
            None => rng.random_range(low..=high),
        };
        drawn.push(if size.is_whole { number.round() } else { number });
    }
    drawn
}

impl Known<'_> {
    /// Returns the sizes that differ between the inputs that the chooser was made from.
    fn varying(&self) -> Vec<VaryingSize> {
        let mut varying: Vec<VaryingSize> = Vec::new();
        let Some(first) = self.made_from.first() else { return varying };
        for name in first.keys() {
            let numbers: Option<Vec<f64>> = self.made_from.iter().map(|input| input.get(name).copied()).collect();
            let Some(numbers) = numbers.filter(|all| all.iter().any(|number| *number != all[0])) else { continue };
            let range = numbers
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| (low.min(*number), high.max(*number)));
            let tied = varying.iter().enumerate().find_map(|(at, earlier)| {
                let factor = |input: &Input| Some(input.get(name)? / input.get(&earlier.name)?);
                let own = factor(first).filter(|factor| factor.is_finite())?;
                self.made_from.iter().all(|input| factor(input) == Some(own)).then_some((at, own))
            });
            let is_whole = numbers.iter().all(|number| number.fract() == 0.0);
            varying.push(VaryingSize { name: name.clone(), range, is_whole, tied });
        }
        varying
    }

    /// Returns the drawn sizes with those that all inputs share.
    fn completed(&self, varying: &[VaryingSize], drawn: Vec<f64>) -> Input {
        let mut input = self.made_from.first().cloned().unwrap_or_default();
        input.extend(varying.iter().map(|size| size.name.clone()).zip(drawn));
        input
    }

    /// Returns true if the sizes that all inputs share have their common values.
    fn has_constants(&self, input: &Input, varying: &[VaryingSize]) -> bool {
        let is_constant = |name: &String| varying.iter().all(|size| size.name != *name);
        let first = self.made_from.first().into_iter().flatten();
        first.filter(|(name, _)| is_constant(name)).all(|(name, size)| input.get(name) == Some(size))
    }

    /// Returns those of the sizes that are numbers and that the known inputs have.
    fn input(&self, sizes: &[(String, Value)]) -> Input {
        let is_known = |name: &str| self.made_from.first().is_some_and(|input| input.contains_key(name));
        let number = |(name, value): &(String, Value)| Some((name.clone(), value.as_float()?));
        sizes.iter().filter(|(name, _)| is_known(name)).filter_map(number).collect()
    }

    fn is_fresh(&self, input: &Input) -> bool {
        !self.made_from.contains(input) && !self.measured.contains(input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn problem(inputs: &str) -> Problem {
        let text = format!("[problem]\nsizes = {{ M = 1, N = 2, K = 3 }}\n[parameters]\nX = [1]\n{inputs}");
        Problem::parse(&text, std::path::Path::new(".")).unwrap()
    }

    fn input(m: f64, n: f64, k: f64) -> Input {
        [("M", m), ("N", n), ("K", k)].map(|(name, size)| (name.to_string(), size)).into()
    }

    fn fresh(problem: &Problem, made_from: &[Input], seed: u64) -> Vec<Input> {
        fresh_sizes(problem, &Known { made_from, measured: &[] }, 20, seed).unwrap()
    }

    #[test]
    fn fresh_sizes_are_new_whole_and_covered_and_a_seed_draws_the_same() {
        let made_from = [input(16.0, 16.0, 3.0), input(1024.0, 512.0, 3.0), input(64.0, 512.0, 3.0)];
        let found = fresh(&problem(""), &made_from, 1);
        let distinct: BTreeSet<String> = found.iter().map(|input| format!("{input:?}")).collect();
        assert_eq!((found.len(), distinct.len()), (20, 20));
        for input in &found {
            let (m, n) = (input["M"], input["N"]);
            assert!((16.0..=1024.0).contains(&m) && (16.0..=512.0).contains(&n) && input["K"] == 3.0, "{input:?}");
            assert!((0.125..=2.0).contains(&(m / n)) && m.fract() == 0.0 && n.fract() == 0.0, "{input:?}");
            assert!(!made_from.contains(input));
        }
        assert!(found.iter().filter(|input| input["M"] < 128.0).count() > 4, "even in logarithms: {found:?}");
        assert_eq!(found, fresh(&problem(""), &made_from, 1));
        assert_ne!(found, fresh(&problem(""), &made_from, 2));
    }

    #[test]
    fn the_sizes_of_inputs_come_first_and_others_pass_their_filter() {
        let inputs =
            "[inputs]\nfilter = \"M % 2 == 0\"\ncount = 2\nsizes = { M = { pow2 = \"2..=64\" }, K = \"M + 1\" }\n";
        let made_from = [input(2.0, 2.0, 3.0), input(64.0, 2.0, 65.0)];
        let found = fresh(&problem(inputs), &made_from, 1);
        let first: BTreeSet<i64> = found.iter().take(4).map(|input| input["M"] as i64).collect();
        assert_eq!(first, [4, 8, 16, 32].into(), "all that were not drawn count");
        assert!(found.iter().all(|input| input["M"] % 2.0 == 0.0 && input["K"] == input["M"] + 1.0), "{found:?}");
        assert_eq!(found.len(), 20);
    }

    #[test]
    fn a_size_that_is_a_multiple_of_another_stays_one() {
        let made_from = [input(4.0, 2.0, 8.0), input(400.0, 2.0, 800.0)];
        let found = fresh(&problem(""), &made_from, 3);
        assert!(found.len() == 20 && found.iter().all(|input| input["K"] == 2.0 * input["M"]), "{found:?}");
    }

    #[test]
    fn nothing_lies_between_neighbours_or_at_a_single_input() {
        assert_eq!(fresh(&problem(""), &[input(4.0, 2.0, 8.0)], 1), []);
        assert_eq!(fresh(&problem(""), &[input(4.0, 2.0, 8.0), input(5.0, 2.0, 8.0)], 1), []);
        assert_eq!(fresh(&problem(""), &[], 1), []);
    }
}
