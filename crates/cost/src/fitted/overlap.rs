//! Fits the coefficients of a sum in which memory, arithmetic and waiting for results overlap.

use super::kin::Kinship;
use super::linear::nonnegative;
use super::property::Resource;
use rayon::prelude::*;
use tunesmith_model::Cholesky;

/// The exponents that are tried. At 1 nothing overlaps. At 16 the lesser parts are free unless they
/// are within a few per cent of the largest.
const EXPONENTS: [f64; 8] = [1.0, 1.25, 1.6, 2.0, 2.5, 4.0, 8.0, 16.0];
/// Number of groups of nests that are left out in turn.
const FOLDS: usize = 10;
/// Minimum number of nests in such a group.
const FEW: usize = 5;
/// Maximum number of linear problems for one exponent. Real devices need about twenty.
const ROUNDS: usize = 60;
/// Maximum number of dampings that are tried in a round.
const TRIES: usize = 8;
/// Damping of the first round, as a share of the diagonal.
const DAMPING: f64 = 1e-3;
/// Maximum change of the logarithm of a coefficient in a round.
const FARTHEST: f64 = 2.0;
/// Minimum share of the largest coefficient at the start. A coefficient at 0 could not come back.
const LEAST: f64 = 1e-6;
/// Minimum progress: a round that lowers the loss by a smaller share is the last.
const PROGRESS: f64 = 1e-5;
/// Relative errors well below this count as none.
const SMALL: f64 = 0.03;
/// Minimum estimate, as a share of the time. The logarithm of 0 is infinite.
const BRIEFEST: f64 = 1e-9;

/// The amount of each property in a kernel, and the part of it that is done apart: see
/// [`PropertyCounts::apart`](super::PropertyCounts::apart).
#[derive(Clone, Debug)]
pub(super) struct Uses {
    pub(super) all: Vec<f64>,
    pub(super) apart: Vec<f64>,
}

/// The seconds for which a kernel uses each resource.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Parts {
    pub(super) memory: f64,
    pub(super) compute: f64,
    pub(super) latency: f64,
    pub(super) overhead: f64,
}

impl Parts {
    /// Adds a use of `resource`.
    pub(super) fn add(&mut self, resource: Resource, seconds: f64) {
        match resource {
            Resource::Memory => self.memory += seconds,
            Resource::Compute => self.compute += seconds,
            Resource::Latency => self.latency += seconds,
            Resource::Overhead => self.overhead += seconds,
        }
    }

    /// Returns `overhead + (memory^e + compute^e + latency^e)^(1/e)`, a smooth maximum.
    pub(super) fn seconds(self, exponent: f64) -> f64 {
        self.overhead + self.overlapped(exponent)
    }

    fn overlapped(self, exponent: f64) -> f64 {
        let parts = [self.memory, self.compute, self.latency];
        let high = parts.into_iter().fold(0.0, f64::max);
        // Gives the same for an exponent of 1. Also right for negative weights from plain least
        // squares.
        if exponent == 1.0 || high <= 0.0 {
            return parts.iter().sum();
        }
        high * parts.map(|part| (part / high).powf(exponent)).iter().sum::<f64>().powf(1.0 / exponent)
    }

    /// Returns the growth of the time with the use of `resource`. Uses times slopes add up to the
    /// time, because doubling all uses doubles the time.
    pub(super) fn slope(self, resource: Resource, exponent: f64) -> f64 {
        let own = match resource {
            Resource::Overhead => return 1.0,
            Resource::Memory => self.memory,
            Resource::Compute => self.compute,
            Resource::Latency => self.latency,
        };
        let whole = self.overlapped(exponent);
        if exponent == 1.0 || whole <= 0.0 { 1.0 } else { (own / whole).powf(exponent - 1.0) }
    }
}

/// Returns the coefficients `x > 0` and the exponent that minimise the sum of `|ln(estimate / time)|`
/// over `rows`, smoothed below [`SMALL`], and the distances of the coefficients from their
/// [kin](Kinship). With squares, a few kernels that the compiler treats unlike all others would decide.
/// With relative errors, an estimate of half the time would count less than one of twice the time.
///
/// The loss has several minima: time that is first attributed to one resource does not move to
/// another. Every exponent therefore starts three times: from the answer of the previous exponent,
/// from the answer without overlap, and from the maximum cost of each property.
///
/// The exponent is the least whose error on rows that were left out, a tenth of the nests at a time, is within
/// a standard error of the best one's (Breiman et al., Classification and Regression Trees, 1984, section
/// 3.4.3). If the nests are few, it is the one with the least error on all rows. `nests` has the number of the
/// nest of each row.
pub(super) fn fit(rows: &[Uses], nests: &[usize], resources: &[Resource], kin: &Kinship) -> (Vec<f64>, f64) {
    let all: Vec<Vec<f64>> = rows.iter().map(|uses| uses.all.clone()).collect();
    let starts = [nonnegative(&all), most(&all)];
    let mut before = starts[0].clone();
    let mut found = Vec::new();
    for exponent in EXPONENTS {
        let problem = Problem::new(rows, resources, kin, exponent);
        let refined = starts.iter().chain([&before]).map(|start| {
            let x = problem.refined(start);
            (problem.loss(&x), x)
        });
        let Some((_, x)) = refined.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        before.clone_from(&x);
        found.push((mean_and_error(&problem.losses_left_out(nests, &x)), x, exponent));
    }
    let least = found.iter().map(|own| own.0).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
    let simplest = found.into_iter().find(|((mean, _), ..)| *mean <= least.0 + least.1);
    simplest.map_or((before, 1.0), |(_, x, exponent)| (x, exponent))
}

/// Returns the mean and its standard error.
fn mean_and_error(losses: &[f64]) -> (f64, f64) {
    let count = losses.len() as f64;
    let mean = losses.iter().sum::<f64>() / count;
    let variance = losses.iter().map(|own| (own - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean, (variance / count).sqrt())
}

/// Returns, for each property, the largest coefficient with which it alone exceeds the time of no
/// kernel.
fn most(rows: &[Vec<f64>]) -> Vec<f64> {
    let columns = rows.first().map_or(0, Vec::len);
    let largest = |at: usize| rows.iter().map(|row| row[at]).fold(0.0, f64::max);
    (0..columns).map(largest).map(|largest| if largest > 0.0 { 1.0 / largest } else { 0.0 }).collect()
}

/// The problem of finding coefficients for one exponent.
pub(super) struct Problem<'a> {
    /// The properties that each kernel has.
    rows: Vec<Vec<Use>>,
    resources: &'a [Resource],
    kin: &'a Kinship,
    exponent: f64,
}

/// The amount of a property in a kernel.
#[derive(Clone)]
struct Use {
    property: usize,
    all: f64,
    apart: f64,
}

/// A system of linear equations for the change of the logarithms of the coefficients.
struct Equations {
    /// The lower triangle of a symmetric matrix, row by row.
    matrix: Vec<f64>,
    /// The derivative of the loss.
    slope: Vec<f64>,
}

impl<'a> Problem<'a> {
    pub(super) fn new(rows: &[Uses], resources: &'a [Resource], kin: &'a Kinship, exponent: f64) -> Self {
        Self { rows: rows.iter().map(used).collect(), resources, kin, exponent }
    }

    /// Returns the coefficients `x > 0` that minimise the loss, starting from `x`.
    ///
    /// The unknowns are the logarithms of the coefficients. The derivative of the logarithm of an estimate
    /// by one of them is the share of the property in the estimate. A round solves the linear problem of
    /// these shares, with every error divided by its present size, and moves to its solution if the loss
    /// falls (Levenberg and Marquardt's method). Costs properties^3 / 6 products for each try.
    pub(super) fn refined(&self, start: &[f64]) -> Vec<f64> {
        let highest = start.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mut x: Vec<f64> = start.iter().map(|x| x.max(LEAST * highest)).collect();
        let (mut before, mut damping) = (self.loss(&x), DAMPING);
        for _ in 0..ROUNDS {
            let equations = self.linearised(&x);
            let lower = (0..TRIES).find_map(|_| {
                let change = equations.solution(damping);
                let moved: Vec<f64> =
                    x.iter().zip(change).map(|(x, change)| x * change.clamp(-FARTHEST, FARTHEST).exp()).collect();
                let loss = self.loss(&moved);
                let is_lower = loss < before * (1.0 - PROGRESS);
                damping *= if is_lower { 0.1 } else { 10.0 };
                is_lower.then_some((loss, moved))
            });
            match lower {
                Some(lower) => (before, x) = lower,
                None => break,
            }
        }
        x
    }

    /// Returns the mean loss of each tenth of the nests in a model of the others, which starts from the model
    /// `x` of all rows. Returns the loss of `x` alone if there are too few nests to leave some out.
    fn losses_left_out(&self, nests: &[usize], x: &[f64]) -> Vec<f64> {
        if nests.iter().max().is_none_or(|last| *last < FEW * FOLDS) {
            return vec![self.loss(x)];
        }
        let loss = |fold: usize| {
            let (left_out, others): (Vec<usize>, Vec<usize>) =
                (0..self.rows.len()).partition(|at| nests[*at] % FOLDS == fold);
            let rows = others.into_iter().map(|at| self.rows[at].clone()).collect();
            let found = Problem { rows, ..*self }.refined(x);
            let errors = left_out.iter().map(|at| size(self.error(self.parts(&self.rows[*at], &found))));
            errors.sum::<f64>() / left_out.len().max(1) as f64
        };
        (0..FOLDS).into_par_iter().map(loss).collect()
    }

    fn parts(&self, row: &[Use], x: &[f64]) -> Parts {
        let mut parts = Parts::default();
        for Use { property, all, apart } in row {
            parts.add(self.resources[*property], (all - apart) * x[*property]);
            parts.add(Resource::Overhead, apart * x[*property]);
        }
        parts
    }

    /// Returns the logarithm of the ratio of the estimate to the time.
    fn error(&self, parts: Parts) -> f64 {
        parts.seconds(self.exponent).max(BRIEFEST).ln()
    }

    fn loss(&self, x: &[f64]) -> f64 {
        let errors = self.rows.iter().map(|row| size(self.error(self.parts(row, x))));
        errors.sum::<f64>() + self.kin.loss(x)
    }

    fn linearised(&self, x: &[f64]) -> Equations {
        let count = x.len();
        let mut equations = Equations { matrix: vec![0.0; count * (count + 1) / 2], slope: vec![0.0; count] };
        for row in &self.rows {
            let parts = self.parts(row, x);
            let (error, seconds) = (self.error(parts), parts.seconds(self.exponent).max(BRIEFEST));
            let share = |own: &Use| {
                let slope = parts.slope(self.resources[own.property], self.exponent);
                (own.property, x[own.property] * (own.apart + (own.all - own.apart) * slope) / seconds)
            };
            let shares: Vec<(usize, f64)> = row.iter().map(share).collect();
            let weight = 1.0 / size(error);
            for (at, (property, share)) in shares.iter().enumerate() {
                equations.slope[*property] += weight * error * share;
                shares[..=at].iter().for_each(|(other, also)| equations.add(*property, *other, weight * share * also));
            }
        }
        self.kin.slopes(x).into_iter().for_each(|(at, slope)| equations.slope[at] += slope);
        self.kin.curvature().for_each(|(at, other, own)| equations.add(at, other, own));
        equations
    }
}

/// Returns the properties that a kernel has.
fn used(uses: &Uses) -> Vec<Use> {
    let cells = uses.all.iter().zip(&uses.apart).enumerate().filter(|(_, (all, _))| **all != 0.0);
    cells.map(|(property, (all, apart))| Use { property, all: *all, apart: *apart }).collect()
}

impl Equations {
    /// Adds to an element of the lower triangle.
    fn add(&mut self, row: usize, column: usize, amount: f64) {
        let (low, high) = (row.min(column), row.max(column));
        self.matrix[high * (high + 1) / 2 + low] += amount;
    }

    /// Returns the change of the logarithms, with this share of the diagonal added to it.
    fn solution(&self, damping: f64) -> Vec<f64> {
        let diagonal = |at: usize| self.matrix[at * (at + 1) / 2 + at];
        let largest = (0..self.slope.len()).map(diagonal).fold(f64::MIN_POSITIVE, f64::max);
        let scale = |at: usize| ((1.0 + damping) * diagonal(at) + damping * LEAST * largest).sqrt().recip();
        let scales: Vec<f64> = (0..self.slope.len()).map(scale).collect();
        let mut packed = Vec::with_capacity(self.matrix.len());
        for row in 0..scales.len() {
            let own = &self.matrix[row * (row + 1) / 2..][..row];
            packed.extend(own.iter().zip(&scales).map(|(element, scale)| element * scale * scales[row]));
            packed.push(1.0);
        }
        let factor = Cholesky::factorise(&packed);
        let target: Vec<f64> = self.slope.iter().zip(&scales).map(|(slope, scale)| -slope * scale).collect();
        let solution = factor.solve_transposed(&factor.solve(&target));
        solution.iter().zip(&scales).map(|(own, scale)| own * scale).collect()
    }
}

/// Returns the size of an error, smooth at 0.
fn size(error: f64) -> f64 {
    error.hypot(SMALL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RESOURCES: [Resource; 5] =
        [Resource::Memory, Resource::Memory, Resource::Compute, Resource::Compute, Resource::Overhead];

    /// Returns rows like those of measured kernels: each property alone, and mixtures, divided by
    /// the time under `truth`.
    fn planted(mixtures: &[Vec<f64>], truth: &[f64], exponent: f64) -> Vec<Uses> {
        let alone = (0..5).map(|at| (0..5).map(|other| if other == at { 1.0 } else { 0.01 }).collect());
        let rows = alone.chain(mixtures.iter().cloned());
        // In every third kernel, half of its first property is done apart.
        let uses = rows.enumerate().map(|(at, all)| {
            let apart = (0..5).map(|column| if at % 3 == 0 && column == 0 { all[0] / 2.0 } else { 0.0 });
            Uses { apart: apart.collect(), all }
        });
        let relative = |mut uses: Uses| {
            let seconds = Problem::new(&[], &RESOURCES, &Kinship::default(), exponent)
                .parts(&used(&uses), truth)
                .seconds(exponent);
            scale(&mut uses, 1.0 / seconds);
            uses
        };
        uses.map(relative).collect()
    }

    /// Returns the numbers of the nests of rows, where each row is a nest.
    fn numbers(rows: &[Uses]) -> Vec<usize> {
        (0..rows.len()).collect()
    }

    fn scale(uses: &mut Uses, factor: f64) {
        uses.all.iter_mut().chain(&mut uses.apart).for_each(|a| *a *= factor);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

        #[test]
        fn weights_that_made_the_times_are_found(
            mixtures in prop::collection::vec(prop::collection::vec(0.0..1.0f64, 5), 8..20),
            truth in prop::collection::vec(0.2..2.0f64, 5),
            exponent in 0..EXPONENTS.len(),
        ) {
            let rows = planted(&mixtures, &truth, EXPONENTS[exponent]);
            let (found, _) = fit(&rows, &numbers(&rows), &RESOURCES, &Kinship::default());
            for (found, truth) in found.iter().zip(&truth) {
                prop_assert!((found / truth - 1.0).abs() < 0.05, "{:?} of {:?}", found, truth);
            }
        }

        #[test]
        fn shares_add_up_to_a_time_between_the_maximum_and_the_sum(
            memory in 0.0..3.0f64, compute in 0.0..3.0f64, latency in 0.0..3.0f64, overhead in 0.0..3.0f64,
            exponent in 1.0..16.0f64,
        ) {
            let parts = Parts { memory, compute, latency, overhead };
            let seconds = parts.seconds(exponent);
            prop_assert!(seconds >= overhead + memory.max(compute).max(latency) - 1e-12);
            prop_assert!(seconds <= overhead + memory + compute + latency + 1e-12);
            let uses = [
                (Resource::Memory, memory),
                (Resource::Compute, compute),
                (Resource::Latency, latency),
                (Resource::Overhead, overhead),
            ];
            let shares: f64 = uses.iter().map(|(resource, own)| own * parts.slope(*resource, exponent)).sum();
            prop_assert!((shares - seconds).abs() < 1e-9);
        }
    }

    #[test]
    fn a_few_kernels_unlike_the_others_do_not_move_the_weights() {
        let mixtures: Vec<Vec<f64>> =
            (0..8).map(|at| (0..5).map(|to| f64::from((at * 7 + to * 3) % 5)).collect()).collect();
        let truth = [1.0, 0.5, 0.8, 0.3, 0.2];
        let mut rows = planted(&mixtures, &truth, 4.0);
        // These kernels take four times as long as they should.
        rows.iter_mut().skip(6).step_by(5).for_each(|uses| scale(uses, 0.25));
        let (found, exponent) = fit(&rows, &numbers(&rows), &RESOURCES, &Kinship::default());
        assert_eq!(exponent, 4.0);
        for (found, truth) in found.iter().zip(&truth) {
            assert!((found / truth - 1.0).abs() < 0.05, "{found} of {truth}");
        }
    }

    #[test]
    fn no_weights_of_a_grid_are_better() {
        let rows =
            planted(&[vec![1.0, 0.2, 0.7, 0.1, 0.3], vec![0.3, 0.9, 0.4, 0.8, 0.0]], &[1.0, 0.5, 0.8, 0.3, 0.2], 4.0);
        // No weights give these times exactly.
        let mut noisy = rows;
        noisy.iter_mut().enumerate().for_each(|(at, uses)| scale(uses, 1.0 + 0.1 * (at % 3) as f64));
        let all: Vec<Vec<f64>> = noisy.iter().map(|uses| uses.all.clone()).collect();
        let kin = Kinship::default();
        let problem = Problem::new(&noisy, &RESOURCES, &kin, 4.0);
        let found = problem.loss(&problem.refined(&nonnegative(&all)));
        let levels = [0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
        let grid = (0..100_000usize).map(|code| {
            let x: Vec<f64> = (0..5).map(|at| levels[code / 10_usize.pow(at) % 10]).collect();
            problem.loss(&x)
        });
        let best = grid.fold(f64::INFINITY, f64::min);
        assert!(found <= best, "{found} against {best}");
    }
}
