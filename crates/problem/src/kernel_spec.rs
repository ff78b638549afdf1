//! Converts a problem to the form that a device compiles and runs.

use crate::{Diagnostic, Error, Problem, ProblemError};
use std::path::Path;
use tunesmith_core::{Launch, Refusal};
use tunesmith_kernel::{DeviceError, Extent, Kernel, KernelSpec, Language, WorkSize};
use tunesmith_space::{ConfigId, Expr, Space, Value};
use tunesmith_spec::{Key, Versions};

impl Problem {
    /// Returns the kernels with their data, as a device with kernels in `language` needs them. Loop
    /// nests are written in it. A kernel with several languages is in this one if it has it, or else
    /// in the other one that its devices run.
    ///
    /// # Errors
    /// - The problem has no kernel that this version compiles.
    /// - A kernel with several languages has none for the device.
    /// - A kernel or reference file is missing.
    pub fn kernel_spec(&self, language: Language) -> Result<KernelSpec, Error> {
        if !self.obstacles.is_empty() {
            let messages = self.obstacles.clone();
            return Err(ProblemError { messages, source_file: self.source_file.clone() }.into());
        }
        if self.spec.subject().versions().is_empty() {
            let text = format!("`{}` has no kernel that this version compiles", self.source_file.path.display());
            let remedy =
                "C, C++, OpenCL, CUDA and HIP are; any space can be tuned on `--device synthetic:EXPR`".to_string();
            return Err(Refusal::new(text, Some(remedy)).into());
        }
        for Versions { first, key, .. } in self.spec.subject().versions() {
            self.require_file(&first.file, &key.field("file"))?;
        }
        if let Some(reference) = &self.spec.verify().reference {
            self.require_file(&reference.file, &reference_key())?;
        }
        Ok(self.spec.kernel_spec(language)?)
    }

    /// Returns the work-items of a launch on a device with these limits, if the problem has one
    /// kernel that states its work-groups, or else as the names of its parameters tell. Returns `None` for a language
    /// without work-items.
    pub fn launch(&self, language: Language, limits: &[(String, Value)]) -> Option<Launch> {
        if !language.has_work_items() {
            return None;
        }
        self.stated_launch(language, limits).or_else(|| Launch::by_names(self.spec.parameters()))
    }

    fn stated_launch(&self, language: Language, limits: &[(String, Value)]) -> Option<Launch> {
        let kernels = self.spec.kernels_for(language).ok()?;
        let [Kernel { work: Some(WorkSize { extent, local: Some(local) }), .. }] = &kernels[..] else { return None };
        let groups = match extent {
            Extent::Groups(groups) => groups.clone(),
            Extent::Global(items) => {
                let group = |(at, items): (usize, &Expr)| match local.get(at) {
                    Some(local) => Expr::parse(&format!("({}) / ({})", items.text(), local.text())),
                    None => Ok(items.clone()),
                };
                items.iter().enumerate().map(group).collect::<Result<_, _>>().ok()?
            }
        };
        let limits = limits.iter().map(|(name, value)| (format!("device.{name}"), value.clone()));
        let constants = self.spec.sizes().iter().cloned().chain(limits).collect();
        Some(Launch { local: local.clone(), groups, constants, is_by_names: false })
    }

    fn require_file(&self, path: &Path, key: &Key) -> Result<(), Error> {
        if path.is_file() {
            return Ok(());
        }
        let text = format!("there is no file `{}`", path.display());
        let remedy = format!("paths are relative to `{}`", self.folder().display());
        Err(self.error(key, text, Some(remedy)).into())
    }

    /// Adds a place in this file to a device's error about something that the file defines.
    pub fn located(&self, error: DeviceError) -> Error {
        let (key, text, remedy) = match &error {
            DeviceError::Signature { alternative: Some(name), message, remedy, .. } => {
                (self.alternative_key(name), format!("alternative `{name}`: {message}"), Some(remedy.clone()))
            }
            DeviceError::Signature { argument, message, remedy, .. } => {
                (self.argument_key(argument.as_deref()), message.clone(), Some(remedy.clone()))
            }
            DeviceError::Reference { .. } => (reference_key(), error.to_string(), None),
            DeviceError::Data { argument, .. } | DeviceError::Scalar { argument, .. } => {
                (self.argument_key(Some(argument)), error.to_string(), None)
            }
            DeviceError::Command { key, text, remedy } => (self.command_key(key), text.clone(), Some(remedy.clone())),
            _ => return error.into(),
        };
        self.error(&key, text, remedy).into()
    }

    /// Returns warnings about the words of a command that probably mean something else.
    pub fn command_warnings(&self) -> &[Diagnostic] {
        &self.doubts
    }

    /// Returns the function that a configuration's alternative runs first, or the whole problem without alternatives.
    pub fn configuration_key(&self, space: &Space, config: ConfigId) -> Key {
        let choice = self.spec.choice().and_then(|name| space.parameter_index(name));
        let value = |at: usize| &space.parameters()[at].values()[space.unrank(config).indices()[at] as usize];
        choice.map_or_else(Key::default, |at| self.alternative_key(value(at)))
    }

    /// Returns the part that states a parameter.
    pub fn parameter_key(&self, name: &str) -> Key {
        self.spec.keys().parameters.get(name).cloned().unwrap_or_default()
    }

    /// Returns the function that an alternative runs first.
    fn alternative_key(&self, name: &Value) -> Key {
        let is_of = |kernel: &Kernel| kernel.alternative.as_ref().is_some_and(|alternative| alternative.value == *name);
        let versions = self.spec.subject().versions().iter().find(|one| is_of(&one.first));
        versions.map_or_else(Key::default, |one| one.key.field("function"))
    }

    /// Returns the part that states an argument, or the first kernel's function without a name.
    fn argument_key(&self, name: Option<&str>) -> Key {
        let argument = name.and_then(|name| self.spec.keys().arguments.get(name)).cloned();
        let function = || self.spec.subject().versions().first().map(|one| one.key.field("function"));
        argument.or_else(function).unwrap_or_default()
    }

    /// Returns the part that states `key` of a command, or the command itself without that key.
    fn command_key(&self, key: &str) -> Key {
        let keys = [Key::of("kernel").field(key), Key::of("verify").field(key)];
        let stated = keys.into_iter().find(|key| self.places.stated(key).is_some());
        stated.unwrap_or_else(|| Key::of("kernel").field("command"))
    }
}

fn reference_key() -> Key {
    Key::of("verify").field("reference")
}
