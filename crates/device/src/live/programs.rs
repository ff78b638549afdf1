//! The kernels of a problem and their backends.

use crate::live::influence::blamed;
use crate::worker::protocol::KernelStep;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tunesmith_backend::ahead::Build;
use tunesmith_backend::{Backend, BuildError, BuildPlan, Built, Origin, Program, SessionKind};
use tunesmith_core::{CompileData, Interrupt};
use tunesmith_kernel::data::{Fields, Passed};
use tunesmith_kernel::{DeviceError, Grid, GridError, Kernel, Scope};
use tunesmith_power::Setting;

/// The build of one kernel in one configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelPlan {
    /// The kernel's name.
    pub kernel: String,
    /// The source and the compiler command.
    pub build: BuildPlan,
}

/// All kernels of a problem with their backends, which are all of one kind. A configuration has
/// those that are [part of](Kernel::is_part_of) it.
pub(super) struct Programs {
    parts: Vec<KernelPart>,
    reused: Reused,
    /// Parcels from other machines, for the next builds of these scopes.
    delivered: Mutex<Vec<(Scope, Vec<u8>)>>,
}

/// A kernel with its backend.
pub(super) struct KernelPart {
    pub(super) kernel: Kernel,
    pub(super) backend: Box<dyn Backend>,
}

/// The programs of one configuration.
#[derive(Debug, Default)]
pub(super) struct BuiltKernels {
    /// The positions of its kernels among all.
    parts: Vec<usize>,
    pub(super) programs: Vec<Built>,
    launches: Vec<(Option<Grid>, usize)>,
}

/// The part of a configuration that determines its time. Two configurations with the same likeness
/// differ in name only.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Likeness {
    digests: Vec<String>,
    functions: Vec<String>,
    launches: Vec<(Option<Grid>, usize)>,
    passed: Vec<Passed>,
    setting: Setting,
}

impl KernelPart {
    fn plan(&self, scope: &Scope) -> KernelPlan {
        KernelPlan { kernel: self.kernel.name.clone(), build: self.backend.plan(scope) }
    }
}

impl Programs {
    /// Creates the programs of `parts`, which must hold at least one kernel.
    pub(super) fn new(parts: Vec<KernelPart>) -> Self {
        Self { parts, reused: Reused::default(), delivered: Mutex::default() }
    }

    /// Returns the kind of session that runs the kernels. Returns `None` if there are no kernels.
    pub(super) fn session(&self) -> Option<SessionKind> {
        self.parts.first().map(|part| part.backend.session())
    }

    /// Returns true if kernels run on the processors that compile.
    pub(super) fn shares_processor(&self) -> bool {
        self.parts.iter().any(|part| part.backend.shares_processor())
    }

    /// Returns the builds of the configuration in `scope`.
    pub(super) fn plan(&self, scope: &Scope) -> Vec<KernelPlan> {
        self.parts.iter().filter(|part| part.kernel.is_part_of(scope)).map(|part| part.plan(scope)).collect()
    }

    /// Returns the builds of all kernels, each alternative where it is chosen and `scope` holds
    /// otherwise.
    pub(super) fn plan_all(&self, scope: &Scope) -> Vec<KernelPlan> {
        self.parts.iter().map(|part| part.plan(&part.kernel.example(scope))).collect()
    }

    /// Returns the device, the compilers and digests of the kernels, by name.
    pub(super) fn identity(&self, scope: &Scope) -> Result<Vec<(String, String)>, DeviceError> {
        let mut identity: Vec<(String, String)> = Vec::new();
        for part in &self.parts {
            let new = |(name, _): &(String, String)| !identity.iter().any(|(known, _)| known == name);
            let more: Vec<_> = part.backend.identity().into_iter().filter(new).collect();
            identity.extend(more);
        }
        for part in &self.parts {
            let name = if self.parts.len() == 1 { "kernel".to_owned() } else { format!("kernel {}", part.kernel.name) };
            identity.push((name, part.backend.digest(&part.kernel.example(scope))?));
        }
        Ok(identity)
    }

    /// Refuses to go on if a file that builds read has changed.
    ///
    /// # Errors
    /// A file has changed, which the error names.
    pub(super) fn require_unchanged(&self) -> Result<(), DeviceError> {
        self.parts.iter().try_for_each(|part| part.backend.require_unchanged())
    }

    /// Returns the versions of the compilers.
    pub(super) fn compilers(&self) -> impl Iterator<Item = String> {
        let values = self.parts.iter().flat_map(|part| part.backend.identity());
        values.filter(|(name, _)| name == "compiler").map(|(_, version)| version)
    }

    /// Returns the steps of a job that runs a configuration.
    pub(super) fn steps(&self, prepared: &BuiltKernels) -> Vec<KernelStep> {
        let parts = prepared.parts.iter().map(|at| &self.parts[*at]).zip(&prepared.programs).zip(&prepared.launches);
        let step = |((part, built), (grid, launches)): ((&KernelPart, &Built), &(Option<Grid>, usize))| KernelStep {
            name: part.kernel.name.clone(),
            program: built.program.clone(),
            arguments: part.kernel.arguments.clone(),
            grid: grid.clone(),
            launches: *launches,
        };
        parts.map(step).collect()
    }
}

impl Build for Programs {
    type Built = Arc<BuiltKernels>;

    fn build(&self, scope: &Scope, cancel: &Interrupt) -> Result<Arc<BuiltKernels>, BuildError> {
        let build = || {
            let unpacked = self.delivered(scope).and_then(|parcel| self.unpack(scope, &parcel));
            let built = unpacked.map_or_else(|| self.build_with(scope, |backend| backend.build(scope, cancel)), Ok);
            built.map(Arc::new)
        };
        self.reused.get_or_build(scope, build)
    }
}

/// The build of one scope, once it has succeeded.
type Slot = Arc<Mutex<Option<Arc<BuiltKernels>>>>;

/// The last builds by scope: of configurations that are compiled before the first measurement, and of
/// those that differ in the device's setting alone. Whoever asks for a build in progress waits for it.
#[derive(Debug, Default)]
pub(super) struct Reused(Mutex<VecDeque<(Scope, Slot)>>);

/// The digits of the digest of a configuration's code in a journal: 64 bits, by which a million configurations differ.
const CODE_DIGITS: usize = 16;

/// The number of builds that are kept: the requests in flight, and the finalists of a run.
const REUSED: usize = 24;

impl Reused {
    /// Returns an earlier build of the scope, or else builds it. A failure is not kept.
    fn get_or_build(
        &self,
        scope: &Scope,
        build: impl FnOnce() -> Result<Arc<BuiltKernels>, BuildError>,
    ) -> Result<Arc<BuiltKernels>, BuildError> {
        let slot = self.slot(scope);
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(built) = &*slot {
            return Ok(Arc::clone(built));
        }
        let built = build()?;
        *slot = Some(Arc::clone(&built));
        Ok(built)
    }

    fn slot(&self, scope: &Scope) -> Slot {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, slot)) = slots.iter().find(|(known, _)| known == scope) {
            return Arc::clone(slot);
        }
        slots.truncate(REUSED - 1);
        let slot = Slot::default();
        slots.push_front((scope.clone(), Arc::clone(&slot)));
        slot
    }
}

impl Programs {
    /// Keeps a parcel for the next build of `scope`.
    pub(super) fn deliver(&self, scope: &Scope, parcel: Vec<u8>) {
        let mut delivered = self.delivered.lock().unwrap_or_else(PoisonError::into_inner);
        delivered.retain(|(known, _)| known != scope);
        // Builds that found an earlier build take none.
        delivered.truncate(REUSED - 1);
        delivered.insert(0, (scope.clone(), parcel));
    }

    fn delivered(&self, scope: &Scope) -> Option<Vec<u8>> {
        let mut delivered = self.delivered.lock().unwrap_or_else(PoisonError::into_inner);
        let place = delivered.iter().position(|(known, _)| known == scope)?;
        Some(delivered.remove(place).1)
    }

    /// Builds one configuration, and leaves no compilation to the measuring worker.
    pub(super) fn build_apart(&self, scope: &Scope, cancel: &Interrupt) -> Result<BuiltKernels, BuildError> {
        self.build_with(scope, |backend| backend.build_apart(scope, cancel))
    }

    /// Tells the backends how long the measuring worker took to load postponed programs.
    pub(super) fn loaded_in(&self, load: Duration) {
        self.parts.iter().for_each(|part| part.backend.loaded_in(load));
    }

    fn build_with(
        &self,
        scope: &Scope,
        build: impl Fn(&dyn Backend) -> Result<Built, BuildError>,
    ) -> Result<BuiltKernels, BuildError> {
        let mut built = self.assemble(scope, build)?;
        if built.parts.len() > 1 {
            for (at, program) in built.parts.iter().zip(&mut built.programs) {
                let of_kernel = |(name, value)| (format!("{}.{name}", self.parts[*at].kernel.name), value);
                program.compile.resources =
                    std::mem::take(&mut program.compile.resources).into_iter().map(of_kernel).collect();
            }
        }
        Ok(built)
    }

    /// Returns the kernels of a configuration with their launches and the programs that `program` gives.
    pub(super) fn assemble(
        &self,
        scope: &Scope,
        mut program: impl FnMut(&dyn Backend) -> Result<Built, BuildError>,
    ) -> Result<BuiltKernels, BuildError> {
        let refused = |error: GridError| BuildError::Refused(error.to_string());
        let belongs = |at: &usize| self.parts[*at].kernel.is_part_of(scope);
        let parts: Vec<usize> = (0..self.parts.len()).filter(belongs).collect();
        let launches = parts.iter().map(|at| {
            let part = &self.parts[*at];
            let grid = part.kernel.grid(scope).map_err(refused)?;
            Ok((grid, part.kernel.launches(scope).map_err(refused)?))
        });
        let launches = launches.collect::<Result<_, _>>()?;
        let program = |at: &usize| {
            let KernelPart { kernel, backend } = &self.parts[*at];
            program(backend.as_ref()).map_err(|error| explained(error, kernel, scope))
        };
        let programs = parts.iter().map(program).collect::<Result<_, _>>()?;
        Ok(BuiltKernels { parts, programs, launches })
    }
}

/// Returns the error of a build, with the reason first if a name of `scope` is a keyword: then the
/// compiler complains about code that is right.
pub(super) fn explained(error: BuildError, kernel: &Kernel, scope: &Scope) -> BuildError {
    let reason = blamed(kernel.language, scope).filter(|_| kernel.generator.is_none());
    match (error, reason) {
        (BuildError::Failed(log), Some(reason)) => BuildError::Failed(format!("{reason}\n{log}")),
        (BuildError::Signature(mismatch), Some(reason)) => BuildError::Failed(format!("{reason}\n{}", mismatch.log)),
        (error, _) => error,
    }
}

impl BuiltKernels {
    /// Returns everything that determines the configuration's time: the machine code, the launch, the
    /// values passed, and the device's setting. Returns `None` if the machine code is not known.
    pub(super) fn likeness(&self, passed: &[Passed], setting: Setting) -> Option<Likeness> {
        let digests = self.programs.iter().map(|built| built.digest.clone()).collect::<Option<_>>()?;
        let (functions, launches, passed) = (self.functions(), self.launches.clone(), passed.to_vec());
        Some(Likeness { digests, functions, launches, passed, setting })
    }

    fn functions(&self) -> Vec<String> {
        self.programs.iter().map(|built| built.program.function().to_owned()).collect()
    }

    /// Returns a digest of everything that determines the configuration's time, where the drivers tell the machine
    /// `codes` of kernels that lie in no file. Returns `None` if the machine code is not known.
    pub(super) fn code(&self, codes: &[Option<String>], passed: &[Passed], setting: Setting) -> Option<String> {
        let of = |(at, built): (usize, &Built)| {
            let known = built.digest.as_ref().or(built.file.as_ref());
            known.cloned().or_else(|| codes.get(at).cloned().flatten())
        };
        let codes = self.programs.iter().enumerate().map(of).collect::<Option<Vec<_>>>()?;
        let mut fields = Fields::default();
        let all = (&self.parts, codes, self.functions(), &self.launches, passed, setting);
        fields.add(serde_json::to_vec(&all).ok()?);
        Some(fields.digest().chars().take(CODE_DIGITS).collect())
    }

    /// Returns the program of each kernel.
    pub(super) fn programs(&self) -> impl Iterator<Item = Program> {
        self.programs.iter().map(|built| built.program.clone())
    }

    /// Returns true if the measuring worker compiles at least one of the kernels.
    pub(super) fn is_postponed(&self) -> bool {
        self.programs.iter().any(|built| built.origin == Origin::Postponed)
    }

    /// Returns true if another machine compiled at least one of the kernels.
    pub(super) fn is_foreign(&self) -> bool {
        self.programs.iter().any(|built| built.origin == Origin::Elsewhere)
    }

    /// Returns the total cost and the results of compiling all kernels.
    pub(super) fn compile_data(&self) -> CompileData {
        let bytes = self.programs.iter().map(|built| built.compile.binary_bytes);
        let resources = self.programs.iter().flat_map(|built| built.compile.resources.clone());
        CompileData {
            time_ms: self.programs.iter().map(|built| built.compile.time_ms).sum(),
            binary_bytes: bytes.sum::<Option<u64>>(),
            resources: resources.collect(),
            ..CompileData::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tunesmith_space::Value;

    fn scope(tile: i64) -> Scope {
        Scope::new([("TILE".to_owned(), Value::Int(tile))])
    }

    #[test]
    fn configurations_that_ask_at_once_share_one_build_and_a_failure_is_tried_again() {
        let (reused, builds) = (Reused::default(), AtomicUsize::new(0));
        let build = || {
            builds.fetch_add(1, Ordering::Relaxed);
            Ok(Arc::new(BuiltKernels { parts: Vec::new(), programs: Vec::new(), launches: Vec::new() }))
        };
        std::thread::scope(|threads| {
            for at in 0..8 {
                let (reused, build) = (&reused, &build);
                threads.spawn(move || reused.get_or_build(&scope(at % 2), build).map(drop).unwrap());
            }
        });
        assert_eq!(builds.load(Ordering::Relaxed), 2);
        let fails = || Err(BuildError::Failed("no".to_owned()));
        assert!(reused.get_or_build(&scope(7), fails).is_err());
        assert!(reused.get_or_build(&scope(7), build).is_ok());
    }

    /// Returns a kernel whose binary is called `binary`, of which it launches `function` on `global` work-items.
    fn built(binary: Option<&str>, function: &str, global: usize) -> BuiltKernels {
        let (binary, known) = (PathBuf::from("no/such/file"), binary.map(str::to_owned));
        let mut program = Built::new(Program::new("opencl", binary).launching(function.to_owned()));
        program.digest.clone_from(&known);
        program.file = known;
        let launches = vec![(Some(Grid { global: vec![global], local: None }), 1)];
        BuiltKernels { parts: vec![0], programs: vec![program], launches }
    }

    #[test]
    fn code_is_equal_only_if_the_binary_the_function_the_launch_the_arguments_and_the_setting_are() {
        let one = || built(Some("a"), "f", 8);
        let (n, set) = ([Passed::Scalar(vec![7])], Setting::default());
        let faster = Setting { clock_mhz: Some(900), ..set };
        let others = [
            (built(Some("b"), "f", 8), &n[..], set),
            (built(Some("a"), "g", 8), &n, set),
            (built(Some("a"), "f", 16), &n, set),
            (one(), &[Passed::Scalar(vec![8])], set),
            (one(), &[Passed::Local(1)], set),
            (one(), &n, faster),
        ];
        assert_eq!(one().likeness(&n, set), one().likeness(&n, set));
        assert_eq!(one().code(&[], &n, set), one().code(&[Some("x".to_owned())], &n, set), "the file says enough");
        for (at, (other, passed, setting)) in others.into_iter().enumerate() {
            assert_ne!(other.likeness(passed, setting), one().likeness(&n, set), "{at}");
            assert_ne!(other.code(&[], passed, setting), one().code(&[], &n, set), "{at}");
        }
    }

    #[test]
    fn code_without_a_file_is_what_the_driver_tells() {
        let code = |told: &[Option<&str>]| {
            let told: Vec<_> = told.iter().map(|code| code.map(str::to_owned)).collect();
            built(None, "f", 8).code(&told, &[], Setting::default())
        };
        assert_eq!((code(&[]), code(&[None])), (None, None));
        assert!(code(&[Some("x")]).is_some_and(|digest| digest.len() == CODE_DIGITS));
        assert!(code(&[Some("x")]) == code(&[Some("x")]) && code(&[Some("x")]) != code(&[Some("y")]));
    }
}
