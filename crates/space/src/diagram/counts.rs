//! The number of configurations before and below each node and run, and the ranks that follow from
//! it.

use std::ops::{Add, Div, Mul, Range, Sub};

use num_bigint::BigUint;

use super::{Diagram, Run};

/// The counts of a diagram, in the narrowest numbers that hold its size. 64 bits need half of the
/// memory of 128 bits and divide several times faster.
#[derive(Debug)]
pub(super) enum Counts {
    Narrow(Table<u64>),
    Wide(Table<u128>),
    /// The size exceeds 128 bits.
    None,
}

#[derive(Debug)]
pub(super) struct Table<N> {
    /// One arc for each run.
    arcs: Vec<Arc<N>>,
    /// The number of configurations below each node, the end included.
    below: Vec<N>,
    /// True if all arcs are [`Hop`]s. False only if lists of values are longer than any generated
    /// list.
    hops: bool,
}

/// All that a walk down a diagram needs, in one place. In large diagrams, every further place costs
/// a wait for memory.
#[derive(Clone, Copy, Debug)]
struct Arc<N> {
    /// The number of configurations of the arc's node before the run.
    before: N,
    hop: Hop,
}

/// The target of a run, packed.
#[derive(Clone, Copy, Debug, Default)]
struct Hop {
    /// The first run of the child.
    start: u32,
    /// From the highest bit: 1 if the run has one value, the number of the child's runs (8 bits,
    /// [`Hop::MANY`] if they do not fit), and the run's first value.
    packed: u32,
}

impl Hop {
    const FIRST_BITS: u32 = 23;
    const MANY: u32 = 255;

    /// Returns the hop of `run` to a child with the runs `child`, or `None` if the first value is
    /// too large.
    fn new(run: Run, child: Range<usize>) -> Option<Hop> {
        let single = u32::from(run.first == run.last) << 31;
        let count = u32::try_from(child.len()).map_or(Hop::MANY, |count| count.min(Hop::MANY)) << Hop::FIRST_BITS;
        let fits = run.first >> Hop::FIRST_BITS == 0;
        fits.then_some(Hop { start: child.start as u32, packed: single | count | run.first })
    }

    fn is_single(self) -> bool {
        self.packed >> 31 == 1
    }

    fn first(self) -> u32 {
        self.packed & ((1 << Hop::FIRST_BITS) - 1)
    }

    /// Returns the number of the child's runs, or `None` if it does not fit.
    fn runs(self) -> Option<usize> {
        let count = self.packed >> Hop::FIRST_BITS & Hop::MANY;
        (count != Hop::MANY).then_some(count as usize)
    }
}

/// A number that counts configurations.
pub(super) trait Count:
    Copy
    + Ord
    + From<u32>
    + TryFrom<u128>
    + Into<u128>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    fn checked(self, times: u32, plus: Self) -> Option<Self>;
}

impl Count for u64 {
    fn checked(self, times: u32, plus: u64) -> Option<u64> {
        self.checked_mul(times.into())?.checked_add(plus)
    }
}

impl Count for u128 {
    fn checked(self, times: u32, plus: u128) -> Option<u128> {
        self.checked_mul(times.into())?.checked_add(plus)
    }
}

impl Counts {
    /// Returns the number of configurations below `node`, or `None` if it exceeds 128 bits.
    pub(super) fn below(&self, node: u32) -> Option<u128> {
        match self {
            Counts::Narrow(table) => Some(table.below[node as usize].into()),
            Counts::Wide(table) => Some(table.below[node as usize]),
            Counts::None => None,
        }
    }

    /// Returns the number of configurations of a node before the value `step` of its run with index
    /// `at`. The run leads to `child`. Returns 0 without counts.
    pub(super) fn before(&self, at: usize, step: u32, child: u32) -> u128 {
        match self {
            Counts::Narrow(table) => (table.arcs[at].before + u64::from(step) * table.below[child as usize]).into(),
            Counts::Wide(table) => table.arcs[at].before + u128::from(step) * table.below[child as usize],
            Counts::None => 0,
        }
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Counts::Narrow(table) => size_of_val(&table.arcs[..]) + size_of_val(&table.below[..]),
            Counts::Wide(table) => size_of_val(&table.arcs[..]) + size_of_val(&table.below[..]),
            Counts::None => 0,
        }
    }
}

impl Diagram {
    /// Returns the diagram of the given nodes and runs, with all counts. Costs time linear in the
    /// number of runs.
    pub(crate) fn counted(order: Vec<usize>, starts: Vec<u32>, runs: Vec<Run>) -> Diagram {
        let mut diagram = Diagram { order, starts, runs, counts: Counts::None, size: BigUint::ZERO };
        let narrow = diagram.table::<u64>().map(Counts::Narrow);
        diagram.counts = narrow.or_else(|| diagram.table().map(Counts::Wide)).unwrap_or(Counts::None);
        diagram.size = diagram.len().map_or_else(|| diagram.exact_size(), BigUint::from);
        diagram
    }

    fn table<N: Count>(&self) -> Option<Table<N>> {
        let mut arcs = vec![Arc { before: N::from(0), hop: Hop::default() }; self.runs.len()];
        let mut below = vec![N::from(0); self.nodes() + 1];
        let mut hops = true;
        below[self.nodes()] = N::from(1);
        for node in (0..self.nodes()).rev() {
            let mut sum = N::from(0);
            for at in self.range(node as u32) {
                let run = self.runs[at];
                let is_end = run.child as usize == self.nodes();
                let hop = Hop::new(run, if is_end { 0..0 } else { self.range(run.child) });
                hops &= hop.is_some();
                arcs[at] = Arc { before: sum, hop: hop.unwrap_or_default() };
                sum = below[run.child as usize].checked(run.last - run.first + 1, sum)?;
            }
            below[node] = sum;
        }
        Some(Table { arcs, below, hops })
    }

    fn exact_size(&self) -> BigUint {
        let mut below = vec![BigUint::ZERO; self.nodes() + 1];
        below[self.nodes()] = BigUint::from(1_u32);
        for node in (0..self.nodes()).rev() {
            let runs = self.runs_of(node as u32).iter();
            below[node] = runs.map(|run| &below[run.child as usize] * (run.last - run.first + 1)).sum();
        }
        below.swap_remove(0)
    }

    /// Writes the value indices of the configuration with rank `rank`, which must be below the
    /// size.
    pub(crate) fn unrank(&self, rank: u128, indices: &mut [u32]) {
        match &self.counts {
            Counts::Narrow(table) => self.unrank_by(table, rank, indices),
            Counts::Wide(table) => self.unrank_by(table, rank, indices),
            Counts::None => {}
        }
    }

    fn unrank_by<N: Count>(&self, table: &Table<N>, rank: u128, indices: &mut [u32]) {
        let Ok(mut rank) = N::try_from(rank) else { return };
        if table.hops {
            return self.hop_along(table, rank, indices);
        }
        let mut node = 0;
        for &parameter in &self.order {
            let (at, step, rest) = self.locate(table, node, rank);
            let run = self.runs[at];
            indices[parameter] = run.first + step;
            rank = rest;
            node = run.child;
        }
    }

    /// Does the same as [`Diagram::unrank`], but reads little more than the arcs.
    fn hop_along<N: Count>(&self, table: &Table<N>, mut rank: N, indices: &mut [u32]) {
        let mut range = self.range(0);
        for &parameter in &self.order {
            let arcs = &table.arcs[range.clone()];
            let before = |arc: &Arc<N>| arc.before <= rank;
            let at = match arcs.len() {
                0..=8 => arcs.iter().rposition(before),
                _ => arcs.partition_point(before).checked_sub(1),
            };
            // No configuration comes before the first run.
            let Arc { before, hop } = arcs[at.unwrap_or(0)];
            let at = range.start + at.unwrap_or(0);
            rank = rank - before;
            let mut value = hop.first();
            if !hop.is_single() {
                let below = table.below[self.runs[at].child as usize];
                let step = rank / below;
                rank = rank - step * below;
                value += step.into() as u32;
            }
            indices[parameter] = value;
            range = match hop.runs() {
                Some(count) => hop.start as usize..hop.start as usize + count,
                None => self.range(self.runs[at].child),
            };
        }
    }

    /// Returns the run that contains the configuration with rank `rank` of `node`, the steps from
    /// the first value of the run, and the configuration's rank below the child.
    fn locate<N: Count>(&self, table: &Table<N>, node: u32, rank: N) -> (usize, u32, N) {
        let range = self.range(node);
        let at = range.start + table.arcs[range].partition_point(|arc| arc.before <= rank) - 1;
        let run = self.runs[at];
        let rest = rank - table.arcs[at].before;
        if run.first == run.last {
            return (at, 0, rest);
        }
        let below = table.below[run.child as usize];
        let step = rest / below;
        // A run has at most 2^32 values, so the step fits.
        (at, step.into() as u32, rest - step * below)
    }

    /// Finds the configuration at the fraction `part`, from 0 to 1, of the configurations of
    /// `node`. Returns its run and step like [`Diagram::locate`].
    pub(super) fn locate_part(&self, node: u32, part: f64) -> Option<(usize, u32)> {
        // Float conversions saturate, so the fraction 0 gives the first configuration.
        let nth = |count: u128| (((part * count as f64).ceil() as u128).saturating_sub(1)).min(count - 1);
        let rank = nth(self.counts.below(node)?);
        let (at, step) = match &self.counts {
            Counts::Narrow(table) => {
                let (at, step, _) = self.locate(table, node, rank as u64);
                (at, step)
            }
            Counts::Wide(table) => {
                let (at, step, _) = self.locate(table, node, rank);
                (at, step)
            }
            Counts::None => return None,
        };
        Some((at, step))
    }

    /// Returns the middle of the configurations with value `step` of the run `at`, as a fraction
    /// from 0 to 1 of the configurations of `node`.
    pub(super) fn part_of(&self, node: u32, at: usize, step: u32) -> Option<f64> {
        let child = self.runs[at].child;
        let middle = self.counts.before(at, step, child) as f64 + 0.5 * self.counts.below(child)? as f64;
        Some(middle / self.counts.below(node)? as f64)
    }
}
