//! Converts a problem to the form that a device compiles and runs.

use crate::{Error, Problem, ProblemError};
use std::ops::Range;
use std::path::Path;
use tunesmith_core::Refusal;
use tunesmith_device::{DeviceError, KernelSpec, Language, OtherSizes, Verify};
use tunesmith_space::Constraint;

impl Problem {
    /// Returns the kernels with their data, as a device needs them. Loop nests are written in the
    /// language `nests`.
    ///
    /// # Errors
    /// The problem has no kernel that this version compiles, or a kernel or reference file is
    /// missing.
    pub fn kernel_spec(&self, nests: Language) -> Result<KernelSpec, Error> {
        if !self.obstacles.is_empty() {
            let messages = self.obstacles.clone();
            return Err(ProblemError { messages, source_file: self.source_file.clone() }.into());
        }
        if self.kernels.is_empty() {
            let text = format!("`{}` has no kernel that this version compiles", self.source_file.path.display());
            let remedy =
                "C, C++, OpenCL and CUDA kernels are; any space can be tuned on `--device synthetic:EXPR`".to_string();
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
            kernels: self.nest.as_ref().map_or_else(|| self.kernels.clone(), |nest| vec![nest.kernel(nests)]),
            sizes: self.sizes.clone(),
            arguments: self.arguments.clone(),
            verify: Verify { sizes: self.other_sizes(nests)?, ..self.verify.clone() },
            seed: self.tuning.seed.unwrap_or(0),
        })
    }

    /// Returns the problem at the further sizes at which a winner is verified. Constraints on the
    /// device are left out: a device that does not accept a configuration says so.
    fn other_sizes(&self, nests: Language) -> Result<Vec<OtherSizes>, Error> {
        let of_device =
            |constraint: &&Constraint| constraint.expr().names().iter().any(|name| name.text.starts_with("device."));
        let other = |(label, problem): &(String, Problem)| {
            Ok(OtherSizes {
                label: label.clone(),
                spec: problem.kernel_spec(nests)?,
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

    /// Returns the place of an argument, or the place of the kernel's function without a name.
    fn place_of_argument(&self, name: Option<&str>) -> Range<usize> {
        let position = name.and_then(|name| self.arguments.iter().position(|known| known.name == name));
        let argument = position.and_then(|position| self.places.arguments.get(position)).cloned();
        let function = || self.places.kernels.first().map(|places| places.function.clone());
        argument.or_else(function).unwrap_or_default()
    }
}
