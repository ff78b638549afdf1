//! Checks of the whole problem: each number has one name, and each name one meaning.

use crate::fault::{Faults, Key};
use crate::metrics::{check_metrics, check_value};
use crate::problem_spec::ProblemSpec;
use tunesmith_kernel::command::OUT;

/// Reports the faults of `spec` as a whole.
pub(crate) fn check(spec: &ProblemSpec, faults: &Faults) {
    for (name, refusal) in check_metrics(spec) {
        faults.error(Key::of("metrics").field(&name).label(), refusal.text, refusal.remedy);
    }
    let Some(command) = spec.command() else { return };
    for (name, _) in &command.values {
        if let Some(text) = check_value(spec, name) {
            let key = Key::of("kernel").field("values").field(name);
            faults.error(key, text, Some("choose another name under `values`".to_string()));
        }
    }
    check_reserved(spec, faults);
}

/// Checks the names for a command. It finds them in its environment, where some names have a meaning already.
fn check_reserved(spec: &ProblemSpec, faults: &Faults) {
    let sizes = spec.sizes.iter().map(|(name, _)| (name.as_str(), Key::default()));
    let parameters = spec.space.parameters.iter().map(|parameter| parameter.name());
    let parameters = parameters.map(|name| (name, spec.keys.parameters.get(name).cloned().unwrap_or_default()));
    for (name, key) in sizes.chain(parameters) {
        if let Some(meaning) = reserved(name) {
            let remedy = Some("choose another name".to_string());
            faults.error(key, format!("commands find {meaning} under the name `{name}`"), remedy);
        }
    }
}

/// Returns the meaning of a name that is in the environment of every command.
fn reserved(name: &str) -> Option<&'static str> {
    match name {
        OUT => Some("the folder of a configuration"),
        "PATH" => Some("where programs are looked for"),
        _ => None,
    }
}
