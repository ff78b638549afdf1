//! Names of bottlenecks for people, and the counters behind each.

use super::Bottleneck::{self, *};
use super::{Quantity, analysis::CLASSES};

impl Bottleneck {
    /// Returns a few words that describe the bottleneck to people.
    pub fn title(self) -> &'static str {
        match self {
            MemoryRead => "reading global memory",
            MemoryWrite => "writing global memory",
            L2Read => "reading the L2 cache",
            L2Write => "writing the L2 cache",
            Texture => "texture and L1 cache",
            Local => "spilled registers",
            SharedRead => "reading shared memory",
            SharedWrite => "writing shared memory",
            Float32 => "32-bit float instructions",
            Float64 => "64-bit float instructions",
            Integer => "integer instructions",
            Other => "other instructions",
            LoadStore => "load and store instructions",
            Control => "branches",
            Conversion => "conversions",
            Issue => "instructions waiting for issue",
            Idle => "idle multiprocessors",
            Parallelism => "too few threads",
            Occupancy => "missing warps",
            Tail => "half-empty last round",
            Special => "special-function units",
            TextureUnit => "texture units",
        }
    }

    /// Returns true if the bottleneck is only reported and asks for no change of a counter.
    pub fn is_reported_only(self) -> bool {
        matches!(self, Occupancy | Tail | Special | TextureUnit)
    }

    /// Returns the quantities from which it is computed, over all families.
    pub fn quantities(self) -> Vec<Quantity> {
        use Quantity as Q;
        let class = CLASSES.iter().find(|(class, _)| *class == self).map(|(_, quantity)| *quantity);
        if let Some(quantity) = class {
            return vec![quantity, Q::Executed, Q::IssueUse, Q::WarpEfficiency, Q::WarpEfficiencyUnpredicated];
        }
        match self {
            MemoryRead | MemoryWrite => vec![Q::DramUse, Q::DramReads, Q::DramWrites],
            L2Read | L2Write => vec![Q::L2Use, Q::L2Reads, Q::L2Writes],
            Texture => vec![Q::TextureUse],
            Local => vec![Q::LocalOverhead, Q::LocalStores, Q::L2Writes],
            SharedRead | SharedWrite => vec![Q::SharedUse, Q::SharedEfficiency, Q::SharedLoads, Q::SharedStores],
            Issue => vec![Q::IssueUse, Q::Executed, Q::SpecialUse],
            Idle => vec![Q::Efficiency],
            Parallelism => vec![Q::Threads],
            Occupancy => vec![Q::Occupancy],
            Tail => vec![Q::Threads, Q::GroupThreads],
            Special => vec![Q::SpecialUse],
            TextureUnit => vec![Q::TextureUnitUse],
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bottleneck_has_words_of_its_own_and_counters_behind_it() {
        let titles: std::collections::HashSet<&str> = Bottleneck::ALL.into_iter().map(Bottleneck::title).collect();
        assert_eq!(titles.len(), Bottleneck::ALL.len());
        for bottleneck in Bottleneck::ALL {
            assert!(!bottleneck.quantities().is_empty(), "{bottleneck:?}");
        }
    }
}
