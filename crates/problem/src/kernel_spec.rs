//! Converts a problem to the form that a device compiles and runs.

use crate::{Diagnostic, Error, Level, Problem, ProblemError};
use std::ops::Range;
use std::path::Path;
use tunesmith_core::{Launch, Refusal};
use tunesmith_device::{DeviceError, Extent, Kernel, KernelSpec, Language, OtherSizes, Verify, WorkSize};
use tunesmith_space::{ConfigId, Constraint, Expr, Space, Value};

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
        if self.kernels.is_empty() {
            let text = format!("`{}` has no kernel that this version compiles", self.source_file.path.display());
            let remedy =
                "C, C++, OpenCL, CUDA and HIP are; any space can be tuned on `--device synthetic:EXPR`".to_string();
            return Err(Refusal::new(text, Some(remedy)).into());
        }
        for (kernel, places) in self.kernels.iter().zip(&self.places.kernels) {
            self.require_file(&kernel.file, places.file.clone())?;
        }
        if let Some(reference) = &self.verify.reference {
            self.require_file(&reference.file, self.places.reference.clone())?;
        }
        Ok(KernelSpec {
            problem: self.name.clone(),
            kernels: match &self.nest {
                Some(nest) => vec![nest.kernel(language)],
                None => self.kernels_for(language)?,
            },
            sizes: self.sizes.clone(),
            arguments: self.arguments.clone(),
            verify: Verify { sizes: self.other_sizes(language)?, ..self.verify.clone() },
            seed: self.tuning.seed.unwrap_or(0),
        })
    }

    /// Returns the work-items of a launch on a device with these limits, if the problem has one
    /// kernel that states its work-groups.
    pub fn launch(&self, language: Language, limits: &[(String, Value)]) -> Option<Launch> {
        let kernels = self.kernels_for(language).ok()?;
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
        let constants = self.sizes.iter().cloned().chain(limits).collect();
        Some(Launch { local: local.clone(), groups, constants })
    }

    /// Returns the kernels for a device with kernels in `language`. A kernel with one language is
    /// left as it is: the device says that it does not run it.
    fn kernels_for(&self, language: Language) -> Result<Vec<Kernel>, Error> {
        let none = Vec::new();
        let chosen = |(number, kernel): (usize, &Kernel)| {
            let others = self.other_kernels.get(number).unwrap_or(&none);
            let of = |device| std::iter::once(kernel).chain(others).find(|one| one.language.device() == device);
            match of(language.device()).or_else(|| of(language.also_runs()?.device())) {
                Some(version) => Ok(version.clone()),
                None if others.is_empty() => Ok(kernel.clone()),
                None => Err(self.no_version(kernel, others, language)),
            }
        };
        self.kernels.iter().enumerate().map(chosen).collect()
    }

    /// Returns the error for a kernel without a version in `language`.
    fn no_version(&self, kernel: &Kernel, others: &[Kernel], language: Language) -> Error {
        let own = || std::iter::once(kernel).chain(others).map(|version| version.language);
        let names: Vec<String> = own().map(|language| language.to_string()).collect();
        let devices: Vec<String> = own().map(|language| format!("`--device {}`", language.device())).collect();
        let text = format!(
            "the kernel `{}` is written in {}, which the device `{}` does not run",
            kernel.function,
            names.join(" and "),
            language.device()
        );
        Refusal::new(text, Some(format!("choose {}", devices.join(" or ")))).into()
    }

    /// Returns the problem at the further sizes at which a winner is verified. Constraints on the
    /// device are left out: a device that does not accept a configuration says so.
    fn other_sizes(&self, language: Language) -> Result<Vec<OtherSizes>, Error> {
        let of_device =
            |constraint: &&Constraint| constraint.expr().names().iter().any(|name| name.text.starts_with("device."));
        let other = |(label, problem): &(String, Problem)| {
            Ok(OtherSizes {
                label: label.clone(),
                spec: problem.kernel_spec(language)?,
                parameters: problem.parameters.clone(),
                constraints: problem.constraints.iter().filter(|one| !of_device(one)).cloned().collect(),
            })
        };
        self.verified_at.iter().map(other).collect()
    }

    fn require_file(&self, path: &Path, place: Range<usize>) -> Result<(), Error> {
        if path.is_file() {
            return Ok(());
        }
        let text = format!("there is no file `{}`", path.display());
        let remedy = format!("paths are relative to `{}`", self.folder().display());
        Err(self.error(place, text, Some(remedy)).into())
    }

    /// Adds a place in this file to a device's error about something that the file defines.
    pub fn located(&self, error: DeviceError) -> Error {
        let (place, text, remedy) = match &error {
            DeviceError::Signature { alternative: Some(name), message, remedy, .. } => {
                (self.place_of_alternative(name), format!("alternative `{name}`: {message}"), Some(remedy.clone()))
            }
            DeviceError::Signature { argument, message, remedy, .. } => {
                (self.place_of_argument(argument.as_deref()), message.clone(), Some(remedy.clone()))
            }
            DeviceError::Reference { .. } => (self.places.reference.clone(), error.to_string(), None),
            DeviceError::Data { argument, .. } | DeviceError::Scalar { argument, .. } => {
                (self.place_of_argument(Some(argument)), error.to_string(), None)
            }
            DeviceError::Command { key, text, remedy } => {
                (self.places.command.of(key), text.clone(), Some(remedy.clone()))
            }
            _ => return error.into(),
        };
        self.error(place, text, remedy).into()
    }

    /// Returns warnings about the words of a command that probably mean something else.
    pub fn command_warnings(&self) -> Vec<Diagnostic> {
        let warnings = self.places.command.warnings().iter();
        let message = |(place, text, remedy): &(_, String, String)| {
            self.source_file.diagnostic(Level::Warning, Clone::clone(place), text.clone(), Some(remedy.clone()))
        };
        warnings.map(message).collect()
    }

    /// Returns the place of the function that a configuration's alternative runs first.
    pub fn place_of_configuration(&self, space: &Space, config: ConfigId) -> Range<usize> {
        let choice = self.choice.as_deref().and_then(|name| space.parameter_index(name));
        let value = |at: usize| &space.parameters()[at].values()[space.unrank(config).indices()[at] as usize];
        choice.map_or(0..0, |at| self.place_of_alternative(value(at)))
    }

    /// Returns true if a metric, a limit, or the problem's number of operations or bytes depends on `name`.
    pub fn computes_with(&self, name: &str) -> bool {
        let metrics = self.metrics.iter().filter_map(|(_, text)| Expr::parse(text).ok());
        let limits = self.limits.iter().map(|limit| &limit.condition);
        let others = self.flops.iter().chain(&self.bytes).chain(limits).cloned();
        metrics.chain(others).any(|expr| expr.names().iter().any(|used| used.text == name))
    }

    /// Returns the place of a parameter's name.
    pub fn place_of_parameter(&self, name: &str) -> Range<usize> {
        let mut places = self.parameters.iter().zip(&self.places.parameters);
        places.find(|(parameter, _)| parameter.name() == name).map_or(0..0, |(_, place)| place.clone())
    }

    /// Returns the place of the function that an alternative runs first.
    fn place_of_alternative(&self, name: &Value) -> Range<usize> {
        let is_of = |kernel: &Kernel| kernel.alternative.as_ref().is_some_and(|alternative| alternative.value == *name);
        let mut kernels = self.kernels.iter().zip(&self.places.kernels);
        kernels.find(|(kernel, _)| is_of(kernel)).map_or(0..0, |(_, places)| places.function.clone())
    }

    /// Returns the place of an argument, or the place of the kernel's function without a name.
    fn place_of_argument(&self, name: Option<&str>) -> Range<usize> {
        let position = name.and_then(|name| self.arguments.iter().position(|known| known.name == name));
        let argument = position.and_then(|position| self.places.arguments.get(position)).cloned();
        let function = || self.places.kernels.first().map(|places| places.function.clone());
        argument.or_else(function).unwrap_or_default()
    }
}
