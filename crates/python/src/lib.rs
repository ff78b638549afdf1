//! The native half of the Python package `tunesmith`: the module `tunesmith._native`.
//!
//! It translates. Values, configurations and errors cross the boundary in `value` and `error` alone;
//! every other module offers one thing of the library as a class or a function. What people call is
//! the typed Python package in `python/tunesmith`.

mod command;
mod convert;
mod error;
mod function;
mod observed;
mod options;
mod problem;
mod run;
mod search;
mod selector;
mod space;
mod study;
mod table;
mod tune;
mod value;

/// The native half of the package `tunesmith`. Its names are no interface.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use super::command::{enter_worker, main};
    #[pymodule_export]
    use super::convert::convert;
    #[cfg(debug_assertions)]
    #[pymodule_export]
    use super::error::planted::plant_panic;
    #[pymodule_export]
    use super::problem::Problem;
    #[pymodule_export]
    use super::run::Recorded;
    #[pymodule_export]
    use super::search::{Search, strategies};
    #[pymodule_export]
    use super::selector::{Selector, processor};
    #[pymodule_export]
    use super::space::{Configurations, Space, divisors, pow2};
    #[pymodule_export]
    use super::study::{compare, devices, predict};
    #[pymodule_export]
    use super::tune::{tune_function, tune_problem};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
