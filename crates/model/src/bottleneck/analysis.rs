//! Computes bottlenecks from counters.

use super::family::Local;
use super::{Family, Quantity, Readings, Rules, Variant};

/// A cause that may keep a kernel from being faster. Its value is a share: 0 is no stress, 1 the
/// peak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bottleneck {
    /// Reading global memory (Eq. 6).
    MemoryRead,
    /// Writing global memory (Eq. 7).
    MemoryWrite,
    /// Reading the L2 cache.
    L2Read,
    /// Writing the L2 cache.
    L2Write,
    /// The texture and L1 cache.
    Texture,
    /// Spilled registers (Eq. 8).
    Local,
    /// Reading shared memory.
    SharedRead,
    /// Writing shared memory.
    SharedWrite,
    /// 32-bit floating-point instructions (Eq. 10).
    Float32,
    /// 64-bit floating-point instructions.
    Float64,
    /// Integer instructions.
    Integer,
    /// Instructions of no other class.
    Other,
    /// Load and store instructions.
    LoadStore,
    /// Branches.
    Control,
    /// Conversions.
    Conversion,
    /// Instructions that wait for issue (Eq. 12).
    Issue,
    /// Multiprocessors without work (Eq. 13).
    Idle,
    /// Too few threads (Eq. 14).
    Parallelism,
    /// Missing warps. Reported only.
    Occupancy,
    /// Work-groups that leave the last round half empty. Reported only.
    Tail,
    /// Special-function units. Reported only.
    Special,
    /// Texture units. Reported only.
    TextureUnit,
}

impl Bottleneck {
    /// Every bottleneck.
    pub const ALL: [Self; 22] = [
        Self::MemoryRead,
        Self::MemoryWrite,
        Self::L2Read,
        Self::L2Write,
        Self::Texture,
        Self::Local,
        Self::SharedRead,
        Self::SharedWrite,
        Self::Float32,
        Self::Float64,
        Self::Integer,
        Self::Other,
        Self::LoadStore,
        Self::Control,
        Self::Conversion,
        Self::Issue,
        Self::Idle,
        Self::Parallelism,
        Self::Occupancy,
        Self::Tail,
        Self::Special,
        Self::TextureUnit,
    ];
}

/// The classes of instructions with their quantities.
pub(super) const CLASSES: [(Bottleneck, Quantity); 7] = [
    (Bottleneck::Float32, Quantity::Float32),
    (Bottleneck::Float64, Quantity::Float64),
    (Bottleneck::Integer, Quantity::Integers),
    (Bottleneck::Other, Quantity::Others),
    (Bottleneck::LoadStore, Quantity::LoadsStores),
    (Bottleneck::Control, Quantity::Branches),
    (Bottleneck::Conversion, Quantity::Conversions),
];

/// The bottlenecks of one run. A bottleneck is absent if its counters were not read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bottlenecks([Option<f64>; 22]);

impl Bottlenecks {
    /// Returns the value of `bottleneck`, or `None` if its counters were not read.
    pub fn get(&self, bottleneck: Bottleneck) -> Option<f64> {
        self.0[bottleneck as usize]
    }

    /// Returns the known bottlenecks in the order declared.
    pub fn iter(&self) -> impl Iterator<Item = (Bottleneck, f64)> {
        Bottleneck::ALL.into_iter().filter_map(|bottleneck| Some((bottleneck, self.get(bottleneck)?)))
    }

    /// Returns true if a class of instructions is used more than any memory.
    pub(super) fn computes(&self) -> bool {
        use Bottleneck::{L2Read, L2Write, MemoryRead, MemoryWrite, SharedRead, SharedWrite, Texture};
        let of = |bottleneck| self.get(bottleneck).unwrap_or(0.0);
        let memories = [of(MemoryRead) + of(MemoryWrite), of(L2Read) + of(L2Write), of(SharedRead) + of(SharedWrite)];
        let memory = memories.into_iter().fold(of(Texture), f64::max);
        CLASSES.into_iter().any(|(class, _)| of(class) > memory)
    }

    fn set(&mut self, bottleneck: Bottleneck, value: Option<f64>) {
        self.0[bottleneck as usize] = value;
    }
}

/// The size of the device, as far as known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// Multiprocessors.
    pub multiprocessors: Option<f64>,
    /// Cores of all multiprocessors together.
    pub cores: Option<f64>,
}

/// The result of an analysis of counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The bottlenecks.
    pub bottlenecks: Bottlenecks,
    /// Quantities that the family's table expects and that were not read. The bottlenecks that need
    /// them are absent.
    pub missing: Vec<Quantity>,
    /// Quantities that are 0 although they divide something that is not 0. The bottlenecks that
    /// need them are 0.
    pub zero: Vec<Quantity>,
}

/// The error of an analysis without any counter from which bottlenecks are computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no counter of the set `{family}` has a usable value")]
pub struct NothingToAnalyse {
    /// The family whose table was used.
    pub family: &'static str,
}

/// Minimum number of threads per core for sufficient parallelism (Eq. 14).
const THREADS_PER_CORE: f64 = 5.0;
/// The number of the column, in the order of KTT's counters behind the two sizes of a launch. The
/// authors' program divides this number by the L2 writes, instead of the column's content.
const LOCAL_STORE_COLUMN: f64 = 14.0;

/// Returns the bottlenecks of a run with these `readings` on a device of this `family` and `size`
/// (Eq. 6 to 14).
///
/// A missing counter leaves out the bottlenecks that need it. A denominator of 0 gives 0. Cost: a
/// few dozen operations.
///
/// # Errors
///
/// Fails if no bottleneck can be computed.
pub fn analyse(
    readings: &Readings,
    family: &'static Family,
    size: Size,
    rules: &Rules,
) -> Result<Analysis, NothingToAnalyse> {
    let mut bottlenecks = Bottlenecks::default();
    memories(&mut bottlenecks, readings, family, rules);
    instructions(&mut bottlenecks, readings, family, rules);
    parallelism(&mut bottlenecks, readings, size, rules);
    if bottlenecks.iter().next().is_none() {
        return Err(NothingToAnalyse { family: family.name });
    }
    let missing = family.expected.iter().copied().filter(|quantity| readings.get(*quantity).is_none()).collect();
    Ok(Analysis { bottlenecks, missing, zero: zero(readings) })
}

/// Returns the denominators that are 0 although their numerators are not.
fn zero(readings: &Readings) -> Vec<Quantity> {
    use Quantity::{DramReads, DramUse, DramWrites, Executed, IssueUse, L2Reads, L2Use, L2Writes};
    let is_zero = |quantity: &Quantity| readings.get(*quantity) == Some(0.0);
    let denominators: [(Quantity, &[Quantity]); 3] =
        [(DramUse, &[DramReads, DramWrites]), (L2Use, &[L2Reads, L2Writes]), (IssueUse, &[Executed])];
    let flawed = denominators.into_iter().filter(|(shared, parts)| {
        readings.get(*shared).is_some_and(|shared| shared > 0.0) && parts.iter().all(is_zero)
    });
    flawed.flat_map(|(_, parts)| parts.iter().copied()).collect()
}

/// Returns the share of `part` in `whole`, or 0 if `whole` is 0.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Computes Eq. 6 to 8.
fn memories(found: &mut Bottlenecks, readings: &Readings, family: &Family, rules: &Rules) {
    let get = |quantity| readings.get(quantity);
    // Divides the utilisation among the transfers in either direction.
    let mut directions = |read, written, used: Option<f64>, [a, b]: [Quantity; 2]| {
        let (reads, writes) = (get(a), get(b));
        let of = |part: Option<f64>| Some(share(part?, reads? + writes?) * used?);
        found.set(read, of(reads));
        found.set(written, of(writes));
    };
    let shared = get(Quantity::SharedUse).or(get(Quantity::SharedEfficiency));
    let dram = [Quantity::DramReads, Quantity::DramWrites];
    directions(Bottleneck::MemoryRead, Bottleneck::MemoryWrite, get(Quantity::DramUse), dram);
    let l2 = [Quantity::L2Reads, Quantity::L2Writes];
    directions(Bottleneck::L2Read, Bottleneck::L2Write, get(Quantity::L2Use), l2);
    let loads_stores = [Quantity::SharedLoads, Quantity::SharedStores];
    directions(Bottleneck::SharedRead, Bottleneck::SharedWrite, shared, loads_stores);
    found.set(Bottleneck::Texture, get(Quantity::TextureUse));
    let uses = [Quantity::DramUse, Quantity::L2Use, Quantity::TextureUse];
    let busiest = uses.into_iter().filter_map(get).reduce(f64::max);
    let local = || Some(local(readings, family, rules)? * busiest?);
    found.set(Bottleneck::Local, local());
}

/// Returns the share of local memory in the transfers.
fn local(readings: &Readings, family: &Family, rules: &Rules) -> Option<f64> {
    let (stores, writes) = (readings.get(Quantity::LocalStores), readings.get(Quantity::L2Writes));
    match (family.local, rules.variant) {
        (Local::None, _) => None,
        (Local::Overhead, _) => readings.get(Quantity::LocalOverhead),
        (Local::StoresOfWrites, Variant::Authors) => Some(share(LOCAL_STORE_COLUMN, writes?)),
        (Local::StoresOfWrites, _) => Some(share(stores?, writes?).min(1.0)),
    }
}

/// Computes Eq. 9 to 12.
fn instructions(found: &mut Bottlenecks, readings: &Readings, family: &Family, rules: &Rules) {
    let get = |quantity| readings.get(quantity);
    found.set(Bottleneck::Special, get(Quantity::SpecialUse));
    found.set(Bottleneck::TextureUnit, get(Quantity::TextureUnitUse));
    let (Some(executed), Some(issue)) = (get(Quantity::Executed), get(Quantity::IssueUse)) else { return };
    // Architectures that do not count idle lanes are assumed to have none.
    let efficiency = |quantity| get(quantity).unwrap_or(1.0);
    let active = efficiency(Quantity::WarpEfficiency) * efficiency(Quantity::WarpEfficiencyUnpredicated);
    let fitted = executed * family.lanes / active;
    let used = (issue / family.issue_full).min(1.0);
    let fractions = CLASSES.map(|(class, quantity)| {
        let fraction = get(quantity).map(|count| share(count, fitted));
        found.set(class, fraction.map(|fraction| fraction * used));
        fraction
    });
    let special = get(Quantity::SpecialUse).filter(|_| rules.variant != Variant::Paper);
    let Some(largest) = fractions.into_iter().chain([special]).flatten().reduce(f64::max) else { return };
    let stalled = 1.0 - issue;
    found.set(
        Bottleneck::Issue,
        Some(match rules.variant {
            Variant::Paper => largest * stalled,
            Variant::Authors => rules.excess(largest) * stalled,
            Variant::Mended => rules.excess(largest.min(1.0)) * stalled.clamp(0.0, 1.0),
        }),
    );
}

/// Computes Eq. 13 and 14, and the bottlenecks that are only reported.
fn parallelism(found: &mut Bottlenecks, readings: &Readings, size: Size, rules: &Rules) {
    let get = |quantity| readings.get(quantity);
    // Efficiencies of up to 105 % are recorded. The authors' program uses them unchanged.
    let lack = |share: f64| if rules.variant == Variant::Authors { 1.0 - share } else { (1.0 - share).max(0.0) };
    found.set(Bottleneck::Idle, get(Quantity::Efficiency).map(lack));
    found.set(Bottleneck::Occupancy, get(Quantity::Occupancy).map(lack));
    let short = || {
        let enough = size.cores? * THREADS_PER_CORE;
        Some(share(enough - get(Quantity::Threads)?, enough).max(0.0))
    };
    found.set(Bottleneck::Parallelism, short());
    // The authors' program rounds up without rounding. This is kept, because the value is only
    // reported.
    let tail = || {
        let groups = share(get(Quantity::Threads)?, get(Quantity::GroupThreads)?);
        Some(1.0 - share(groups, groups + size.multiprocessors? - 1.0))
    };
    found.set(Bottleneck::Tail, tail());
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { variant: Variant::Mended, reaction: 0.5 };

    fn found(pairs: &[(&'static str, f64)], family: &'static Family) -> Analysis {
        analyse(&Readings::from_pairs(pairs.iter().copied()), family, Size::default(), &RULES).unwrap()
    }

    #[test]
    fn nothing_to_divide_by_is_no_bottleneck() {
        let pairs: Vec<(&str, f64)> =
            Family::VOLTA.expected.iter().map(|quantity| (quantity.abbreviation(), 0.0)).collect();
        let analysis = found(&pairs, &Family::VOLTA);
        for (bottleneck, value) in analysis.bottlenecks.iter() {
            let expected = if bottleneck == Bottleneck::Idle { 1.0 } else { 0.0 };
            assert_eq!(value, expected, "{bottleneck:?}");
        }
        assert_eq!(analysis.zero, [], "nothing is shared out");
        let analysis = found(&[("DRAM_U", 0.5), ("DRAM_RT", 0.0), ("DRAM_WT", 0.0)], &Family::VOLTA);
        assert_eq!(analysis.bottlenecks.get(Bottleneck::MemoryRead), Some(0.0));
        assert_eq!(analysis.zero, [Quantity::DramReads, Quantity::DramWrites]);
    }

    #[test]
    fn bottlenecks_without_their_counters_are_absent_and_told() {
        let analysis = found(&[("TEX_U", 0.5), ("DRAM_RT", 1.0), ("DRAM_U", 1.0)], &Family::BEFORE_VOLTA);
        assert_eq!(analysis.bottlenecks.iter().collect::<Vec<_>>(), [(Bottleneck::Texture, 0.5)]);
        assert!(analysis.missing.contains(&Quantity::DramWrites) && !analysis.missing.contains(&Quantity::DramReads));
        let nothing = analyse(&Readings::default(), &Family::VOLTA, Size::default(), &RULES).unwrap_err();
        assert_eq!(nothing.to_string(), "no counter of the set `nvidia from Volta on` has a usable value");
    }

    #[test]
    fn a_run_that_computes_more_than_it_moves_is_reacted_to_earlier() {
        let readings = |memory: f64, issue: f64| {
            let pairs =
                [("DRAM_U", memory), ("DRAM_RT", 1.0), ("DRAM_WT", 3.0), ("INST_EXE", 1.0), ("INST_ISSUE_U", issue)];
            Readings::from_pairs(pairs.into_iter().chain([("INST_F32", 20.0)]))
        };
        let chosen = |memory, issue| {
            let readings = readings(memory, issue);
            Rules::of_run(Variant::Mended, &readings, &Family::VOLTA, Size::default()).reaction
        };
        // The instructions take 20 of 32 lanes of what is issued. The memory is busy in both directions together.
        assert_eq!([chosen(0.3, 1.0), chosen(0.9, 1.0), chosen(0.3, 0.1), chosen(0.0, 0.1)], [0.5, 0.7, 0.7, 0.5]);
    }

    #[test]
    fn spilled_registers_count_as_far_as_memories_are_busy() {
        let pairs = |stores| [("DRAM_U", 0.2), ("L2_U", 0.8), ("LOC_WT", stores), ("L2_WT", 100.0)];
        let local = |stores| found(&pairs(stores), &Family::VOLTA).bottlenecks.get(Bottleneck::Local).unwrap();
        assert!((local(50.0) - 0.4).abs() < 1e-12);
        assert_eq!(local(300.0), 0.8, "more sectors than L2 writes are all of them");
    }
}
