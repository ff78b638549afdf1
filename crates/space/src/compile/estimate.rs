//! Estimates the number of different nodes of a level from the terms.

use super::cell::Class;
use super::graph::{Graph, Id, Op};
use super::range;
use crate::bits::Bits;

/// Units per bit of a logarithm. Logarithms are whole numbers, so that sums do not depend on their
/// order.
pub(super) const UNIT: f64 = 1024.0;

/// Maximum number of pairs to try when the values of a term are counted exactly.
const MAX_PAIRS: usize = 400;

/// The data for estimating the number of different cells that a node can carry.
pub(super) struct Estimate<'a> {
    graph: &'a Graph,
    roots: &'a [Id],
    /// The terms below the roots that are not constants, operands first.
    pub(super) terms: Vec<Id>,
    /// For every term, the operands that are not constants.
    operands: Vec<Vec<Id>>,
    /// The logarithm of the number of values of every term.
    widths: Vec<u32>,
    /// For every chain, the logarithm of the number of joint values of its first operands, by their
    /// number.
    beginnings: Vec<Vec<u32>>,
    /// For every place, the logarithm of the number of its values.
    pub(super) sizes: Vec<u32>,
}

fn log(count: f64) -> u32 {
    (count.max(1.0).log2() * UNIT).round() as u32
}

fn is_chain(op: Op) -> bool {
    matches!(op, Op::Sum | Op::Product | Op::And | Op::Or | Op::Min | Op::Max)
}

/// The cells that the nodes of a level carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Load {
    /// The logarithm of the number of different nodes.
    pub(super) width: u32,
    /// The number of cells. It decides between equal widths: with fewer cells, more of them meet
    /// each other.
    cells: u32,
}

impl<'a> Estimate<'a> {
    pub(super) fn new(graph: &'a Graph, roots: &'a [Id], columns: &[Vec<i64>]) -> Self {
        let mut reached = vec![false; graph.len()];
        roots.iter().for_each(|root| reached[root.0 as usize] = true);
        for index in (0..graph.len()).rev() {
            if reached[index] {
                graph.term(Id(index as u32)).args.iter().for_each(|arg| reached[arg.0 as usize] = true);
            }
        }
        let is_term = |id: &Id| reached[id.0 as usize] && graph.constant_of(*id).is_none();
        let terms: Vec<Id> = (0..graph.len() as u32).map(Id).filter(is_term).collect();
        let sizes = columns.iter().map(|column| log(column.len() as f64)).collect();
        let (widths, beginnings) = (vec![0; graph.len()], vec![Vec::new(); graph.len()]);
        let mut operands = vec![Vec::new(); graph.len()];
        for &id in &terms {
            let args = graph.term(id).args.iter().copied();
            operands[id.0 as usize] = args.filter(|&arg| graph.constant_of(arg).is_none()).collect();
        }
        let mut estimate = Estimate { graph, roots, terms, operands, widths, beginnings, sizes };
        estimate.count_values(columns);
        estimate
    }

    fn count_values(&mut self, columns: &[Vec<i64>]) {
        let mut values: Vec<Option<Vec<i64>>> = vec![None; self.graph.len()];
        for at in 0..self.terms.len() {
            let id = self.terms[at];
            let term = self.graph.term(id);
            let index = id.0 as usize;
            let parameters = term.parameters.iter().map(|place| self.sizes[place]).sum();
            self.widths[index] = match term.class {
                Class::Int(low, high) => log(high as f64 - low as f64 + 1.0).min(parameters),
                Class::Float(..) | Class::Datum => parameters,
            };
            values[index] = match term.op {
                Op::Parameter(place) => Some(columns[place as usize].clone()),
                Op::Sum | Op::Product | Op::FloorDivide => self.chain_values(id, &values),
                _ => None,
            };
            if let Some(values) = &values[index] {
                self.widths[index] = self.widths[index].min(log(values.len() as f64));
            }
        }
    }

    /// Returns the values of a chain of whole numbers, as if its operands were independent.
    fn chain_values(&mut self, id: Id, values: &[Option<Vec<i64>>]) -> Option<Vec<i64>> {
        let term = self.graph.term(id);
        if range::is_wide(term.class) || !matches!(term.class, Class::Int(..)) {
            return None;
        }
        let mut operands = Vec::with_capacity(term.args.len());
        for &arg in &term.args {
            let constant = self.graph.constant_of(arg);
            let own = constant.map_or_else(|| values[arg.0 as usize].clone(), |constant| Some(vec![constant]));
            operands.push((constant.is_none(), own?));
        }
        if term.op != Op::FloorDivide {
            // Terms are numbered in the order of the constraints. Sort, so that the estimate does
            // not depend on it.
            operands.sort_by(|a, b| (a.0, a.1.len(), &a.1).cmp(&(b.0, b.1.len(), &b.1)));
        }
        let mut all: Option<Vec<i64>> = None;
        for (counts, own) in operands {
            let next = match all {
                None => own,
                Some(all) => pairs(term.op, &all, &own)?,
            };
            if counts {
                self.beginnings[id.0 as usize].push(log(next.len() as f64));
            }
            all = Some(next);
        }
        all
    }

    /// Returns the load of the nodes after the parameters whose places are set in `assigned`.
    pub(super) fn carried(&self, assigned: &[i64]) -> Load {
        let mut walk = Walk {
            estimate: self,
            assigned,
            visited: vec![false; self.graph.len()],
            single: vec![false; self.graph.len()],
            joined: Vec::new(),
            limits: Vec::new(),
            width: 0,
            cells: 0,
            involved: Bits::new(self.sizes.len()),
        };
        let touched = self.roots.iter().filter(|root| self.graph.term(**root).parameters.meets(assigned));
        touched.for_each(|&root| walk.unknown(root));
        walk.total()
    }
}

/// Applies the operation to all pairs of values. Returns `None` if there are too many.
fn pairs(op: Op, a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    if a.len() * b.len() > MAX_PAIRS {
        return None;
    }
    let join = |a: i64, b: i64| match op {
        Op::Sum => a.checked_add(b),
        Op::Product => a.checked_mul(b),
        _ => a.checked_div_euclid(b),
    };
    let mut all: Vec<i64> = Vec::with_capacity(a.len() * b.len());
    for &a in a {
        for &b in b {
            all.push(join(a, b)?);
        }
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

/// Collects the cells that nodes carry: known terms directly below unknown ones.
struct Walk<'a> {
    estimate: &'a Estimate<'a>,
    assigned: &'a [i64],
    visited: Vec<bool>,
    /// For each term, true if it is carried as it is.
    single: Vec<bool>,
    /// Chains with several known operands, which are carried together.
    joined: Vec<(Id, u32)>,
    /// The remainders of limits, each with the term that is compared with it.
    limits: Vec<(Option<Id>, LeftOver)>,
    width: u32,
    cells: u32,
    involved: Bits,
}

impl<'a> Walk<'a> {
    fn is_known(&self, id: Id) -> bool {
        self.estimate.graph.term(id).parameters.within(self.assigned)
    }

    fn operands(&self, id: Id) -> &'a [Id] {
        &self.estimate.operands[id.0 as usize]
    }

    /// Returns the operand that is not known, if there is exactly one.
    fn only_unknown(&self, id: Id) -> Option<Id> {
        let mut unknown = self.operands(id).iter().copied().filter(|&arg| !self.is_known(arg));
        unknown.next().filter(|_| unknown.next().is_none())
    }

    /// Collects the cells below a term, unless the term is known or done.
    fn unknown(&mut self, id: Id) {
        if self.is_known(id) || std::mem::replace(&mut self.visited[id.0 as usize], true) {
            return;
        }
        let estimate = self.estimate;
        let term = estimate.graph.term(id);
        if let (Op::LessEqual, false) = (term.op, term.fallible) {
            return self.limit(term.args[0], term.args[1], &[]);
        }
        let operands = self.operands(id);
        if let (Op::Or, Some(only), false) = (term.op, self.only_unknown(id), term.fallible)
            && let Op::LessEqual = estimate.graph.term(only).op
            && !std::mem::replace(&mut self.visited[only.0 as usize], true)
        {
            let sides = &estimate.graph.term(only).args;
            return self.limit(sides[0], sides[1], operands);
        }
        let known = operands.iter().filter(|&&arg| self.is_known(arg)).count();
        if is_chain(term.op) && known > 1 {
            self.joined.push((id, self.joint_width(id, known)));
        } else if known > 0 {
            for &cell in operands {
                self.single[cell.0 as usize] |= self.is_known(cell);
            }
        }
        operands.iter().for_each(|&arg| self.unknown(arg));
    }

    /// Returns the logarithm of the number of joint values of the known operands of a chain.
    /// `known` is their number.
    fn joint_width(&self, id: Id, known: usize) -> u32 {
        let cells = self.operands(id).iter().filter(|&&arg| self.is_known(arg));
        let separate = cells.map(|cell| self.estimate.widths[cell.0 as usize]).sum::<u32>();
        let beginning = self.estimate.beginnings[id.0 as usize].get(known.wrapping_sub(1)).copied();
        separate.min(self.estimate.widths[id.0 as usize]).min(beginning.unwrap_or(u32::MAX))
    }

    /// Carries a limit as its remainder (see [`super::residual`]), together with the conditions
    /// `exempt` that lift it.
    fn limit(&mut self, left: Id, right: Id, exempt: &[Id]) {
        let mut left_over = LeftOver { places: Bits::default(), width: 0 };
        exempt.iter().filter(|&&cell| self.is_known(cell)).for_each(|&cell| self.absorb(&mut left_over, cell));
        let (left_known, right_known) = (self.is_known(left), self.is_known(right));
        let rest = match (left_known, right_known) {
            (false, true) => {
                self.absorb(&mut left_over, right);
                self.solve(left, &mut left_over)
            }
            (true, false) => {
                self.absorb(&mut left_over, left);
                self.solve(right, &mut left_over)
            }
            _ => {
                [left, right].into_iter().for_each(|side| self.unknown_side(side, &mut left_over));
                None
            }
        };
        if left_over.places.iter().next().is_some() {
            self.limits.push((rest, left_over));
        }
    }

    /// Merges limits on the same rest into one.
    fn add_limits(&mut self) {
        let graph = self.estimate.graph;
        let mut limits = std::mem::take(&mut self.limits);
        limits.sort_by_key(|(rest, _)| *rest);
        for same in limits.chunk_by(|a, b| a.0.is_some() && a.0 == b.0) {
            let range = same[0].0.and_then(|rest| graph.int_range(rest)).filter(|range| range.1 != i64::MAX);
            let reach = range.map_or(u32::MAX, |(low, high)| log(high as f64 - low as f64 + 2.0));
            let widest = same.iter().map(|(_, left_over)| left_over.width).max().unwrap_or(0);
            self.width += widest.min(reach);
            self.cells += 1;
            for (_, left_over) in same {
                self.involved.union(&left_over.places);
            }
        }
    }

    /// Splits one side of a comparison whose sides are both unknown. The known part of a sum joins
    /// the remainder; the rest stays.
    fn unknown_side(&mut self, side: Id, left_over: &mut LeftOver) {
        let term = self.estimate.graph.term(side);
        if term.op != Op::Sum {
            return self.unknown(side);
        }
        for &arg in self.operands(side) {
            if self.is_known(arg) {
                self.absorb(left_over, arg);
            } else {
                self.unknown(arg);
            }
        }
    }

    /// Takes the known part out of an unknown term as long as a single operand is unknown. Returns
    /// the term that the remainder is compared with.
    fn solve(&mut self, id: Id, left_over: &mut LeftOver) -> Option<Id> {
        let estimate = self.estimate;
        let term = estimate.graph.term(id);
        let not_negative = |&arg: &Id| estimate.graph.int_range(arg).is_some_and(|(low, _)| low >= 0);
        let solvable = match term.op {
            Op::Sum => true,
            Op::Product => term.args.iter().all(not_negative),
            _ => false,
        };
        if !solvable {
            self.unknown(id);
            return Some(id);
        }
        let operands = self.operands(id);
        let known = operands.iter().filter(|&&arg| self.is_known(arg));
        let mut count = 0;
        for &cell in known {
            count += 1;
            left_over.places.union(&estimate.graph.term(cell).parameters);
        }
        if count > 0 {
            left_over.width += self.joint_width(id, count);
        }
        match self.only_unknown(id) {
            Some(only) => self.solve(only, left_over),
            None => {
                operands.iter().for_each(|&arg| self.unknown(arg));
                Some(id)
            }
        }
    }

    fn absorb(&self, left_over: &mut LeftOver, id: Id) {
        if self.estimate.graph.constant_of(id).is_none() {
            left_over.places.union(&self.estimate.graph.term(id).parameters);
            left_over.width += self.estimate.widths[id.0 as usize];
        }
    }

    /// Returns the total load. Caps it by the parameters: cells of the same parameters have at most
    /// as many joint values as these parameters.
    fn total(mut self) -> Load {
        self.add_limits();
        let graph = self.estimate.graph;
        for &id in self.estimate.terms.iter().filter(|id| self.single[id.0 as usize]) {
            self.width += self.estimate.widths[id.0 as usize];
            self.cells += 1;
            self.involved.union(&graph.term(id).parameters);
        }
        for (id, joint) in std::mem::take(&mut self.joined) {
            let known = || self.operands(id).iter().filter(|&&arg| self.is_known(arg));
            if known().all(|arg| self.single[arg.0 as usize]) {
                continue;
            }
            let places: Vec<&Bits> = known().map(|&arg| &graph.term(arg).parameters).collect();
            places.into_iter().for_each(|places| self.involved.union(places));
            self.width += joint;
            self.cells += 1;
        }
        let width = self.width.min(self.involved.iter().map(|place| self.estimate.sizes[place]).sum());
        Load { width, cells: self.cells }
    }
}

/// The remainder of a limit and everything taken from it, as one number.
struct LeftOver {
    places: Bits,
    width: u32,
}
