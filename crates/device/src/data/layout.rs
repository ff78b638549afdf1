//! A kernel's arguments as the worker sees them. The worker knows no correct result.

use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::PathBuf;
use tunesmith_kernel::{ElementType, Memory};

/// One argument of the problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Layout {
    /// A value. Its bytes come with every job.
    Scalar,
    /// Memory of a work-group. Its size comes with every job.
    Local { name: String, align: usize },
    /// Memory that lives as long as the worker.
    Buffer(BufferLayout),
}

/// A buffer, and the files of its contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BufferLayout {
    pub(crate) name: String,
    pub(crate) element: ElementType,
    /// The extents. `None` if they come with every job.
    pub(crate) shape: Option<Vec<u64>>,
    pub(crate) role: Role,
    pub(crate) memory: Memory,
    /// The alignment in bytes.
    pub(crate) align: usize,
    /// The contents before a launch: a file for each set of data.
    pub(crate) pristine: Vec<PathBuf>,
    /// The part that the worker hands to the tuner.
    pub(crate) compared: Compared,
}

/// The part of a buffer that is compared with the correct result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Compared {
    /// No part of it.
    Nothing,
    /// All of it.
    All,
    /// These ranges of bytes.
    Ranges(Vec<Range<usize>>),
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
    /// Poisoned before the first launch of a configuration.
    Scratch,
}

impl Role {
    /// Returns true if the buffer holds given contents before a launch.
    pub(crate) fn is_filled(self) -> bool {
        matches!(self, Self::In | Self::InOut)
    }
}

impl Compared {
    /// Returns the ranges of a buffer of `bytes` that are compared.
    pub(crate) fn ranges(&self, bytes: usize) -> Vec<Range<usize>> {
        match self {
            Self::Nothing => Vec::new(),
            Self::All => std::iter::once(0..bytes).collect(),
            Self::Ranges(ranges) => ranges.clone(),
        }
    }
}

impl BufferLayout {
    /// Returns the size in bytes of a buffer of `shape`.
    pub(crate) fn bytes_of(&self, shape: &[u64]) -> usize {
        let elements: u64 = shape.iter().product();
        usize::try_from(elements).map_or(usize::MAX, |elements| elements.saturating_mul(self.element.size()))
    }

    /// Returns the number of bytes of a buffer of `shape` that a job hands over to be compared.
    pub(crate) fn handed_over(&self, shape: &[u64]) -> usize {
        let ranges = self.compared.ranges(self.bytes_of(shape));
        ranges.iter().map(ExactSizeIterator::len).fold(0, usize::saturating_add)
    }
}
