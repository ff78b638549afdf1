//! Stores spaces and reads them back without building them again.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::builder::assemble;
use super::{Inner, Space};
use crate::compile::Names;
use crate::constraint::Constraint;
use crate::diagram::{Diagram, Run};
use crate::expr::Expr;
use crate::parameter::Parameter;
use crate::value::Value;

/// The form on disk. It changes with the format number of the digest that it contains.
#[derive(Serialize, Deserialize)]
struct Stored {
    digest: String,
    parameters: Vec<(String, Vec<StoredValue>)>,
    constants: BTreeMap<String, StoredValue>,
    constraints: Vec<StoredConstraint>,
    diagrams: Vec<StoredDiagram>,
}

/// A value on disk. A float is text in the shortest form that reads back to the same number,
/// whatever the format does to numbers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StoredValue {
    Int(i64),
    Float(String),
    Bool(bool),
    Str(String),
}

#[derive(Serialize, Deserialize)]
struct StoredConstraint {
    name: String,
    expression: String,
    /// The version and scope of a closure, which is not stored itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    closure: Option<(u32, Vec<String>)>,
}

#[derive(Serialize, Deserialize)]
struct StoredDiagram {
    levels: Vec<usize>,
    /// The runs of each node: first value, last value, child.
    nodes: Vec<Vec<(u32, u32, u32)>>,
}

impl Serialize for Space {
    /// Writes the parameters, constants, constraints, diagrams and the digest. A closure is stored
    /// by name, version and scope.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Stored::of(&self.inner).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Space {
    /// Reads a stored space. Everything is checked, including the digest: altered text gives an
    /// error, never a wrong space.
    ///
    /// A closure keeps its name, version and scope, and the diagram keeps its effect. The function
    /// itself is missing, so [`Space::violated`] never reports this constraint.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Space, D::Error> {
        Stored::deserialize(deserializer)?.space().map_err(de::Error::custom)
    }
}

impl Stored {
    fn of(inner: &Inner) -> Stored {
        let parameter = |parameter: &Parameter| {
            (parameter.name().to_owned(), parameter.values().iter().map(StoredValue::of).collect())
        };
        let diagram = |diagram: &Diagram| StoredDiagram {
            levels: diagram.order().to_vec(),
            nodes: (0..diagram.nodes() as u32)
                .map(|node| diagram.runs_of(node).iter().map(|run| (run.first, run.last, run.child)).collect())
                .collect(),
        };
        Stored {
            digest: inner.digest.clone(),
            parameters: inner.parameters.iter().map(parameter).collect(),
            constants: inner.constants.iter().map(|(name, value)| (name.clone(), StoredValue::of(value))).collect(),
            constraints: inner.constraints.iter().map(StoredConstraint::of).collect(),
            diagrams: inner.diagrams.iter().map(diagram).collect(),
        }
    }

    fn space(self) -> Result<Space, String> {
        let mut parameters = Vec::with_capacity(self.parameters.len());
        for (name, values) in self.parameters {
            let values: Vec<Value> = values.into_iter().map(StoredValue::value).collect::<Result<_, _>>()?;
            parameters.push(Parameter::new(name, values).map_err(|error| error.to_string())?);
        }
        let constants = self.constants.into_iter().map(|(name, value)| Ok((name, value.value()?)));
        let constants: BTreeMap<String, Value> = constants.collect::<Result<_, String>>()?;
        let constraints: Vec<Constraint> =
            self.constraints.into_iter().map(StoredConstraint::constraint).collect::<Result<_, _>>()?;
        let names = Names::new(&parameters, &constants).map_err(|error| error.to_string())?;
        let mut conjuncts = Vec::new();
        for (index, constraint) in constraints.iter().enumerate() {
            names.conjuncts(index, constraint, &mut conjuncts).map_err(|error| error.to_string())?;
        }
        let diagrams = diagrams(self.diagrams, &parameters)?;
        let space = assemble(parameters, constants, constraints, conjuncts, diagrams);
        if space.digest() != self.digest {
            return Err(format!("the stored space has the digest {}, but says {}", space.digest(), self.digest));
        }
        Ok(space)
    }
}

/// Returns the diagrams of all parameters. Each parameter must be in exactly one.
fn diagrams(stored: Vec<StoredDiagram>, parameters: &[Parameter]) -> Result<Vec<Diagram>, String> {
    let mut levels: Vec<usize> = stored.iter().flat_map(|diagram| diagram.levels.iter().copied()).collect();
    levels.sort_unstable();
    if !levels.iter().copied().eq(0..parameters.len()) {
        return Err("the diagrams' levels are not the parameters, each once".to_owned());
    }
    stored.into_iter().map(|diagram| diagram.diagram(parameters)).collect()
}

impl StoredDiagram {
    fn diagram(self, parameters: &[Parameter]) -> Result<Diagram, String> {
        let end = u32::try_from(self.nodes.len()).map_err(|error| error.to_string())?;
        let mut level_of = vec![None; self.nodes.len() + 1];
        level_of[0] = Some(0);
        let mut starts = vec![0];
        let mut runs: Vec<Run> = Vec::new();
        for (node, stored) in self.nodes.iter().enumerate() {
            let level: usize = level_of[node].ok_or_else(|| format!("no way leads to node {node}"))?;
            let parameter = self.levels.get(level).ok_or_else(|| format!("node {node} is below the last level"))?;
            let mut next = 0;
            for &(first, last, child) in stored {
                let values = parameters[*parameter].values().len();
                let is_end = level + 1 == self.levels.len();
                let fits = first >= next && last >= first && (last as usize) < values;
                if !fits || child <= node as u32 || child > end || (child == end) != is_end {
                    return Err(format!("node {node} has an arc that cannot be"));
                }
                if *level_of[child as usize].get_or_insert(level + 1) != level + 1 {
                    return Err(format!("node {child} is on two levels"));
                }
                next = last + 1;
                runs.push(Run { first, last, child });
            }
            if stored.is_empty() {
                return Err(format!("node {node} has no arcs"));
            }
            starts.push(u32::try_from(runs.len()).map_err(|error| error.to_string())?);
        }
        if self.nodes.is_empty() {
            return Err("a diagram has no nodes".to_owned());
        }
        Ok(Diagram::counted(self.levels, starts, runs))
    }
}

impl StoredValue {
    fn of(value: &Value) -> StoredValue {
        match value {
            Value::Int(value) => StoredValue::Int(*value),
            Value::Float(value) => StoredValue::Float(format!("{value:?}")),
            Value::Bool(value) => StoredValue::Bool(*value),
            Value::Str(value) => StoredValue::Str(value.to_string()),
        }
    }

    fn value(self) -> Result<Value, String> {
        Ok(match self {
            StoredValue::Int(value) => Value::Int(value),
            StoredValue::Float(text) => {
                Value::Float(text.parse().map_err(|_| format!("`{text}` is not a floating-point number"))?)
            }
            StoredValue::Bool(value) => Value::Bool(value),
            StoredValue::Str(value) => Value::Str(value.into()),
        })
    }
}

impl StoredConstraint {
    fn of(constraint: &Constraint) -> StoredConstraint {
        let scope = || constraint.expr().names().iter().map(|name| name.text.clone()).collect();
        StoredConstraint {
            name: constraint.name().to_owned(),
            expression: constraint.expr().text().to_owned(),
            closure: constraint.closure_version().map(|version| (version, scope())),
        }
    }

    fn constraint(self) -> Result<Constraint, String> {
        if let Some((version, scope)) = self.closure {
            let scope: Vec<&str> = scope.iter().map(String::as_str).collect();
            return Ok(Constraint::closure(self.name, version, &scope, |_| true));
        }
        let expr = Expr::parse(&self.expression).map_err(|error| error.to_string())?;
        Ok(Constraint::new(self.name, expr))
    }
}
