//! Counts as sums of products of factors, each factor counted once.

use super::floors::Floors;
use super::points::{Piece, count_points};
use super::polynomial::Polynomial;
use crate::error::NestError;
use crate::ir::{Affine, LoopId, Nest};
use std::collections::{BTreeMap, BTreeSet};

/// `coefficient * product of factors`. A factor is a number in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Product {
    pub(super) coefficient: i128,
    pub(super) factors: Vec<usize>,
}

impl Product {
    pub(super) fn number(coefficient: i128) -> Self {
        Product { coefficient, factors: Vec::new() }
    }

    pub(super) fn scaled(&self, factor: i128) -> Self {
        Product { coefficient: self.coefficient * factor, factors: self.factors.clone() }
    }
}

/// Adds a product to a sum.
pub(super) fn add(sum: &mut Vec<Product>, product: Product) {
    match sum.iter_mut().find(|known| known.factors == product.factors) {
        Some(known) => known.coefficient += product.coefficient,
        None => sum.push(product),
    }
}

/// Factors by number, with the floors they use.
#[derive(Clone, Debug)]
pub(super) struct Factors {
    pub(super) floors: Floors,
    pub(super) pieces: Vec<Vec<Piece>>,
    /// The factors that count points, by their bounds with loops numbered from 0.
    points: BTreeMap<Vec<Affine>, usize>,
}

impl Factors {
    pub(super) fn new(nest: &Nest) -> Self {
        Factors { floors: Floors::new(&nest.assumptions), pieces: Vec::new(), points: BTreeMap::new() }
    }

    /// Appends a factor.
    pub(super) fn push(&mut self, pieces: Vec<Piece>) -> usize {
        self.pieces.push(pieces);
        self.pieces.len() - 1
    }

    /// Returns the number of points of the loops `within`: a product over groups of loops that no
    /// bound joins.
    pub(super) fn points(&mut self, nest: &Nest, within: &BTreeSet<LoopId>) -> Result<Product, NestError> {
        let (data, within) = apart_from_data(nest, within)?;
        let mut product = Product::number(1);
        for id in data {
            product.factors.push(self.average(nest, id)?);
        }
        for loops in joined_loops(nest, &within) {
            let bounds = nest.domain(&loops);
            let factor = self.factor(&bounds, &loops).map_err(|error| {
                let names: Vec<&str> = loops.iter().map(|id| nest.loop_at(*id).name.as_str()).collect();
                let place = loops.first().and_then(|id| nest.loop_at(*id).place);
                let why = error.message;
                NestError::new(format!("the points of {} cannot be counted: {why}", names.join(", "))).at(place)
            })?;
            self.multiply(&mut product, factor);
        }
        product.factors.sort_unstable();
        Ok(product)
    }

    /// Returns the number of points of the loops `within` that satisfy these bounds: a product over groups of
    /// loops that no bound joins.
    pub(super) fn points_within(
        &mut self,
        bounds: Vec<Affine>,
        within: &BTreeSet<LoopId>,
    ) -> Result<Product, NestError> {
        let (conditions, bounds): (Vec<Affine>, Vec<Affine>) =
            bounds.into_iter().partition(|bound| bound.loops().next().is_none());
        let mut product = Product::number(1);
        let none = (conditions, BTreeSet::new());
        let joined = joined(within, bounds.iter().map(|bound| bound.loops().collect()));
        let of = |loops: BTreeSet<LoopId>| {
            let own = bounds.iter().filter(|bound| bound.loops().any(|id| loops.contains(&id))).cloned();
            (own.collect::<Vec<Affine>>(), loops)
        };
        for (bounds, loops) in joined.into_iter().map(of).chain([none]) {
            let factor = self.factor(&bounds, &loops)?;
            self.multiply(&mut product, factor);
        }
        product.factors.sort_unstable();
        Ok(product)
    }

    /// Multiplies a product by a factor, which may be a number.
    fn multiply(&self, product: &mut Product, factor: usize) {
        match constant(&self.pieces[factor]) {
            Some(number) => product.coefficient *= number,
            None => product.factors.push(factor),
        }
    }

    /// Returns the iterations of a loop with bounds that depend on data, as the user states them.
    pub(super) fn average(&mut self, nest: &Nest, id: LoopId) -> Result<usize, NestError> {
        let own = nest.loop_at(id);
        let average = nest.statistics.get(&id).ok_or_else(|| {
            let name = &own.name;
            NestError::new(format!("the number of iterations of `{name}` depends on data"))
                .remedy(format!("say how many there are on average: `statistic {name} = 16`, or a sum of sizes"))
                .at(own.place)
        })?;
        Ok(self.found(vec![Piece { conditions: Vec::new(), count: Polynomial::from(average) }]))
    }

    fn factor(&mut self, bounds: &[Affine], loops: &BTreeSet<LoopId>) -> Result<usize, NestError> {
        let numbers: BTreeMap<LoopId, LoopId> = loops.iter().enumerate().map(|(at, id)| (*id, LoopId(at))).collect();
        let mut key: Vec<Affine> = bounds.iter().map(|bound| bound.renumbered(|id| numbers[&id])).collect();
        key.sort();
        if let Some(known) = self.points.get(&key) {
            return Ok(*known);
        }
        let loops: Vec<LoopId> = (0..loops.len()).map(LoopId).collect();
        let pieces = count_points(&key, &loops, &mut self.floors)?;
        let factor = self.found(pieces);
        self.points.insert(key, factor);
        Ok(factor)
    }

    /// Returns the factor with these pieces. Different bounds often have the same count, such as
    /// those of a loop and of the loop after a split.
    pub(super) fn found(&mut self, pieces: Vec<Piece>) -> usize {
        self.pieces.iter().position(|known| *known == pieces).unwrap_or_else(|| self.push(pieces))
    }
}

/// Returns the value of a factor that does not depend on the sizes.
pub(super) fn constant(pieces: &[Piece]) -> Option<i128> {
    match pieces {
        [] => Some(0),
        [piece] if piece.conditions.is_empty() => number(&piece.count),
        _ => None,
    }
}

/// Returns the value of a polynomial that is an integer constant.
pub(super) fn number(polynomial: &Polynomial) -> Option<i128> {
    let mut terms = polynomial.terms();
    match (terms.next(), terms.next()) {
        (None, _) => Some(0),
        (Some((monomial, ratio)), None) if monomial.is_empty() && ratio.denominator == 1 => Some(ratio.numerator),
        _ => None,
    }
}

/// Returns the loops whose bounds depend on data, and the others.
///
/// # Errors
///
/// Fails if a bound of the others uses one of the former.
pub(super) fn apart_from_data(
    nest: &Nest,
    within: &BTreeSet<LoopId>,
) -> Result<(BTreeSet<LoopId>, BTreeSet<LoopId>), NestError> {
    let (data, others): (BTreeSet<LoopId>, BTreeSet<LoopId>) =
        within.iter().copied().partition(|id| nest.depends_on_data(*id));
    let uses_data = |id: &&LoopId| nest.loop_at(**id).constraints.iter().any(|sum| data.iter().any(|id| sum.uses(*id)));
    match others.iter().find(uses_data) {
        None => Ok((data, others)),
        Some(id) => {
            let own = nest.loop_at(*id);
            Err(NestError::new(format!("the bounds of `{}` use a loop that depends on data", own.name)).at(own.place))
        }
    }
}

/// Returns the loops in groups. No bound has loops of two groups.
fn joined_loops(nest: &Nest, within: &BTreeSet<LoopId>) -> Vec<BTreeSet<LoopId>> {
    joined(
        within,
        within.iter().flat_map(|id| {
            let used = |bound: &Affine| bound.loops().chain([*id]).collect();
            nest.loop_at(*id).constraints.iter().map(used)
        }),
    )
}

/// Returns the loops in groups, where the loops that one bound uses are in one group.
fn joined(within: &BTreeSet<LoopId>, used: impl Iterator<Item = BTreeSet<LoopId>>) -> Vec<BTreeSet<LoopId>> {
    let mut groups: Vec<BTreeSet<LoopId>> = Vec::new();
    for mut group in within.iter().map(|id| BTreeSet::from([*id])).chain(used) {
        groups.retain(|other| {
            let apart = other.is_disjoint(&group);
            if !apart {
                group.extend(other);
            }
            apart
        });
        groups.push(group);
    }
    groups
}
