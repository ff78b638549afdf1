//! Verifies a winner once more: in many launches of one process, on data that change from launch to
//! launch, and at other sizes.
//!
//! A kernel that keeps something from launch to launch, or that is made for certain data or sizes, can
//! pass every comparison of the search.

use crate::live::programs::BuiltKernels;
use crate::live::{LiveEvaluator, LiveOptions};
use crate::measure::series::{Series, Sets};
use crate::worker::protocol::{Job, Purpose};
use rand::SeedableRng;
use std::sync::Arc;
use tunesmith_backend::BuildError;
use tunesmith_backend::ahead::Build;
use tunesmith_core::{Claim, Confirmed, Error, Failure, FailureKind, Interrupt, Rng};
use tunesmith_kernel::data::passed;
use tunesmith_kernel::measure::Repetition;
use tunesmith_kernel::{Access, ArgumentKind, DeviceError, Fill, OtherSizes, Scope};
use tunesmith_space::{ConfigId, Parameter, Space, SpaceError, Value};

/// Added to the seed of a problem for its second set of data.
const OTHER_SEED: u64 = 0x5EED_0000_0000_0001;

/// The number of ties that take the time of a winner.
const TIES_A_WINNER: u32 = 8;

/// The number of launches at one place.
#[derive(Clone, Copy)]
enum Length {
    /// The fewest.
    Short,
    /// As many as the policy asks for.
    Long,
    /// As many as an eighth of the policy's time allows, so that the seven ties of a winner take no longer than it.
    Tie,
}

/// The result of verifying a configuration at one place.
enum Verified {
    /// So many launches were right. Local memory was not filled for them, if there is a reason.
    Right(u64, Option<String>),
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
        claim: Claim,
        interrupt: &Interrupt,
    ) -> Result<Option<Confirmed>, Error> {
        let start = self.now();
        let mut confirmed = Confirmed::default();
        if self.options.spec.is_verified() {
            let scope = self.scope(config);
            let built = self.kept.get(config);
            let place = if self.has_other_data() { "on other data" } else { "in many launches" };
            let length = if claim == Claim::Tie { Length::Tie } else { Length::Long };
            let verified = self.verify_at(&scope, built, length, interrupt)?;
            if !confirmed.add(verified, place) {
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
        let is_random = |argument: &tunesmith_kernel::Argument| {
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
        if let Err(reason) = admitted(other, &values) {
            return Ok(Verified::Unfit(reason));
        }
        if self.others[at].is_none() {
            // It measures nothing, so that it sets no clock.
            let options = LiveOptions { spec: other.spec.clone(), ..self.options.clone() };
            let options = LiveOptions { knobs: Vec::new(), ..options };
            self.others[at] = Some(Box::new(Self::new(&self.space, options)?));
            // It has read the files anew.
            self.programs.require_unchanged()?;
            self.oracle.require_unchanged()?;
        }
        let sizes = self.options.spec.verify.sizes[at].spec.sizes.iter().cloned();
        let scope = Scope::new(sizes.chain(values)).without(&self.options.knobs);
        let Some(evaluator) = &mut self.others[at] else { return Ok(Verified::Interrupted) };
        evaluator.verify_at(&scope, None, Length::Short, interrupt)
    }

    /// Launches the configuration of `scope` on changing data, and looks at every result.
    fn verify_at(
        &mut self,
        scope: &Scope,
        built: Option<Arc<BuiltKernels>>,
        length: Length,
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
        let sets = self.sets(length);
        let numbers = self.write_sets(sets)?;
        let expected = match self.expected_of(scope, &passed, &numbers, interrupt) {
            Ok(Some(expected)) => expected,
            Ok(None) => return Ok(Verified::Interrupted),
            Err(error @ (DeviceError::Reference { .. } | DeviceError::Ranges { .. })) => {
                return Ok(Verified::Unfit(error.to_string()));
            }
            Err(error) => return Err(error),
        };
        self.jobs += 1;
        let purpose = Purpose::Verify(self.series(sets, length));
        let job = Job { steps: self.programs.steps(&built), passed, purpose };
        let mut station = self.new_station();
        let spec = &self.options.spec;
        station.setup.arguments = self.data.layout(spec, &numbers, |position| spec.compares(position));
        let limit = self.launch_limit();
        let measured = station.run(&job, &mut self.examination(&expected), &limit, interrupt)?;
        // The first launch is announced once for each kernel.
        let repeated = job.steps.len().saturating_sub(1) as u64;
        let Some(measured) = measured else { return Ok(Verified::Interrupted) };
        Ok(match measured.failure {
            None => Verified::Right(measured.launches.saturating_sub(repeated), measured.unfilled),
            Some(failure) if failure.kind == FailureKind::Constraints => Verified::Unfit(failure.message),
            Some(failure) => Verified::Wrong(failure),
        })
    }

    /// Returns the kinds of data to verify on. A run of few launches is not worth a third run of the reference.
    fn sets(&self, length: Length) -> Sets {
        match length {
            _ if !self.has_other_data() => Sets::Own,
            Length::Short => Sets::Other,
            Length::Long | Length::Tie => Sets::Similar,
        }
    }

    /// Returns the numbers of the sets of data. Writes those that are missing.
    fn write_sets(&mut self, sets: Sets) -> Result<Vec<usize>, DeviceError> {
        let spec = &self.options.spec;
        while self.data.count() < sets.count() {
            match self.data.count() {
                1 => self.data.add(spec, spec.seed.wrapping_add(OTHER_SEED))?,
                _ => self.data.add_similar(spec, 0, 1)?,
            };
        }
        Ok((0..sets.count()).collect())
    }

    fn series(&self, sets: Sets, length: Length) -> Series {
        let mut random = Rng::seed_from_u64(self.jobs);
        let rule = self.options.policy.repetition;
        match length {
            Length::Short => Series::short(sets, &mut random),
            Length::Long => Series::long(sets, rule, &mut random),
            Length::Tie => {
                Series::long(sets, Repetition { time_cap: rule.time_cap / TIES_A_WINNER, ..rule }, &mut random)
            }
        }
    }
}

/// Adds what was found at one place.
trait Add {
    /// Returns `false` if interrupted.
    fn add(&mut self, verified: Verified, place: &str) -> bool;
}

impl Add for Confirmed {
    fn add(&mut self, verified: Verified, place: &str) -> bool {
        match verified {
            Verified::Right(launches, unfilled) => {
                self.launches += launches;
                self.notes.extend(unfilled.map(|reason| {
                    format!("local memory held what was left in it while the winner was verified {place}: {reason}")
                }));
            }
            Verified::Unfit(reason) => self.notes.push(format!("the winner was not verified {place}: {reason}")),
            Verified::Wrong(failure) => {
                self.failure = Some(Failure::new(failure.kind, format!("{place}: {}", failure.message)));
            }
            Verified::Interrupted => return false,
        }
        true
    }
}

/// Returns an error with the reason if a configuration is none of the space at the sizes of `other`.
fn admitted(other: &OtherSizes, values: &[(String, Value)]) -> Result<(), String> {
    let mut builder = Space::builder();
    for (name, value) in &other.spec.sizes {
        builder = builder.constant(name, value.clone());
    }
    for (name, value) in values {
        let known = other.parameters.iter().find(|parameter| parameter.name() == name);
        if !known.is_some_and(|parameter| parameter.values().contains(value)) {
            return Err(format!("{name} = {value} is not among the values there"));
        }
        builder = builder.parameter(Parameter::new(name, [value.clone()]).map_err(|error| error.to_string())?);
    }
    for constraint in &other.constraints {
        builder = builder.constraint(constraint.clone());
    }
    match builder.build() {
        Ok(_) => Ok(()),
        Err(SpaceError::Empty { culprits }) => Err(format!("constraint `{}` excludes it", culprits.join("`, `"))),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verification_with_local_memory_as_it_was_left_says_so() {
        let mut confirmed = Confirmed::default();
        assert!(confirmed.add(Verified::Right(200, None), "on other data"));
        assert!(confirmed.add(Verified::Right(6, Some("no compiler".to_owned())), "at N = 7"));
        let note = "local memory held what was left in it while the winner was verified at N = 7: no compiler";
        assert_eq!((confirmed.launches, confirmed.notes), (206, vec![note.to_owned()]));
    }
}
