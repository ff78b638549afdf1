//! Top-down construction, one layer per parameter.

use std::collections::HashMap;

use super::{Diagram, Layer};
use crate::compile::Conjunct;
use crate::error::SpaceError;
use crate::expr::{Datum, Evaluator, ExprError};
use crate::limits::Limits;
use crate::parameter::Parameter;

pub(crate) struct Failure {
    pub(crate) conjunct: usize,
    pub(crate) indices: Vec<(usize, u32)>,
    pub(crate) error: ExprError,
}

pub(crate) fn build(
    order: Vec<usize>,
    parameters: &[Parameter],
    conjuncts: &[Conjunct],
    _limits: &Limits,
) -> Result<Option<Diagram>, SpaceError> {
    let level = |p: usize| order.iter().position(|&q| q == p).unwrap();
    let data: Vec<Vec<Datum>> = order
        .iter()
        .map(|&p| parameters[p].values().iter().map(Datum::from).collect())
        .collect();
    let spans: Vec<(usize, usize)> = conjuncts
        .iter()
        .map(|c| {
            let l: Vec<usize> = c.parameters.iter().map(|&p| level(p)).collect();
            (*l.iter().min().unwrap_or(&0), *l.iter().max().unwrap_or(&0))
        })
        .collect();
    let mut states: Vec<Vec<u32>> = vec![vec![]];
    let mut layers = Vec::new();
    for l in 0..order.len() {
        let keep: Vec<bool> = (0..=l)
            .map(|k| {
                conjuncts
                    .iter()
                    .zip(&spans)
                    .any(|(c, s)| s.1 > l && c.parameters.contains(&order[k]))
            })
            .collect();
        let checks: Vec<&Conjunct> = conjuncts
            .iter()
            .zip(&spans)
            .filter(|(_, s)| s.1 == l)
            .map(|(c, _)| c)
            .collect();
        let mut next: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut next_states = Vec::new();
        let mut layer = Layer::default();
        for state in &states {
            for value in 0..data[l].len() as u32 {
                let mut full = state.clone();
                full.push(value);
                let lookup = |p: usize, _: &std::ops::Range<usize>| {
                    let k = level(p);
                    Ok(data[k][full[k] as usize].clone())
                };
                let mut ok = true;
                for c in &checks {
                    match Evaluator::new(&lookup).evaluate(&c.node) {
                        Ok(v) => ok &= v.truthy(),
                        Err(_) => ok = false,
                    }
                    if !ok {
                        break;
                    }
                }
                if !ok {
                    continue;
                }
                for (k, keep) in keep.iter().enumerate() {
                    if !keep {
                        full[k] = 0;
                    }
                }
                let child = *next.entry(full.clone()).or_insert_with(|| {
                    next_states.push(full);
                    next_states.len() as u32 - 1
                });
                layer.push(value, child);
            }
            layer.finish_node();
        }
        layers.push(layer);
        states = next_states;
    }
    Ok(Diagram::reduce(order, &layers))
}
