//! A kernel's arguments as the worker sees them.

use crate::problem::{ElementType, Memory, Tolerance};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One argument of the problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Layout {
    /// A scalar. Its bytes come with every job.
    Scalar,
    /// Memory of a work-group. Its size comes with every job.
    Local { name: String },
    /// Memory that lives as long as the worker.
    Buffer(BufferLayout),
}

/// A buffer, and the files of its contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BufferLayout {
    pub(crate) name: String,
    pub(crate) element: ElementType,
    pub(crate) shape: Vec<u64>,
    pub(crate) bytes: usize,
    pub(crate) role: Role,
    pub(crate) memory: Memory,
    /// The contents before a launch.
    pub(crate) pristine: Option<PathBuf>,
    /// The correct contents after a launch, if they are known.
    pub(crate) expected: Option<PathBuf>,
    pub(crate) tolerance: Tolerance,
}

/// The role of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// Only read. Restored if it is found changed, which is a failure.
    In,
    /// Poisoned before every launch.
    Out,
    /// Restored before every launch.
    InOut,
}

/// The value passed for an argument in one configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Passed {
    /// The argument's buffer.
    Buffer,
    /// The bytes of its value.
    Scalar(Vec<u8>),
    /// This many bytes of local memory.
    Local(usize),
}

impl Role {
    /// Returns true if a kernel writes a result to the buffer.
    pub(crate) fn is_output(self) -> bool {
        matches!(self, Self::Out | Self::InOut)
    }
}

impl Layout {
    /// Returns the buffer, if the argument is one.
    pub(crate) fn buffer(&self) -> Option<&BufferLayout> {
        match self {
            Self::Buffer(buffer) => Some(buffer),
            Self::Scalar | Self::Local { .. } => None,
        }
    }
}
