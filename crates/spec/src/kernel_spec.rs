//! Converts a problem to the form that a device compiles and runs.

use crate::kernels::Versions;
use crate::problem_spec::{Further, ProblemSpec};
use tunesmith_core::Refusal;
use tunesmith_kernel::{Kernel, KernelSpec, Language, OtherSizes, Verify};
use tunesmith_space::{Constraint, Expr};

impl ProblemSpec {
    /// Returns the kernels with their data, as a device with kernels in `language` needs them.
    ///
    /// # Errors
    /// A kernel with several languages has none for the device.
    pub fn kernel_spec(&self, language: Language) -> Result<KernelSpec, Refusal> {
        Ok(KernelSpec {
            problem: self.name.clone(),
            kernels: match self.nest() {
                Some(nest) => vec![nest.kernel(language)],
                None => self.kernels_for(language)?,
            },
            sizes: self.sizes.clone(),
            arguments: self.arguments.clone(),
            verify: Verify { sizes: self.other_sizes(language)?, ..self.verify.clone() },
            seed: self.tuning.seed.unwrap_or(0),
        })
    }

    /// Returns the kernels for a device with kernels in `language`. A kernel with one language is
    /// left as it is: the device says that it does not run it.
    ///
    /// # Errors
    /// A kernel with several languages has none for the device.
    pub fn kernels_for(&self, language: Language) -> Result<Vec<Kernel>, Refusal> {
        let chosen = |Versions { first: kernel, others, .. }: &Versions| {
            let of = |device| std::iter::once(kernel).chain(others).find(|one| one.language.device() == device);
            match of(language.device()).or_else(|| of(language.also_runs()?.device())) {
                Some(version) => Ok(version.clone()),
                None if others.is_empty() => Ok(kernel.clone()),
                None => Err(self.no_version(kernel, others, language)),
            }
        };
        self.subject.versions().iter().map(chosen).collect()
    }

    /// Returns the error for a kernel without a version in `language`.
    fn no_version(&self, kernel: &Kernel, others: &[Kernel], language: Language) -> Refusal {
        let own = || std::iter::once(kernel).chain(others).map(|version| version.language);
        let names: Vec<String> = own().map(|language| language.to_string()).collect();
        let devices: Vec<String> = own().map(|language| format!("`--device {}`", language.device())).collect();
        let text = format!(
            "the kernel `{}` is written in {}, which the device `{}` does not run",
            kernel.function,
            names.join(" and "),
            language.device()
        );
        Refusal::new(text, Some(format!("choose {}", devices.join(" or "))))
    }

    /// Returns the problem at the further sizes at which a winner is verified. Constraints on the
    /// device are left out: a device that does not accept a configuration says so.
    fn other_sizes(&self, language: Language) -> Result<Vec<OtherSizes>, Refusal> {
        let of_device =
            |constraint: &&Constraint| constraint.expr().names().iter().any(|name| name.text.starts_with("device."));
        let other = |Further { label, spec }: &Further| {
            Ok(OtherSizes {
                label: label.clone(),
                spec: spec.kernel_spec(language)?,
                parameters: spec.space.parameters.clone(),
                constraints: spec.space.constraints.iter().filter(|one| !of_device(one)).cloned().collect(),
            })
        };
        self.further.iter().map(other).collect()
    }

    /// Returns true if a metric, a limit, or the number of operations or bytes depends on `name`.
    pub fn computes_with(&self, name: &str) -> bool {
        let metrics = self.measure.metrics.iter().filter_map(|(_, text)| Expr::parse(text).ok());
        let limits = self.measure.limits.iter().map(|limit| &limit.condition);
        let others = self.measure.flops.iter().chain(&self.measure.bytes).chain(limits).cloned();
        metrics.chain(others).any(|expr| expr.names().iter().any(|used| used.text == name))
    }
}
