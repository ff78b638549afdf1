//! The errors of making a problem's data.

use crate::problem::ElementType;
use std::io;
use std::path::PathBuf;

/// Contents that cannot be made.
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
    /// A generator without a value that the type holds.
    #[error("`{expression}` where i = {index}: {problem}")]
    Generator {
        /// The generator's expression.
        expression: String,
        /// The number of the lane.
        index: u64,
        /// The fault.
        problem: String,
    },
    /// A file that is missing, or not of the declared type, shape or length.
    #[error("{} {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The fault, in words that follow the file's name.
        problem: String,
    },
    /// The copy could not be written.
    #[error("the prepared data cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// No place for temporary files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScratchError {
    /// Every place is full or forbids running programs.
    #[error(
        "neither {} allows programs to run and has {} MiB free; set TMPDIR to a folder that does",
        parents.iter().map(|parent| parent.display().to_string()).collect::<Vec<_>>().join(" nor "),
        bytes.div_ceil(1 << 20)
    )]
    NoRoom {
        /// The bytes needed.
        bytes: u64,
        /// The places that were looked at.
        parents: Vec<PathBuf>,
    },
    /// The folder cannot be made.
    #[error("no temporary folder can be made in {}: {source}", parent.display())]
    Io {
        /// Where.
        parent: PathBuf,
        /// Why.
        source: io::Error,
    },
}
