//! The kernels of the cost model in the languages whose work-items are threads: OpenCL compared
//! with the interpreter of nests, and CUDA compiled by NVIDIA's compiler. C is tested beside its
//! generator.

mod nests;

use crate::common;

use common::cuda::{nvidia, script};
use common::{Folder, has_opencl};
use nests::{looked_up, shared_and_ahead, typed};
use std::path::PathBuf;
use std::sync::Arc;
use tunesmith::core::{Completion, Evaluator as _, Interrupt, Request};
use tunesmith::device::worker::WorkerCommand;
use tunesmith::device::{
    Access, Argument, ArgumentKind, CudaSetup, ElementType, Fill, Generated, Generator, Grid, KernelSpec, Language,
    LiveEvaluator, LiveOptions, Memory, Scope, Target, Verify, cuda_devices, opencl_devices,
};
use tunesmith::loopnest::Memory::Global;
use tunesmith::loopnest::kernels::{Groups, KERNELS, Kernel};
use tunesmith::loopnest::{self, ArrayId, CodeParameter, Data, Dialect, LaneOrder, Nest, Recipe, codegen, interpret};
use tunesmith::space::{Expr, Parameter, Space, Value};

/// The sizes of a nest.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sizes {
    /// Multiples of the work-groups, as the nest assumes.
    Whole,
    /// Other sizes, about which the nest assumes nothing.
    General,
}

/// The name of an array, and the value of each cell by its number.
type Contents = (&'static str, fn(i64) -> i64);

/// A kernel for work-groups of one shape, with values of its sizes.
struct Case {
    name: String,
    nest: Nest,
    sizes: Vec<i64>,
    before: Data,
}

/// Returns every kernel in every shape of its work-groups, and kernels with values computed ahead.
fn cases(kind: Sizes) -> Vec<Case> {
    shaped(kind, usize::MAX)
}

/// Returns every kernel in the first shapes of its work-groups, and kernels with values computed ahead.
fn shaped(kind: Sizes, shapes: usize) -> Vec<Case> {
    let shaped = |kernel: &'static Kernel| {
        kernel.groups.shapes().into_iter().take(shapes).map(move |shape| Case::new(kernel, shape, kind))
    };
    let ahead = AHEAD.into_iter().map(|(name, steps)| Case::ahead(name, steps, kind));
    KERNELS.iter().flat_map(shaped).chain(ahead).collect()
}

const BLUR: &str = include_str!("../../../../examples/nests/blur.nest");

/// The blur with values computed ahead, by the work-items of a group together or by each for
/// itself.
const AHEAD: [(&str, &str); 2] = [
    (
        "blur_of_group",
        "split i 4 -> io, ii
        split j 16 -> jo, ji
        tag jo group.0
        tag io group.1
        tag ji local.0
        tag ii local.1
        precompute light sweep ii, ji, x, y -> lights[l0, l1]
        split l1 16 -> l1o, l1i
        tag l1i local.0",
    ),
    (
        "blur_of_item",
        "split i 2 -> io, ii
        split j 16 -> jo, ji
        tag jo group.0
        tag io group.1
        tag ji local.0
        precompute light sweep ii, x, y -> temporary lights[l0, l1]",
    ),
];

impl Case {
    fn new(kernel: &Kernel, (x, y): (i64, i64), kind: Sizes) -> Self {
        let nest = kernel.nest(x, y, kind == Sizes::Whole).unwrap();
        // Small: the interpreter takes 50 ns for each operation.
        let main = match (kind, kernel.class, kernel.groups) {
            (Sizes::Whole, ..) => (1..).map(|times| times * x).find(|main| main % y == 0).unwrap(),
            (_, "convolution", _) => 5,
            (_, "nbody", _) => 150,
            (_, "stride2_filled" | "stride3_filled", _) => 9,
            (_, _, Groups::Line) => 401,
            (_, _, Groups::Row(_)) => 150,
            (_, _, Groups::Rectangle | Groups::Narrow) => 19,
        };
        let sizes = kernel.size_values(main, 3);
        let before = Data::filled(&nest, &sizes, 3).unwrap();
        Self { name: format!("{}_{x}x{y}", kernel.name), nest, sizes, before }
    }

    /// Returns a nest in work-groups of some width. `looked_up` has the arrays that it looks values
    /// up in.
    fn of_data(text: &str, width: i64, sizes: &[i64], looked_up: &[Contents]) -> Self {
        let nest = text.parse::<Recipe>().and_then(|recipe| recipe.apply(&[("width", width)]));
        let nest = nest.unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let before = Data::filled(&nest, sizes, 3).unwrap();
        let case = Self { name: format!("{}_{width}", nest.name), nest, sizes: sizes.to_vec(), before };
        looked_up.iter().fold(case, Self::with)
    }

    /// Returns the case with these contents of an array.
    fn with(mut self, (name, value): &Contents) -> Self {
        let place = self.nest.arrays.iter().position(|array| array.name == *name).unwrap();
        let cells = self.before.cells[place].iter_mut().zip(0..);
        cells.for_each(|(cell, number)| *cell = loopnest::Value::Integer(value(number)));
        self
    }

    fn ahead(name: &str, steps: &str, kind: Sizes) -> Self {
        let (blur, _) = BLUR.split_once("parameter").unwrap();
        let (assumed, n) = if kind == Sizes::Whole { ("assume n mod 16 = 0\n", 32) } else { ("", 37) };
        let text = format!("{}\n{steps}", blur.replace("array img", &format!("{assumed}array img")));
        let (nest, sizes) = (text.parse::<Nest>().unwrap(), vec![n]);
        let before = Data::filled(&nest, &sizes, 3).unwrap();
        Self { name: name.to_string(), nest, sizes, before }
    }

    /// Adds the kernel to a problem as a step with its own arguments.
    fn add_to(&self, spec: &mut KernelSpec, language: Language, folder: &Folder) {
        let written = Written::new(self, language);
        let first = spec.arguments.len();
        spec.arguments.extend(written.parameters.iter().map(|parameter| self.argument(*parameter, folder)));
        spec.kernels.push(tunesmith::device::Kernel {
            name: self.name.clone(),
            language,
            file: self.name.clone().into(),
            reading: tunesmith::device::Reading::default(),
            sources: Vec::new(),
            include: Vec::new(),
            function: written.function.clone().into(),
            options: Vec::new(),
            arguments: (first..spec.arguments.len()).collect(),
            repeat: None,
            generator: Some(Arc::new(written)),
            work: None,
            cuda_compiler: tunesmith::device::CudaCompiler::default(),
            alternative: None,
        });
    }

    /// Returns the written arguments, by name, with files of the interpreter's results.
    fn expected(&self, folder: &Folder) -> Vec<(String, Fill)> {
        let mut after = self.before.clone();
        interpret::run(&self.nest, &self.sizes, &mut after, LaneOrder::Ascending).unwrap();
        let is_written = |id: &ArrayId| self.nest.array(*id).memory == Global && self.nest.uses(*id).0;
        let written = self.nest.array_ids().filter(is_written);
        let expected = |id: ArrayId| {
            let name = format!("{}.{}", self.name, self.nest.array(id).name);
            let file = self.file(&format!("{name}.expected"), id, &after, folder);
            (name, file.into())
        };
        written.map(expected).collect()
    }

    fn argument(&self, parameter: CodeParameter, folder: &Folder) -> Argument {
        let data = &self.before;
        let scalar = |value: String| ArgumentKind::Scalar(Expr::parse(&value).unwrap());
        let (own, element, kind) = match parameter {
            CodeParameter::Size(id) => {
                (&self.nest.sizes[id.place()], "i32".to_string(), scalar(self.sizes[id.place()].to_string()))
            }
            CodeParameter::Argument(id) => {
                let array = self.nest.array(id);
                (&array.name, array.element.to_string(), scalar(data.of(id)[0].as_f64().to_string()))
            }
            CodeParameter::Array(id) => {
                let array = self.nest.array(id);
                let cells: i128 = array.cells().iter().map(|extent| extent.at_sizes(&self.sizes)).product();
                let fill = Fill::File(self.file(&format!("{}.{}", self.name, array.name), id, data, folder));
                let access = if self.nest.uses(id).0 { Access::InOut } else { Access::In };
                let kind =
                    ArgumentKind::Buffer { shape: vec![cells as u64].into(), fill, access, memory: Memory::Global };
                (&array.name, array.element.to_string(), kind)
            }
        };
        let element = ElementType::parse(&element).unwrap();
        Argument::new(format!("{}.{own}", self.name), element, kind)
    }

    /// Writes a file with the memory of an array.
    fn file(&self, name: &str, array: ArrayId, data: &Data, folder: &Folder) -> PathBuf {
        let path = folder.path(name);
        std::fs::write(&path, data.memory(&self.nest, &self.sizes, array).unwrap()).unwrap();
        path
    }
}

/// Returns the source of a case.
#[derive(Debug)]
struct Written {
    made: Generated,
    function: String,
    parameters: Vec<CodeParameter>,
}

impl Written {
    fn new(case: &Case, language: Language) -> Self {
        let dialect = match language {
            Language::Cuda => Dialect::Cuda,
            Language::OpenCl => Dialect::OpenCl,
            _ => Dialect::C,
        };
        let code = codegen::source(&case.nest, dialect).unwrap();
        let local = case.nest.local_size().unwrap().map(|items| items as usize);
        let groups = case.nest.group_counts(&case.sizes);
        let global = local.iter().zip(groups).map(|(items, groups)| items * groups as usize).collect();
        let grid = language.has_work_items().then(|| Grid { global, local: Some(local.to_vec()) });
        let made = Generated { text: code.text, grid };
        Self { made, function: code.function, parameters: code.parameters }
    }
}

impl Generator for Written {
    fn generate(&self, _: &Scope) -> Result<Generated, String> {
        Ok(self.made.clone())
    }

    fn identity(&self) -> String {
        self.made.text.clone()
    }
}

/// Returns all cases as one problem, so that the processes that compile and run them start once.
fn problem(cases: &[Case], language: Language, folder: &Folder) -> KernelSpec {
    let mut spec = KernelSpec {
        problem: "kernels".to_string(),
        kernels: Vec::new(),
        sizes: Vec::new(),
        arguments: Vec::new(),
        verify: Verify::default(),
        seed: 0,
    };
    cases.iter().for_each(|case| case.add_to(&mut spec, language, folder));
    spec
}

fn worker() -> WorkerCommand {
    WorkerCommand::program(env!("CARGO_BIN_EXE_tunesmith"))
}

/// Compiles, runs and verifies a problem without parameters.
fn evaluated(spec: KernelSpec, target: Target) -> Completion {
    let space = Space::builder().parameter(Parameter::new("only", [Value::Int(0)]).unwrap()).build().unwrap();
    let mut options = LiveOptions { target, worker: worker(), ..LiveOptions::new(spec) };
    options.policy.sampling.min_samples = 1;
    options.policy.sampling.max_samples = 1;
    let mut evaluator = LiveEvaluator::new(&space, options).unwrap();
    evaluator.submit(Request::timed(space.id(0).unwrap())).unwrap();
    evaluator.next(&Interrupt::default()).unwrap().unwrap()
}

/// Runs cases with this number of results, and compares the results.
fn computes_what_the_interpreter_says(cases: &[Case], results: usize, language: Language, target: Target) {
    let folder = Folder::new();
    let mut spec = problem(cases, language, &folder);
    spec.verify.expected = cases.iter().flat_map(|case| case.expected(&folder)).collect();
    assert_eq!(spec.verify.expected.len(), results);
    let completion = evaluated(spec, target);
    assert_eq!(completion.failure, None);
    assert_eq!(completion.measurement.parts_ms.len(), cases.len());
}

fn opencl() -> Option<Target> {
    has_opencl().then(|| opencl_devices(&worker()).unwrap().remove(0).into())
}

fn opencl_computes_what_the_interpreter_says(kind: Sizes) {
    let Some(target) = opencl() else { return };
    // Only `empty` has no result.
    computes_what_the_interpreter_says(&cases(kind), 3 * (KERNELS.len() - 1) + AHEAD.len(), Language::OpenCl, target);
}

#[test]
fn every_kernel_for_sizes_that_work_groups_divide_computes_in_opencl_what_the_interpreter_says() {
    opencl_computes_what_the_interpreter_says(Sizes::Whole);
}

#[test]
fn every_kernel_for_any_sizes_computes_in_opencl_what_the_interpreter_says() {
    opencl_computes_what_the_interpreter_says(Sizes::General);
}

#[test]
fn kernels_that_look_up_bounds_and_subscripts_compute_in_c_what_the_interpreter_says() {
    let cases = looked_up();
    computes_what_the_interpreter_says(&cases, cases.len(), Language::C, Target::processor());
}

#[test]
fn kernels_that_look_up_bounds_and_subscripts_compute_in_opencl_what_the_interpreter_says() {
    let Some(target) = opencl() else { return };
    let cases = looked_up();
    computes_what_the_interpreter_says(&cases, cases.len(), Language::OpenCl, target);
}

#[test]
fn half_precision_conversions_and_updates_compute_in_c_what_the_interpreter_says() {
    let cases = typed();
    computes_what_the_interpreter_says(&cases, results(&cases), Language::C, Target::processor());
}

#[test]
fn half_precision_conversions_and_updates_compute_in_opencl_what_the_interpreter_says() {
    let Some(target) = opencl() else { return };
    let cases = typed();
    computes_what_the_interpreter_says(&cases, results(&cases), Language::OpenCl, target);
}

/// Returns the number of arrays that the cases write.
fn results(cases: &[Case]) -> usize {
    let written = |case: &Case| {
        let nest = &case.nest;
        nest.array_ids().filter(|id| nest.array(*id).memory == Global && nest.uses(*id).0).count()
    };
    cases.iter().map(written).sum()
}

#[test]
fn kernels_that_share_sums_and_load_tiles_ahead_compute_in_opencl_what_the_interpreter_says() {
    let Some(target) = opencl() else { return };
    let cases = shared_and_ahead();
    computes_what_the_interpreter_says(&cases, cases.len(), Language::OpenCl, target);
}

#[test]
fn kernels_that_share_sums_and_load_tiles_ahead_compile_for_gpus() {
    compiles_for((8, 0), &shared_and_ahead());
}

fn compiles_for(capability: (u32, u32), cases: &[Case]) {
    let Some(libraries) = nvidia() else { return };
    let folder = Folder::with(&[("script.json", &script(capability, false, "[]"))]);
    let script = Some(folder.path("script.json"));
    let setup = CudaSetup { libraries: Some(libraries), script, ..CudaSetup::default() };
    let device = cuda_devices(&setup, &worker()).unwrap().remove(0);
    // The script's kernels write nothing, and no result is expected.
    let spec = problem(cases, Language::Cuda, &folder);
    let completion = evaluated(spec, device.into());
    assert_eq!(completion.failure, None);
    let compiled = completion.measurement.compile.unwrap();
    assert!(compiled.binary_bytes > Some(1000 * cases.len() as u64), "{compiled:?}");
}

#[test]
fn every_kernel_for_any_sizes_compiles_for_the_oldest_gpus() {
    compiles_for((7, 5), &shaped(Sizes::General, 1));
}

#[test]
fn every_kernel_for_sizes_that_work_groups_divide_compiles_for_newer_gpus() {
    compiles_for((8, 0), &cases(Sizes::Whole));
}

#[test]
fn every_kernel_for_any_sizes_compiles_for_the_newest_gpus() {
    compiles_for((9, 0), &shaped(Sizes::General, 1));
}

#[test]
fn half_precision_conversions_and_updates_compile_for_gpus() {
    compiles_for((8, 0), &typed());
}

#[test]
fn kernels_that_look_up_bounds_and_subscripts_compile_for_gpus() {
    compiles_for((8, 0), &looked_up());
}
