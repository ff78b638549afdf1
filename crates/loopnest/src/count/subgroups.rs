//! Counts the instructions that sub-groups issue.

use super::factors::{Factors, Product};
use super::image::cells;
use super::runs::repeated;
use super::union::different;
use crate::error::NestError;
use crate::ir::{AXES, Affine, LoopId, Nest, Tag, Var};
use std::collections::BTreeSet;

/// The lanes of today's GPUs. The last sub-group of a work-group may be smaller.
pub(super) const WARP: Lanes = Lanes::Numbered(32);

/// The work-items of a work-group that run together. With a width of 1 each runs alone, and no lane
/// is ever idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// This many in the order of their numbers, along axis 0 first: sub-groups of GPUs.
    Numbered(u32),
    /// This many neighbours of a row along axis 0: vectors of processors. A load that all
    /// work-items of a row share happens once.
    InRows(u32),
    /// The same, for blocks of [rows that generated C runs side by
    /// side](crate::blocks::rows_side_by_side). A load that the rows of a block share happens once.
    InBlocks(u32),
}

impl Default for Lanes {
    /// Returns lanes in which each work-item runs alone.
    fn default() -> Self {
        Lanes::InRows(1)
    }
}

impl Lanes {
    /// Returns the same numbering, with work-items that run alone.
    pub fn alone(self) -> Self {
        match self {
            Lanes::Numbered(_) => Lanes::Numbered(1),
            Lanes::InRows(_) => Lanes::InRows(1),
            Lanes::InBlocks(_) => Lanes::InBlocks(1),
        }
    }

    /// Returns the number of work-items that run together.
    pub fn width(self) -> i128 {
        match self {
            Lanes::Numbered(width) | Lanes::InRows(width) | Lanes::InBlocks(width) => i128::from(width.max(1)),
        }
    }

    /// Returns the number of axes along which work-items are numbered.
    fn axes(self) -> usize {
        match self {
            Lanes::Numbered(_) => AXES,
            Lanes::InRows(_) | Lanes::InBlocks(_) => 1,
        }
    }
}

/// Returns the number of pairs of a point of the loops `within` and a sub-group with a lane at that
/// point.
///
/// `within` has a loop for every axis of work-groups.
///
/// # Errors
///
/// Fails if the sub-groups with such a lane cannot be determined exactly.
pub(super) fn issues(
    nest: &Nest,
    within: &BTreeSet<LoopId>,
    local: [i128; AXES],
    lanes: Lanes,
    factors: &mut Factors,
) -> Result<Product, NestError> {
    let beside = beside_lanes(nest, within, lanes);
    let repeated = repeated(nest, within, local, lanes.axes());
    let (others, within): (BTreeSet<LoopId>, BTreeSet<LoopId>) =
        within.iter().copied().partition(|id| !beside.contains(id));
    let mut product = factors.points(nest, &others)?.scaled(repeated);
    product.factors.push(of_lanes(nest, &within, local, lanes, factors)?);
    product.factors.sort_unstable();
    Ok(product)
}

/// Returns the loops that share bounds with the work-item loops, directly or through others.
fn beside_lanes(nest: &Nest, within: &BTreeSet<LoopId>, lanes: Lanes) -> BTreeSet<LoopId> {
    let is_local = |id: &LoopId| matches!(nest.loop_at(*id).tag, Tag::Local(axis) if usize::from(axis) < lanes.axes());
    let mut joined: BTreeSet<LoopId> = within.iter().copied().filter(is_local).collect();
    let bounds = nest.domain(within);
    loop {
        let known = joined.len();
        for bound in &bounds {
            if bound.loops().any(|id| joined.contains(&id)) {
                joined.extend(bound.loops());
            }
        }
        if joined.len() == known {
            return joined;
        }
    }
}

/// Returns the factor that counts the points of loops and of sub-groups.
fn of_lanes(
    nest: &Nest,
    within: &BTreeSet<LoopId>,
    local: [i128; AXES],
    together: Lanes,
    factors: &mut Factors,
) -> Result<usize, NestError> {
    let width = together.width();
    let mut fresh = (nest.loops.len()..).map(LoopId);
    let mut bounds = nest.domain(within);
    let mut loops: BTreeSet<LoopId> = within.clone();
    let mut lanes = Vec::new();
    let mut stride = 1;
    for (axis, extent) in local.into_iter().enumerate().take(together.axes()) {
        let own = within.iter().copied().find(|id| nest.loop_at(*id).tag == Tag::Local(axis as u8));
        let lane = own.or_else(|| fresh.next()).unwrap_or(LoopId(0));
        bounds.extend(range(lane, extent));
        loops.insert(lane);
        lanes.push((lane, stride));
        stride *= extent;
    }
    let [sub_group, place] = [fresh.next(), fresh.next()].map(|id| id.unwrap_or(LoopId(0)));
    bounds.extend(range(sub_group, (stride + width - 1) / width));
    bounds.extend(range(place, width));
    // width * sub_group + place is the number of the work-item. This gives the lane along axis 0.
    let mut first = Affine::term(Var::Loop(sub_group), width);
    first.add_term(Var::Loop(place), 1);
    let others = lanes[1..].iter().fold(first, |sum, (lane, stride)| &sum - &Affine::term(Var::Loop(*lane), *stride));
    bounds.iter_mut().for_each(|bound| *bound = bound.substitute(Var::Loop(lanes[0].0), &others));
    loops.remove(&lanes[0].0);
    loops.extend([sub_group, place]);
    let is_lane = |id: &LoopId| lanes.iter().any(|(lane, _)| lane == id);
    let kept: Vec<Affine> =
        within.iter().copied().filter(|id| !is_lane(id)).chain([sub_group]).map(Affine::from).collect();
    let loops: Vec<LoopId> = loops.into_iter().collect();
    let coordinates = fresh.next().unwrap_or(LoopId(0));
    let sets = cells(bounds, &loops, &kept, coordinates, &mut factors.floors)?;
    let pieces = different(sets, &mut factors.floors)?;
    Ok(factors.found(pieces))
}

/// Returns the bounds of a loop from 0 to `extent - 1`.
fn range(id: LoopId, extent: i128) -> [Affine; 2] {
    let index = Affine::from(id);
    [(-&index).plus(extent - 1), index]
}
