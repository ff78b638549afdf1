//! The values that instructions take from each other in the body of a loop, and those that the loop
//! carries from one iteration to the next.

use super::length::Length;
use super::waiting::{Link, paths};
use crate::ir::{AXES, Access, Affine, Instruction, LoopId, Nest, Tag, Var};
use crate::schedule::Instances;
use crate::transform::dependence::covers;
use std::collections::BTreeSet;

/// Number of iterations up to which a value is followed from its instruction to a later one.
const FARTHEST: usize = 4;

/// Number of iterations over which the growth is averaged. Cycles of values that take 1, 2, 3, 4, 6
/// or 12 iterations are exact.
pub(super) const PERIOD: usize = 12;

/// A value that an instruction takes from another.
struct Edge {
    link: Link,
    /// The dependent operations from the load to the result.
    length: Length,
    /// Iterations from the one to the other.
    distance: usize,
}

/// The values that a loop carries from one iteration to the next.
pub(super) struct Carried {
    /// The dependent operations of [`PERIOD`] iterations.
    pub(super) growth: Length,
    /// The values that pass from one iteration to the next one.
    pub(super) links: BTreeSet<Link>,
    /// Those of them on which the growth depends.
    pub(super) critical: BTreeSet<Link>,
}

/// Instructions that run one after the other, within some loops.
pub(super) struct Body<'a> {
    nest: &'a Nest,
    numbers: &'a [usize],
    around: &'a [LoopId],
}

/// The relation of two accesses in the same iteration of the loops around.
enum Meeting {
    Never,
    /// In all iterations of the loop.
    Always,
    /// After a number of iterations, which may be zero or negative.
    After(i128),
    Unknown,
}

impl<'a> Body<'a> {
    pub(super) fn new(nest: &'a Nest, numbers: &'a [usize], around: &'a [LoopId]) -> Self {
        Body { nest, numbers, around }
    }

    /// Returns the longest chain of dependent operations in one run of the instructions.
    pub(super) fn length(&self) -> Length {
        self.depths(&self.edges(None), 1).remove(0).into_iter().fold(Length::default(), Length::longer)
    }

    /// Returns what a loop with these instructions carries from one iteration to the next.
    ///
    /// The depths of the results are followed over iterations. Their growth over a period is that
    /// of the cycle of values with the largest mean.
    pub(super) fn carried(&self, id: LoopId) -> Carried {
        let edges = self.edges(Some(id));
        let links = edges.iter().filter(|edge| edge.distance == 1).map(|edge| edge.link).collect();
        if edges.iter().all(|edge| edge.distance == 0) {
            return Carried { growth: Length::default(), links, critical: BTreeSet::new() };
        }
        let depths = self.depths(&edges, 3 * PERIOD);
        let grown = |place: usize| depths[3 * PERIOD - 1][place].since(&depths[2 * PERIOD - 1][place]);
        let growth = (0..self.numbers.len()).map(grown).fold(Length::default(), Length::longer);
        let is_critical = |number: usize| {
            growth.cycles() > 0 && self.place(number).is_some_and(|place| grown(place).cycles() == growth.cycles())
        };
        let critical = edges.iter().map(|edge| edge.link);
        let critical = critical.filter(|(from, to, _)| is_critical(*from) && is_critical(*to)).collect();
        Carried { growth, links, critical }
    }

    /// Returns the depths of the results of the instructions, iteration by iteration.
    fn depths(&self, edges: &[Edge], iterations: usize) -> Vec<Vec<Length>> {
        let alone =
            |number: &usize| self.loads(*number).map(|(_, length)| length).fold(Length::default(), Length::longer);
        let alone: Vec<Length> = self.numbers.iter().map(alone).collect();
        let mut depths: Vec<Vec<Length>> = Vec::new();
        for iteration in 0..iterations {
            let mut own: Vec<Length> = Vec::new();
            for (place, reader) in self.numbers.iter().enumerate() {
                let mut longest = alone[place].clone();
                for edge in edges.iter().filter(|edge| edge.link.1 == *reader) {
                    let Some(from) = self.place(edge.link.0) else { continue };
                    let before = match (edge.distance, iteration.checked_sub(edge.distance)) {
                        (0, _) => own[from].clone(),
                        (_, Some(earlier)) => depths[earlier][from].clone(),
                        (_, None) => Length::default(),
                    };
                    longest = longest.longer(before.plus(&edge.length));
                }
                own.push(longest);
            }
            depths.push(own);
        }
        depths
    }

    fn place(&self, number: usize) -> Option<usize> {
        self.numbers.iter().position(|own| *own == number)
    }

    fn loads(&self, number: usize) -> impl Iterator<Item = (&'a Access, Length)> {
        paths(self.nest, &self.nest.instructions[number]).into_iter()
    }

    /// Returns the values that pass within an iteration, and those that the loop `id` carries.
    fn edges(&self, id: Option<LoopId>) -> Vec<Edge> {
        let mut edges = Vec::new();
        for reader in self.numbers.iter().copied() {
            for (place, (access, length)) in self.loads(reader).enumerate() {
                let instruction = &self.nest.instructions[reader];
                // The last instruction that always writes the cell before hides all earlier ones.
                let covers =
                    |number: &&usize| covers(self.nest, &self.nest.instructions[**number], instruction, access);
                let last = self.numbers.iter().take_while(|number| **number < reader).filter(covers).last();
                for writer in self.numbers.iter().copied() {
                    if self.nest.instructions[writer].target.array != access.array {
                        continue;
                    }
                    let is_earlier = writer < reader && last.is_none_or(|last| writer >= *last);
                    let distance = match id {
                        _ if is_earlier && self.meet(id, writer, (reader, access), 0) => Some(0),
                        Some(id) if last.is_none() => self.distance(id, writer, (reader, access)),
                        _ => None,
                    };
                    let edge = |distance| Edge { link: (writer, reader, place), length: length.clone(), distance };
                    edges.extend(distance.map(edge));
                }
            }
        }
        edges
    }

    /// Returns the least number of iterations, from 1, after which an instruction may read what
    /// another has written.
    fn distance(&self, id: LoopId, writer: usize, read: (usize, &Access)) -> Option<usize> {
        (1..=FARTHEST).find(|distance| self.meet(Some(id), writer, read, *distance))
    }

    /// Returns true if an instruction may read what another wrote a number of iterations before.
    fn meet(&self, id: Option<LoopId>, writer: usize, read: (usize, &Access), distance: usize) -> bool {
        let first = &self.nest.instructions[writer];
        match self.meeting(id, &first.target, read.1) {
            Meeting::Never => false,
            Meeting::Always => true,
            Meeting::After(own) => own == distance as i128,
            Meeting::Unknown => self.may_meet(id, (writer, first), read, distance),
        }
    }

    /// Compares subscripts by their coefficients alone.
    fn meeting(&self, id: Option<LoopId>, written: &Access, read: &Access) -> Meeting {
        let is_inner =
            |own: &LoopId| Some(*own) != id && !self.around.contains(own) && !self.nest.loop_at(*own).tag.is_hardware();
        let mut found = Meeting::Always;
        for (one, two) in written.subscripts.iter().zip(&read.subscripts) {
            let Some(difference) = (one - two).as_constant().filter(|_| !two.loops().any(|own| is_inner(&own))) else {
                return Meeting::Unknown;
            };
            let step = id.map_or(0, |id| two.coefficient(Var::Loop(id)));
            found = match (found, step) {
                (_, 0) if difference != 0 => return Meeting::Never,
                (known, 0) => known,
                (_, step) if difference % step != 0 => return Meeting::Never,
                (Meeting::After(known), step) if difference / step != known => return Meeting::Never,
                (_, step) => Meeting::After(difference / step),
            };
        }
        found
    }

    fn may_meet(
        &self,
        id: Option<LoopId>,
        (writer, first): (usize, &Instruction),
        (reader, access): (usize, &Access),
        distance: usize,
    ) -> bool {
        let second = &self.nest.instructions[reader];
        let instances = Instances::new(self.nest);
        let mut system = instances.same_cell((writer, &first.target), (reader, access));
        for outer in self.around.iter().filter(|outer| first.within.contains(outer) && second.within.contains(outer)) {
            system.equal_zero(&Affine::from(*outer) - &Affine::term(instances.second(*outer), 1));
        }
        for axis in 0..AXES as u8 {
            let own = [first, second].map(|instruction| self.nest.hardware_loop(instruction, Tag::Local(axis)));
            if let [Some(one), Some(two)] = own {
                system.equal_zero(&Affine::from(one) - &Affine::term(instances.second(two), 1));
            }
        }
        if let Some(id) = id {
            let apart = &Affine::term(instances.second(id), 1) - &Affine::from(id);
            system.equal_zero(apart.plus(-(distance as i128)));
        }
        system.may_have_points()
    }
}
