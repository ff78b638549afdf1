//! Finds the cut of one column with the largest gain.

use super::split::Sums;
use super::tree::Test;
use crate::table::Kind;
use rand::RngExt as _;

/// The rows of a node that have the same value.
struct Group {
    value: f64,
    sums: Sums,
}

/// Returns the question about a column that lowers the sum of squares most, with at least `min_leaf`
/// rows on each side, from the values and the targets of a node's rows. Missing values do not count.
///
/// A threshold is drawn between the two values that it separates: midway, all trees of a forest would
/// agree about values that do not occur. Levels are put in the order of their mean targets, in which
/// the best subset is a beginning (Breiman et al., Classification and regression trees, 1984,
/// section 4.2.2). Levels that do not occur go to a random side.
pub(super) fn best_cut(
    kind: &Kind,
    rows: impl Iterator<Item = (f64, f64)>,
    min_leaf: usize,
    rng: &mut impl rand::Rng,
) -> Option<Test> {
    let present = rows.filter(|(value, _)| !value.is_nan());
    let groups = match kind {
        Kind::Ordinal => by_value(present.collect()),
        Kind::Categorical(levels) => by_mean(levels.len(), present),
    };
    let count = best_beginning(&groups, min_leaf)?;
    Some(match kind {
        Kind::Ordinal => Test::AtMost(between(groups[count - 1].value, groups[count].value, rng)),
        Kind::Categorical(levels) => Test::OneOf(subset(levels.len(), &groups, count, rng)),
    })
}

/// Puts the rows of each level together, in ascending order of their mean targets.
fn by_mean(levels: usize, rows: impl Iterator<Item = (f64, f64)>) -> Vec<Group> {
    let mut sums = vec![Sums::default(); levels];
    rows.for_each(|(level, target)| sums[level as usize] += Sums { sum: target, count: 1.0 });
    let groups = sums.into_iter().enumerate().map(|(level, sums)| Group { value: level as f64, sums });
    let mut groups: Vec<Group> = groups.filter(|group| group.sums.count > 0.0).collect();
    groups.sort_by(|a, b| a.sums.value(0.0).total_cmp(&b.sums.value(0.0)));
    groups
}

/// Puts the rows with equal values together, in ascending order.
fn by_value(mut rows: Vec<(f64, f64)>) -> Vec<Group> {
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut groups: Vec<Group> = Vec::new();
    for (value, target) in rows {
        let sums = Sums { sum: target, count: 1.0 };
        match groups.last_mut() {
            Some(last) if last.value == value => last.sums += sums,
            _ => groups.push(Group { value, sums }),
        }
    }
    groups
}

/// Returns the number of groups on the side of the yes of the best cut, or `None` if each side cannot
/// have `min_leaf` rows.
fn best_beginning(groups: &[Group], min_leaf: usize) -> Option<usize> {
    let mut total = Sums::default();
    groups.iter().for_each(|group| total += group.sums);
    let (mut yes, mut best) = (Sums::default(), None::<(usize, f64)>);
    for (at, group) in groups.iter().enumerate().take(groups.len().saturating_sub(1)) {
        yes += group.sums;
        let no = total - yes;
        let explained = yes.explained(0.0) + no.explained(0.0);
        let is_allowed = yes.count.min(no.count) >= min_leaf as f64;
        if is_allowed && best.is_none_or(|(_, most)| explained > most) {
            best = Some((at + 1, explained));
        }
    }
    best.map(|(count, _)| count)
}

/// Returns the levels of the first `count` groups and a random half of those that do not occur, in
/// ascending order.
fn subset(levels: usize, groups: &[Group], count: usize, rng: &mut impl rand::Rng) -> Vec<usize> {
    let mut side: Vec<Option<bool>> = vec![None; levels];
    groups.iter().enumerate().for_each(|(at, group)| side[group.value as usize] = Some(at < count));
    (0..levels).filter(|&level| side[level].unwrap_or_else(|| rng.random())).collect()
}

/// Returns a uniformly random threshold that separates two numbers.
pub(super) fn between(low: f64, high: f64, rng: &mut impl rand::Rng) -> f64 {
    let (low, high) = (low.max(f64::MIN), high.min(f64::MAX));
    let part: f64 = rng.random();
    let threshold = low * (1.0 - part) + high * part;
    if (low..high).contains(&threshold) { threshold } else { low }
}
