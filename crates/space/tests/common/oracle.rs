//! Brute force: every combination of values, every constraint, one after the other.

use tunesmith_space::{Expr, Parameter, Value};

/// What constraints make of a combination of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Valid,
    Excluded,
    /// Some constraint cannot be evaluated and no other one excludes the combination.
    Undefined,
}

/// All combinations of value indices in lexicographic order, with their verdicts.
pub fn verdicts(parameters: &[Parameter], constraints: &[Expr]) -> Vec<(Vec<u32>, Verdict)> {
    let mut all = Vec::new();
    let mut indices = vec![0_u32; parameters.len()];
    loop {
        all.push((indices.clone(), verdict(parameters, constraints, &indices)));
        let next = (0..indices.len()).rev().find(|&at| indices[at] as usize + 1 < parameters[at].values().len());
        let Some(next) = next else { return all };
        indices[next] += 1;
        indices[next + 1..].fill(0);
    }
}

fn verdict(parameters: &[Parameter], constraints: &[Expr], indices: &[u32]) -> Verdict {
    let scope = |name: &str| {
        let at = parameters.iter().position(|parameter| parameter.name() == name)?;
        Some(parameters[at].values()[indices[at] as usize].clone())
    };
    let mut verdict = Verdict::Valid;
    for constraint in constraints {
        match constraint.evaluate(&scope) {
            Ok(value) if truthy(&value) => {}
            Ok(_) => return Verdict::Excluded,
            Err(_) => verdict = Verdict::Undefined,
        }
    }
    verdict
}

fn truthy(value: &Value) -> bool {
    match value {
        Value::Str(text) => !text.is_empty(),
        number => number.as_float() != Some(0.0),
    }
}
