//! Walks a nest and gathers the counts of its properties (algorithm 1 of the paper).

use super::banks::conflict;
use super::depth::Depth;
use super::factors::{Factors, Product, add, number};
use super::footprint::{data_access, touched};
use super::lane::{distance, is_scattered, lane};
use super::operations::{count_arithmetic, count_operations};
use super::points::Piece;
use super::polynomial::{Polynomial, Ratio};
use super::property::{Property, Stride};
use super::runs::{all_groups, runs_within};
use super::subgroups::{Lanes, issues};
use crate::blocks::rows_side_by_side;
use crate::error::NestError;
use crate::ir::{AXES, Access, ArrayId, Direction, Instruction, Lookup, LoopId, Memory, Nest, Tag};
use crate::lookups::{self, LookupLoad};
use crate::schedule::{Schedule, Step};
use std::collections::{BTreeMap, BTreeSet};

/// Accesses to an array with the same distance between lanes.
#[derive(Clone, Debug)]
pub(super) struct Strided {
    pub(super) array: ArrayId,
    pub(super) bits: u32,
    pub(super) direction: Direction,
    /// Cells from one lane to the next, in units of the access. The sign does not matter.
    pub(super) distance: Polynomial,
    /// Products for the touched cells and for those with gaps filled. `None` if the distance is at
    /// most 1.
    pub(super) footprint: Option<(Product, Product)>,
    pub(super) count: Vec<Product>,
}

/// The counts of a nest.
#[derive(Clone, Debug)]
pub(super) struct Collected {
    pub(super) factors: Factors,
    pub(super) fixed: BTreeMap<Property, Vec<Product>>,
    pub(super) strided: Vec<Strided>,
    /// The longest chain of dependent operations, if requested.
    pub(super) chain: Option<Depth>,
}

impl Collected {
    pub(super) fn new(nest: &Nest) -> Self {
        Collected { factors: Factors::new(nest), fixed: BTreeMap::new(), strided: Vec::new(), chain: None }
    }

    pub(super) fn add(&mut self, property: Property, product: Product) {
        add(self.fixed.entry(property).or_default(), product);
    }
}

/// Width of the widest access to memory, in bits.
const WIDEST: u32 = 128;

/// Gathers the counts of a nest: the operations of the work-items, or the lanes that they occupy.
pub(super) fn collect(nest: &Nest, lanes: Option<Lanes>) -> Result<Collected, NestError> {
    let schedule = Schedule::new(nest)?;
    let is_modern = lanes.is_some();
    // Without work-items along axis 0, the lanes are iterations of a loop. All of them are busy.
    let lanes = lanes.filter(|_| nest.tagged(Tag::Local(0)).next().is_some());
    let mut collector = Collector {
        nest,
        local: nest.local_size()?,
        lanes,
        is_modern,
        rows: 1,
        touched: BTreeMap::new(),
        filled: BTreeMap::new(),
        found: Collected::new(nest),
    };
    let rows = match lanes {
        Some(Lanes::InBlocks(2..)) => rows_side_by_side(nest)?,
        _ => vec![1; nest.instructions.len()],
    };
    for (instruction, rows) in nest.instructions.iter().zip(rows) {
        collector.rows = rows;
        collector.instruction(instruction).map_err(|error| error.at(instruction.place))?;
    }
    for LookupLoad { lookup, within } in lookups::loads(nest) {
        let Lookup { access, place, .. } = nest.lookup(lookup);
        collector.lookup(access, &within).map_err(|error| error.at(*place))?;
    }
    collector.barriers(&schedule.steps, &BTreeSet::new())?;
    let groups = collector.found.factors.points(nest, &all_groups(nest, &BTreeSet::new()))?;
    collector.add(Property::Groups, groups);
    collector.add(Property::Launch, Product::number(1));
    Ok(collector.found)
}

/// Gathers the bytes of one array that the nest touches.
pub(super) fn collect_footprint(nest: &Nest, array: ArrayId) -> Result<Collected, NestError> {
    let mut found = Collected::new(nest);
    let axes: Vec<usize> = (0..nest.array(array).shape.len()).collect();
    let pieces = touched(nest, array, &axes, None, &mut found.factors.floors)?;
    let bytes = i128::from(nest.array(array).element.bits() / 8);
    let product = Product { coefficient: bytes, factors: vec![found.factors.push(pieces)] };
    found.add(Property::TouchedBytes, product);
    Ok(found)
}

struct Collector<'a> {
    nest: &'a Nest,
    local: [i128; AXES],
    lanes: Option<Lanes>,
    /// True if small powers are multiplications.
    is_modern: bool,
    /// Rows of work-items that run the instruction side by side.
    rows: i128,
    touched: BTreeMap<ArrayId, Product>,
    filled: BTreeMap<(ArrayId, usize), Product>,
    found: Collected,
}

impl Collector<'_> {
    fn add(&mut self, property: Property, product: Product) {
        self.found.add(property, product);
    }

    fn instruction(&mut self, instruction: &Instruction) -> Result<(), NestError> {
        let runs = self.runs(&instruction.within)?;
        let context = self.nest.array(instruction.target.array).element;
        let mut operations = BTreeMap::new();
        if self.is_modern {
            count_arithmetic(self.nest, instruction.computed(), context, &mut operations);
        } else {
            count_operations(self.nest, instruction.computed(), context, &mut operations);
        }
        let property = if self.is_modern { Property::Arithmetic } else { Property::Operations };
        for ((operation, kind), times) in operations {
            self.add(property(operation, kind), runs.scaled(times));
        }
        if let Some((operation, _)) = instruction.update() {
            let stride = self.contention(&instruction.within, &instruction.target);
            let memory = self.nest.array(instruction.target.array).memory;
            self.add(Property::Atomic(operation, context, memory, stride), runs.clone());
        }
        for (access, place, direction) in instruction.plain_accesses() {
            self.access(&instruction.within, access, direction, &runs).map_err(|error| error.at(place))?;
        }
        Ok(())
    }

    /// Returns the class of the distance between the cells that neighbouring lanes update.
    fn contention(&self, within: &BTreeSet<LoopId>, target: &Access) -> Stride {
        let Some(lane) = lane(self.nest, within) else { return Stride::Uniform };
        match number(&distance(self.nest, target, lane)).map(i128::abs) {
            _ if is_scattered(self.nest, target, lane) => Stride::Data,
            Some(0) => Stride::Uniform,
            Some(1) => Stride::Unit,
            _ => Stride::Wide(4),
        }
    }

    fn lookup(&mut self, access: &Access, within: &BTreeSet<LoopId>) -> Result<(), NestError> {
        let runs = self.runs(within)?;
        self.access(within, access, Direction::Load, &runs)
    }

    /// Returns the number of times that work-items are at the points of the loops `within`, or the
    /// number of lanes that these occupy.
    fn runs(&mut self, within: &BTreeSet<LoopId>) -> Result<Product, NestError> {
        match self.lanes.filter(|lanes| lanes.width() > 1) {
            None => runs_within(self.nest, within, self.local, &mut self.found.factors),
            Some(lanes) => {
                let within = all_groups(self.nest, within);
                let issues = issues(self.nest, &within, self.local, lanes, &mut self.found.factors)?;
                Ok(issues.scaled(lanes.width()))
            }
        }
    }

    /// Returns the number of lanes occupied if one vector of each row does the work.
    fn once_per_row(&mut self, within: &BTreeSet<LoopId>, runs: &Product) -> Result<Product, NestError> {
        let row = u32::try_from(self.local[0]).unwrap_or(u32::MAX);
        let Some(lanes @ (Lanes::InRows(2..) | Lanes::InBlocks(2..))) = self.lanes else { return Ok(runs.clone()) };
        let within = all_groups(self.nest, within);
        let rows = issues(self.nest, &within, self.local, Lanes::InRows(row), &mut self.found.factors)?;
        Ok(rows.scaled(lanes.width()))
    }

    /// Returns the number of lanes occupied if each block of rows does the work of one row, or of
    /// one vector of the row with `is_shared`. Blocks count as whole, even if rows of the
    /// work-group are idle.
    fn once_per_block(&mut self, within: &BTreeSet<LoopId>, is_shared: bool) -> Result<Product, NestError> {
        let [x, y, z] = self.local;
        let width = self.lanes.map_or(1, Lanes::width);
        let within = all_groups(self.nest, within);
        let group = Lanes::Numbered(u32::try_from(x * y * z).unwrap_or(u32::MAX));
        let groups = issues(self.nest, &within, self.local, group, &mut self.found.factors)?;
        let vectors = if is_shared { 1 } else { (x + width - 1) / width };
        Ok(groups.scaled(vectors * width * (y / self.rows) * z))
    }

    fn access(
        &mut self,
        within: &BTreeSet<LoopId>,
        access: &Access,
        direction: Direction,
        runs: &Product,
    ) -> Result<(), NestError> {
        let array = self.nest.array(access.array);
        if !matches!(array.memory, Memory::Global | Memory::Local) {
            return Ok(());
        }
        let lane = lane(self.nest, within);
        let is_scattered = lane.is_some_and(|lane| is_scattered(self.nest, access, lane));
        let cells = lane.map_or(Polynomial::default(), |lane| distance(self.nest, access, lane));
        let is_shared = direction == Direction::Load && !is_scattered && cells == Polynomial::default();
        let is_same_in_rows = || {
            let row = self.nest.loop_with(within, Tag::Local(1));
            row.is_none_or(|row| distance(self.nest, access, row) == Polynomial::default())
        };
        let runs = if self.rows > 1 && direction == Direction::Load && !is_scattered && is_same_in_rows() {
            &self.once_per_block(within, is_shared)?
        } else if is_shared {
            &self.once_per_row(within, runs)?
        } else {
            runs
        };
        let (width, product) = self.widened(within, access, runs);
        match (array.memory, direction) {
            (Memory::Local, Direction::Load) => {
                let property = self.local_load(within, access, array.element.bits() * width, &cells)?;
                self.add(property, product);
                Ok(())
            }
            (Memory::Global, _) if is_scattered => {
                self.add(Property::Global(array.element.bits() * width, direction, Stride::Data), product);
                Ok(())
            }
            (Memory::Global, _) => {
                self.global(access, direction, lane, (width, &cells.scaled(Ratio::new(1, width.into()))), product)
            }
            _ => Ok(()),
        }
    }

    /// Adds accesses to global memory of `width` cells at once. The cells of neighbouring lanes are
    /// `distance` accesses apart.
    fn global(
        &mut self,
        access: &Access,
        direction: Direction,
        lane: Option<LoopId>,
        (width, distance): (u32, &Polynomial),
        product: Product,
    ) -> Result<(), NestError> {
        let bits = self.nest.array(access.array).element.bits() * width;
        let is_dense = number(distance).is_some_and(|distance| distance.abs() <= 1);
        if lane.is_some() && !is_dense && data_access(self.nest, access.array).is_some() {
            self.add(Property::Global(bits, direction, Stride::Data), product);
            return Ok(());
        }
        let same = |known: &&mut Strided| {
            (known.array, known.bits, known.direction) == (access.array, bits, direction) && known.distance == *distance
        };
        if let Some(known) = self.found.strided.iter_mut().find(same) {
            add(&mut known.count, product);
            return Ok(());
        }
        let footprint = match lane {
            Some(lane) if !is_dense => Some(self.footprint(access, lane)?),
            _ => None,
        };
        let (array, distance, count) = (access.array, distance.clone(), vec![product]);
        self.found.strided.push(Strided { array, bits, direction, distance, footprint, count });
        Ok(())
    }

    /// Returns the property of a load from local memory with lanes at this distance in cells.
    fn local_load(
        &self,
        within: &BTreeSet<LoopId>,
        access: &Access,
        bits: u32,
        cells: &Polynomial,
    ) -> Result<Property, NestError> {
        Ok(match self.lanes {
            None => Property::LocalLoads(bits),
            Some(Lanes::Numbered(_)) => {
                Property::Banks(bits, Direction::Load, conflict(self.nest, within, access, self.local)?)
            }
            Some(Lanes::InRows(_) | Lanes::InBlocks(_)) => {
                // If the shape depends on sizes, lanes count as far apart.
                let distance = number(cells).map_or(i128::MAX, i128::abs);
                Property::StridedLocalLoads(bits, Stride::classify(distance, 1, 1))
            }
        })
    }

    /// Returns the number of neighbouring cells that one access of a vector loop takes at once, and
    /// the number of accesses.
    fn widened(&self, within: &BTreeSet<LoopId>, access: &Access, runs: &Product) -> (u32, Product) {
        let element = self.nest.array(access.array).element.bits();
        for id in within.iter().filter(|id| self.nest.loop_at(**id).tag == Tag::Vector) {
            let is_whole = self.nest.loop_at(*id).constraints.iter().all(|bound| bound.terms().count() == 1);
            let extent = self.nest.constant_extent(*id).ok().and_then(|extent| u32::try_from(extent).ok());
            let Some(extent) = extent.filter(|extent| is_whole && runs.coefficient % i128::from(*extent) == 0) else {
                continue;
            };
            let once = Product { coefficient: runs.coefficient / i128::from(extent), factors: runs.factors.clone() };
            match number(&distance(self.nest, access, *id)) {
                Some(0) => return (1, once),
                Some(1) if [64, WIDEST].contains(&(extent * element)) => return (extent, once),
                _ => {}
            }
        }
        (1, runs.clone())
    }

    fn footprint(&mut self, access: &Access, lane: LoopId) -> Result<(Product, Product), NestError> {
        let array = self.nest.array(access.array);
        let order = array.layout.order.clone();
        let moves = |axis: &usize| access.subscripts[*axis].uses(lane);
        let position = order.iter().position(moves).unwrap_or(0);
        let axis = order[position];
        let known = self.touched.get(&access.array).cloned();
        let cells = match known {
            Some(known) => known,
            None => {
                let product = self.touched_cells(access.array, &(0..order.len()).collect::<Vec<_>>(), None)?;
                self.touched.insert(access.array, product.clone());
                product
            }
        };
        if let Some(filled) = self.filled.get(&(access.array, axis)) {
            return Ok((cells, filled.clone()));
        }
        // Between two lanes lies the whole extent of the axes that are denser than the axis of the
        // lanes.
        let mut filled = self.touched_cells(access.array, &order[..=position], Some(axis))?;
        let between = array.stride(axis).iter().map(Polynomial::from).fold(Polynomial::constant(1), |a, b| a.times(&b));
        filled.factors.push(self.found.factors.push(vec![Piece { conditions: Vec::new(), count: between }]));
        self.filled.insert((access.array, axis), filled.clone());
        Ok((cells, filled))
    }

    fn touched_cells(&mut self, array: ArrayId, axes: &[usize], filled: Option<usize>) -> Result<Product, NestError> {
        let pieces = touched(self.nest, array, axes, filled, &mut self.found.factors.floors)?;
        let factor = self.found.factors.push(pieces);
        Ok(Product { coefficient: 1, factors: vec![factor] })
    }

    fn barriers(&mut self, steps: &[Step], around: &BTreeSet<LoopId>) -> Result<(), NestError> {
        for step in steps {
            match step {
                Step::Run(_) => {}
                Step::Loop(id, body) => {
                    let around = around.iter().copied().chain([*id]).collect();
                    self.barriers(body, &around)?;
                }
                Step::Barrier => {
                    let within = all_groups(self.nest, &self.nest.closed(around.iter().copied()));
                    let met = self.found.factors.points(self.nest, &within)?;
                    self.add(Property::Barriers, met.scaled(self.local.iter().product()));
                }
            }
        }
        Ok(())
    }
}
