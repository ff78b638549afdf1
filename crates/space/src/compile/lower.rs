//! Rewrites terms for one order of parameters.
//!
//! An operation with many operands becomes a chain that takes its operands in the order in which
//! they become known. The known part is then always one number, an accumulator. Limits are solved
//! for the part that becomes known last ([`super::residual`]).

use crate::hash::Map;

use super::graph::{Graph, Id, Op};

/// The levels of the first and the last parameter that each term depends on. A term is known from
/// its last level on.
#[derive(Debug)]
pub(crate) struct Levels {
    /// The level of the parameter at each place of the group.
    of_place: Vec<usize>,
    spans: Vec<Option<(usize, usize)>>,
}

impl Levels {
    /// Returns the levels for `places` parameters. Level `i` holds the parameter at place
    /// `order[i]`.
    pub(crate) fn new(order: &[usize], places: usize) -> Levels {
        let mut of_place = vec![0; places];
        order.iter().enumerate().for_each(|(level, &place)| of_place[place] = level);
        Levels { of_place, spans: Vec::new() }
    }

    /// Returns the first and the last level of a term, or `None` for a constant.
    pub(crate) fn span(&mut self, graph: &Graph, id: Id) -> Option<(usize, usize)> {
        while self.spans.len() <= id.0 as usize {
            let term = graph.term(Id(self.spans.len() as u32));
            let span = match term.op {
                Op::Parameter(place) => Some((self.of_place[place as usize], self.of_place[place as usize])),
                _ => term
                    .args
                    .iter()
                    .filter_map(|arg| self.spans[arg.0 as usize])
                    .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))),
            };
            self.spans.push(span);
        }
        self.spans[id.0 as usize]
    }

    /// Returns true if the term is known once `level` has a value.
    pub(crate) fn known(&mut self, graph: &Graph, id: Id, level: usize) -> bool {
        self.span(graph, id).is_none_or(|(_, last)| last <= level)
    }

    /// Returns true if no part of the term is known until the level after `level`.
    pub(crate) fn unknown(&mut self, graph: &Graph, id: Id, level: usize) -> bool {
        self.span(graph, id).is_some_and(|(first, _)| first > level)
    }
}

/// Maximum number of operands of a chain. A list of allowed values may have thousands.
const LONGEST_CHAIN: usize = 100;

/// Rewrites terms for an order of parameters.
pub(crate) struct Lowering<'a> {
    pub(crate) graph: &'a mut Graph,
    pub(crate) levels: &'a mut Levels,
    pub(crate) done: Map<Id, Id>,
}

impl Lowering<'_> {
    /// Returns a term with the value of `id`, in the form for this order.
    pub(crate) fn lower(&mut self, id: Id) -> Id {
        if let Some(&lowered) = self.done.get(&id) {
            return lowered;
        }
        let lowered = self.rewrite(id);
        self.done.insert(id, lowered);
        lowered
    }

    fn rewrite(&mut self, id: Id) -> Id {
        let term = self.graph.term(id).clone();
        if let (Op::LessEqual, [left, right]) = (term.op, &term.args[..])
            && let Some(lowered) = self.solved(*left, *right)
        {
            return lowered;
        }
        let args: Vec<Id> = term.args.iter().map(|&arg| self.lower(arg)).collect();
        match term.op {
            Op::Constant(_) | Op::FloatConstant(_) | Op::DatumConstant(_) | Op::Parameter(_) => id,
            Op::And | Op::Or if term.fallible => self.fold(term.op, &args),
            Op::Sum | Op::Product | Op::And | Op::Or | Op::Min | Op::Max => {
                let groups: Vec<Id> = self.by_level(args).into_iter().map(|group| self.fold(term.op, &group)).collect();
                self.fold(term.op, &groups)
            }
            Op::Tree(_) => self.graph.again(id, &args),
            op => self.graph.apply(op, &args).unwrap_or(id),
        }
    }

    fn fold(&mut self, op: Op, args: &[Id]) -> Id {
        self.try_fold(op, args).expect("a part of what fits does fit")
    }

    /// Joins operands from the first to the last. Walks recurse along the chain, so that a long one is
    /// made of shorter ones.
    pub(super) fn try_fold(&mut self, op: Op, args: &[Id]) -> Option<Id> {
        if args.len() > LONGEST_CHAIN {
            let parts = args.chunks(args.len().div_ceil(LONGEST_CHAIN)).map(|part| self.try_fold(op, part));
            let parts: Vec<Id> = parts.collect::<Option<_>>()?;
            return self.try_fold(op, &parts);
        }
        args[1..].iter().try_fold(args[0], |chain, &arg| self.graph.apply(op, &[chain, arg]))
    }

    /// Groups the operands by the level at which they become known. Constants come first.
    fn by_level(&mut self, args: Vec<Id>) -> Vec<Vec<Id>> {
        let mut keyed: Vec<_> = Vec::with_capacity(args.len());
        for arg in args {
            // Within a level, the operands that depend on nothing else come first. They are
            // tabulated.
            let span = self.levels.span(self.graph, arg);
            keyed.push((span.map(|(first, last)| (last, first != last)), arg));
        }
        keyed.sort_unstable();
        let level = |key: &Option<(usize, bool)>| key.map(|key| key.0);
        let groups = keyed.chunk_by(|a, b| level(&a.0) == level(&b.0));
        groups.map(|group| group.iter().map(|(_, arg)| *arg).collect()).collect()
    }
}
