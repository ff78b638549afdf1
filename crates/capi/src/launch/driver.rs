//! The interface of a device to the launcher.

use std::sync::Arc;
use std::time::Duration;

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    Bytes(Vec<u8>),
    /// Local memory of so many bytes.
    Local(usize),
}

impl Argument {
    /// Returns the number of bytes of a value.
    pub(super) fn size(&self) -> Option<usize> {
        match self {
            Self::Bytes(bytes) => Some(bytes.len()),
            Self::Local(_) => None,
        }
    }
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) groups: [usize; 3],
    pub(super) group: [usize; 3],
}

impl Shape {
    /// Returns the groups that cover `items`.
    pub(super) fn new(items: [usize; 3], group: [usize; 3]) -> Result<Self, String> {
        let mut groups = [1; 3];
        for ((groups, items), group) in groups.iter_mut().zip(items).zip(group) {
            *groups = items.div_ceil(group);
            groups.checked_mul(group).ok_or_else(|| format!("{items} work-items are too many"))?;
        }
        Ok(Self { groups, group })
    }

    /// Returns all work-items, in whole groups.
    pub(super) fn items(&self) -> [usize; 3] {
        [0, 1, 2].map(|axis| self.groups[axis] * self.group[axis])
    }
}

/// A device with the source of a kernel.
pub(super) trait Device: Send + Sync {
    /// Compiles the kernel with `defines`. The error has the compiler's log.
    fn compile(&self, defines: &[String]) -> Result<Arc<dyn Compiled>, String>;
}

/// A kernel compiled for one configuration.
pub(super) trait Compiled: Send + Sync {
    /// Launches the kernel, waits for it, and returns its time by the device's clock.
    fn launch(&self, shape: &Shape, arguments: &[&Argument]) -> Result<Duration, String>;
}
