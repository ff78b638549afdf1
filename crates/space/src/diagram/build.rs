//! Top-down construction, one layer per parameter.
//!
//! A node stands for all beginnings of configurations that allow the same continuations. The
//! construction compares beginnings by the cells that they carry: the conjuncts still open, and the
//! known parts of their terms. ATF (ATF paper, section 3.2) builds a tree of beginnings. This
//! module merges equal beginnings while it builds.

use super::states::States;
use super::{Diagram, Layer};
use crate::compile::{Cells, Check, Conjunct, ERROR, Group, LevelPlan, Operand, Sources, Steps, run};
use crate::limits::Bounds;
use crate::parameter::Parameter;

/// The reason why a group of parameters has no diagram.
#[derive(Debug)]
pub(crate) enum Obstacle {
    /// A conjunct cannot be evaluated on a configuration that no other conjunct excludes.
    Evaluation {
        /// The index of the conjunct.
        conjunct: usize,
        /// The group's parameters and the indices of their values in that configuration.
        values: Vec<(usize, u32)>,
    },
    /// Somebody cancelled the construction.
    Cancelled,
    /// The layers grow beyond a limit.
    TooLarge {
        /// The limit.
        limit: String,
        /// The indices of the conjuncts that keep the last layer's nodes apart.
        conjuncts: Vec<usize>,
    },
}

/// Builds the diagrams of the parameters `group`, which `conjuncts` join. Returns `None` if no
/// configuration is left. Returns several diagrams if a conjunct turns out to be independent of
/// some of its parameters.
///
/// Each layer costs its nodes times the parameter's values times the steps of its plan.
pub(crate) fn build(
    group: &[usize],
    parameters: &[Parameter],
    conjuncts: &[Conjunct],
    bounds: &Bounds,
) -> Result<Option<Vec<Diagram>>, Obstacle> {
    if !conjuncts.is_empty() && Group::bytes(group, parameters) > bounds.limits.bytes {
        let conjuncts = (0..conjuncts.len()).collect();
        return Err(Obstacle::TooLarge { limit: format!("{} bytes", bounds.limits.bytes), conjuncts });
    }
    let Some(groups) = Group::compile(group, parameters, conjuncts, &Steps::new(bounds)) else { return Ok(None) };
    let mut diagrams = Ok(Some(Vec::new()));
    for group in groups {
        match (construct(group, bounds), &mut diagrams) {
            // An empty part leaves nothing on which another part could fail.
            (Ok(None), _) => return Ok(None),
            (Ok(Some(part)), Ok(Some(diagrams))) => diagrams.extend(part),
            (Err(obstacle), Ok(_)) => diagrams = Err(obstacle),
            _ => {}
        }
    }
    diagrams
}

fn construct(mut group: Group, bounds: &Bounds) -> Result<Option<Vec<Diagram>>, Obstacle> {
    let mut construction = Construction::new(&group, bounds);
    let plans = std::mem::take(&mut group.plans);
    let mut layers = Vec::with_capacity(plans.len());
    let mut states = construction.root();
    for (level, plan) in plans.iter().enumerate() {
        let (layer, next) = construction.layer(&mut group, plan, level, &states)?;
        layers.push(layer);
        states = next;
    }
    match construction.failure(&states) {
        Some((conjunct, state)) => {
            let conjunct = group.conjuncts[conjunct];
            let values = group.order.iter().copied().zip(path(&layers, state)).collect();
            Err(Obstacle::Evaluation { conjunct, values })
        }
        None => Ok(Diagram::reduce(&group.order, &layers)),
    }
}

/// Returns the values on some path to the state `state` behind the last layer.
fn path(layers: &[Layer], mut state: u32) -> Vec<u32> {
    let mut values = Vec::with_capacity(layers.len());
    for layer in layers.iter().rev() {
        let leads = |node: &usize| layer.runs_of(*node).iter().any(|run| run.child == state);
        let node = (0..layer.nodes()).find(leads).expect("every state has a parent");
        let run = layer.runs_of(node).iter().find(|run| run.child == state).expect("the parent leads to it");
        values.push(run.first);
        state = node as u32;
    }
    values.reverse();
    values
}

/// The construction of one group.
///
/// The cells of a state are the words of a mask, followed by the cells that the plan carries. The
/// mask has one bit for every open conjunct and one for every conjunct that could not be evaluated.
/// Later conditions may still exclude a configuration with such a conjunct; otherwise building
/// fails.
struct Construction<'a> {
    bounds: &'a Bounds,
    conjuncts: usize,
    words: usize,
    nodes: usize,
    bytes: usize,
    scalars: Vec<i64>,
    columns: Vec<Vec<i64>>,
    /// For each value of the level, true if the current node keeps it.
    alive: Vec<bool>,
}

impl<'a> Construction<'a> {
    fn new(group: &Group, bounds: &'a Bounds) -> Self {
        let conjuncts = group.conjuncts.len();
        Construction {
            bounds,
            conjuncts,
            words: (2 * conjuncts).div_ceil(64),
            nodes: 0,
            bytes: 0,
            scalars: Vec::new(),
            columns: Vec::new(),
            alive: Vec::new(),
        }
    }

    /// Returns the only state before all levels, in which every conjunct is open.
    fn root(&self) -> States {
        let mut mask = vec![0; self.words];
        (0..self.conjuncts).for_each(|conjunct| set(&mut mask, conjunct));
        let mut states = States::new(self.words);
        states.number(&mask);
        states
    }

    /// Builds the nodes of `level`, one per state, and the states of the next level.
    fn layer(
        &mut self,
        group: &mut Group,
        plan: &LevelPlan,
        level: usize,
        states: &States,
    ) -> Result<(Layer, States), Obstacle> {
        let mut layer = Layer::default();
        let mut next = States::new(self.words + plan.carried.len());
        let count = group.candidates[level].len();
        self.scalars.resize(plan.scalars.len(), 0);
        self.columns.resize_with(plan.columns.len().max(self.columns.len()), Vec::new);
        self.columns.iter_mut().for_each(|column| column.resize(count, 0));
        let varies = varies(plan);
        let mut row = Row::new(self.words, plan.carried.len());
        for state in 0..states.len() {
            let cells = states.row(state);
            let (mask, slots) = cells.split_at(self.words);
            self.compute(group, plan, slots);
            let sources = Sources { slots, tables: &plan.tables, scalars: &self.scalars, columns: &self.columns };
            exclude(&mut self.alive, count, plan, mask, &sources);
            let candidates = &group.candidates[level];
            let mut child = |value: usize| row.child(mask, self.conjuncts, plan, &sources, value, &mut next);
            if varies {
                let alive = (0..count).filter(|&value| self.alive[value]);
                alive.for_each(|value| layer.push(candidates[value], child(value)));
            } else if let Some(first) = self.alive.iter().position(|&alive| alive) {
                layer.push_all(candidates, &self.alive, child(first));
            }
            layer.finish_node();
            group.graph.steps.spend((count * (plan.columns.len() + 1)) as u64);
            self.check_limits(group, plan, &layer, &next)?;
        }
        self.nodes += next.len();
        self.bytes += size_of_val(layer.runs());
        Ok((layer, next))
    }

    /// Executes the plan's steps for one node.
    fn compute(&mut self, group: &mut Group, plan: &LevelPlan, slots: &[i64]) {
        for (index, step) in plan.scalars.iter().enumerate() {
            let (before, rest) = self.scalars.split_at_mut(index);
            let sources = Sources { slots, tables: &plan.tables, scalars: before, columns: &[] };
            run(step, &sources, &mut rest[..1], &mut group.graph);
        }
        for (index, step) in plan.columns.iter().enumerate() {
            let (before, rest) = self.columns.split_at_mut(index);
            let sources = Sources { slots, tables: &plan.tables, scalars: &self.scalars, columns: before };
            run(step, &sources, &mut rest[0], &mut group.graph);
        }
    }

    /// Returns the first conjunct that failed on a whole configuration, and the state behind the
    /// last layer of that configuration.
    fn failure(&self, states: &States) -> Option<(usize, u32)> {
        let failed = |conjunct: usize| {
            let state = (0..states.len()).find(|&state| is_set(states.row(state), self.conjuncts + conjunct));
            state.map(|state| (conjunct, state as u32))
        };
        (0..self.conjuncts).find_map(failed)
    }

    /// Returns an error if the nodes and runs built so far exceed a limit.
    fn check_limits(&self, group: &Group, plan: &LevelPlan, layer: &Layer, next: &States) -> Result<(), Obstacle> {
        if self.bounds.is_cancelled() {
            return Err(Obstacle::Cancelled);
        }
        let bytes = self.bytes + size_of_val(layer.runs()) + next.bytes();
        let limits = &self.bounds.limits;
        let limit = if self.nodes + next.len() > limits.nodes {
            format!("{} nodes", limits.nodes)
        } else if bytes > limits.bytes {
            format!("{} bytes", limits.bytes)
        } else if group.graph.steps.are_spent() {
            format!("{} steps", limits.steps)
        } else {
            return Ok(());
        };
        let conjuncts = plan.open.iter().map(|&conjunct| group.conjuncts[conjunct]).collect();
        Err(Obstacle::TooLarge { limit, conjuncts })
    }
}

/// The cells of one state after another. Most states equal the previous one.
struct Row {
    words: usize,
    cells: Vec<i64>,
    before: Vec<i64>,
    child: Option<u32>,
}

impl Row {
    fn new(words: usize, carried: usize) -> Row {
        Row { words, cells: vec![0; words + carried], before: vec![0; words + carried], child: None }
    }

    /// Returns the state among `next` to which the value with index `value` leads from a state with
    /// `mask`.
    fn child(
        &mut self,
        mask: &[i64],
        conjuncts: usize,
        plan: &LevelPlan,
        sources: &Sources<'_>,
        value: usize,
        next: &mut States,
    ) -> u32 {
        self.cells[..self.words].copy_from_slice(mask);
        settle(&mut self.cells[..self.words], conjuncts, plan, sources, value);
        carry(&mut self.cells, self.words, plan, sources, value);
        match self.child {
            Some(child) if self.cells == self.before => child,
            _ => {
                let child = next.number(&self.cells);
                self.child = Some(child);
                self.before.copy_from_slice(&self.cells);
                child
            }
        }
    }
}

fn set(mask: &mut [i64], bit: usize) {
    mask[bit / 64] |= 1 << (bit % 64);
}

fn clear(mask: &mut [i64], bit: usize) {
    mask[bit / 64] &= !(1 << (bit % 64));
}

fn is_set(mask: &[i64], bit: usize) -> bool {
    mask[bit / 64] >> (bit % 64) & 1 == 1
}

/// Returns true if the values of one node may lead to different states.
fn varies(plan: &LevelPlan) -> bool {
    let depends = |operand: Operand| matches!(operand, Operand::Table(_) | Operand::Column(_));
    plan.carried.iter().any(|carried| depends(carried.from))
        || plan.certain.iter().any(|check| depends(check.operand))
        || !plan.decided.iter().all(|check| check.infallible)
}

/// Marks the values that the plan's conditions keep.
fn exclude(alive: &mut Vec<bool>, count: usize, plan: &LevelPlan, mask: &[i64], sources: &Sources<'_>) {
    alive.clear();
    alive.resize(count, true);
    let open = |check: &&Check| is_set(mask, check.conjunct);
    for check in plan.decided.iter().chain(&plan.possible).filter(open) {
        match sources.cells(check.operand) {
            Cells::One(0) => return alive.fill(false),
            Cells::One(_) => {}
            Cells::Each(truths) => alive.iter_mut().zip(truths).for_each(|(alive, &truth)| *alive &= truth != 0),
        }
    }
}

/// Updates the mask of a state for the value with index `value`.
fn settle(mask: &mut [i64], conjuncts: usize, plan: &LevelPlan, sources: &Sources<'_>, value: usize) {
    for check in &plan.decided {
        if is_set(mask, check.conjunct) && sources.cells(check.operand).at(value) == ERROR {
            set(mask, conjuncts + check.conjunct);
        }
        clear(mask, check.conjunct);
    }
    for check in &plan.certain {
        if is_set(mask, check.conjunct) && sources.cells(check.operand).at(value) != 0 {
            clear(mask, check.conjunct);
        }
    }
}

/// Writes the cells that a state carries. A cell that no open conjunct needs is 0, so it keeps no
/// states apart.
fn carry(row: &mut [i64], words: usize, plan: &LevelPlan, sources: &Sources<'_>, value: usize) {
    let (mask, cells) = row.split_at_mut(words);
    for (cell, carried) in cells.iter_mut().zip(&plan.carried) {
        let needed = carried.users.meets(mask);
        *cell = if needed { sources.cells(carried.from).at(value) } else { 0 };
    }
}
