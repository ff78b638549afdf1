//! The libraries that one would use instead of a tuned kernel.
//!
//! Each is a C function that opens the library at run time and calls it. It is measured as any C
//! kernel is: in a process of its own, with the same samples, and with its results compared. For a
//! library on an OpenCL device, a sample is the time of the call until the device is done.

use crate::{About, Extent, Product, refused};
use std::fmt::Write as _;
use std::time::Duration;
use tunesmith::{Arg, Code, Error, Problem};
use tunesmith_device::{Device, ScalarType, Target};
use tunesmith_space::{Expr, Value, lookup};

/// A library with products of matrices.
pub(super) struct Library {
    /// Its name in `about.toml` and for `--against`.
    pub(super) name: &'static str,
    /// A C function `product` that calls it.
    source: &'static str,
    /// The advice if it cannot be opened.
    remedy: &'static str,
    /// Returns true if it is what one would use on a device.
    serves: fn(&Target) -> bool,
}

/// The libraries that are known.
pub(super) const LIBRARIES: [Library; 2] = [
    Library {
        name: "openblas",
        source: include_str!("openblas.c"),
        remedy: "install libopenblas0 or libopenblas0-serial",
        serves: Target::is_processor,
    },
    Library {
        name: "clblast",
        source: include_str!("clblast.c"),
        remedy: "install libclblast1",
        serves: |target| matches!(target, Target::OpenCl(_)),
    },
];

/// The limit of a library's first launch: CLBlast has its kernels compiled then.
const FIRST_LAUNCH: Duration = Duration::from_secs(600);

const REFERENCE: &str = include_str!("reference.c");

/// Returns the known libraries among `names`.
///
/// # Errors
/// A name is unknown.
pub(super) fn libraries(names: &[String]) -> Result<Vec<&'static Library>, Error> {
    let find = |name: &String| {
        LIBRARIES.iter().find(|library| library.name == name).ok_or_else(|| {
            let known: Vec<&str> = LIBRARIES.iter().map(|library| library.name).collect();
            let text = format!("`{name}` is no library to compare with");
            refused(text, Some(format!("libraries are {}", known.join(", "))))
        })
    };
    names.iter().map(find).collect()
}

impl Library {
    /// Returns true if the problem names the library, and it is what one would use on `device`.
    pub(super) fn applies(&self, about: &About, device: &Device) -> bool {
        let serves = matches!(device, Device::Kernels(target) if (self.serves)(target));
        serves && about.product.is_some() && about.against.iter().any(|name| name == self.name)
    }

    /// Returns the problem in which the library computes `product` at the sizes of `problem`, on
    /// `device`.
    ///
    /// # Errors
    /// An extent is not a positive number.
    pub(super) fn problem(&self, product: &Product, problem: &Problem, device: &Device) -> Result<Problem, Error> {
        let extent = |name: &str, extent: &Extent| -> Result<i64, Error> {
            let value = Expr::parse(&extent.text())
                .and_then(|expr| expr.evaluate_int(&|name| lookup(&problem.sizes, name)))
                .map_err(|error| refused(format!("`{name}` of [product]: {error}"), error.remedy.clone()))?;
            if value < 1 {
                return Err(refused(format!("`{name}` of [product] is {value}, but must be positive"), None));
            }
            Ok(value)
        };
        let [m, n, k] = [("m", &product.m), ("n", &product.n), ("k", &product.k)].map(|(name, of)| extent(name, of));
        let (m, n, k) = (m?, n?, k?);
        let mut settings = String::new();
        let flags = [("A_T", product.a_transposed), ("B_T", product.b_transposed), ("COLUMNS", product.column_major)];
        for (name, flag) in flags {
            // Writing to a string cannot fail.
            let _ = writeln!(settings, "#define {name} {}", u8::from(flag));
        }
        let number = if let Device::Kernels(Target::OpenCl(device)) = device { device.index } else { 0 };
        let _ = writeln!(settings, "#define DEVICE {number}");
        let code = |function: &str, source: &str| Code::c(function, format!("{settings}{source}"));
        let count = |rows: i64, columns: i64| [Value::Int(rows * columns)];
        let sizes = [("M", m), ("N", n), ("K", k)];
        let made = sizes.into_iter().fold(Problem::builder(self.name), |made, (name, value)| made.size(name, value));
        let made = made
            .kernel(code("product", self.source).option("-O2"))
            .argument(Arg::input("a", ScalarType::F32, count(m, k)))
            .argument(Arg::input("b", ScalarType::F32, count(k, n)))
            .argument(Arg::output("c", ScalarType::F32, count(m, n)))
            // Every problem has a parameter; this one has one configuration.
            .parameter("ONE", [1])
            .reference(code("reference", REFERENCE).option("-O2"))
            // Rounding of a sum of k products of numbers within one.
            .absolute(1e-6 * (k as f64).max(100.0));
        let mut problem = made.build()?;
        // Each measurement is a process of its own, which opens the library anew.
        (problem.policy.limits.first, problem.policy.limits.floor) = (FIRST_LAUNCH, FIRST_LAUNCH);
        Ok(problem)
    }

    /// Returns the reason why the library was not timed, in the words of a user.
    pub(super) fn explain(&self, reason: &str) -> String {
        let line = reason.lines().find(|line| line.contains("cannot be opened"));
        match line {
            Some(line) => format!("{}; {}", line.trim(), self.remedy),
            None => reason.lines().next().unwrap_or(reason).to_string(),
        }
    }
}
