//! The words of commands in a configuration, and the environment of all of them.

use std::path::Path;
use tunesmith_kernel::command::{CommandSpec, OUT};
use tunesmith_kernel::{Scope, Template};
use tunesmith_space::Value;

/// Returns the scope of a configuration whose folder is `folder`.
pub(super) fn with_folder(scope: &Scope, folder: &Path) -> Scope {
    let own = scope.iter().map(|(name, value)| (name.to_owned(), value.clone()));
    Scope::new(own.chain([(OUT.to_owned(), Value::from(folder.to_string_lossy().as_ref()))]))
}

/// Returns the words of a command for a configuration.
pub(super) fn expand(words: &[Template], scope: &Scope) -> Vec<String> {
    words.iter().map(|word| word.expand(scope)).collect()
}

/// Returns the words of a build step for a configuration, without those that become empty. A compiler
/// would take an empty word for a file. A step without words does nothing.
pub(super) fn step_words(words: &[Template], scope: &Scope) -> Vec<String> {
    let words = words.iter().map(|word| word.expand(scope));
    words.filter(|word| !word.trim().is_empty()).collect()
}

/// Returns the environment variables of all commands: first sizes, parameters and the folder by
/// their names, then the problem's own variables.
pub(super) fn environment(spec: &CommandSpec, scope: &Scope) -> Vec<(String, String)> {
    let names = scope.iter().map(|(name, value)| (name.to_owned(), value.define()));
    let named = spec.environment.iter().map(|(name, value)| (name.clone(), value.expand(scope)));
    names.chain(named).collect()
}
