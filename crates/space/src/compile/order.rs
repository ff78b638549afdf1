//! The order in which a group's parameters become levels.
//!
//! The fewer cells a node carries, and the fewer values they can have, the fewer nodes a level has. The order is chosen
//! greedily by an estimate of that number: the next parameter is always the one after which the least is carried. The
//! estimate depends on the constraints and the lists' lengths alone, and ties go by name, so the order in which
//! parameters and constraints are declared makes no difference.

use super::graph::{Class, Graph, Id, Op};

/// Logarithms are whole multiples of this fraction of a bit, so that sums do not depend on their order.
const UNIT: f64 = 1024.0;

/// Terms that all greedy runs together may look at; orders are compared as long as that is cheap.
const EFFORT: usize = 150_000;

/// The places `by_name`, which are sorted by their parameters' names, by level. `columns` are the values of each place of
/// the graph.
pub(crate) fn order(graph: &Graph, roots: &[Id], columns: &[Vec<i64>], by_name: &[usize]) -> Vec<usize> {
    let estimate = Estimate::new(graph, roots, columns);
    let mut starts: Vec<usize> = by_name.to_vec();
    let after = |place: usize| {
        let mut assigned = vec![false; columns.len()];
        assigned[place] = true;
        estimate.carried(&assigned)
    };
    // Sorting is stable: equals stay in the order of their names.
    starts.sort_by_cached_key(|&place| (after(place), estimate.sizes[place]));
    let per_run = by_name.len() * by_name.len() * estimate.terms.len() / 2 + 1;
    starts.truncate((EFFORT / per_run).max(1));
    let runs = starts.into_iter().map(|start| greedy(&estimate, by_name, start));
    let best = runs.min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(Vec::new, |(_, order)| order)
}

/// The greedy order that begins with `start`, and the number of arcs it is estimated to need.
fn greedy(estimate: &Estimate<'_>, by_name: &[usize], start: usize) -> (f64, Vec<usize>) {
    let mut assigned = vec![false; estimate.sizes.len()];
    let mut order = Vec::with_capacity(by_name.len());
    let mut carried = 0;
    let mut cost = 0.0;
    while order.len() < by_name.len() {
        let choice = if order.is_empty() {
            start
        } else {
            let left = by_name.iter().copied().filter(|&place| !assigned[place]);
            let key = |&place: &usize| {
                let mut then = assigned.clone();
                then[place] = true;
                (estimate.carried(&then), estimate.sizes[place])
            };
            left.min_by_key(key).expect("some place is left")
        };
        cost += (f64::from(carried + estimate.sizes[choice]) / UNIT).exp2();
        assigned[choice] = true;
        order.push(choice);
        carried = estimate.carried(&assigned);
    }
    (cost, order)
}

/// What is needed to estimate how many different cells a node can carry.
struct Estimate<'a> {
    graph: &'a Graph,
    /// The terms below the roots that are no constants, operands first.
    terms: Vec<Id>,
    /// The logarithm of the number of values of every term.
    widths: Vec<u32>,
    /// The same of every place's parameter.
    sizes: Vec<u32>,
}

fn log(count: f64) -> u32 {
    (count.max(1.0).log2() * UNIT).round() as u32
}

impl<'a> Estimate<'a> {
    fn new(graph: &'a Graph, roots: &[Id], columns: &[Vec<i64>]) -> Self {
        let mut reached = vec![false; graph.len()];
        roots.iter().for_each(|root| reached[root.0 as usize] = true);
        for index in (0..graph.len()).rev().filter(|&index| reached[index]).collect::<Vec<_>>() {
            reach(graph, Id(index as u32), &mut reached);
        }
        let is_term = |id: &Id| reached[id.0 as usize] && graph.constant_of(*id).is_none();
        let terms: Vec<Id> = (0..graph.len() as u32).map(Id).filter(is_term).collect();
        let sizes: Vec<u32> = columns.iter().map(|column| log(column.len() as f64)).collect();
        let mut widths = vec![0; graph.len()];
        for &id in &terms {
            let term = graph.term(id);
            let parameters = term.parameters.iter().map(|place| sizes[place]).sum();
            widths[id.0 as usize] = match term.class {
                Class::Int(low, high) => log(high as f64 - low as f64 + 1.0).min(parameters),
                Class::Float(..) | Class::Datum => parameters,
            };
        }
        Estimate { graph, terms, widths, sizes }
    }

    /// The logarithm of the number of different nodes after the assigned parameters.
    fn carried(&self, assigned: &[bool]) -> u32 {
        let mut known = vec![true; self.graph.len()];
        let mut single = vec![false; self.graph.len()];
        let mut joined: Vec<(Id, u32)> = Vec::new();
        for &id in &self.terms {
            let term = self.graph.term(id);
            if let Op::Parameter(place) = term.op {
                known[id.0 as usize] = assigned[place as usize];
                continue;
            }
            if term.args.iter().all(|arg| known[arg.0 as usize]) {
                continue;
            }
            known[id.0 as usize] = false;
            let is_cell = |arg: &&Id| known[arg.0 as usize] && self.graph.constant_of(**arg).is_none();
            let cells: Vec<Id> = term.args.iter().filter(is_cell).copied().collect();
            let chains = matches!(term.op, Op::Sum | Op::Product | Op::And | Op::Or | Op::Min | Op::Max);
            if chains && cells.len() > 1 {
                let width: u32 = cells.iter().map(|cell| self.widths[cell.0 as usize]).sum();
                joined.push((id, width.min(self.widths[id.0 as usize])));
            } else {
                cells.iter().for_each(|cell| single[cell.0 as usize] = true);
            }
        }
        self.total(assigned, &known, &single, &joined)
    }

    /// Cells that come from the same parameters cannot have more values together than those have.
    fn total(&self, assigned: &[bool], known: &[bool], single: &[bool], joined: &[(Id, u32)]) -> u32 {
        let mut involved = vec![false; assigned.len()];
        let mut width = 0;
        for &id in self.terms.iter().filter(|id| single[id.0 as usize]) {
            width += self.widths[id.0 as usize];
            self.graph.term(id).parameters.iter().for_each(|place| involved[place] = true);
        }
        for &(id, joint) in joined {
            let args = || self.graph.term(id).args.iter().filter(|arg| known[arg.0 as usize]);
            if args().all(|arg| single[arg.0 as usize]) {
                continue;
            }
            width += joint;
            args().for_each(|&arg| self.graph.term(arg).parameters.iter().for_each(|place| involved[place] = true));
        }
        let together = (0..assigned.len()).filter(|&place| involved[place]).map(|place| self.sizes[place]).sum();
        width.min(together)
    }
}

fn reach(graph: &Graph, id: Id, reached: &mut [bool]) {
    for &arg in &graph.term(id).args {
        if !reached[arg.0 as usize] {
            reached[arg.0 as usize] = true;
            reach(graph, arg, reached);
        }
    }
}
