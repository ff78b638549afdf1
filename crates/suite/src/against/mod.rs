//! Libraries as kernels, which take part in a comparison.
//!
//! Each is a source in C that opens the library at run time and calls it. It is measured as any C
//! kernel is: in a process of its own, with the same samples, and with its results compared. For a
//! library on a device, a sample is the time of the call until the device is done.

use crate::About;
use crate::library::Library;
use crate::operation::{Operation, OperationKind};
use std::time::Duration;
use tunesmith::{Arg, Code, Error, Problem};
use tunesmith_device::Device;
use tunesmith_kernel::ScalarType;
use tunesmith_space::Value;

/// A library that computes what a problem does.
pub(super) struct Rival {
    pub(super) library: Library,
    pub(super) problem: Problem,
    /// The kernel whose time counts. `None` if there is only one.
    pub(super) counted: Option<&'static str>,
}

/// The functions of a library's source.
enum Source {
    /// `compute` takes the operands from the host's memory.
    Host(&'static str),
    /// `upload` copies the operands to the device, `compute` computes there, and `download` copies
    /// the result back. Only `compute` counts.
    Device(&'static str),
}

impl Source {
    fn of(library: Library) -> Self {
        match library {
            Library::OpenBlas => Self::Host(include_str!("openblas.c")),
            Library::ClBlast => Self::Host(include_str!("clblast.c")),
            Library::CuBlas => Self::Device(concat!(include_str!("cuda.c"), include_str!("cublas.c"))),
            Library::CuDnn => Self::Device(concat!(include_str!("cuda.c"), include_str!("cudnn.c"))),
        }
    }
}

/// The function that computes the operation.
const COMPUTE: &str = "compute";

/// The exit code of a library's function that has printed why it cannot go on.
const EXIT: &str = "exit(3)";

/// The size of a pointer in bytes.
const POINTER: i64 = size_of::<usize>() as i64;

/// The limit of a library's first launch: CLBlast has its kernels compiled then.
const FIRST_LAUNCH: Duration = Duration::from_secs(600);

/// Returns those of `libraries` that the problem names and that one would use on `device`, at the
/// sizes of `problem`.
///
/// # Errors
/// An extent is not a positive number.
pub(super) fn rivals(
    libraries: &[Library],
    about: &About,
    problem: &Problem,
    device: &Device,
) -> Result<Vec<Rival>, Error> {
    let (Some(operation), Device::Kernels(target)) = (about.operation(), device) else { return Ok(Vec::new()) };
    let applied = libraries.iter().filter(|library| about.against.contains(library) && library.serves(target));
    applied.map(|library| rival(*library, operation, problem.spec().sizes(), target.index())).collect()
}

/// Returns the problem in which `library` computes `operation` at these sizes, on the device with
/// this number.
fn rival(library: Library, operation: Operation<'_>, sizes: &[(String, Value)], device: usize) -> Result<Rival, Error> {
    let shape = operation.shape(sizes)?;
    let [a, b, c] = shape.elements;
    let device = i64::try_from(device).unwrap_or(i64::MAX);
    let own = [("A_COUNT", a), ("B_COUNT", b), ("C_COUNT", c), ("DEVICE", device)];
    let macros = shape.macros.iter().copied().chain(own);
    let made = macros.fold(Problem::builder(library.name()), |made, (name, value)| made.size(name, value));
    let made = made
        .argument(Arg::input("a", ScalarType::F32, [Value::Int(a)]))
        .argument(Arg::input("b", ScalarType::F32, [Value::Int(b)]))
        .argument(Arg::output("c", ScalarType::F32, [Value::Int(c)]))
        // Every problem has a parameter; this one has one configuration.
        .parameter("ONE", [1]);
    let code = |function: &str, text: &str, arguments: &[&str]| {
        Code::c(function, text).option("-O2").arguments(arguments.iter().copied())
    };
    let operands = ["a", "b", "c"];
    let (made, counted) = match Source::of(library) {
        Source::Host(text) => (made.kernel(code(COMPUTE, text, &operands)), None),
        Source::Device(text) => {
            let made = made
                // The functions lie in libraries of their own. Here, the first leaves what the others need.
                .argument(Arg::scratch("shared", ScalarType::Byte, [POINTER]).align(POINTER as u64))
                .kernel(code("upload", text, &["a", "b", "shared"]))
                .kernel(code(COMPUTE, text, &["shared"]))
                .kernel(code("download", text, &["c", "shared"]));
            (made, Some(COMPUTE))
        }
    };
    let reference = reference(operation.kind());
    let made =
        made.reference(code("reference", reference, &operands)).absolute(tolerance(operation.kind(), shape.terms));
    let problem = made.build()?;
    let mut policy = problem.spec().policy();
    // Each measurement is a process of its own, which opens the library anew.
    (policy.limits.first, policy.limits.floor) = (FIRST_LAUNCH, FIRST_LAUNCH);
    Ok(Rival { library, problem: problem.with_policy(policy), counted })
}

/// Returns the source of the function `reference` for a kind of operation.
fn reference(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Product => include_str!("product_reference.c"),
        OperationKind::Convolution => include_str!("convolution_reference.c"),
    }
}

/// Returns how far rounding may move a sum of `terms` products of numbers within one. Convolutions by
/// Winograd's and by Fourier's transform round more often than those that add up products.
fn tolerance(kind: OperationKind, terms: i64) -> f64 {
    let each = match kind {
        OperationKind::Product => 1e-6,
        OperationKind::Convolution => 1e-5,
    };
    each * (terms as f64).max(100.0)
}

/// Returns the reason why a library was not timed, in the words of a user.
pub(super) fn explain(library: Library, reason: &str) -> String {
    let mut lines = reason.lines();
    let first = lines.next().unwrap_or(reason);
    let printed = lines.next_back().filter(|_| first.ends_with(EXIT)).map(str::trim);
    match printed {
        Some(line) if line.contains("cannot be opened") => format!("{line}; {}", library.remedy()),
        Some(line) => line.to_string(),
        None => first.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::{Convolution, Product};

    fn of(library: Library, sizes: &[(String, Value)], device: usize) -> Rival {
        let product: Product = toml::from_str("m = \"X\"\nn = 3\nk = 4\na_transposed = true").unwrap();
        let convolution: Convolution =
            toml::from_str("rows = \"X\"\ncolumns = 3\nfilter_rows = 2\nfilter_columns = 5").unwrap();
        let operation = match library.computes() {
            OperationKind::Product => Operation::Product(&product),
            OperationKind::Convolution => Operation::Convolution(&convolution),
        };
        rival(library, operation, sizes, device).unwrap()
    }

    #[test]
    fn every_library_becomes_a_problem_of_one_configuration_at_the_sizes_of_the_kernel() {
        let sizes = [("X".to_string(), Value::Int(7))];
        for library in Library::ALL {
            let Rival { problem, counted, .. } = of(library, &sizes, 2);
            assert_eq!(problem.space(&[]).unwrap().space.size(), 1_u32.into());
            let size = |name: &str| problem.spec().size(name);
            let operands = ["A_COUNT", "B_COUNT", "C_COUNT", "DEVICE"].map(|name| size(name).unwrap());
            let expected = if library == Library::CuDnn { [8 * 7, 2 * 5, 7 * 3, 2] } else { [7 * 4, 4 * 3, 7 * 3, 2] };
            assert_eq!(operands, expected.map(Value::Int), "{library}");
            let kernels: Vec<&str> = problem.spec().kernels().iter().map(|kernel| kernel.name.as_str()).collect();
            match counted {
                None => assert_eq!(kernels, ["compute"], "{library}"),
                Some(counted) => assert_eq!((kernels, counted), (vec!["upload", "compute", "download"], "compute")),
            }
        }
    }

    #[test]
    fn a_library_that_ended_by_itself_is_explained_by_what_it_printed() {
        let ended = |printed: &str| format!("the kernel called exit(3)\nIt printed last:\n{printed}");
        let explained = explain(Library::CuDnn, &ended("cuDNN cannot be opened: no such file"));
        assert!(explained.starts_with("cuDNN cannot be opened: no such file; install CUDA's runtime"), "{explained}");
        assert_eq!(explain(Library::CuBlas, &ended("cuBLAS fails: no memory")), "cuBLAS fails: no memory");
        let crash = "the kernel was killed by SIGSEGV\nIt printed last:\nhello";
        assert_eq!(explain(Library::CuBlas, crash), "the kernel was killed by SIGSEGV");
    }
}
