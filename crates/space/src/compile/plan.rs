//! The work of construction, level by level: the cells that a node carries, and the steps that are
//! computed from them for each value.

use crate::hash::Map;

use super::bounds::Bounds;
use super::cell::Class;
use super::graph::{Graph, Id, Op};
use super::lower::{Levels, Lowering};
use super::machine;
use crate::bits::Bits;

/// The source of a step's operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Constant(i64),
    /// A cell of the node.
    Slot(usize),
    /// A column that depends only on the level's value.
    Table(usize),
    /// A cell computed once per node.
    Scalar(usize),
    /// A column computed per node, one cell per value.
    Column(usize),
}

/// One operation. The result has the number of the step among the scalars or the columns.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) op: Op,
    pub(crate) operands: Vec<Operand>,
    pub(crate) classes: Vec<Class>,
    pub(crate) class: Class,
    /// True if an operand may be an error that the result must repeat.
    pub(crate) repeats_errors: bool,
}

/// A condition on the level's values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    pub(crate) conjunct: usize,
    pub(crate) operand: Operand,
    pub(crate) infallible: bool,
}

/// A cell that nodes of the next level carry.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    pub(crate) from: Operand,
    /// The conjuncts that need the cell. If none of them is open, the cell is 0.
    pub(crate) users: Bits,
}

/// The work of construction at one level.
#[derive(Debug, Default)]
pub(crate) struct LevelPlan {
    pub(crate) tables: Vec<Vec<i64>>,
    pub(crate) scalars: Vec<Step>,
    pub(crate) columns: Vec<Step>,
    /// Conjuncts decided at this level. True keeps the value, false excludes it, an error is
    /// remembered.
    pub(crate) decided: Vec<Check>,
    /// Upper bounds of conjuncts that are still open. False excludes the value.
    pub(crate) possible: Vec<Check>,
    /// Lower bounds of conjuncts that are still open. True settles them.
    pub(crate) certain: Vec<Check>,
    pub(crate) carried: Vec<Carried>,
    /// The conjuncts that remain open.
    pub(crate) open: Vec<usize>,
}

/// Plans all levels. `roots` are the truths of the conjuncts, `order` the places of the parameters
/// by level, and `columns` the parameters' cells by place.
pub(crate) fn plan(graph: &mut Graph, roots: &[Id], order: &[usize], columns: &[Vec<i64>]) -> Vec<LevelPlan> {
    let mut levels = Levels::new(order, columns.len());
    let mut lowering = Lowering { graph, levels: &mut levels, done: Map::default() };
    let roots = lowering.lower_all(roots);
    let mut planner = Planner { graph, levels, roots, slots: Map::default() };
    order.iter().enumerate().map(|(level, &place)| planner.level(level, &columns[place])).collect()
}

struct Planner<'a> {
    graph: &'a mut Graph,
    levels: Levels,
    roots: Vec<Id>,
    /// The cells that nodes of the current level carry.
    slots: Map<Id, usize>,
}

impl Planner<'_> {
    fn level(&mut self, level: usize, column: &[i64]) -> LevelPlan {
        let mut work = Work { plan: LevelPlan::default(), known: Map::default(), level, column };
        for conjunct in 0..self.roots.len() {
            let root = self.roots[conjunct];
            // A condition without parameters is decided at once.
            let (first, last) = self.levels.span(self.graph, root).unwrap_or((0, 0));
            if last == level {
                let check = self.check(&mut work, conjunct, root);
                work.plan.decided.push(check);
            } else if first <= level && last > level {
                work.plan.open.push(conjunct);
                self.bound(&mut work, conjunct);
            }
        }
        self.carry(&mut work);
        work.plan
    }

    /// Adds the bounds of an open conjunct, if the level's parameter changes them.
    fn bound(&mut self, work: &mut Work<'_>, conjunct: usize) {
        let root = self.roots[conjunct];
        let mut bounds =
            Bounds { graph: self.graph, levels: &mut self.levels, level: work.level, done: Map::default() };
        let Some((low, high)) = bounds.of(root) else { return };
        let level = work.level;
        let changes =
            |planner: &mut Self, id: Id| planner.levels.span(planner.graph, id).is_some_and(|(_, last)| last == level);
        if changes(self, high) {
            let check = self.check(work, conjunct, high);
            work.plan.possible.push(check);
        }
        if changes(self, low) {
            let check = self.check(work, conjunct, low);
            work.plan.certain.push(check);
        }
    }

    fn check(&mut self, work: &mut Work<'_>, conjunct: usize, truth: Id) -> Check {
        Check { conjunct, operand: self.need(work, truth), infallible: !self.graph.term(truth).fallible }
    }

    /// Adds the cells that later levels need: known terms directly below unknown ones.
    fn carry(&mut self, work: &mut Work<'_>) {
        let mut users: Vec<(Id, Bits)> = Vec::new();
        for index in 0..work.plan.open.len() {
            let conjunct = work.plan.open[index];
            let mut frontier = Vec::new();
            self.frontier(self.roots[conjunct], work.level, &mut Map::default(), &mut frontier);
            for id in frontier {
                match users.iter_mut().find(|(known, _)| *known == id) {
                    Some((_, users)) => users.insert(conjunct),
                    None => {
                        let mut bits = Bits::new(self.roots.len());
                        bits.insert(conjunct);
                        users.push((id, bits));
                    }
                }
            }
        }
        let mut slots = Map::default();
        for (id, users) in users {
            let from = self.need(work, id);
            slots.insert(id, work.plan.carried.len());
            work.plan.carried.push(Carried { from, users });
        }
        self.slots = slots;
    }

    /// Looks at each term once: one that is used twice, by terms that are used twice, would otherwise
    /// be met a thousand million times.
    fn frontier(&mut self, id: Id, level: usize, seen: &mut Map<Id, ()>, into: &mut Vec<Id>) {
        if self.graph.constant_of(id).is_some() || seen.insert(id, ()).is_some() {
            return;
        }
        if self.levels.known(self.graph, id, level) {
            into.push(id);
        } else {
            let args = self.graph.term(id).args.clone();
            args.into_iter().for_each(|arg| self.frontier(arg, level, seen, into));
        }
    }

    /// Returns the operand for a term known at this level. Adds the steps that compute it if
    /// necessary.
    fn need(&mut self, work: &mut Work<'_>, id: Id) -> Operand {
        if let Some(cell) = self.graph.constant_of(id) {
            return Operand::Constant(cell);
        }
        if let Some(&slot) = self.slots.get(&id) {
            return Operand::Slot(slot);
        }
        if let Some(&known) = work.known.get(&id) {
            return known;
        }
        let term = self.graph.term(id).clone();
        let operands: Vec<Operand> = term.args.iter().map(|&arg| self.need(work, arg)).collect();
        let step = Step {
            op: term.op,
            operands,
            classes: term.args.iter().map(|&arg| self.graph.term(arg).class).collect(),
            class: term.class,
            repeats_errors: term.args.iter().any(|&arg| self.graph.term(arg).fallible),
        };
        let operand = work.add(step, self.graph);
        work.known.insert(id, operand);
        operand
    }
}

/// A plan under construction for one level.
struct Work<'a> {
    plan: LevelPlan,
    known: Map<Id, Operand>,
    level: usize,
    column: &'a [i64],
}

impl Work<'_> {
    fn add(&mut self, step: Step, graph: &mut Graph) -> Operand {
        let is = |test: fn(&Operand) -> bool| step.operands.iter().any(test);
        if is(|operand| matches!(operand, Operand::Column(_))) || self.mixes(&step) {
            self.plan.columns.push(step);
            return Operand::Column(self.plan.columns.len() - 1);
        }
        if is(|operand| matches!(operand, Operand::Slot(_) | Operand::Scalar(_))) {
            self.plan.scalars.push(step);
            return Operand::Scalar(self.plan.scalars.len() - 1);
        }
        let mut table = vec![0; self.column.len()];
        match step.op {
            Op::Parameter(_) => table.copy_from_slice(self.column),
            _ => {
                let sources = machine::Sources { tables: &self.plan.tables, ..machine::Sources::default() };
                machine::run(&step, &sources, &mut table, graph);
            }
        }
        self.plan.tables.push(table);
        Operand::Table(self.plan.tables.len() - 1)
    }

    /// Returns true if a step takes both cells of the node and tables.
    fn mixes(&self, step: &Step) -> bool {
        let node = step.operands.iter().any(|operand| matches!(operand, Operand::Slot(_) | Operand::Scalar(_)));
        node && step.operands.iter().any(|operand| matches!(operand, Operand::Table(_)))
    }
}
