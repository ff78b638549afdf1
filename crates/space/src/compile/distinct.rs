//! Parameters that all differ from each other.
//!
//! With pairwise `a != b`, nodes would carry every value taken so far, in order. Only the set of
//! these values matters, so nodes carry a mask.

use super::graph::{Graph, Id, Op};
use super::lower::Lowering;

/// Maximum number of whole numbers that a mask covers.
const MOST_VALUES: i64 = 62;

/// Minimum number of parameters. A pair carries one value either way.
const LEAST_MEMBERS: usize = 3;

impl Lowering<'_> {
    /// Replaces the conditions among `roots` that make three or more parameters differ from each
    /// other. The new conditions, one per parameter, require that its value is not taken yet.
    /// Returns the index of each replaced condition and its replacement.
    pub(super) fn all_different(&mut self, roots: &[Id]) -> Vec<(usize, Id)> {
        let mut pairs: Vec<(usize, [Id; 2])> =
            roots.iter().enumerate().filter_map(|(index, &root)| Some((index, differing(self.graph, root)?))).collect();
        let mut replaced = Vec::new();
        while let Some(clique) = largest_clique(&pairs) {
            let within = |(_, pair): &(usize, [Id; 2])| pair.iter().all(|member| clique.contains(member));
            let (own, others): (Vec<_>, Vec<_>) = pairs.into_iter().partition(within);
            pairs = others;
            if let Some(conditions) = self.untaken(clique) {
                // There are at least as many pairs as members.
                let conditions = conditions.into_iter().chain(std::iter::repeat(self.graph.int(1)));
                replaced.extend(own.iter().map(|(index, _)| *index).zip(conditions));
            }
        }
        replaced
    }

    /// Returns, for each member but the first in the order of levels, the condition that its value
    /// differs from the values of the members before it.
    fn untaken(&mut self, mut members: Vec<Id>) -> Option<Vec<Id>> {
        members.sort_by_key(|&member| self.levels.span(self.graph, member));
        let ranges: Option<Vec<(i64, i64)>> = members.iter().map(|&member| self.graph.int_range(member)).collect();
        let ranges = ranges?;
        let low = ranges.iter().map(|range| range.0).min()?;
        if ranges.iter().any(|range| range.1 - low >= MOST_VALUES) {
            return None;
        }
        let low = self.graph.int(low);
        let mut taken: Option<Id> = None;
        let mut conditions = Vec::with_capacity(members.len());
        for member in members {
            let own = self.graph.apply(Op::Bit, &[member, low])?;
            taken = Some(match taken {
                None => own,
                Some(before) => {
                    conditions.push(self.graph.apply(Op::Disjoint, &[before, own])?);
                    self.graph.apply(Op::Union, &[before, own])?
                }
            });
        }
        Some(conditions)
    }
}

/// Returns the two parameters that `root` makes differ, or `None` if it is any other condition.
fn differing(graph: &Graph, root: Id) -> Option<[Id; 2]> {
    let term = graph.term(root);
    let equal = graph.term(*term.args.first()?);
    let &[a, b] = &equal.args[..] else { return None };
    let is_parameter = |id: Id| matches!(graph.term(id).op, Op::Parameter(_));
    (term.op == Op::Not && equal.op == Op::Equal && is_parameter(a) && is_parameter(b)).then_some([a, b])
}

/// Returns a set of parameters all of whose pairs are among `pairs`. The set is as large as a
/// simple search finds it.
fn largest_clique(pairs: &[(usize, [Id; 2])]) -> Option<Vec<Id>> {
    let joined = |a: Id, b: Id| pairs.iter().any(|(_, pair)| *pair == [a.min(b), a.max(b)]);
    let mut members: Vec<Id> = pairs.iter().flat_map(|(_, pair)| *pair).collect();
    members.sort_unstable();
    members.dedup();
    let from = |&start: &Id| {
        let mut clique = vec![start];
        for &member in &members {
            if clique.iter().all(|&other| other != member && joined(other, member)) {
                clique.push(member);
            }
        }
        clique
    };
    // Take the first of several, so that the choice depends on nothing else.
    let cliques: Vec<Vec<Id>> = members.iter().map(from).collect();
    let most = cliques.iter().map(Vec::len).max().filter(|&most| most >= LEAST_MEMBERS)?;
    cliques.into_iter().find(|clique| clique.len() == most)
}
