//! The subject of tuning: what a configuration runs.

use crate::fault::Key;
use crate::kernels::Versions;
use crate::nest::NestKernel;
use tunesmith_kernel::command::CommandSpec;
use tunesmith_kernel::{Kernel, Language};

/// The subject of tuning: what a configuration runs.
#[derive(Clone, Debug, Default)]
pub enum Subject {
    /// Nothing: the space can be tuned on synthetic devices only.
    #[default]
    None,
    /// Kernels, in the order in which they run.
    Kernels(Vec<Versions>),
    /// A loop nest, with its kernel in C.
    Nest(Box<NestKernel>, Vec<Versions>),
    /// A command.
    Command(Box<CommandSpec>),
}

impl Subject {
    /// Returns a loop nest. Its kernel is in C until a device is chosen.
    pub(crate) fn of_nest(nest: NestKernel) -> Self {
        let first = nest.kernel(Language::C);
        Self::Nest(Box::new(nest), vec![Versions { first, others: Vec::new(), key: Key::of("kernel") }])
    }

    /// Returns the kernels with their languages. A nest counts as one.
    pub fn versions(&self) -> &[Versions] {
        match self {
            Self::Kernels(versions) | Self::Nest(_, versions) => versions,
            Self::None | Self::Command(_) => &[],
        }
    }

    /// Returns the kernels in their first languages, in the order in which they run.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.versions().iter().map(|version| &version.first)
    }

    /// Returns the loop nest, if there is one.
    pub fn nest(&self) -> Option<&NestKernel> {
        if let Self::Nest(nest, _) = self { Some(nest) } else { None }
    }

    /// Returns the command, if there is one.
    pub fn command(&self) -> Option<&CommandSpec> {
        if let Self::Command(command) = self { Some(command) } else { None }
    }
}
