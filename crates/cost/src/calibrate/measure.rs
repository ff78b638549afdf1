//! Measures one kernel at one size.

use super::subjects::Subject;
use crate::Error;
use crate::Lanes;
use crate::nests::{NestGenerator, arguments, dialect, in_words};
use crate::protocol::{RUNS, Timing};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_backend::Target;
use tunesmith_core::{Clock, Evaluator as _, Interrupt, Request};
use tunesmith_device::{LiveEvaluator, LiveOptions, Machine};
use tunesmith_kernel::measure::{Policy, Sampling};
use tunesmith_kernel::{Argument, ArgumentKind, CudaCompiler, Fill, Kernel, KernelSpec, Language, Verify};
use tunesmith_loopnest::{Affine, Lookup, Nest, Recipe, codegen};
use tunesmith_space::{ConfigId, Expr, Parameter, Space, Value};

/// Distance of the indices of neighbouring lanes in a gather: a prime number.
const STEP: i64 = 7919;

/// The device on which kernels are measured.
pub(super) struct Bench<'a> {
    pub(super) target: Target,
    pub(super) machine: &'a Machine,
    pub(super) clock: Arc<dyn Clock>,
}

/// The result of measuring a kernel.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum KernelTime {
    Time(Timing),
    /// The kernel cannot run here, with the reason.
    Failed(String),
    Interrupted,
}

/// Returns a space of one configuration. It is the configuration that a measurement evaluates.
fn one_configuration() -> Result<(Space, ConfigId), Error> {
    let refused = |text: String| Error::request(text, None);
    let parameter = Parameter::new("variant", [Value::Int(0)]).map_err(|error| refused(error.to_string()))?;
    let space = Space::builder().parameter(parameter).build().map_err(|error| refused(error.to_string()))?;
    let only = space.id(0).ok_or_else(|| refused("the space of one configuration has none".to_string()))?;
    Ok((space, only))
}

/// Returns the number of 32-bit values in a vector of the processor.
fn vector_width() -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            return 16;
        }
        if std::arch::is_x86_feature_detected!("avx") {
            return 8;
        }
    }
    4
}

impl Bench<'_> {
    pub(super) fn language(&self) -> Language {
        self.target.language()
    }

    /// Returns the device's name.
    pub(super) fn device(&self) -> String {
        self.target
            .info(&self.machine.compilers, &self.machine.worker)
            .map_or_else(|| "the processor".to_string(), |device| device.name)
    }

    /// Returns the number of units that share the work-groups of a launch. Each unit runs one
    /// work-group after the other. The number is 1 for C, whose nests are loops.
    pub(super) fn compute_units(&self) -> f64 {
        if !self.language().has_work_items() {
            return 1.0;
        }
        let limits = self
            .target
            .info(&self.machine.compilers, &self.machine.worker)
            .map(|device| device.limits)
            .unwrap_or_default();
        limits.get("compute_units").copied().unwrap_or(1.0)
    }

    /// Returns the work-items that run together: those of a vector on processors, of a sub-group on
    /// GPUs.
    pub(super) fn lanes(&self) -> Lanes {
        match (self.language().has_work_items(), self.target.is_processor()) {
            (false, _) => Lanes::InBlocks(vector_width()),
            (true, true) => Lanes::InRows(vector_width()),
            (true, false) => Lanes::Numbered(32),
        }
    }

    /// Returns the number of fresh processes that measure a kernel.
    ///
    /// PoCL places its threads when a process starts. In some processes one of them takes no part,
    /// and every kernel takes a multiple of its time. The least of two processes rarely does.
    fn processes(&self) -> usize {
        if self.language().has_work_items() && self.target.is_processor() { 2 } else { 1 }
    }

    /// Runs the kernel with its main size. Its time is the least of those of [several
    /// processes](Self::processes).
    ///
    /// # Errors
    ///
    /// Fails if the device or the compiler cannot be used.
    pub(super) fn measure(&self, subject: &Subject, main: i64, interrupt: &Interrupt) -> Result<KernelTime, Error> {
        let mut least: Option<Timing> = None;
        for _ in 0..self.processes() {
            match self.measure_once(subject, main, interrupt)? {
                KernelTime::Time(own) => {
                    least = Some(least.filter(|known| known.seconds <= own.seconds).unwrap_or(own));
                }
                other => return Ok(other),
            }
        }
        Ok(least.map_or(KernelTime::Interrupted, KernelTime::Time))
    }

    /// Runs the kernel in a process of its own.
    fn measure_once(&self, subject: &Subject, main: i64, interrupt: &Interrupt) -> Result<KernelTime, Error> {
        let sizes = subject.sizes(main);
        let spec = match self.spec(subject, sizes) {
            Ok(spec) => spec,
            Err(reason) => return Ok(KernelTime::Failed(reason)),
        };
        let sampling = Sampling {
            // The first run is the untimed launch.
            min_samples: RUNS - 1,
            max_samples: RUNS - 1,
            time_cap: Duration::from_secs(1),
            ..Sampling::default()
        };
        let live = LiveOptions {
            target: self.target.clone(),
            compilers: self.machine.compilers.clone(),
            policy: Policy { sampling, ..Policy::default() },
            jobs: 1,
            worker: self.machine.worker.clone(),
            clock: Arc::clone(&self.clock),
            ..LiveOptions::new(spec)
        };
        let (space, only) = one_configuration()?;
        let mut evaluator = LiveEvaluator::new(&space, live)?;
        evaluator.submit(Request::timed(only))?;
        let Some(completion) = evaluator.next(interrupt)? else { return Ok(KernelTime::Interrupted) };
        if let Some(failure) = completion.failure {
            return Ok(KernelTime::Failed(failure.to_string()));
        }
        let first = completion.measurement.warmup_ms;
        let runs: Vec<f64> = first.into_iter().chain(completion.measurement.times_ms).map(|ms| ms / 1e3).collect();
        Ok(Timing::of(&runs)
            .map_or_else(|| KernelTime::Failed("it is too slow to be run often".into()), KernelTime::Time))
    }

    fn spec(&self, subject: &Subject, sizes: Vec<i64>) -> Result<KernelSpec, String> {
        let nest = &subject.nest;
        let code = codegen::source(nest, dialect(self.language())).map_err(|error| in_words(&error))?;
        let mut arguments = arguments(nest, &code.parameters, &sizes)?;
        scatter(nest, &sizes, &mut arguments)?;
        // The transformations are already applied to the nest.
        let recipe = Recipe { nest: nest.clone(), parameters: Vec::new(), steps: Vec::new() };
        let generator = NestGenerator::new(Arc::new(recipe), sizes, self.language());
        let kernel = Kernel {
            name: subject.name.clone(),
            language: self.language(),
            file: subject.nest.name.clone().into(),
            options: generator.options(),
            generator: Some(Arc::new(generator)),
            reading: tunesmith_kernel::Reading::default(),
            sources: Vec::new(),
            include: Vec::new(),
            function: code.function.into(),
            arguments: (0..arguments.len()).collect(),
            repeat: None,
            work: None,
            cuda_compiler: CudaCompiler::default(),
            alternative: None,
        };
        Ok(KernelSpec {
            problem: subject.name.clone(),
            kernels: vec![kernel],
            sizes: Vec::new(),
            arguments,
            verify: Verify::default(),
            seed: 0,
        })
    }
}

/// Fills the arrays whose values a nest looks up: with indices of the shortest axis along which they are
/// used, in an order without a pattern.
fn scatter(nest: &Nest, sizes: &[i64], arguments: &mut [Argument]) -> Result<(), String> {
    for argument in arguments {
        let is_own = |lookup: &&Lookup| nest.array(lookup.access.array).name == argument.name;
        let extents = nest.lookups.iter().filter(is_own).flat_map(|lookup| axes(nest, lookup, sizes));
        let Some(cells) = extents.min() else { continue };
        // A prime number of cells away from the last index; the product stays below 2^53.
        let indices = Expr::parse(&format!("i * {STEP} % {cells}")).map_err(|error| error.to_string())?;
        if let ArgumentKind::Buffer { fill, .. } = &mut argument.kind {
            *fill = Fill::Generator(indices);
        }
    }
    Ok(())
}

/// Returns the extents of the axes along which a value is a subscript.
fn axes(nest: &Nest, lookup: &Lookup, sizes: &[i64]) -> Vec<i128> {
    let is_it = |sum: &Affine| sum.lookups().any(|id| nest.lookup(id) == lookup);
    let mut extents = Vec::new();
    for (access, ..) in nest.instructions.iter().flat_map(|own| own.accesses()) {
        let along = access.subscripts.iter().zip(&nest.array(access.array).shape);
        extents.extend(along.filter(|(sum, _)| is_it(sum)).map(|(_, extent)| extent.at_sizes(sizes)));
    }
    extents
}
