//! The properties of a kernel to which its run time is taken to be linear (section 2 of the paper).

use crate::ir::{Direction, Memory, Operation, Type};
use std::fmt;

/// The amortised stride fraction of an access to global memory (section 2.1).
///
/// The denominator is the distance in memory from one SIMD lane to the next, in units of the access; the numerator is the
/// share of the cells between that is used at all, in parts of the denominator, rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stride {
    /// All lanes access the same cell.
    Uniform,
    /// Neighbouring lanes access neighbouring cells.
    Unit,
    /// `numerator / denominator`, the denominator from 2 to 4.
    Fraction(u8, u8),
    /// A distance above 4; the numerator is in quarters.
    Wide(u8),
    /// Which cells the lanes access depends on data.
    Data,
}

impl Stride {
    /// Every stride with a distance of `stride` units, whatever the share that is used.
    pub(super) fn of_distance(stride: i128) -> Vec<Stride> {
        match stride {
            0 => vec![Stride::Uniform],
            1 => vec![Stride::Unit],
            2..=4 => (1..=stride as u8).map(|used| Stride::Fraction(used, stride as u8)).collect(),
            _ => (1..=4).map(Stride::Wide).collect(),
        }
    }

    /// The stride of a distance of which `touched` of `filled` cells are used.
    pub(super) fn classify(stride: i128, touched: i128, filled: i128) -> Stride {
        let parts = stride.clamp(1, 4);
        // The least number of parts with touched / filled <= number / parts.
        let used = (1..parts).find(|used| touched * parts <= used * filled).unwrap_or(parts) as u8;
        match stride {
            0 => Stride::Uniform,
            1 => Stride::Unit,
            2..=4 => Stride::Fraction(used, stride as u8),
            _ => Stride::Wide(used),
        }
    }
}

impl fmt::Display for Stride {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stride::Uniform => write!(formatter, "s0"),
            Stride::Unit => write!(formatter, "s1"),
            Stride::Fraction(used, stride) => write!(formatter, "{used}/{stride}"),
            Stride::Data => write!(formatter, "data"),
            Stride::Wide(used) => write!(formatter, "{used}/>4"),
        }
    }
}

/// A property of a kernel.
///
/// Accesses, operations and barriers are counted for each work-item, those included that do what others do as well.
/// Arithmetic in subscripts, integer arithmetic and accesses to temporaries are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// Accesses to global memory of so many bits.
    Global(u32, Direction, Stride),
    /// The lesser of the numbers of loads and of stores of so many bits and that stride.
    LoadsAndStores(u32, Stride),
    /// Loads from local memory of so many bits.
    LocalLoads(u32),
    /// The same by the distance of the lanes of [rows](crate::Lanes::InRows), between which all cells are taken for used.
    StridedLocalLoads(u32, Stride),
    /// Floating-point operations.
    Operations(Operation, Type),
    /// Barriers times the work-items that meet them.
    Barriers,
    /// Work-groups.
    Groups,
    /// Bytes of global memory that are touched at least once.
    TouchedBytes,
    /// 1: the cost of a launch.
    Launch,
    /// Accesses to local memory of so many bits, by the [conflict](crate::count::count_modern) of the lanes.
    Banks(u32, Direction, u32),
    /// What sub-groups of 32 lanes issue.
    SubGroups(Issue),
    /// Floating-point operations, small powers being multiplications.
    Arithmetic(Operation, Type),
    /// Operations of the longest chain in which each needs the one before.
    Chain,
}

/// An instruction that a sub-group issues for all of its lanes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Issue {
    /// A floating-point operation; small powers are multiplications.
    Operation(Operation, Type),
    /// An access of so many bits to local or global memory.
    Access(Memory, u32, Direction),
}

impl fmt::Display for Property {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Property::Global(bits, direction, stride) => write!(formatter, "g:{bits}:{direction}:{stride}"),
            Property::LoadsAndStores(bits, stride) => write!(formatter, "g:{bits}:min(load,store):{stride}"),
            Property::LocalLoads(bits) => write!(formatter, "l:{bits}:load"),
            Property::StridedLocalLoads(bits, stride) => write!(formatter, "l:{bits}:load:{stride}"),
            Property::Operations(operation, kind) => write!(formatter, "op:{kind}:{operation}"),
            Property::Barriers => write!(formatter, "barriers"),
            Property::Groups => write!(formatter, "groups"),
            Property::TouchedBytes => write!(formatter, "touched bytes"),
            Property::Launch => write!(formatter, "launch"),
            Property::Banks(bits, direction, conflict) => write!(formatter, "bank:{bits}:{direction}:{conflict}"),
            Property::SubGroups(Issue::Operation(operation, kind)) => write!(formatter, "sub:op:{kind}:{operation}"),
            Property::SubGroups(Issue::Access(memory, bits, direction)) => {
                let memory = if *memory == Memory::Local { "l" } else { "g" };
                write!(formatter, "sub:{memory}:{bits}:{direction}")
            }
            Property::Arithmetic(operation, kind) => write!(formatter, "arith:{kind}:{operation}"),
            Property::Chain => write!(formatter, "chain"),
        }
    }
}
