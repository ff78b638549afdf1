//! The kernels of the cost model in the languages whose work-items are threads: OpenCL compared
//! with the interpreter of nests, and CUDA compiled by NVIDIA's compiler. C is tested beside its
//! generator.

use crate::common;

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
use tunesmith::loopnest::kernels::{COVERAGE, Groups, KERNELS, Kernel};
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

const SPARSE: &str = include_str!("../../../../examples/nests/spmv.nest");

/// Updates of every type, by every operation.
const UPDATES: &str = "
    nest updates
    sizes n
    array bins[n]: i32
    array most[16]: i32
    array least[1]: f32
    array wide[16]: i64
    array widest[16]: i64
    array sum[16]: f64
    array greatest[2]: f64
    array a[n]: f32
    array w[n]: i32
    {[i]: 0 <= i < n}
    lookup bin = bins[i]
    atomic most[bin] = max(most[bin], w[i])           @ i
    atomic least[0] = min(least[0], a[i] - 0.5)       @ i
    atomic wide[bin] = wide[bin] + w[i]               @ i
    atomic widest[bin] = min(w[i], widest[bin])       @ i
    atomic sum[bin] = sum[bin] + a[i]                 @ i
    atomic greatest[1] = max(greatest[1], a[i] + 0.5) @ i
    parameter width = 16
    split i width -> io, ii
    tag io group.0
    tag ii local.0
";

/// Returns kernels with cells in half precision, conversions and atomic updates.
fn typed() -> Vec<Case> {
    let bins: Contents = ("bins", |cell| cell * 7919 % 16);
    let of_kernel = |kernel: &Kernel| {
        let shape = kernel.groups.shapes()[1];
        let case = Case::new(kernel, shape, Sizes::General);
        let has_bins = case.nest.arrays.iter().any(|array| array.name == bins.0);
        if has_bins { case.with(&bins) } else { case }
    };
    let classes = ["half", "convert", "atomic"];
    let kernels = COVERAGE.iter().filter(|kernel| classes.contains(&kernel.class)).map(of_kernel);
    kernels.chain([1, 32].map(|width| Case::of_data(UPDATES, width, &[401], &[bins]))).collect()
}

/// The cells of rows side by side, with the number of cells in each row.
const SIDE_BY_SIDE: &str = "
    nest side_by_side
    sizes n, most
    array length[n]: i64
    array column[most, n]: i32
    array value[most, n]: f32
    array x[n]: f32
    array y[n]: f32
    temporary acc: f32
    {[i]: 0 <= i < n}
    lookup cells = length[i]
    {[k]: 0 <= k < min(cells, most)}
    lookup at = column[k, i]
    acc = 0.0                      @ i
    acc = acc + value[k, i]*x[at]  @ i, k
    y[i] = acc                     @ i
    parameter width = 16
    split i width -> io, ii
    tag io group.0
    tag ii local.0
";

/// A sparse matrix times a dense one: a work-group for each row, with its work-items along the
/// columns of the result.
const DENSE: &str = "
    nest dense
    sizes n, m, nnz
    array row[n + 1]: i32
    array column[nnz]: i32
    array value[nnz]: f32
    array x[n, m]: f32
    array y[n, m]: f32
    temporary acc: f32
    {[i, j]: 0 <= i < n and 0 <= j < m}
    lookup first = row[i]
    lookup end = row[i + 1]
    {[k]: first <= k < end}
    lookup at = column[k]
    acc = 0.0                         @ i, j
    acc = acc + value[k]*x[at, j]     @ i, j, k
    y[i, j] = acc + 0.5*first         @ i, j
    parameter width = 16
    split j width -> jo, ji
    tag i group.1
    tag jo group.0
    tag ji local.0
";

/// A triangular matrix, whose rows are stored from their first cell on, plus a permutation.
const TRIANGLE: &str = "
    nest triangle
    sizes n, nnz
    array first[n]: i32
    array start[n]: i32
    array from[n]: i32
    array value[nnz]: f64
    array x[n]: f64
    array y[n]: f64
    temporary acc: f64
    {[i]: 0 <= i < n}
    lookup begin = first[i]
    lookup offset = start[i]
    lookup other = from[i]
    {[k]: begin <= k <= i}
    acc = x[other]                               @ i
    acc = acc + value[offset + k - begin]*x[k]   @ i, k
    y[i] = acc + offset                          @ i
    parameter width = 16
    split i width -> io, ii
    tag io group.0
    tag ii local.0
";

/// The distance of the greatest cell of each row from the least one, with several rows for each group.
const DISTANCES: &str = "
    nest distances
    sizes n, m
    array a[n, m]: f32
    array out[n]: f32
    temporary least: f32
    temporary most: f32
    {[i, k]: 0 <= i < n and 0 <= k < m}
    least = 2.0                    @ i
    most = -2.0                    @ i
    least = min(least, a[i, k])    @ i, k
    most = max(a[i, k], most)      @ i, k
    out[i] = most - least          @ i
    parameter width = 16
    split i 3 -> io, ii
    split k width -> ko, ki
    tag io group.0
    tag ii local.1
    reduce least, most over ki -> lows, highs[r] local.0
";

/// Sums in cells of an array, which all work-items of a row read afterwards.
const SHARES: &str = "
    nest shares
    sizes n, m
    array a[n, m]: i16
    array sum[n]: i64
    temporary s: i64
    {[i, k]: 0 <= i < n and 0 <= k < m}
    sum[i] = 3                        @ i
    sum[i] = sum[i] + a[i, k]*a[i, k] @ i, k
    s = sum[i]                        @ i
    sum[i] = sum[i] + s               @ i
    parameter width = 16
    split k width -> ko, ki
    tag i group.0
    reduce sum over ki -> parts[r] local.0
";

/// Returns kernels whose work-items share sums, and products whose tiles are loaded ahead.
fn shared_and_ahead() -> Vec<Case> {
    let is_own = |kernel: &&Kernel| matches!(kernel.class, "reduction" | "pipelined");
    let of = |kernel: &Kernel| Case::new(kernel, kernel.groups.shapes()[1], Sizes::General);
    let mut all: Vec<Case> = COVERAGE.iter().filter(is_own).map(of).collect();
    for width in [1, 5, 32] {
        all.extend([DISTANCES, SHARES].map(|text| Case::of_data(text, width, &[20, 77], &[])));
    }
    all
}

/// Returns kernels whose bounds or subscripts depend on data, in work-groups of several widths.
fn looked_up() -> Vec<Case> {
    let widths = |text: &str, sizes: &[i64], looked_up: &[Contents]| {
        [1, 8, 32, 128].map(|width| Case::of_data(text, width, sizes, looked_up))
    };
    let row: Contents = ("row", |row| row * row / 10);
    let column: Contents = ("column", |cell| cell * 7919 % 77);
    let triangle: [Contents; 3] =
        [("first", |row| row / 3 * 2), ("start", |row| row * 30), ("from", |row| row * 8 % 77)];
    let mut all = Vec::new();
    all.extend(widths(SPARSE, &[77, 600, 8], &[row, column]));
    all.extend(widths(SIDE_BY_SIDE, &[77, 6], &[("length", |row| row % 9), column]));
    all.extend(widths(DENSE, &[77, 45, 600], &[row, column]));
    all.extend(widths(TRIANGLE, &[77, 77 * 30], &triangle));
    all
}
