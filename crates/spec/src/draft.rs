//! The parts of a problem as a front door hands them over: values, whose relations nobody has checked yet.

use crate::fault::Key;
use crate::inputs::{Input, InputRun};
use crate::measure::Measure;
use crate::options::Options;
use crate::setting::SettingValues;
use crate::tuning::Tuning;
use std::path::PathBuf;
use tunesmith_core::Refusal;
use tunesmith_kernel::command::CommandSpec;
use tunesmith_kernel::{
    Access, CudaCompiler, ElementType, Fill, FunctionName, Language, Memory, PartialTolerance, Reading,
};
use tunesmith_power::Knob;
use tunesmith_space::{Constraint, Expr, ExprError, Space, Value};

/// A problem whose parts are not checked against each other.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The name.
    pub name: String,
    /// The named numbers for every expression.
    pub sizes: Vec<(String, Value)>,
    /// The search space.
    pub space: SpaceDraft,
    /// The subject of tuning.
    pub subject: SubjectDraft,
    /// The arguments of all kernels.
    pub arguments: Vec<ArgumentDraft>,
    /// The rules for verifying outputs.
    pub verify: VerifyDraft,
    /// The default settings for tuning.
    pub tuning: Tuning,
    /// The rules for measuring and comparing configurations.
    pub measure: Measure,
    /// The inputs that `tune --inputs` tunes the problem for.
    pub inputs: Option<InputsDraft>,
}

/// A search space.
#[derive(Clone, Debug, Default)]
pub struct SpaceDraft {
    /// The tuning parameters.
    pub parameters: Vec<ParameterDraft>,
    /// The constraints.
    pub constraints: Vec<Constraint>,
    /// True if constraints are called by their own texts, so that one may be there twice.
    pub constraints_may_repeat: bool,
    /// The tuning parameters that set the device.
    pub settings: Vec<SettingDraft>,
    /// The space, if it was built before the problem.
    pub built: Option<Space>,
}

/// A tuning parameter.
#[derive(Clone, Debug)]
pub struct ParameterDraft {
    /// The name.
    pub name: String,
    /// The values.
    pub values: ValuesDraft,
}

/// The values of a parameter or of a size, over the sizes.
#[derive(Clone, Debug)]
pub enum ValuesDraft {
    /// Values one by one.
    List(Vec<Value>),
    /// The numbers from one bound to the other, `step` apart, which is 1 if left out.
    Range {
        /// Both ends.
        bounds: Bounds,
        /// The distance of neighbours.
        step: Option<Expr>,
    },
    /// The powers of two between two bounds.
    PowersOfTwo(Bounds),
    /// The divisors of a number.
    DivisorsOf(Expr),
}

/// Both ends of a range over the sizes.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The first number.
    pub first: Expr,
    /// The last number.
    pub last: Expr,
    /// True if the last number is left out, as in `1..8`.
    pub last_is_excluded: bool,
}

impl Bounds {
    /// Parses a range such as `1..=N / 2`. Tells `refuse` of an end that is no expression, with its text, and `odd` of a
    /// text without two ends. Returns `None` for both.
    pub fn parse(text: &str, refuse: impl Fn(&str, &ExprError), odd: impl Fn(Refusal)) -> Option<Self> {
        let Some((first, last)) = text.split_once("..") else {
            let remedy = "write `1..=8`, or `1..8` to leave out the 8".to_string();
            odd(Refusal::new(format!("`{text}` is not a range"), Some(remedy)));
            return None;
        };
        let (last, last_is_excluded) = match last.strip_prefix('=') {
            Some(last) => (last, false),
            None => (last, true),
        };
        let end = |text: &str| Expr::parse(text.trim()).map_err(|error| refuse(text.trim(), &error)).ok();
        Some(Self { first: end(first)?, last: end(last)?, last_is_excluded })
    }
}

/// Returns the doubt about a constraint that takes a computed number for a truth.
pub fn number_for_truth(name: &str, condition: &Expr) -> Option<Refusal> {
    condition.takes_number_for_truth().then(|| {
        let text = format!("constraint `{name}` takes a number for a truth: it excludes what makes it 0");
        Refusal::new(text, Some("compare the number: `N % TILE == 0`".to_string()))
    })
}

/// A tuning parameter that sets the device.
#[derive(Clone, Debug)]
pub struct SettingDraft {
    /// The clock or limit of the device that it sets.
    pub knob: Knob,
    /// The origin of the values.
    pub origin: SettingValues,
    /// The values, if the problem states them.
    pub values: Option<ValuesDraft>,
}

/// The subject of tuning.
#[derive(Clone, Debug, Default)]
pub enum SubjectDraft {
    /// The space alone.
    #[default]
    None,
    /// Kernels, in the order in which they run.
    Kernels(Vec<KernelDraft>),
    /// Kernels of which a parameter chooses one.
    Alternatives(AlternativesDraft),
    /// A loop nest, from which the kernel is generated.
    Nest(NestDraft),
    /// A command.
    Command(Box<CommandSpec>),
}

/// Kernels that compute the same in different ways.
#[derive(Clone, Debug)]
pub struct AlternativesDraft {
    /// The parameter that chooses.
    pub choice: String,
    /// The alternatives.
    pub entries: Vec<AlternativeDraft>,
}

/// One of several ways to compute the result.
#[derive(Clone, Debug)]
pub struct AlternativeDraft {
    /// The part of the problem that it is.
    pub key: Key,
    /// The name, which is its value of the choosing parameter.
    pub name: String,
    /// The kernels.
    pub kernels: Vec<KernelDraft>,
    /// The tuning parameters that it alone has.
    pub parameters: Vec<ParameterDraft>,
    /// The constraints that hold for it alone.
    pub constraints: Vec<Constraint>,
}

/// A function with its source, its compilation and its launch: a kernel or a reference.
#[derive(Clone, Debug)]
pub struct KernelDraft {
    /// The part of the problem that it is.
    pub key: Key,
    /// The name of its times. Without one, the function's name.
    pub name: Option<String>,
    /// The languages of its one source, each with its compiler options. The first is the default.
    pub languages: Vec<(Language, Options)>,
    /// The source.
    pub file: PathBuf,
    /// The function in it.
    pub function: FunctionName,
    /// Further sources, compiled together with `file`.
    pub sources: Vec<PathBuf>,
    /// Folders of included files.
    pub include: Vec<PathBuf>,
    /// The compiler of CUDA, if the problem chooses one.
    pub compiler: Option<CudaCompiler>,
    /// The names of its arguments. Without names, all of the problem's.
    pub arguments: Option<Vec<String>>,
    /// The number of consecutive launches.
    pub repeat: Option<Expr>,
    /// The work-items of a launch.
    pub work: WorkDraft,
    /// The differences between the source and what its compiler gets.
    pub reading: Reading,
}

impl KernelDraft {
    /// Returns `function` of `file` in one language. It takes all arguments.
    pub fn new(key: Key, language: (Language, Options), file: PathBuf, function: FunctionName) -> Self {
        Self {
            key,
            name: None,
            languages: vec![language],
            file,
            function,
            sources: Vec::new(),
            include: Vec::new(),
            compiler: None,
            arguments: None,
            repeat: None,
            work: WorkDraft::default(),
            reading: Reading::default(),
        }
    }
}

/// The work-items of a launch. A list has one to three expressions.
#[derive(Clone, Debug, Default)]
pub struct WorkDraft {
    /// The number of work-items.
    pub global: Option<Vec<Expr>>,
    /// The number of work-groups, in place of `global`.
    pub grid: Option<Vec<Expr>>,
    /// The work-items of a work-group.
    pub local: Option<Vec<Expr>>,
}

/// A loop nest in a file.
#[derive(Clone, Debug)]
pub struct NestDraft {
    /// The file.
    pub file: PathBuf,
    /// The compiler options of its kernel.
    pub options: Options,
}

/// An argument of the kernels.
#[derive(Clone, Debug)]
pub struct ArgumentDraft {
    /// The part of the problem that it is.
    pub key: Key,
    /// The name.
    pub name: String,
    /// The type of its elements.
    pub element: ElementType,
    /// The kind.
    pub kind: ArgumentKindDraft,
    /// The variable in constant memory that a CUDA kernel reads in place of a parameter.
    pub symbol: Option<String>,
    /// The alignment in bytes.
    pub align: Option<u64>,
    /// The tolerance of the argument, if it has one of its own.
    pub tolerance: Option<PartialTolerance>,
}

impl ArgumentDraft {
    /// Returns true if the kernels write the argument.
    pub fn is_output(&self) -> bool {
        matches!(&self.kind, ArgumentKindDraft::Buffer { access: Access::Out | Access::InOut, .. })
    }
}

/// The kind of an argument.
#[derive(Clone, Debug)]
pub enum ArgumentKindDraft {
    /// A number.
    Scalar(Expr),
    /// The bytes of an object passed by value.
    Object(Vec<u8>),
    /// Local memory, with its extents.
    Local(Vec<Expr>),
    /// A buffer in global or constant memory.
    Buffer {
        /// The extents.
        shape: Vec<Expr>,
        /// The contents.
        fill: Fill,
        /// The direction in which the kernels use it.
        access: Access,
        /// The memory.
        memory: Memory,
    },
}

/// The rules for verifying outputs.
#[derive(Clone, Debug, Default)]
pub struct VerifyDraft {
    /// The function that computes correct results.
    pub reference: Option<KernelDraft>,
    /// Correct contents of outputs.
    pub expected: Vec<(String, Fill)>,
    /// The tolerance of all outputs.
    pub tolerance: PartialTolerance,
    /// The compared elements, where not all of an output are compared.
    pub compare: Vec<CompareDraft>,
    /// Further sizes at which the winner is verified.
    pub sizes: Vec<FurtherDraft>,
}

/// The compared elements of an output.
#[derive(Clone, Debug)]
pub struct CompareDraft {
    /// The name of the argument.
    pub output: String,
    /// The ranges of elements along its axes.
    pub ranges: Vec<RangeDraft>,
}

/// A range of elements.
#[derive(Clone, Debug)]
pub struct RangeDraft {
    /// The part of the problem that states it.
    pub key: Key,
    /// Its text.
    pub text: String,
    /// Both ends.
    pub bounds: Bounds,
}

impl RangeDraft {
    /// Splits a text of ranges at the commas outside of parentheses.
    pub fn parts(text: &str) -> Vec<&str> {
        let mut depth = 0;
        let is_comma = |letter: char| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            letter == ',' && depth == 0
        };
        text.split(is_comma).collect()
    }
}

/// Sizes at which the winner is verified. A size without a value keeps its own.
#[derive(Clone, Debug)]
pub struct FurtherDraft {
    /// The part of the problem that states them.
    pub key: Key,
    /// The sizes.
    pub sizes: Vec<(String, Value)>,
}

/// The inputs that `tune --inputs` tunes a problem for.
#[derive(Clone, Debug, Default)]
pub struct InputsDraft {
    /// Sizes with their values, of which all combinations are inputs.
    pub sizes: Vec<(String, InputSizeDraft)>,
    /// Inputs that are listed one by one.
    pub list: Vec<Input>,
    /// The condition that an input meets.
    pub filter: Option<Expr>,
    /// The number of inputs to draw.
    pub count: Option<usize>,
    /// The seed of the draw.
    pub seed: u64,
    /// Features of an input besides its sizes.
    pub features: Vec<(String, Expr)>,
    /// The runs that tune each input.
    pub runs: Vec<InputRun>,
}

/// The values of a size in inputs.
#[derive(Clone, Debug)]
pub enum InputSizeDraft {
    /// Values.
    Values(ValuesDraft),
    /// An expression over the sizes before it.
    Derived(Expr),
}
