//! One group of parameters, ready for construction.

use super::cell::{Class, MAGNITUDE};
use super::graph::{Graph, Id, Steps};
use super::plan::{LevelPlan, Operand, plan};
use super::translate::Translator;
use super::{Conjunct, groups, order, support};
use crate::compile::cell::ERROR;
use crate::expr::Datum;
use crate::parameter::Parameter;

/// A group whose conjuncts are compiled for an order of its parameters.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) graph: Graph,
    /// For each level, the index of its parameter among the space's parameters.
    pub(crate) order: Vec<usize>,
    /// For each level, the indices of the values left of its parameter, ascending.
    pub(crate) candidates: Vec<Vec<u32>>,
    pub(crate) plans: Vec<LevelPlan>,
    /// The conjuncts of the plans, as indices into the given ones.
    pub(crate) conjuncts: Vec<usize>,
}

impl Group {
    /// Returns the bytes that [`compile`](Group::compile) takes at least for the parameters
    /// `group`: their values, indices and cells.
    pub(crate) fn bytes(group: &[usize], parameters: &[Parameter]) -> usize {
        let values: usize = group.iter().map(|&parameter| parameters[parameter].values().len()).sum();
        values.saturating_mul(size_of::<Datum>() + size_of::<u32>() + size_of::<i64>())
    }

    /// Compiles the conjuncts of the parameters `group`. Removes at once the values that a
    /// condition on one parameter excludes, and the conditions that are always true. Returns one
    /// group for each set of parameters that the other conditions join, or `None` if no
    /// configuration is left.
    pub(crate) fn compile(
        group: &[usize],
        parameters: &[Parameter],
        conjuncts: &[Conjunct],
        steps: &Steps,
    ) -> Option<Vec<Group>> {
        let mut domains = Domains::new(group, parameters, steps);
        let mut open: Vec<usize> = (0..conjuncts.len()).collect();
        loop {
            let (mut graph, terms) = domains.graph(parameters.len());
            let mut roots = Vec::with_capacity(open.len());
            let mut narrower = false;
            let mut left = Vec::with_capacity(open.len());
            for &conjunct in &open {
                let mut translator = Translator { graph: &mut graph, parameters: &terms };
                let root = translator.truth(&conjuncts[conjunct].node);
                match domains.settle(&mut graph, root)? {
                    Settlement::Settled { narrows } => narrower |= narrows,
                    Settlement::Open => {
                        left.push(conjunct);
                        roots.push(root);
                    }
                }
            }
            open = left;
            for index in 0..roots.len() {
                narrower |= domains.narrow(&mut graph, roots[index], &roots)?;
            }
            if !narrower {
                return Some(domains.finish(graph, &roots, &open, parameters));
            }
        }
    }
}

/// The standing of a condition.
enum Settlement {
    /// The values of the parameters decide it. `narrows` is true if any of them were removed.
    Settled { narrows: bool },
    /// It depends on more parameters than one, or may fail.
    Open,
}

/// The values left of each parameter of a group, by place.
struct Domains {
    group: Vec<usize>,
    values: Vec<Vec<Datum>>,
    candidates: Vec<Vec<u32>>,
    /// The cells of the candidates, in the classes of the current graph.
    columns: Vec<Vec<i64>>,
    steps: Steps,
}

impl Domains {
    fn new(group: &[usize], parameters: &[Parameter], steps: &Steps) -> Domains {
        let values = group.iter().map(|&p| parameters[p].values().iter().map(Datum::from).collect());
        let candidates = group.iter().map(|&p| (0..parameters[p].values().len() as u32).collect());
        Domains {
            group: group.to_vec(),
            values: values.collect(),
            candidates: candidates.collect(),
            columns: Vec::new(),
            steps: steps.clone(),
        }
    }

    /// Returns a graph of the parameters alone, and the term of each parameter of the space. A
    /// single value becomes a constant.
    fn graph(&mut self, parameters: usize) -> (Graph, Vec<Option<Id>>) {
        let mut graph = Graph::default();
        graph.steps = self.steps.clone();
        let mut terms = vec![None; parameters];
        self.columns.clear();
        for (place, &parameter) in self.group.iter().enumerate() {
            let values = || self.candidates[place].iter().map(|&index| &self.values[place][index as usize]);
            let class = class(values());
            let column: Vec<i64> = values().map(|value| graph.data.cell(value, class)).collect();
            terms[parameter] = Some(match column[..] {
                [only] => graph.constant(only, class),
                _ => graph.parameter(place, self.group.len(), class),
            });
            self.columns.push(column);
        }
        (graph, terms)
    }

    /// Settles a condition of at most one parameter by removing the values for which it is false.
    /// Returns `None` if no value is left.
    fn settle(&mut self, graph: &mut Graph, root: Id) -> Option<Settlement> {
        if let Some(truth) = graph.constant_of(root) {
            return (truth != 0).then_some(Settlement::Settled { narrows: false });
        }
        let places: Vec<usize> = graph.term(root).parameters.iter().collect();
        let [place] = places[..] else { return Some(Settlement::Open) };
        let plans = plan(graph, &[root], &[place], &self.columns);
        let Operand::Table(table) = plans[0].decided[0].operand else { return Some(Settlement::Open) };
        let truths = &plans[0].tables[table];
        if truths.contains(&ERROR) {
            return Some(Settlement::Open);
        }
        self.retain(place, truths).map(|narrows| Settlement::Settled { narrows })
    }

    /// Removes the values of a parameter for which no values of the others satisfy `root`. Returns
    /// true if any were removed, or `None` if no value is left.
    fn narrow(&mut self, graph: &mut Graph, root: Id, roots: &[Id]) -> Option<bool> {
        let Some((place, useful)) = support::supported(graph, root, roots, &self.columns) else { return Some(false) };
        let truth = |cell: &i64| i64::from(useful.binary_search(cell).is_ok());
        let truths: Vec<i64> = self.columns[place].iter().map(truth).collect();
        self.retain(place, &truths)
    }

    fn retain(&mut self, place: usize, truths: &[i64]) -> Option<bool> {
        retain(&mut self.candidates[place], truths);
        retain(&mut self.columns[place], truths);
        (!self.candidates[place].is_empty()).then_some(truths.contains(&0))
    }

    /// Returns the groups of the places that `roots` join, ready for construction.
    fn finish(&self, graph: Graph, roots: &[Id], conjuncts: &[usize], parameters: &[Parameter]) -> Vec<Group> {
        let links: Vec<Vec<usize>> = roots.iter().map(|&root| graph.term(root).parameters.iter().collect()).collect();
        let parts = groups(self.group.len(), links.iter().map(Vec::as_slice));
        let mut graphs: Vec<Graph> = parts[1..].iter().map(|_| graph.clone()).collect();
        graphs.push(graph);
        let part = |(places, graph): (&Vec<usize>, Graph)| {
            // A condition without parameters belongs to the first part.
            let own = |root: usize| links[root].first().map_or(places[0] == 0, |first| places.contains(first));
            let own: Vec<usize> = (0..roots.len()).filter(|&root| own(root)).collect();
            let roots: Vec<Id> = own.iter().map(|&root| roots[root]).collect();
            let conjuncts = own.iter().map(|&root| conjuncts[root]).collect();
            self.part(places, graph, &roots, conjuncts, parameters)
        };
        parts.iter().zip(graphs).map(part).collect()
    }

    fn part(
        &self,
        places: &[usize],
        mut graph: Graph,
        roots: &[Id],
        conjuncts: Vec<usize>,
        parameters: &[Parameter],
    ) -> Group {
        let mut by_name = places.to_vec();
        by_name.sort_by_key(|&place| parameters[self.group[place]].name());
        let order = order::order(&graph, roots, &self.columns, &by_name);
        let plans = plan(&mut graph, roots, &order, &self.columns);
        let candidates = order.iter().map(|&place| self.candidates[place].clone()).collect();
        let order = order.into_iter().map(|place| self.group[place]).collect();
        Group { graph, order, candidates, plans, conjuncts }
    }
}

/// Keeps the items whose truth is not 0.
fn retain<T>(items: &mut Vec<T>, truths: &[i64]) {
    let mut truths = truths.iter();
    items.retain(|_| truths.next().is_some_and(|&truth| truth != 0));
}

/// Returns the smallest class that contains all `values`, which have one type.
fn class<'a>(values: impl Iterator<Item = &'a Datum>) -> Class {
    let mut range: Option<Class> = None;
    for value in values {
        range = match (range, value) {
            (None, Datum::Bool(_)) => Some(Class::Int(0, 1)),
            (Some(class), Datum::Bool(_)) => Some(class),
            (None, Datum::Int(int)) if int.unsigned_abs() < MAGNITUDE.unsigned_abs().into() => {
                Some(Class::Int(*int as i64, *int as i64))
            }
            (Some(Class::Int(low, high)), Datum::Int(int)) if int.unsigned_abs() < MAGNITUDE.unsigned_abs().into() => {
                Some(Class::Int(low.min(*int as i64), high.max(*int as i64)))
            }
            (None, Datum::Float(float)) => Some(Class::Float(*float, *float)),
            (Some(Class::Float(low, high)), Datum::Float(float)) => {
                Some(Class::Float(low.min(*float), high.max(*float)))
            }
            _ => return Class::Datum,
        };
    }
    range.unwrap_or(Class::Datum)
}
