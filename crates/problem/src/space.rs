//! Builds the search space of a problem.

use crate::constraint_report::shortened;
use crate::tree::place_inside;
use crate::{Diagnostic, Level, NestKernel, Problem, ProblemError};
use rand::SeedableRng as _;
use std::ops::Range;
use tunesmith_core::{Interrupt, Rng};
use tunesmith_device::LIMIT_NAMES;
use tunesmith_space::did_you_mean;
use tunesmith_space::lookup;
use tunesmith_space::{ConfigId, Configuration, Constraint, Space, SpaceBuilder, SpaceError, Value};

/// The space of a problem on a device.
#[derive(Clone, Debug)]
pub struct ProblemSpace {
    /// The space.
    pub space: Space,
    /// A warning for every constraint left out because it needs an unknown device.
    pub warnings: Vec<Diagnostic>,
}

impl Problem {
    /// Builds the search space. `limits` are the device's; constraints call them `device.NAME`. A
    /// constraint that needs a missing limit is left out with a warning.
    ///
    /// # Errors
    /// A parameter or constraint is wrong, each with its place: an unknown name, an expression that
    /// cannot be evaluated, or constraints that exclude everything.
    pub fn space(&self, limits: &[(String, Value)]) -> Result<ProblemSpace, ProblemError> {
        self.space_until(limits, &Interrupt::default())
    }

    /// Builds the space as [`space`](Self::space) does, until `interrupt` is raised. It may take minutes.
    ///
    /// # Errors
    /// As of [`space`](Self::space), or the construction was interrupted.
    pub fn space_until(&self, limits: &[(String, Value)], interrupt: &Interrupt) -> Result<ProblemSpace, ProblemError> {
        if let Some(space) = &self.built {
            return Ok(ProblemSpace { space: space.clone(), warnings: Vec::new() });
        }
        let (builder, warnings) = self.space_builder(limits)?;
        let builder = builder.cancel_on(interrupt.flag());
        Ok(ProblemSpace { space: self.build(builder)?, warnings })
    }

    /// Returns the space yet to be built, with a warning for every constraint left out.
    ///
    /// # Errors
    /// A constraint uses a limit that no device has.
    pub fn space_builder(&self, limits: &[(String, Value)]) -> Result<(SpaceBuilder, Vec<Diagnostic>), ProblemError> {
        let mut builder = Space::builder();
        for parameter in &self.parameters {
            builder = builder.parameter(parameter.clone());
        }
        let device = limits.iter().map(|(name, value)| (format!("device.{name}"), value.clone()));
        let constants: Vec<(String, Value)> = self.sizes.iter().cloned().chain(device).collect();
        for (name, value) in &constants {
            builder = builder.constant(name, value.clone());
        }
        let mut warnings = Vec::from_iter(self.warn_of_awaited());
        for (constraint, place) in self.constraints.iter().zip(&self.places.constraints) {
            match unknown_limit(constraint, &constants) {
                None if self.is_awaited_by(constraint) => {}
                None => builder = builder.constraint(constraint.clone()),
                Some(limit) => {
                    self.check_limit(limit, constraint, limits)?;
                    let text = format!("constraint `{}` is left out: `{limit}` is not known here", constraint.name());
                    let remedy = "it is applied on devices that have this limit";
                    let name = shortened(constraint.name());
                    let brief = format!("constraint `{name}` is left out: `{limit}` is not known here; {remedy}");
                    let remedy = Some(remedy.to_string());
                    let message = self.source_file.diagnostic(Level::Warning, place.clone(), text, remedy);
                    warnings.push(message.in_brief(brief));
                }
            }
        }
        Ok((builder, warnings))
    }

    /// Checks that some device has `limit`, which this one lacks.
    fn check_limit(
        &self,
        limit: &str,
        constraint: &Constraint,
        limits: &[(String, Value)],
    ) -> Result<(), ProblemError> {
        let name = limit.trim_start_matches("device.");
        if LIMIT_NAMES.contains(&name) {
            return Ok(());
        }
        let own: Vec<&str> = limits.iter().map(|(name, _)| name.as_str()).collect();
        let (of, known) =
            if own.is_empty() { ("devices have", LIMIT_NAMES.to_vec()) } else { ("this device has", own) };
        let listed =
            format!("{of} {}", known.iter().map(|name| format!("device.{name}")).collect::<Vec<_>>().join(", "));
        let meant = did_you_mean(name, known.iter().chain(&LIMIT_NAMES).copied());
        let remedy = meant.map_or_else(|| listed.clone(), |meant| format!("{meant} {listed}"));
        let inside = constraint.expr().names().iter().find(|name| name.text == limit).map(|name| name.span.clone());
        let place = self.place_in_constraint(constraint.name(), inside.as_ref());
        let text = format!("constraint `{}` uses `{limit}`, which no device has", constraint.name());
        Err(self.error(place, text, Some(remedy)))
    }

    /// Builds the space of `builder`. Gives its errors a place in the file.
    pub fn build(&self, builder: SpaceBuilder) -> Result<Space, ProblemError> {
        builder.build().map_err(|error| self.space_error(&error))
    }

    /// Returns the configuration that speed-ups refer to: the file's `default`. Without one, a
    /// parameter takes the value that a loop nest states, if that is listed, or else its first
    /// value. Returns `None` if a constraint excludes this configuration and the file does not name
    /// it.
    ///
    /// # Errors
    /// The file's default names an unknown parameter or value, or a constraint excludes it.
    pub fn default_configuration(&self, space: &Space) -> Result<Option<Configuration>, ProblemError> {
        let Some(pairs) = &self.tuning.default else {
            let stated = self.nest.as_ref().map(NestKernel::defaults).unwrap_or_default();
            let is_listed = |(name, value): &(&str, Value)| {
                space.parameter_index(name).is_some_and(|at| space.parameters()[at].values().contains(value))
            };
            let stated: Vec<(&str, Value)> = stated.into_iter().filter(is_listed).collect();
            let first = space.configuration(&stated, None).map_err(|error| self.space_error(&error))?;
            return Ok(space.contains(&first).then_some(first));
        };
        let at_default = |text: String, remedy| self.error(self.places.default.clone(), text, remedy);
        let pairs: Vec<(&str, Value)> = pairs.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let configuration = space.configuration(&pairs, None);
        let configuration =
            configuration.map_err(|error| at_default(format!("the default configuration: {error}"), listed(&error)))?;
        let violated: Vec<String> =
            space.violated(&configuration).iter().map(|constraint| format!("`{}`", constraint.name())).collect();
        if !violated.is_empty() {
            let remedy = Some("unnamed parameters take their first value; name those that matter".to_string());
            return Err(at_default(format!("the default configuration violates {}", violated.join(", ")), remedy));
        }
        Ok(Some(configuration))
    }

    /// Returns one configuration of each alternative, `first` and its alternative first. Without
    /// alternatives, returns `first` alone.
    pub fn one_of_each_alternative(&self, space: &Space, first: ConfigId) -> Vec<ConfigId> {
        let choice = self.choice.as_deref().and_then(|name| space.parameter_index(name));
        let Some(choice) = choice else { return vec![first] };
        let chosen = space.unrank(first).indices()[choice];
        let values = space.parameters()[choice].values().len() as u32;
        let mut rng = Rng::seed_from_u64(0);
        let of_value = |value: u32| {
            let only = [value];
            let mut allowed: Vec<&[u32]> = vec![&[]; choice + 1];
            allowed[choice] = &only;
            space.sample_within(&allowed, &mut rng)
        };
        std::iter::once(first).chain((0..values).filter(|value| *value != chosen).filter_map(of_value)).collect()
    }

    fn space_error(&self, error: &SpaceError) -> ProblemError {
        let (span, remedy) = match error {
            SpaceError::UnknownName { constraint, span, .. } => {
                let sizes = self.sizes.iter().map(|(name, _)| name.as_str());
                let parameters = self.parameters.iter().map(|parameter| parameter.name());
                let names: Vec<&str> = parameters.chain(sizes).collect();
                let known = format!("names are {}, and device.* limits", names.join(", "));
                (self.place_in_constraint(constraint, Some(span)), Some(known))
            }
            SpaceError::Evaluation { constraint, error, .. } => {
                (self.place_in_constraint(constraint, Some(&error.span)), error.remedy.clone())
            }
            SpaceError::Empty { culprits } => {
                let first = culprits.first().map_or(0..0, |name| self.place_in_constraint(name, None));
                (first, Some("widen the parameters' values or weaken a constraint".to_string()))
            }
            SpaceError::TooLarge { culprits, .. } => {
                (culprits.first().map_or(0..0, |name| self.place_in_constraint(name, None)), None)
            }
            _ => (0..0, None),
        };
        self.error(span, error.to_string(), remedy)
    }

    pub(crate) fn place_of_constraint(&self, name: &str) -> Range<usize> {
        self.place_in_constraint(name, None)
    }

    fn place_in_constraint(&self, name: &str, inside: Option<&Range<usize>>) -> Range<usize> {
        let found =
            self.constraints.iter().zip(&self.places.constraints).find(|(constraint, _)| constraint.name() == name);
        let Some((constraint, place)) = found else { return 0..0 };
        match inside {
            Some(inside) => place_inside(&self.source_file.text, place, constraint.expr().text(), inside.clone()),
            None => place.clone(),
        }
    }
}

fn unknown_limit<'a>(constraint: &'a Constraint, constants: &[(String, Value)]) -> Option<&'a str> {
    let names = constraint.expr().names().iter().map(|name| name.text.as_str());
    names.into_iter().find(|name| name.starts_with("device.") && lookup(constants, name).is_none())
}

/// Returns the advice about a value that its parameter does not take.
fn listed(error: &SpaceError) -> Option<String> {
    let is_value = matches!(error, SpaceError::NotAllowed { .. });
    is_value.then(|| "choose one of these values, or add it to the parameter".to_string())
}
