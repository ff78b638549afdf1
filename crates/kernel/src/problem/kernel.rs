//! A kernel: its source, its arguments and its work-items.

use crate::problem::{FunctionName, Generator, Language, Scope, Template};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use tunesmith_space::{Expr, ExprError, Value};

/// One kernel of a problem. A problem with several kernels runs them in order, and its time is the
/// sum of their times.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The name that reports give its times.
    pub name: String,
    /// The language of the source.
    pub language: Language,
    /// The source file that defines the function. With a generator, the file that the generator
    /// read.
    pub file: PathBuf,
    /// The generator of source and work-items. Replaces `file` and `work`.
    pub generator: Option<Arc<dyn Generator>>,
    /// The differences between the file and what its compiler gets.
    pub reading: Reading,
    /// Further source files, compiled together with `file`.
    pub sources: Vec<PathBuf>,
    /// Folders to search for included files.
    pub include: Vec<PathBuf>,
    /// The function to call.
    pub function: FunctionName,
    /// Compiler options. Each text is one argument.
    pub options: Vec<Template>,
    /// The compiler on CUDA devices.
    pub cuda_compiler: CudaCompiler,
    /// The arguments in the order of the signature, as positions among the problem's arguments.
    pub arguments: Vec<usize>,
    /// The number of consecutive launches, an expression over sizes and parameters. Defaults to 1.
    pub repeat: Option<Expr>,
    /// The work-items. `None` in languages without work-items.
    pub work: Option<WorkSize>,
    /// The configurations that the kernel belongs to. `None` means all of them.
    pub alternative: Option<Alternative>,
}

/// A compiler of CUDA C++.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CudaCompiler {
    /// NVRTC, the run-time compiler: a library.
    #[default]
    Nvrtc,
    /// nvcc of an installed toolkit, which also compiles code of the host.
    Nvcc,
}

impl CudaCompiler {
    /// The compilers, the default one first.
    pub const ALL: [Self; 2] = [Self::Nvrtc, Self::Nvcc];

    /// Returns the compiler's name in problem files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nvrtc => "nvrtc",
            Self::Nvcc => "nvcc",
        }
    }
}

/// Restricts a kernel to the configurations in which a tuning parameter has one value. Kernels for
/// the parameter's other values are the alternatives to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The tuning parameter that chooses.
    pub parameter: String,
    /// Its value for this kernel.
    pub value: Value,
}

impl Alternative {
    /// Returns true if the configuration that `scope` describes has chosen this alternative.
    pub fn is_chosen(&self, scope: &Scope) -> bool {
        scope.get(&self.parameter) == Some(&self.value)
    }
}

/// The differences between a source and what its compiler gets. C and C++ compilers read the file
/// itself, so that they apply to OpenCL and CUDA alone.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The parts of the file that are no code. Blanks take their place, so that lines and columns
    /// stay.
    pub not_code: Vec<Range<usize>>,
    /// The names that the source declares itself. Sizes of these names are no macros.
    pub own_names: Vec<String>,
}

/// A kernel's number of work-items: expressions over sizes and parameters, one for each of up to
/// three dimensions.
#[derive(Clone, Debug)]
pub struct WorkSize {
    /// The number of work-items or work-groups.
    pub extent: Extent,
    /// The size of a work-group in work-items. `None` leaves the choice to the driver.
    pub local: Option<Vec<Expr>>,
}

/// The extents of a [`WorkSize`], and their unit.
#[derive(Clone, Debug)]
pub enum Extent {
    /// Work-items, as in OpenCL.
    Global(Vec<Expr>),
    /// Work-groups, as in CUDA.
    Groups(Vec<Expr>),
}

/// The work-items of one configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Grid {
    /// The number of work-items in each dimension, at least 1.
    pub global: Vec<usize>,
    /// The size of a work-group in each dimension. Each size divides the number of work-items.
    pub local: Option<Vec<usize>>,
}

/// The error of a configuration without a valid [`Grid`] or number of launches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// An expression that cannot be evaluated.
    #[error("`{text}` of kernel `{kernel}` cannot be computed: {source}")]
    Expression {
        /// The kernel.
        kernel: String,
        /// The expression.
        text: String,
        /// The reason.
        source: ExprError,
    },
    /// A number below 1.
    #[error("`{text}` of kernel `{kernel}` gives {value}, but must give at least 1")]
    TooSmall {
        /// The kernel.
        kernel: String,
        /// The expression.
        text: String,
        /// Its value.
        value: i64,
    },
    /// A number of work-items that is not a multiple of the work-group's size.
    #[error(
        "kernel `{kernel}` has {global} work-items in dimension {dimension}, not a multiple of its {local} per \
             work-group"
    )]
    NoMultiple {
        /// The kernel.
        kernel: String,
        /// The dimension, counted from 0.
        dimension: usize,
        /// The number of work-items.
        global: usize,
        /// The size of a work-group.
        local: usize,
    },
    /// A kernel that cannot be generated.
    #[error("kernel `{kernel}` cannot be made: {reason}")]
    Generated {
        /// The kernel.
        kernel: String,
        /// The reason.
        reason: String,
    },
    /// A number of work-items that overflows.
    #[error("kernel `{kernel}` has more than 2^64 work-items in dimension {dimension}")]
    TooLarge {
        /// The kernel.
        kernel: String,
        /// The dimension, counted from 0.
        dimension: usize,
    },
}

impl Kernel {
    /// Returns true if the kernel belongs to the configuration that `scope` describes.
    pub fn is_part_of(&self, scope: &Scope) -> bool {
        self.alternative.as_ref().is_none_or(|alternative| alternative.is_chosen(scope))
    }

    /// Returns `scope`, an example of a configuration, with the choice that the kernel belongs to.
    pub fn example(&self, scope: &Scope) -> Scope {
        match &self.alternative {
            Some(Alternative { parameter, value }) => scope.with(parameter, value),
            None => scope.clone(),
        }
    }

    /// Returns the expressions that determine work-items and launches.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let work = self.work.iter().flat_map(|work| {
            let (Extent::Global(extents) | Extent::Groups(extents)) = &work.extent;
            extents.iter().chain(work.local.iter().flatten())
        });
        work.chain(&self.repeat)
    }

    /// Returns the compiler options of the configuration that `scope` describes. An option that
    /// expands to nothing is none: compilers would take an empty word for a file.
    pub fn expanded_options(&self, scope: &Scope) -> impl Iterator<Item = String> {
        self.options.iter().map(|option| option.expand(scope)).filter(|option| !option.trim().is_empty())
    }

    /// Returns the work-items of the configuration that `scope` describes. Returns `None` in
    /// languages without work-items.
    ///
    /// # Errors
    /// - An expression cannot be evaluated, or its value is below 1.
    /// - The number of work-items is not a multiple of the work-group's size.
    /// - The kernel cannot be generated.
    pub fn grid(&self, scope: &Scope) -> Result<Option<Grid>, GridError> {
        if let Some(generator) = &self.generator {
            let generated = generator.generate(scope);
            let kernel = || self.name.clone();
            return generated.map(|made| made.grid).map_err(|reason| GridError::Generated { kernel: kernel(), reason });
        }
        let Some(work) = &self.work else { return Ok(None) };
        let numbers = |texts: &[Expr]| texts.iter().map(|expr| self.number(expr, scope)).collect::<Result<Vec<_>, _>>();
        let local = work.local.as_deref().map(numbers).transpose()?;
        let global = match &work.extent {
            Extent::Global(extents) => numbers(extents)?,
            Extent::Groups(extents) => self.in_items(&numbers(extents)?, local.as_deref())?,
        };
        let pairs = global.iter().zip(local.iter().flatten()).enumerate();
        for (dimension, (&global, &local)) in pairs {
            if global % local != 0 {
                return Err(GridError::NoMultiple { kernel: self.name.clone(), dimension, global, local });
            }
        }
        Ok(Some(Grid { global, local }))
    }

    /// Returns the number of consecutive launches.
    ///
    /// # Errors
    /// The expression cannot be evaluated, or its value is below 1.
    pub fn launches(&self, scope: &Scope) -> Result<usize, GridError> {
        self.repeat.as_ref().map_or(Ok(1), |expr| self.number(expr, scope))
    }

    fn in_items(&self, groups: &[usize], local: Option<&[usize]>) -> Result<Vec<usize>, GridError> {
        let item = |(dimension, groups): (usize, &usize)| {
            let local = local.and_then(|local| local.get(dimension)).unwrap_or(&1);
            groups.checked_mul(*local).ok_or_else(|| GridError::TooLarge { kernel: self.name.clone(), dimension })
        };
        groups.iter().enumerate().map(item).collect()
    }

    fn number(&self, expr: &Expr, scope: &Scope) -> Result<usize, GridError> {
        let (kernel, text) = (self.name.clone(), expr.text().to_owned());
        match expr.evaluate_int(&|name| scope.get(name).cloned()) {
            Ok(value @ 1..) => Ok(value as usize),
            Ok(value) => Err(GridError::TooSmall { kernel, text, value }),
            Err(source) => Err(GridError::Expression { kernel, text, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exprs(texts: &[&str]) -> Vec<Expr> {
        texts.iter().map(|text| Expr::parse(text).unwrap()).collect()
    }

    fn grid(extent: Extent, local: Option<&[&str]>) -> Result<Option<Grid>, String> {
        let kernel = Kernel {
            name: "k".into(),
            language: Language::OpenCl,
            file: "k.cl".into(),
            generator: None,
            reading: Reading::default(),
            sources: Vec::new(),
            include: Vec::new(),
            function: "k".into(),
            options: Vec::new(),
            arguments: Vec::new(),
            repeat: None,
            work: Some(WorkSize { extent, local: local.map(exprs) }),
            cuda_compiler: CudaCompiler::default(),
            alternative: None,
        };
        let scope = Scope::new([("N".to_owned(), Value::Int(100)), ("TILE".to_owned(), Value::Int(8))]);
        kernel.grid(&scope).map_err(|error| error.to_string())
    }

    #[test]
    fn work_groups_times_their_size_are_work_items() {
        let local: &[&str] = &["TILE", "2"];
        let by_items = grid(Extent::Global(exprs(&["TILE * 4", "6"])), Some(local));
        assert_eq!(by_items, Ok(Some(Grid { global: vec![32, 6], local: Some(vec![8, 2]) })));
        assert_eq!(grid(Extent::Groups(exprs(&["4", "3"])), Some(local)), by_items);
        assert_eq!(grid(Extent::Global(exprs(&["N"])), None), Ok(Some(Grid { global: vec![100], local: None })));
    }

    #[test]
    fn an_alternative_belongs_to_the_configurations_that_choose_it() {
        let choice = |value: &str| Alternative { parameter: "way".into(), value: Value::Str(value.into()) };
        let scope = Scope::new([("way".to_owned(), Value::Str("plain".into()))]);
        assert!(choice("plain").is_chosen(&scope) && !choice("tiled").is_chosen(&scope));
        assert!(!choice("plain").is_chosen(&Scope::new([])));
        assert!(choice("tiled").is_chosen(&scope.with("way", &Value::Str("tiled".into()))));
    }

    #[test]
    fn what_cannot_be_launched_says_why() {
        let error = |extent: &str, local: &str| grid(Extent::Global(exprs(&[extent])), Some(&[local])).unwrap_err();
        assert_eq!(
            error("N", "TILE"),
            "kernel `k` has 100 work-items in dimension 0, not a multiple of its 8 per work-group"
        );
        assert_eq!(error("N - 100", "1"), "`N - 100` of kernel `k` gives 0, but must give at least 1");
        assert!(
            error("N / TILE", "1").starts_with("`N / TILE` of kernel `k` cannot be computed: must give an integer")
        );
        assert!(error("M", "1").contains("`M`"));
        let huge = "2 ** 62";
        assert!(grid(Extent::Groups(exprs(&[huge])), Some(&["TILE"])).unwrap_err().contains("more than 2^64"));
    }
}
