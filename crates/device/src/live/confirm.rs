//! Verifies a winner once more: on data of another seed, which alternate with the first in one
//! process, and at other sizes.
//!
//! A kernel that caches its first result, or that is made for certain data or sizes, passes every
//! comparison of the search.

use crate::backends::BuildError;
use crate::backends::ahead::Build;
use crate::data::passed;
use crate::error::DeviceError;
use crate::live::programs::BuiltKernels;
use crate::live::{LiveEvaluator, LiveOptions};
use crate::problem::{Access, ArgumentKind, Fill, OtherSizes, Scope};
use crate::worker::protocol::{Job, Purpose};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use std::sync::Arc;
use tunesmith_core::{Confirmed, Error, Failure, FailureKind, Interrupt, Rng};
use tunesmith_space::{ConfigId, Parameter, Space, SpaceError, Value};

/// Added to the seed of a problem for its second set of data.
const OTHER_SEED: u64 = 0x5EED_0000_0000_0001;

/// The result of verifying a configuration at one place.
enum Verified {
    /// So many launches were right.
    Right(u64),
    /// The configuration cannot run here.
    Unfit(String),
    Wrong(Failure),
    Interrupted,
}

impl LiveEvaluator {
    /// Verifies a configuration on other data, and at all further sizes. Returns `None` if
    /// interrupted.
    pub(super) fn confirm_everywhere(
        &mut self,
        config: ConfigId,
        interrupt: &Interrupt,
    ) -> Result<Option<Confirmed>, Error> {
        let start = self.now();
        let mut confirmed = Confirmed::default();
        if self.options.spec.is_verified() && self.has_other_data() {
            let scope = self.scope(config);
            let built = self.kept.get(config);
            let verified = self.verify_at(&scope, built, interrupt)?;
            if !confirmed.add(verified, "on other data") {
                return Ok(None);
            }
        }
        for at in 0..self.options.spec.verify.sizes.len() {
            if confirmed.failure.is_some() {
                break;
            }
            let label = format!("at {}", self.options.spec.verify.sizes[at].label);
            let verified = self.verify_at_sizes(at, config, interrupt)?;
            if !confirmed.add(verified, &label) {
                return Ok(None);
            }
        }
        confirmed.spent.verify = self.now() - start;
        Ok(Some(confirmed))
    }

    /// Returns true if another seed gives other inputs, for which the reference knows the outputs.
    fn has_other_data(&self) -> bool {
        let spec = &self.options.spec;
        let is_random = |argument: &crate::problem::Argument| {
            let ArgumentKind::Buffer { fill, access, .. } = &argument.kind else { return false };
            matches!(access, Access::In | Access::InOut) && matches!(fill, Fill::Random | Fill::Between(..))
        };
        let arguments = spec.arguments.iter().enumerate();
        let is_computed = |name: &str| !spec.verify.states(name) && !spec.verify.judges(name);
        let mut compared =
            arguments.filter(|(position, argument)| spec.compares(*position) && is_computed(&argument.name));
        compared.next().is_some() && spec.arguments.iter().any(is_random)
    }

    /// Verifies the configuration at the further sizes with the number `at`.
    fn verify_at_sizes(&mut self, at: usize, config: ConfigId, interrupt: &Interrupt) -> Result<Verified, DeviceError> {
        let other = &self.options.spec.verify.sizes[at];
        let configuration = self.space.unrank(config);
        let values: Vec<(String, Value)> =
            self.space.values(&configuration).map(|(name, value)| (name.to_owned(), value.clone())).collect();
        if let Err(reason) = other.admits(&values) {
            return Ok(Verified::Unfit(reason));
        }
        if self.others[at].is_none() {
            // It measures nothing, so that it sets no clock.
            let options = LiveOptions { spec: other.spec.clone(), ..self.options.clone() };
            let options = LiveOptions { knobs: Vec::new(), ..options };
            self.others[at] = Some(Box::new(Self::new(&self.space, options)?));
        }
        let sizes = self.options.spec.verify.sizes[at].spec.sizes.iter().cloned();
        let scope = Scope::new(sizes.chain(values)).without(&self.options.knobs);
        let Some(evaluator) = &mut self.others[at] else { return Ok(Verified::Interrupted) };
        evaluator.verify_at(&scope, None, interrupt)
    }

    /// Launches the configuration of `scope` on all sets of data in turn, and compares every result.
    fn verify_at(
        &mut self,
        scope: &Scope,
        built: Option<Arc<BuiltKernels>>,
        interrupt: &Interrupt,
    ) -> Result<Verified, DeviceError> {
        let built = match built.map_or_else(|| self.programs.build(scope, interrupt), Ok) {
            Ok(built) => built,
            Err(BuildError::Cancelled) => return Ok(Verified::Interrupted),
            Err(BuildError::Broken(error)) => return Err(error),
            Err(BuildError::Failed(log)) => return Ok(Verified::Wrong(Failure::new(FailureKind::Compile, log))),
            Err(BuildError::Signature(mismatch)) => return Ok(Verified::Wrong(mismatch.into_failure())),
            Err(BuildError::Refused(why)) => return Ok(Verified::Unfit(why)),
        };
        let passed = match passed(&self.options.spec.arguments, scope) {
            Ok(passed) => passed,
            Err(error) => return Ok(Verified::Unfit(error.to_string())),
        };
        let sets = self.sets()?;
        let expected = match self.expected_of(scope, &passed, &sets, interrupt) {
            Ok(Some(expected)) => expected,
            Ok(None) => return Ok(Verified::Interrupted),
            Err(error @ (DeviceError::Reference { .. } | DeviceError::Ranges { .. })) => {
                return Ok(Verified::Unfit(error.to_string()));
            }
            Err(error) => return Err(error),
        };
        self.jobs += 1;
        let purpose = Purpose::Verify(order(sets.len(), self.jobs));
        let job = Job { steps: self.programs.steps(&built), passed, purpose };
        let mut station = self.new_station();
        let spec = &self.options.spec;
        station.setup.arguments = self.data.layout(spec, &sets, |position| spec.compares(position));
        let limit = self.launch_limit();
        let measured = station.run(&job, &mut self.examination(&expected), &limit, interrupt)?;
        Ok(match measured.map(|measured| (measured.compared, measured.failure)) {
            None => Verified::Interrupted,
            Some((compared, None)) => Verified::Right(compared),
            Some((_, Some(failure))) if failure.kind == FailureKind::Constraints => Verified::Unfit(failure.message),
            Some((_, Some(failure))) => Verified::Wrong(failure),
        })
    }

    /// Returns the sets of data to verify on. Writes the second one on the first call.
    fn sets(&mut self) -> Result<Vec<usize>, DeviceError> {
        if !self.has_other_data() {
            return Ok(vec![0]);
        }
        let second = match self.second_set {
            Some(second) => second,
            None => self.data.add(&self.options.spec, self.options.spec.seed.wrapping_add(OTHER_SEED))?,
        };
        self.second_set = Some(second);
        Ok(vec![0, second])
    }
}

/// Returns the sets of data of six launches: each of the two at least twice, with at least two
/// changes, in an order that a kernel cannot foresee. Of a single set, returns two launches.
fn order(sets: usize, seed: u64) -> Vec<usize> {
    if sets < 2 {
        return vec![0, 0];
    }
    let mut random = Rng::seed_from_u64(seed);
    let mut pair = [0, 1];
    pair.shuffle(&mut random);
    let [first, second] = pair;
    let mut rest = [first, second, second];
    rest.shuffle(&mut random);
    [first, second, first].into_iter().chain(rest).collect()
}

/// Adds what was found at one place.
trait Add {
    /// Returns `false` if interrupted.
    fn add(&mut self, verified: Verified, place: &str) -> bool;
}

impl Add for Confirmed {
    fn add(&mut self, verified: Verified, place: &str) -> bool {
        match verified {
            Verified::Right(launches) => self.launches += launches,
            Verified::Unfit(reason) => self.notes.push(format!("the winner was not verified {place}: {reason}")),
            Verified::Wrong(failure) => {
                self.failure = Some(Failure::new(failure.kind, format!("{place}: {}", failure.message)));
            }
            Verified::Interrupted => return false,
        }
        true
    }
}

impl OtherSizes {
    /// Returns an error with the reason if a configuration is none of the space at these sizes.
    fn admits(&self, values: &[(String, Value)]) -> Result<(), String> {
        let mut builder = Space::builder();
        for (name, value) in &self.spec.sizes {
            builder = builder.constant(name, value.clone());
        }
        for (name, value) in values {
            let known = self.parameters.iter().find(|parameter| parameter.name() == name);
            if !known.is_some_and(|parameter| parameter.values().contains(value)) {
                return Err(format!("{name} = {value} is not among the values there"));
            }
            builder = builder.parameter(Parameter::new(name, [value.clone()]).map_err(|error| error.to_string())?);
        }
        for constraint in &self.constraints {
            builder = builder.constraint(constraint.clone());
        }
        match builder.build() {
            Ok(_) => Ok(()),
            Err(SpaceError::Empty { culprits }) => Err(format!("constraint `{}` excludes it", culprits.join("`, `"))),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_has_both_sets_and_changes_twice() {
        let mut orders = std::collections::HashSet::new();
        for seed in 0..100 {
            let order = order(2, seed);
            let changes = order.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!(changes >= 2 && order.len() == 6 && (0..2).all(|set| order.contains(&set)), "{order:?}");
            orders.insert(order);
        }
        assert!(orders.len() > 2, "no kernel can foresee the order");
    }
}
