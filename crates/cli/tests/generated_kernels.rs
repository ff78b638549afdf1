//! The kernels of the cost model in the languages whose work-items are threads: OpenCL against the interpreter of nests, and
//! CUDA through NVIDIA's compiler. C is tested where it is generated.

mod common;

use common::cuda::{nvidia, script};
use common::{Folder, has_opencl};
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
use tunesmith::loopnest::{ArrayId, CodeParameter, Data, Dialect, LaneOrder, Nest, interpret};
use tunesmith::space::{Expr, Parameter, Space, Value};

/// What the sizes of a nest are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sizes {
    /// Multiples of the work-groups, which the nest takes for granted.
    Whole,
    /// Others, of which it takes nothing for granted.
    General,
}

/// A kernel for work-groups of one shape, with values of its sizes.
struct Case {
    name: String,
    nest: Nest,
    sizes: Vec<i64>,
}

/// Every kernel in every shape of its work-groups, and values computed ahead.
fn cases(kind: Sizes) -> Vec<Case> {
    let shaped = |kernel: &'static Kernel| kernel.groups.shapes().map(|shape| Case::new(kernel, shape, kind));
    let ahead = AHEAD.into_iter().map(|(name, steps)| Case::ahead(name, steps, kind));
    KERNELS.iter().flat_map(shaped).chain(ahead).collect()
}

const BLUR: &str = include_str!("../../../examples/nests/blur.nest");

/// Values of the blur computed ahead, by the work-items of a group together and by each for itself.
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
            (_, _, Groups::Rectangle) => 19,
        };
        Self { name: format!("{}_{x}x{y}", kernel.name), nest, sizes: kernel.size_values(main, 3) }
    }

    fn ahead(name: &str, steps: &str, kind: Sizes) -> Self {
        let (blur, _) = BLUR.split_once("parameter").unwrap();
        let (assumed, n) = if kind == Sizes::Whole { ("assume n mod 16 = 0\n", 32) } else { ("", 37) };
        let text = format!("{}\n{steps}", blur.replace("array img", &format!("{assumed}array img")));
        Self { name: name.to_string(), nest: Nest::parse(&text).unwrap(), sizes: vec![n] }
    }

    /// Adds the kernel to a problem as a step with its own arguments.
    fn add_to(&self, spec: &mut KernelSpec, language: Language, folder: &Folder) {
        let written = Written::new(self, language);
        let before = self.before();
        let first = spec.arguments.len();
        spec.arguments.extend(written.parameters.iter().map(|parameter| self.argument(*parameter, &before, folder)));
        spec.kernels.push(tunesmith::device::Kernel {
            name: self.name.clone(),
            language,
            file: self.name.clone().into(),
            sources: Vec::new(),
            include: Vec::new(),
            function: written.function.clone(),
            options: Vec::new(),
            arguments: (first..spec.arguments.len()).collect(),
            repeat: None,
            generator: Some(Arc::new(written)),
            work: None,
        });
    }

    fn before(&self) -> Data {
        Data::filled(&self.nest, &self.sizes, 3).unwrap()
    }

    /// The arguments that are written, by name, with files of what the interpreter leaves in them.
    fn expected(&self, folder: &Folder) -> Vec<(String, PathBuf)> {
        let mut after = self.before();
        interpret(&self.nest, &self.sizes, &mut after, LaneOrder::Ascending).unwrap();
        let is_written = |id: &ArrayId| self.nest.array(*id).memory == Global && self.nest.uses(*id).0;
        let written = self.nest.array_ids().filter(is_written);
        let expected = |id: ArrayId| {
            let name = format!("{}.{}", self.name, self.nest.array(id).name);
            let file = self.file(&format!("{name}.expected"), id, &after, folder);
            (name, file)
        };
        written.map(expected).collect()
    }

    fn argument(&self, parameter: CodeParameter, data: &Data, folder: &Folder) -> Argument {
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
                let kind = ArgumentKind::Buffer { shape: vec![cells as u64], fill, access, memory: Memory::Global };
                (&array.name, array.element.to_string(), kind)
            }
        };
        let element = ElementType::parse(&element).unwrap();
        Argument { name: format!("{}.{own}", self.name), element, kind, symbol: None }
    }

    /// A file with the memory of an array.
    fn file(&self, name: &str, array: ArrayId, data: &Data, folder: &Folder) -> PathBuf {
        let path = folder.path(name);
        std::fs::write(&path, data.memory(&self.nest, &self.sizes, array).unwrap()).unwrap();
        path
    }
}

/// The source of a case.
#[derive(Debug)]
struct Written {
    made: Generated,
    function: String,
    parameters: Vec<CodeParameter>,
}

impl Written {
    fn new(case: &Case, language: Language) -> Self {
        let dialect = if language == Language::Cuda { Dialect::Cuda } else { Dialect::OpenCl };
        let code = case.nest.code(dialect).unwrap();
        let local = case.nest.local_size().unwrap().map(|items| items as usize);
        let groups = case.nest.group_counts(&case.sizes);
        let global = local.iter().zip(groups).map(|(items, groups)| items * groups as usize).collect();
        let grid = Some(Grid { global, local: Some(local.to_vec()) });
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

/// All cases as one problem: the processes that compile and run them start once.
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

/// Compiles, runs and judges a problem that has no parameters.
fn evaluated(spec: KernelSpec, target: Target) -> Completion {
    let space = Space::builder().parameter(Parameter::new("only", [Value::Int(0)]).unwrap()).build().unwrap();
    let mut options = LiveOptions { target, worker: worker(), ..LiveOptions::new(spec) };
    options.policy.sampling.min_samples = 1;
    options.policy.sampling.max_samples = 1;
    let mut evaluator = LiveEvaluator::new(&space, options).unwrap();
    evaluator.submit(Request::timed(space.id(0).unwrap())).unwrap();
    evaluator.next(&Interrupt::default()).unwrap().unwrap()
}

fn opencl_computes_what_the_interpreter_says(kind: Sizes) {
    if !has_opencl() {
        return;
    }
    let device = opencl_devices(&worker()).unwrap().remove(0);
    let folder = Folder::new();
    let cases = cases(kind);
    let mut spec = problem(&cases, Language::OpenCl, &folder);
    spec.verify.expected = cases.iter().flat_map(|case| case.expected(&folder)).collect();
    // Only `empty` has no result.
    assert_eq!(spec.verify.expected.len(), 3 * (KERNELS.len() - 1) + AHEAD.len());
    let completion = evaluated(spec, Target::OpenCl(Box::new(device)));
    assert_eq!(completion.failure, None);
    assert_eq!(completion.measurement.parts_ms.len(), 3 * KERNELS.len() + AHEAD.len());
}

#[test]
fn every_kernel_for_sizes_that_work_groups_divide_computes_in_opencl_what_the_interpreter_says() {
    opencl_computes_what_the_interpreter_says(Sizes::Whole);
}

#[test]
fn every_kernel_for_any_sizes_computes_in_opencl_what_the_interpreter_says() {
    opencl_computes_what_the_interpreter_says(Sizes::General);
}

fn compiles_for(capability: (u32, u32), kind: Sizes) {
    let Some(libraries) = nvidia() else { return };
    let folder = Folder::with(&[("script.json", &script(capability, false, "[]"))]);
    let script = Some(folder.path("script.json"));
    let setup = CudaSetup { libraries: Some(libraries), script, ..CudaSetup::default() };
    let device = cuda_devices(&setup, &worker()).unwrap().remove(0);
    // The script's kernels write nothing: nothing is expected of them.
    let spec = problem(&cases(kind), Language::Cuda, &folder);
    let completion = evaluated(spec, Target::Cuda(Box::new(device)));
    assert_eq!(completion.failure, None);
    let compiled = completion.measurement.compile.unwrap();
    assert!(compiled.binary_bytes > Some(1000 * 3 * KERNELS.len() as u64), "{compiled:?}");
}

#[test]
fn every_kernel_for_any_sizes_compiles_for_the_oldest_gpus() {
    compiles_for((7, 5), Sizes::General);
}

#[test]
fn every_kernel_for_sizes_that_work_groups_divide_compiles_for_newer_gpus() {
    compiles_for((8, 0), Sizes::Whole);
}

#[test]
fn every_kernel_for_any_sizes_compiles_for_the_newest_gpus() {
    compiles_for((9, 0), Sizes::General);
}
