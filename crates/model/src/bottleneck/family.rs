//! Tables of the differences between architectures.

use super::Quantity;

/// The constants by which counters of one family of architectures are read and changed.
#[derive(Debug, PartialEq)]
pub struct Family {
    /// The name of the family's set of counters.
    pub name: &'static str,
    /// The number of operations of an executed instruction: the number of threads of a warp.
    pub lanes: f64,
    /// The issue utilisation at which one path of instructions is full. From Volta on, integer and
    /// floating-point instructions are issued separately, so half of the utilisation fills either
    /// path (section 3.5.1).
    pub issue_full: f64,
    /// The origin of the share of local memory in transfers (Eq. 8).
    pub local: Local,
    /// True if the wanted change of floating-point operations is the whole bottleneck once it
    /// exceeds the threshold. Otherwise it is the excess over the threshold. The authors' program
    /// takes the whole bottleneck from Volta on.
    pub whole_floats: bool,
    /// The quantities of Table 1 for the family. An analysis reports missing ones.
    pub expected: &'static [Quantity],
}

/// The source of the share of local memory in transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Local {
    /// A counter.
    Overhead,
    /// Sectors stored to local memory over sectors written to L2.
    StoresOfWrites,
    /// The family has no local memory.
    None,
}

use Quantity::{
    Branches, Conversions, DramReads, DramUse, DramWrites, Efficiency, Executed, Float32, Float64, Integers, IssueUse,
    L2Reads, L2Use, L2Writes, LoadsStores, LocalOverhead, LocalStores, Others, SharedLoads, SharedStores, TextureUse,
    Textures,
};

impl Family {
    /// NVIDIA GPUs before Volta.
    pub const BEFORE_VOLTA: Self = Self {
        name: "nvidia before Volta",
        lanes: 32.0,
        issue_full: 1.0,
        local: Local::Overhead,
        whole_floats: false,
        expected: &[
            DramReads,
            DramWrites,
            DramUse,
            L2Reads,
            L2Writes,
            L2Use,
            Textures,
            TextureUse,
            LocalOverhead,
            SharedLoads,
            SharedStores,
            Float32,
            Float64,
            Integers,
            Others,
            LoadsStores,
            Branches,
            Conversions,
            Executed,
            IssueUse,
            Efficiency,
        ],
    };

    /// NVIDIA GPUs from Volta on.
    pub const VOLTA: Self = Self {
        name: "nvidia from Volta on",
        lanes: 32.0,
        issue_full: 0.5,
        local: Local::StoresOfWrites,
        whole_floats: true,
        expected: &[
            DramReads,
            DramWrites,
            DramUse,
            L2Reads,
            L2Writes,
            L2Use,
            Textures,
            TextureUse,
            LocalStores,
            SharedLoads,
            SharedStores,
            Float32,
            Float64,
            Integers,
            Others,
            LoadsStores,
            Branches,
            Conversions,
            Executed,
            IssueUse,
            Efficiency,
        ],
    };

    /// AMD's data-center GPUs. Memory and the L2 cache report no utilisation.
    pub const AMD: Self = Self {
        name: "amd",
        lanes: 64.0,
        issue_full: 1.0,
        local: Local::None,
        whole_floats: false,
        expected: &[
            DramReads,
            DramWrites,
            L2Reads,
            L2Writes,
            Textures,
            TextureUse,
            Float32,
            Float64,
            Integers,
            LoadsStores,
            Branches,
            Conversions,
            Executed,
            IssueUse,
            Efficiency,
        ],
    };

    /// Other processors.
    pub const PROCESSOR: Self = Self {
        name: "processor",
        lanes: 1.0,
        issue_full: 1.0,
        local: Local::None,
        whole_floats: false,
        expected: &[
            DramReads,
            DramWrites,
            DramUse,
            Executed,
            Float32,
            Float64,
            Integers,
            LoadsStores,
            Branches,
            IssueUse,
        ],
    };

    /// Every family.
    pub const ALL: [&'static Self; 4] = [&Self::BEFORE_VOLTA, &Self::VOLTA, &Self::AMD, &Self::PROCESSOR];

    /// Returns the family whose set of counters has this name, or `None` if it has no table.
    pub fn of_set(name: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|family| family.name == name)
    }
}
