//! Fits the coefficients of a sum in which memory, arithmetic and waiting for results overlap.

use super::linear::{nonnegative, nonnegative_towards};
use super::property::Resource;

/// The exponents that are tried. At 1 nothing overlaps. At 16 the lesser parts are free unless they
/// are within a few per cent of the largest.
const EXPONENTS: [f64; 8] = [1.0, 1.25, 1.6, 2.0, 2.5, 4.0, 8.0, 16.0];
/// Maximum number of linear problems for one exponent. Real devices need about twenty.
const ROUNDS: usize = 60;
/// Maximum number of times that a step is halved.
const HALVINGS: u32 = 12;
/// Minimum slope of a part that is hidden behind another. At 0 its weights could not come back.
const LEAST_SLOPE: f64 = 1e-3;
/// Minimum progress: a round that lowers the loss by a smaller share is the last.
const PROGRESS: f64 = 1e-5;
/// Relative errors well below this count as none.
const SMALL: f64 = 0.05;

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

/// Returns the coefficients `x >= 0` and the exponent that minimise the sum of `|1 - time|` over
/// `rows`, smoothed below [`SMALL`]. With squares, a few kernels that the compiler treats unlike
/// all others would decide.
///
/// The loss has several minima: time that is first attributed to one resource does not move to
/// another. Every exponent therefore starts three times: from the answer of the previous exponent,
/// from the answer without overlap, and from the maximum cost of each property.
pub(super) fn fit(rows: &[Uses], resources: &[Resource]) -> (Vec<f64>, f64) {
    let all: Vec<Vec<f64>> = rows.iter().map(|uses| uses.all.clone()).collect();
    let starts = [nonnegative(&all), most(&all)];
    let mut best = (f64::INFINITY, starts[0].clone(), 1.0);
    let mut before = starts[0].clone();
    for exponent in EXPONENTS {
        let refined = starts.iter().chain([&before]).map(|start| {
            let x = refine(rows, resources, start.clone(), exponent);
            (loss(rows, resources, &x, exponent), x, exponent)
        });
        let Some(found) = refined.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        before.clone_from(&found.1);
        if found.0 < best.0 {
            best = found;
        }
    }
    (best.1, best.2)
}

/// Returns, for each property, the largest coefficient with which it alone exceeds the time of no
/// kernel.
fn most(rows: &[Vec<f64>]) -> Vec<f64> {
    let columns = rows.first().map_or(0, Vec::len);
    let largest = |at: usize| rows.iter().map(|row| row[at]).fold(0.0, f64::max);
    (0..columns).map(largest).map(|largest| if largest > 0.0 { 1.0 / largest } else { 0.0 }).collect()
}

/// Returns the coefficients `x >= 0` that minimise the loss with this exponent, starting from `x`.
///
/// The time is homogeneous, so its linear approximation at `x` has no constant. A round multiplies
/// every use by its slope, divides squares of errors by their present sizes, and solves the
/// resulting non-negative linear problem. It then moves towards the solution as far as the loss
/// falls (Gauss and Newton's method with weights).
pub(super) fn refine(rows: &[Uses], resources: &[Resource], mut x: Vec<f64>, exponent: f64) -> Vec<f64> {
    let mut before = loss(rows, resources, &x, exponent);
    for _ in 0..ROUNDS {
        let (linear, targets) = linearised(rows, resources, &x, exponent);
        let goal = nonnegative_towards(&linear, &targets);
        let at = |halvings: u32| -> Vec<f64> {
            let step = 0.5_f64.powi(halvings as i32);
            x.iter().zip(&goal).map(|(from, to)| from + step * (to - from)).collect()
        };
        let lower = (0..=HALVINGS).map(at).find_map(|x| {
            let loss = loss(rows, resources, &x, exponent);
            (loss < before * (1.0 - PROGRESS)).then_some((loss, x))
        });
        match lower {
            Some((loss, lower)) => (before, x) = (loss, lower),
            None => break,
        }
    }
    x
}

/// Returns the rows and targets of the linear problem at `x`.
fn linearised(rows: &[Uses], resources: &[Resource], x: &[f64], exponent: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let linear = |row: &Uses| {
        let parts = parts(row, resources, x);
        let weight = size(1.0 - parts.seconds(exponent)).sqrt().recip();
        let slope = |resource: Resource| parts.slope(resource, exponent).max(LEAST_SLOPE);
        let uses = row.all.iter().zip(&row.apart).zip(resources);
        (uses.map(|((all, apart), resource)| weight * (apart + (all - apart) * slope(*resource))).collect(), weight)
    };
    rows.iter().map(linear).unzip()
}

fn parts(row: &Uses, resources: &[Resource], x: &[f64]) -> Parts {
    let mut parts = Parts::default();
    for (((all, apart), x), resource) in row.all.iter().zip(&row.apart).zip(x).zip(resources) {
        parts.add(*resource, (all - apart) * x);
        parts.add(Resource::Overhead, apart * x);
    }
    parts
}

fn loss(rows: &[Uses], resources: &[Resource], x: &[f64], exponent: f64) -> f64 {
    rows.iter().map(|row| size(1.0 - parts(row, resources, x).seconds(exponent))).sum()
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
            let seconds = parts(&uses, &RESOURCES, truth).seconds(exponent);
            scale(&mut uses, 1.0 / seconds);
            uses
        };
        uses.map(relative).collect()
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
            let (found, _) = fit(&rows, &RESOURCES);
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
        let (found, exponent) = fit(&rows, &RESOURCES);
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
        let found = loss(&noisy, &RESOURCES, &refine(&noisy, &RESOURCES, nonnegative(&all), 4.0), 4.0);
        let levels = [0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
        let grid = (0..100_000usize).map(|code| {
            let x: Vec<f64> = (0..5).map(|at| levels[code / 10_usize.pow(at) % 10]).collect();
            loss(&noisy, &RESOURCES, &x, 4.0)
        });
        let best = grid.fold(f64::INFINITY, f64::min);
        assert!(found <= best, "{found} against {best}");
    }
}
