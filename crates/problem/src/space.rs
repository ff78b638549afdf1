//! Builds the search space of a problem.

use crate::constraint_report::shortened;
use crate::{Diagnostic, Level, Problem, ProblemError};
use rand::SeedableRng as _;
use std::ops::Range;
use tunesmith_core::{Interrupt, Refusal, Rng};
use tunesmith_kernel::LIMIT_NAMES;
use tunesmith_space::{
    ConfigId, Configuration, Constraint, Space, SpaceBuilder, SpaceError, Value, did_you_mean, lookup,
};
use tunesmith_spec::{Key, NestKernel};

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
        if let Some(space) = self.spec.built() {
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
        for parameter in self.spec.parameters() {
            builder = builder.parameter(parameter.clone());
        }
        let device = limits.iter().map(|(name, value)| (format!("device.{name}"), value.clone()));
        let constants: Vec<(String, Value)> = self.spec.sizes().iter().cloned().chain(device).collect();
        for (name, value) in &constants {
            builder = builder.constant(name, value.clone());
        }
        let mut warnings = Vec::from_iter(self.warn_of_awaited());
        for constraint in self.spec.constraints() {
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
                    let key = self.constraint_key(constraint.name());
                    let message = self.message(Level::Warning, &key, text, remedy);
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
        let text = format!("constraint `{}` uses `{limit}`, which no device has", constraint.name());
        Err(self.constraint_error(constraint.name(), inside.as_ref(), text, Some(remedy)))
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
        let Some(pairs) = &self.spec.tuning().default else {
            let stated = self.spec.nest().map(NestKernel::defaults).unwrap_or_default();
            let is_listed = |(name, value): &(&str, Value)| {
                space.parameter_index(name).is_some_and(|at| space.parameters()[at].values().contains(value))
            };
            let stated: Vec<(&str, Value)> = stated.into_iter().filter(is_listed).collect();
            let first = space.configuration(&stated, None).map_err(|error| self.space_error(&error))?;
            return Ok(space.contains(&first).then_some(first));
        };
        let key = Key::of("tuning").field("default");
        let at_default = |text: String, remedy| self.error(&key, text, remedy);
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
        let choice = self.spec.choice().and_then(|name| space.parameter_index(name));
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
        let text = error.to_string();
        match error {
            SpaceError::UnknownName { constraint, span, .. } => {
                let sizes = self.spec.sizes().iter().map(|(name, _)| name.as_str());
                let parameters = self.spec.parameters().iter().map(|parameter| parameter.name());
                let names: Vec<&str> = parameters.chain(sizes).collect();
                let known = format!("names are {}, and device.* limits", names.join(", "));
                self.constraint_error(constraint, Some(span), text, Some(known))
            }
            SpaceError::Evaluation { constraint, error, .. } => {
                self.constraint_error(constraint, Some(&error.span), text, error.remedy.clone())
            }
            SpaceError::Empty { culprits } => {
                let remedy = Some("widen the parameters' values or weaken a constraint".to_string());
                let first = culprits.first().map_or_else(Key::default, |name| self.constraint_key(name));
                self.error(&first, text, remedy)
            }
            SpaceError::TooLarge { culprits, .. } => {
                let first = culprits.first().map_or_else(Key::default, |name| self.constraint_key(name));
                self.error(&first, text, None)
            }
            _ => self.error(&Key::default(), text, None),
        }
    }

    /// Returns the part that states a constraint.
    pub(crate) fn constraint_key(&self, name: &str) -> Key {
        self.spec.keys().constraints.get(name).cloned().unwrap_or_default()
    }

    /// Returns an error about a constraint, or about the bytes `inside` of its expression.
    fn constraint_error(
        &self,
        name: &str,
        inside: Option<&Range<usize>>,
        text: String,
        remedy: Option<String>,
    ) -> ProblemError {
        let constraint = self.spec.constraints().iter().find(|constraint| constraint.name() == name);
        let expression = constraint.map(|constraint| constraint.expr().text());
        let key = self.constraint_key(name);
        let message = self.message_inside(Level::Error, &key, expression.zip(inside), Refusal::new(text, remedy));
        ProblemError { messages: vec![message], source_file: self.source_file.clone() }
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
