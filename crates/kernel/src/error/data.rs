//! The errors of making a problem's data.

use crate::problem::ElementType;
use std::io;
use std::path::PathBuf;

/// An error in making the contents of a buffer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A constant outside the type's range.
    #[error("{element} cannot hold the constant {value}")]
    Constant {
        /// The constant.
        value: f64,
        /// The type.
        element: ElementType,
    },
    /// A generator whose value does not exist or does not fit the type.
    #[error("`{expression}` where i = {index}: {problem}")]
    Generator {
        /// The generator's expression.
        expression: String,
        /// The index of the lane.
        index: u64,
        /// The fault.
        problem: String,
    },
    /// A file that is missing, or that does not have the declared type, shape or length.
    #[error("{} {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The fault. The text follows the file's name.
        problem: String,
    },
    /// A copy that cannot be written.
    #[error("the prepared data cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// The error of finding a place for temporary files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScratchError {
    /// No place has room, can be written, and allows programs to run.
    #[error(
        "a run needs a folder with {} MiB: {}; set TMPDIR to a folder that has them and allows programs to run",
        bytes.div_ceil(1 << 20),
        refused.iter().map(|(place, why)| format!("`{}` {why}", place.display())).collect::<Vec<_>>().join(", ")
    )]
    NoPlace {
        /// The bytes needed.
        bytes: u64,
        /// The places that were tried, with the reasons against them.
        refused: Vec<(PathBuf, String)>,
    },
}
