//! Replaces names by parameter indices and constants by their values.

use std::collections::{BTreeMap, HashMap};

use super::{Conjunct, split};
use crate::constraint::Constraint;
use crate::error::SpaceError;
use crate::expr::{Builtin, Datum, Kind, Node};
use crate::parameter::Parameter;
use crate::suggest;
use crate::value::{Value, ValueKind};

/// The meaning of the names in constraints.
pub(crate) struct Names<'a> {
    parameters: &'a [Parameter],
    indices: HashMap<&'a str, usize>,
    constants: &'a BTreeMap<String, Value>,
}

impl<'a> Names<'a> {
    /// Returns the names of `parameters` and `constants`.
    ///
    /// # Errors
    /// A name is given twice.
    pub(crate) fn new(
        parameters: &'a [Parameter],
        constants: &'a BTreeMap<String, Value>,
    ) -> Result<Names<'a>, SpaceError> {
        let mut indices = HashMap::new();
        for (index, parameter) in parameters.iter().enumerate() {
            let taken = indices.insert(parameter.name(), index).is_some();
            if taken || constants.contains_key(parameter.name()) {
                return Err(SpaceError::DuplicateName { name: parameter.name().to_owned() });
            }
        }
        Ok(Names { parameters, indices, constants })
    }

    /// Appends the parts of the constraint with index `index` to `into`.
    ///
    /// # Errors
    /// A name is neither a parameter nor a constant.
    pub(crate) fn conjuncts(
        &self,
        index: usize,
        constraint: &Constraint,
        into: &mut Vec<Conjunct>,
    ) -> Result<(), SpaceError> {
        let mut meanings = Vec::new();
        for name in constraint.expr().names() {
            meanings.push(self.meaning(&name.text).ok_or_else(|| SpaceError::UnknownName {
                constraint: constraint.name().to_owned(),
                name: name.text.clone(),
                span: name.span.clone(),
                suggestion: self.closest(&name.text),
            })?);
        }
        split::split(index, self.rewrite(constraint.expr().root(), &meanings), into);
        Ok(())
    }

    fn meaning(&self, name: &str) -> Option<Kind> {
        let parameter = self.indices.get(name).map(|index| Kind::Name(*index));
        parameter.or_else(|| self.constants.get(name).map(|value| Kind::Literal(value.into())))
    }

    fn closest(&self, name: &str) -> Option<String> {
        let known = self.parameters.iter().map(Parameter::name).chain(self.constants.keys().map(String::as_str));
        suggest::closest(name, known).map(str::to_owned)
    }

    fn rewrite(&self, node: &Node, meanings: &[Kind]) -> Node {
        let kind = match &node.kind {
            Kind::Name(index) => meanings[*index].clone(),
            Kind::Call(builtin, arguments) => self.over_values(*builtin, arguments, meanings).unwrap_or_else(|| {
                Kind::Call(*builtin, arguments.iter().map(|part| self.rewrite(part, meanings)).collect())
            }),
            Kind::Closure(closure, scope) => {
                let typed = |name: &Node| self.typed(self.rewrite(name, meanings));
                Kind::Closure(closure.clone(), scope.iter().map(typed).collect())
            }
            kind => kind.map_children(&mut |child| self.rewrite(child, meanings)),
        };
        Node::new(kind, node.span.clone())
    }

    /// Converts a boolean parameter to the boolean that a closure receives. Everywhere else,
    /// booleans are the numbers 0 and 1, as in Python.
    fn typed(&self, node: Node) -> Node {
        let is_bool =
            matches!(node.kind, Kind::Name(parameter) if self.parameters[parameter].kind() == ValueKind::Bool);
        let span = node.span.clone();
        if is_bool { Node::new(Kind::Call(Builtin::Bool, vec![node]), span) } else { node }
    }

    /// Resolves calls over lists: `max(p)`, `min(p)`, `len(p)` and `sum(p)` of one parameter apply
    /// to its list of values, as in Kernel Tuner's files. On a single number they would have no
    /// meaning. `len(p)` of a string is its length, as in Python.
    fn over_values(&self, builtin: Builtin, arguments: &[Node], meanings: &[Kind]) -> Option<Kind> {
        let over_list = matches!(builtin, Builtin::Max | Builtin::Min | Builtin::Len | Builtin::Sum);
        let [Node { kind: Kind::Name(name), .. }] = arguments else {
            return None;
        };
        let Kind::Name(parameter) = meanings[*name] else {
            return None;
        };
        let parameter = &self.parameters[parameter];
        if builtin == Builtin::Len && parameter.kind() == ValueKind::Str {
            return None;
        }
        let values: Vec<Datum> = parameter.values().iter().map(Datum::from).collect();
        let result = over_list.then(|| builtin.call(&[Datum::List(values.into())]))?;
        result.ok().map(Kind::Literal)
    }
}
