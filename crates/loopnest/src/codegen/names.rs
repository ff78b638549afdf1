//! Names and declarations of generated code.

use super::dialect::{Dialect, RESERVED};
use super::parameter::CodeParameter;
use crate::blocks::{Block, Known};
use crate::error::NestError;
use crate::ir::{Affine, ArrayId, Expr, Instruction, Memory, Tag, Type, Var};

/// A nest that is being written in a language.
#[derive(Clone)]
pub(super) struct Names<'a> {
    /// The facts that hold at the code being written.
    pub(super) known: Known<'a>,
    pub(super) dialect: Dialect,
    /// In C, the number of copies of each temporary, by array: see [`Copies`].
    pub(super) temporaries: Vec<Copies>,
    /// In C, the block of work-items that run side by side.
    pub(super) block: Option<Block>,
}

/// The number of copies of a temporary. It is one if each work-item is a thread of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copies {
    /// One.
    One,
    /// One for each work-item of a row. No value of the temporary outlives its row.
    Row,
    /// One for each work-item of the group.
    Group,
}

impl<'a> Names<'a> {
    pub(super) fn new(known: Known<'a>, dialect: Dialect) -> Self {
        let temporaries = vec![Copies::One; known.nest.arrays.len()];
        Names { known, dialect, temporaries, block: None }
    }

    pub(super) fn function(&self) -> String {
        mangled(&self.known.nest.name)
    }

    /// Returns the variable that holds the value of a size or loop index, or `None` if the value is
    /// always 0.
    pub(super) fn variable(&self, variable: Var) -> Option<String> {
        match variable {
            Var::Size(id) => Some(mangled(&self.known.nest.sizes[id.0])),
            Var::Loop(id) => match self.known.nest.loop_at(id).tag {
                Tag::Group(axis) => Some(format!("gid{axis}")),
                Tag::Local(axis) => (self.known.local[usize::from(axis)] > 1).then(|| format!("lid{axis}")),
                _ => Some(mangled(&self.known.nest.loop_at(id).name)),
            },
            Var::Lookup(id) => Some(self.cell(&self.known.nest.lookup(id).access)),
            Var::Floor(_) => None,
        }
    }

    pub(super) fn array(&self, id: ArrayId) -> String {
        mangled(&self.known.nest.array(id).name)
    }

    /// Returns the types and exponents of the small powers in the nest, without repetition.
    pub(super) fn powers(&self) -> Vec<(Type, i128)> {
        let mut found = Vec::new();
        for Instruction { target, value, .. } in &self.known.nest.instructions {
            self.find_powers(value, self.known.nest.array(target.array).element, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn find_powers(&self, expr: &Expr, context: Type, found: &mut Vec<(Type, i128)>) {
        let kind = self.known.nest.operation_type(expr, context);
        found.extend(expr.small_power().map(|times| (kind, times)));
        expr.children().into_iter().for_each(|part| self.find_powers(part, kind, found));
    }

    /// Returns the head of the function.
    pub(super) fn signature(&self, parameters: &[CodeParameter]) -> String {
        let parameters: Vec<String> = parameters.iter().map(|parameter| self.parameter(*parameter)).collect();
        let (function, list) = (self.function(), parameters.join(", "));
        let [x, y, z] = self.known.local;
        match self.dialect {
            Dialect::C => format!("void {function}({})", if list.is_empty() { "void" } else { &list }),
            Dialect::OpenCl => {
                format!("__kernel __attribute__((reqd_work_group_size({x}, {y}, {z}))) void {function}({list})")
            }
            Dialect::Cuda => {
                format!("extern \"C\" __global__ void __launch_bounds__({}) {function}({list})", x * y * z)
            }
        }
    }

    fn parameter(&self, parameter: CodeParameter) -> String {
        match parameter {
            CodeParameter::Size(id) => format!("int {}", mangled(&self.known.nest.sizes[id.0])),
            CodeParameter::Argument(id) => {
                format!("{} {}", self.dialect.name(self.known.nest.array(id).element), self.array(id))
            }
            CodeParameter::Array(id) => {
                let (written, _) = self.known.nest.uses(id);
                let space = if self.dialect == Dialect::OpenCl { "__global " } else { "" };
                let access = if written { "" } else { "const " };
                let kind = match (self.known.nest.array(id).element, self.dialect) {
                    (Type::F16, Dialect::OpenCl) => "half",
                    (element, dialect) => dialect.name(element),
                };
                let restrict = self.dialect.restrict();
                format!("{space}{access}{kind} *{restrict} {}", self.array(id))
            }
        }
    }

    /// Returns the declaration of a local array or of a temporary, with all copies of its cells.
    pub(super) fn declaration(&self, id: ArrayId) -> Result<String, NestError> {
        let array = self.known.nest.array(id);
        let cells = self.cells(id)? * self.copies(id);
        let shared = match (array.memory, self.dialect) {
            (Memory::Local, Dialect::OpenCl) => "__local ",
            (Memory::Local, Dialect::Cuda) => "__shared__ ",
            // GCC 12 assumes that an array that is never read has the alignment of vectors, but
            // does not align it.
            (_, Dialect::C) => "_Alignas(64) ",
            _ => "",
        };
        let (kind, name) = (self.dialect.name(array.element), self.array(id));
        let one = array.is_scalar() && self.copies(id) == 1 && array.memory == Memory::Private;
        Ok(if one { format!("{kind} {name};") } else { format!("{shared}{kind} {name}[{}];", cells.max(1)) })
    }

    /// Returns the number of cells of a local array or of a temporary.
    pub(super) fn cells(&self, id: ArrayId) -> Result<i128, NestError> {
        let array = self.known.nest.array(id);
        let extent = |extent: Affine| {
            extent.as_constant().ok_or_else(|| {
                NestError::new(format!("the shape of `{}` is not constant", array.name))
                    .remedy("local arrays and temporaries have shapes of numbers")
                    .at(array.place)
            })
        };
        array.cells().into_iter().map(extent).product()
    }

    /// Returns the number of copies of an array.
    pub(super) fn copies(&self, id: ArrayId) -> i128 {
        match self.temporaries[id.0] {
            Copies::One => 1,
            Copies::Row => self.known.local[0],
            Copies::Group => self.known.local.iter().product(),
        }
    }
}

/// Returns the name of the function for a small power.
pub(super) fn power(kind: Type, times: i128) -> String {
    format!("nest_power{times}_{kind}")
}

/// Returns a name without another meaning. Reserved names get a `_`, and so do names that could be
/// mistaken for a changed one.
fn mangled(name: &str) -> String {
    let helper = name.starts_with("nest_");
    if RESERVED.contains(&name) || name.ends_with('_') || helper { format!("{name}_") } else { name.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Function;

    #[test]
    fn names_with_a_meaning_are_changed_and_stay_apart() {
        assert_eq!(mangled("double"), "double_");
        assert_eq!(mangled("double_"), "double__");
        assert_eq!(mangled("acc"), "acc");
        assert!(Function::ALL.iter().all(|(name, ..)| ["abs", "min", "max"].contains(name) || mangled(name) != **name));
    }
}
