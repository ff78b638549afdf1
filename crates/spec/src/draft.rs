//! The parts of a problem as a front door hands them over: values, whose relations nobody has checked yet.

use crate::fault::Key;
use crate::inputs::{Input, InputRun};
use crate::limit::Limit;
use crate::options::Options;
use crate::setting::SettingValues;
use crate::tuning::Tuning;
use std::path::PathBuf;
use tunesmith_core::Judging;
use tunesmith_kernel::command::CommandSpec;
use tunesmith_kernel::measure::Policy;
use tunesmith_kernel::{
    Access, CudaCompiler, ElementType, Fill, FunctionName, Language, Memory, PartialTolerance, Reading,
};
use tunesmith_power::Knob;
use tunesmith_space::{Constraint, Expr, ExprError, Space, Value};

/// A problem whose parts are not checked against each other.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub name: String,
    pub sizes: Vec<(String, Value)>,
    pub flops: Option<Expr>,
    pub bytes: Option<Expr>,
    pub metrics: Vec<(String, String)>,
    pub limits: Vec<Limit>,
    pub parameters: Vec<ParameterDraft>,
    pub constraints: Vec<Constraint>,
    /// True if constraints are called by their own texts, so that one may be there twice.
    pub constraints_may_repeat: bool,
    pub settings: Vec<SettingDraft>,
    pub subject: SubjectDraft,
    pub arguments: Vec<ArgumentDraft>,
    pub verify: VerifyDraft,
    pub tuning: Tuning,
    pub policy: Policy,
    pub judging: Judging,
    pub inputs: Option<InputsDraft>,
    /// The space, if it was built before the problem.
    pub built: Option<Space>,
}

/// A tuning parameter.
#[derive(Clone, Debug)]
pub struct ParameterDraft {
    pub name: String,
    pub values: ValuesDraft,
}

/// The values of a parameter or of a size, over the sizes.
#[derive(Clone, Debug)]
pub enum ValuesDraft {
    List(Vec<Value>),
    Range { bounds: Bounds, step: Option<Expr> },
    PowersOfTwo(Bounds),
    DivisorsOf(Expr),
}

/// Both ends of a range over the sizes.
#[derive(Clone, Debug)]
pub struct Bounds {
    pub first: Expr,
    pub last: Expr,
    /// True if the last number is left out, as in `1..8`.
    pub last_is_excluded: bool,
}

impl Bounds {
    /// Parses a range such as `1..=N / 2`. Tells `refuse` of an end that is no expression, with its text, and `odd` of a
    /// text without two ends, with its fault and remedy. Returns `None` for both.
    pub fn parse(text: &str, refuse: impl Fn(&str, &ExprError), odd: impl Fn(String, String)) -> Option<Self> {
        let Some((first, last)) = text.split_once("..") else {
            odd(format!("`{text}` is not a range"), "write `1..=8`, or `1..8` to leave out the 8".to_string());
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

/// Returns the doubt about a constraint that takes a computed number for a truth, with its remedy.
pub fn number_for_truth(name: &str, condition: &Expr) -> Option<(String, String)> {
    condition.takes_number_for_truth().then(|| {
        let text = format!("constraint `{name}` takes a number for a truth: it excludes what makes it 0");
        (text, "compare the number: `N % TILE == 0`".to_string())
    })
}

/// A tuning parameter that sets the device.
#[derive(Clone, Debug)]
pub struct SettingDraft {
    pub knob: Knob,
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
    Kernels(Vec<KernelDraft>),
    Alternatives(AlternativesDraft),
    Nest(NestDraft),
    Command(Box<CommandSpec>),
}

/// Kernels that compute the same in different ways.
#[derive(Clone, Debug)]
pub struct AlternativesDraft {
    /// The parameter that chooses.
    pub choice: String,
    pub entries: Vec<AlternativeDraft>,
}

/// One of several ways to compute the result.
#[derive(Clone, Debug)]
pub struct AlternativeDraft {
    /// The part of the problem that it is.
    pub key: Key,
    pub name: String,
    pub kernels: Vec<KernelDraft>,
    pub parameters: Vec<ParameterDraft>,
    pub constraints: Vec<Constraint>,
}

/// A function with its source, its compilation and its launch: a kernel or a reference.
#[derive(Clone, Debug)]
pub struct KernelDraft {
    /// The part of the problem that it is.
    pub key: Key,
    /// The name of its times. Without one, the function's name.
    pub name: Option<String>,
    /// The languages of its one source, at least one. The first is the default.
    pub languages: Vec<Language>,
    pub file: PathBuf,
    pub function: FunctionName,
    pub sources: Vec<PathBuf>,
    pub include: Vec<PathBuf>,
    /// The compiler options for each of the languages.
    pub options: Vec<Options>,
    pub compiler: Option<CudaCompiler>,
    /// The names of its arguments. Without names, all of the problem's.
    pub arguments: Option<Vec<String>>,
    pub repeat: Option<Expr>,
    pub work: WorkDraft,
    pub reading: Reading,
}

impl KernelDraft {
    /// Returns `function` of `file` in one language, without options. It takes all arguments.
    pub fn new(key: Key, language: Language, file: PathBuf, function: FunctionName) -> Self {
        Self {
            key,
            name: None,
            languages: vec![language],
            file,
            function,
            sources: Vec::new(),
            include: Vec::new(),
            options: vec![Options::default()],
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
    pub global: Option<Vec<Expr>>,
    /// The number of work-groups, in place of `global`.
    pub grid: Option<Vec<Expr>>,
    pub local: Option<Vec<Expr>>,
}

/// A loop nest in a file.
#[derive(Clone, Debug)]
pub struct NestDraft {
    pub file: PathBuf,
    pub options: Options,
}

/// An argument of the kernels.
#[derive(Clone, Debug)]
pub struct ArgumentDraft {
    /// The part of the problem that it is.
    pub key: Key,
    pub name: String,
    pub element: ElementType,
    pub kind: ArgumentKindDraft,
    pub symbol: Option<String>,
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
    Scalar(Expr),
    /// The bytes of an object passed by value.
    Object(Vec<u8>),
    Local(Vec<Expr>),
    Buffer {
        shape: Vec<Expr>,
        fill: Fill,
        access: Access,
        memory: Memory,
    },
}

/// The rules for verifying outputs.
#[derive(Clone, Debug, Default)]
pub struct VerifyDraft {
    pub reference: Option<KernelDraft>,
    pub expected: Vec<(String, Fill)>,
    pub tolerance: PartialTolerance,
    pub compare: Vec<CompareDraft>,
    /// Further sizes at which the winner is verified.
    pub sizes: Vec<FurtherDraft>,
}

/// The compared elements of an output.
#[derive(Clone, Debug)]
pub struct CompareDraft {
    /// The name of the argument.
    pub output: String,
    pub ranges: Vec<RangeDraft>,
}

/// A range of elements.
#[derive(Clone, Debug)]
pub struct RangeDraft {
    /// The part of the problem that states it.
    pub key: Key,
    /// Its text.
    pub text: String,
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
    pub sizes: Vec<(String, Value)>,
}

/// The inputs that `tune --inputs` tunes a problem for.
#[derive(Clone, Debug, Default)]
pub struct InputsDraft {
    pub sizes: Vec<(String, InputSizeDraft)>,
    pub list: Vec<Input>,
    pub filter: Option<Expr>,
    pub count: Option<usize>,
    pub seed: u64,
    pub features: Vec<(String, Expr)>,
    pub runs: Vec<InputRun>,
}

/// The values of a size in inputs.
#[derive(Clone, Debug)]
pub enum InputSizeDraft {
    Values(ValuesDraft),
    /// An expression over the sizes before it.
    Derived(Expr),
}
