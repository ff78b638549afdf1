//! Accesses: chains of brackets as cells of arrays.

use crate::Finding;
use crate::body::{Body, Name};
use crate::element::Element;
use crate::index::inner;
use crate::sum::Sum;
use tree_sitter::Node;

impl Body<'_> {
    /// Returns the text of the cell that a chain of brackets accesses, and its type.
    ///
    /// # Errors
    ///
    /// Fails if it is no cell of an array, or if an index is not affine.
    pub(crate) fn cell(&mut self, node: Node<'_>) -> Result<(String, Element), Finding> {
        let mut indices = Vec::new();
        let mut argument = node;
        while argument.kind() == "subscript_expression" {
            indices.extend(argument.child_by_field_name("index"));
            let Some(next) = argument.child_by_field_name("argument") else { break };
            argument = inner(next);
        }
        indices.reverse();
        let name = self.source.of(argument).to_string();
        let Some(Name::Array(at)) = self.name(&name) else {
            let text = format!("`{}` is no array of the function", self.source.snippet(argument));
            return Err(Finding::at(argument, text, Some("write the access with brackets: `a[i]`")));
        };
        let axes = self.arrays[at].declared.axes.len();
        if indices.len() != axes {
            let text =
                format!("`{}` has {} of the {axes} indices of `{name}`", self.source.snippet(node), indices.len());
            return Err(Finding::at(node, text, None));
        }
        let is_flat = axes == 1 && self.arrays[at].declared.axes[0].is_none();
        let subscripts = match indices[..] {
            [index] if is_flat => self.flat(at, index)?,
            _ => {
                indices.iter().map(|index| self.integers.affine(self.source, *index)).collect::<Result<Vec<_>, _>>()?
            }
        };
        self.arrays[at].first.push((subscripts[0].clone(), self.open.clone()));
        let list: Vec<String> = subscripts.iter().map(ToString::to_string).collect();
        let array = &self.arrays[at];
        Ok((format!("{}[{}]", array.name, list.join(", ")), array.declared.element))
    }

    /// Returns the subscripts of a flat array, whose axes follow from its first access.
    fn flat(&mut self, at: usize, index: Node<'_>) -> Result<Vec<Sum>, Finding> {
        let is_loop = |name: &str| self.loops.iter().any(|own| own.name == name);
        let (subscripts, inner_axes) = self.integers.flat(self.source, index, &is_loop)?;
        let axes: Vec<Option<Sum>> = std::iter::once(None).chain(inner_axes.into_iter().map(Some)).collect();
        let array = &mut self.arrays[at];
        if array.first.is_empty() {
            array.axes = axes;
        } else if array.axes != axes {
            let text =
                format!("`{}` accesses `{}` with other axes than before", self.source.snippet(index), array.name);
            let remedy = "declare the array with its axes: `a[n][m]`";
            return Err(Finding::at(index, text, Some(remedy)));
        }
        Ok(subscripts)
    }
}
