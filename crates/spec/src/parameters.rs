//! The tuning parameters and the constraints between them.

use crate::draft::{AlternativesDraft, Draft, ParameterDraft, SettingDraft, SubjectDraft};
use crate::fault::{Faults, Key};
use crate::setting::DeviceSetting;
use crate::values::Sizes;
use tunesmith_power::Knob;
use tunesmith_space::{Constraint, Expr, Parameter, SpaceError, Value, lookup};

/// A tuning parameter with the part that states it.
pub(crate) type Stated<T> = (T, Key);

/// The dimensions of a space, and the conditions on them.
#[derive(Debug, Default)]
pub(crate) struct Dimensions {
    pub(crate) parameters: Vec<Stated<Parameter>>,
    pub(crate) constraints: Vec<Stated<Constraint>>,
    pub(crate) settings: Vec<DeviceSetting>,
    /// The parameter that chooses among alternatives.
    pub(crate) choice: Option<String>,
}

impl Dimensions {
    /// Returns the dimensions of the problem in `draft`.
    pub(crate) fn new(draft: &Draft, sizes: Sizes<'_>) -> Self {
        let section = Key::of("parameters");
        sizes.faults.refuse_twins(&section, draft.space.parameters.iter().map(|one| one.name.as_str()));
        let mut found = Self { parameters: parameters(&draft.space.parameters, &section, sizes), ..Self::default() };
        let stated = Key::of("constraints");
        if !draft.space.constraints_may_repeat {
            sizes.faults.refuse_twins(&stated, draft.space.constraints.iter().map(Constraint::name));
        }
        found.constraints = draft.space.constraints.iter().map(|one| (one.clone(), stated.field(one.name()))).collect();
        if let SubjectDraft::Alternatives(alternatives) = &draft.subject {
            found.join(alternatives, sizes);
        }
        found.set(&draft.space.settings, matches!(draft.subject, SubjectDraft::Command(_)), sizes);
        found.check_names(sizes);
        found
    }

    /// Adds the settings of the device.
    fn set(&mut self, settings: &[SettingDraft], is_command: bool, sizes: Sizes<'_>) {
        let section = Key::of("device_settings");
        if is_command && !settings.is_empty() {
            let remedy = "the command can set them, with a parameter in its words".to_string();
            let text = "a command runs on no device whose clock Tunesmith sets";
            sizes.faults.error(section.clone(), text, Some(remedy));
        }
        for SettingDraft { knob, origin, values } in settings {
            let key = section.field(knob.name());
            if self.parameters.iter().any(|(parameter, _)| parameter.name() == knob.name()) {
                let remedy = "a setting of the device stands in [device_settings] alone".to_string();
                let text = format!("`{knob}` stands in `[parameters]`, too");
                sizes.faults.error(key.label(), text, Some(remedy));
                continue;
            }
            if let Some(values) = values {
                let Some(values) = sizes.values(values, &key) else { continue };
                let Some(parameter) = setting(*knob, values, &key, sizes.faults) else { continue };
                self.parameters.push((parameter, key.label()));
            }
            self.settings.push(DeviceSetting { knob: *knob, values: *origin });
        }
    }

    /// Checks the names of parameters. They reach the kernel as macros, and expressions by name, so that each needs a
    /// distinct name that C accepts.
    fn check_names(&self, sizes: Sizes<'_>) {
        for (parameter, key) in &self.parameters {
            let name = parameter.name();
            if !is_identifier(name) {
                let remedy = "use letters, digits and `_`, not starting with a digit".to_string();
                let text = format!("`{name}` cannot be the name of a tuning parameter");
                sizes.faults.error(key.clone(), text, Some(remedy));
            }
            if lookup(sizes.sizes, name).is_some() {
                sizes.faults.error(key.clone(), format!("`{name}` is both a size and a tuning parameter"), None);
            }
        }
    }

    /// Adds the choice in front, and behind the others the parameters of the alternatives. Adds the alternatives'
    /// constraints, and those that keep a parameter at its first value where no alternative with it is chosen: the
    /// space is the sum of the alternatives' spaces, not their product.
    fn join(&mut self, alternatives: &AlternativesDraft, sizes: Sizes<'_>) {
        let owned = self.owned(alternatives, sizes);
        self.constraints.extend(owned.iter().filter_map(|owned| pin(owned, alternatives)));
        let key = Key::of("kernel").field("alternative");
        let names = alternatives.entries.iter().map(|one| Value::Str(one.name.as_str().into()));
        let choice = Parameter::new(alternatives.choice.clone(), names);
        let choice = choice.map_err(|error| sizes.faults.error(key.clone(), error.to_string(), None)).ok();
        if let Some((_, place)) = self.parameters.iter().find(|(one, _)| one.name() == alternatives.choice) {
            let remedy = "rename it, or name the other: [kernel] alternative = \"WAY\"".to_string();
            let text = format!("`{}` is the parameter that chooses", alternatives.choice);
            sizes.faults.error(place.clone(), text, Some(remedy));
        }
        let shared = std::mem::take(&mut self.parameters);
        let own = owned.into_iter().map(|owned| (owned.parameter, owned.key));
        self.parameters = choice.into_iter().map(|choice| (choice, key.clone())).chain(shared).chain(own).collect();
        self.choice = Some(alternatives.choice.clone());
    }

    /// Returns the parameters of alternatives, and adds their constraints.
    fn owned(&mut self, alternatives: &AlternativesDraft, sizes: Sizes<'_>) -> Vec<PartialParameter> {
        let mut owned: Vec<PartialParameter> = Vec::new();
        for one in &alternatives.entries {
            for (parameter, key) in parameters(&one.parameters, &one.key.field("parameters"), sizes) {
                self.add(
                    &mut owned,
                    PartialParameter { parameter, key, owners: vec![one.name.clone()] },
                    alternatives,
                    sizes.faults,
                );
            }
            let section = one.key.field("constraints");
            let own = one.constraints.iter();
            let own = own.map(|own| (only_where(own, &one.name, &alternatives.choice), section.field(own.name())));
            self.constraints.extend(own);
        }
        owned
    }

    /// Adds a parameter of an alternative. Another one may have it, too, with the same values.
    fn add(
        &self,
        owned: &mut Vec<PartialParameter>,
        one: PartialParameter,
        alternatives: &AlternativesDraft,
        faults: &Faults,
    ) {
        let name = one.parameter.name();
        let is_choice = name == alternatives.choice;
        if is_choice || self.parameters.iter().any(|(known, _)| known.name() == name) {
            let whose = if is_choice { "chooses the alternative" } else { "stands in `[parameters]`, too" };
            let remedy = "a parameter of all alternatives stands in [parameters] alone".to_string();
            faults.error(one.key, format!("`{name}` {whose}"), Some(remedy));
            return;
        }
        match owned.iter_mut().find(|known| known.parameter.name() == name) {
            Some(known) if known.parameter.values() == one.parameter.values() => known.owners.extend(one.owners),
            Some(known) => {
                let text = format!("`{name}` has other values than in alternative `{}`", known.owners[0]);
                faults.error(one.key, text, Some("give it the same values, or another name".to_string()));
            }
            None => owned.push(one),
        }
    }
}

/// A parameter of some alternatives, with their names.
struct PartialParameter {
    parameter: Parameter,
    key: Key,
    owners: Vec<String>,
}

/// Returns the tuning parameters of the section `key`.
fn parameters(drafts: &[ParameterDraft], section: &Key, sizes: Sizes<'_>) -> Vec<Stated<Parameter>> {
    let parameter = |draft: &ParameterDraft| {
        let key = section.field(&draft.name);
        let values = sizes.values(&draft.values, &key)?;
        let refuse = |error: SpaceError| sizes.faults.error(key.clone(), error.to_string(), remedy(&error));
        Some((Parameter::new(draft.name.as_str(), values).map_err(refuse).ok()?, key.label()))
    };
    drafts.iter().filter_map(parameter).collect()
}

/// Returns the advice about values that a parameter cannot have.
pub fn remedy(error: &SpaceError) -> Option<String> {
    let remedy = match error {
        SpaceError::NoValues { .. } => "write at least one value, as in [1, 2, 4]",
        SpaceError::DuplicateValue { .. } => "write each value once",
        SpaceError::MixedKinds { .. } => "write all of them as numbers, or all of them as texts",
        _ => return None,
    };
    Some(remedy.to_string())
}

/// Returns the parameter of a setting whose values the problem states.
fn setting(knob: Knob, values: Vec<Value>, key: &Key, faults: &Faults) -> Option<Parameter> {
    let is_right =
        |value: &Value| matches!(value, Value::Int(value) if u32::try_from(*value).is_ok_and(|value| value > 0));
    if !values.iter().all(is_right) {
        let unit = if knob == Knob::Clock { "MHz" } else { "watts" };
        faults.named(key.clone(), "the values of ", format!(" must be whole numbers of {unit} above 0"), None);
        return None;
    }
    Parameter::new(knob.name(), values).map_err(|error| faults.error(key.clone(), error.to_string(), None)).ok()
}

/// Returns `constraint` where the alternative `name` is chosen, and true elsewhere.
fn only_where(constraint: &Constraint, name: &str, choice: &str) -> Constraint {
    let expr = constraint.expr();
    let guarded = Expr::parse(&format!("{choice} != '{name}' or ({})", expr.text()));
    // An expression in parentheses is one wherever it stands alone.
    Constraint::new(format!("{} (in {name})", constraint.name()), guarded.unwrap_or_else(|_| expr.clone()))
}

/// Returns the constraint that keeps a parameter at its first value where no alternative with it is chosen. `None` if
/// all have it, or if it has one value only.
fn pin(owned: &PartialParameter, alternatives: &AlternativesDraft) -> Option<Stated<Constraint>> {
    let PartialParameter { parameter, key, owners } = owned;
    let everywhere = owners.len() == alternatives.entries.len();
    let first = parameter.values().first().filter(|_| !everywhere && parameter.values().len() > 1)?;
    let chosen: Vec<String> = owners.iter().map(|name| format!("{} == '{name}'", alternatives.choice)).collect();
    let text = format!("{} or {} == {}", chosen.join(" or "), parameter.name(), first.python());
    let name = format!("only {} varies {}", owners.join(" and "), parameter.name());
    Some((Constraint::new(name, Expr::parse(&text).ok()?), key.clone()))
}

fn is_identifier(name: &str) -> bool {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_well && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
