//! Quantities that counters of different architectures share.

/// Declares the quantities with their abbreviations in a single list.
macro_rules! quantities {
    ($($(#[$doc:meta])* $name:ident = $abbreviation:literal,)*) => {
        /// The meaning of a counter, shared by several architectures. The quantities are those of
        /// the paper's Table 1, and a few more that the authors' program reads. Utilisations and
        /// efficiencies are shares from 0 to 1.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Quantity {
            $($(#[$doc])* $name,)*
        }

        impl Quantity {
            /// Every quantity, in the order declared.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the abbreviation that tables of counters use for it.
            pub fn abbreviation(self) -> &'static str {
                match self { $(Self::$name => $abbreviation,)* }
            }
        }
    };
}

quantities! {
    /// Reads from global memory.
    DramReads = "DRAM_RT",
    /// Writes to global memory.
    DramWrites = "DRAM_WT",
    /// Utilisation of global memory.
    DramUse = "DRAM_U",
    /// Reads from the L2 cache.
    L2Reads = "L2_RT",
    /// Writes to the L2 cache.
    L2Writes = "L2_WT",
    /// Utilisation of the L2 cache.
    L2Use = "L2_U",
    /// Transactions of the texture and L1 cache.
    Textures = "TEX_RWT",
    /// Utilisation of the texture and L1 cache.
    TextureUse = "TEX_U",
    /// Share of local memory in transfers: spilled registers.
    LocalOverhead = "LOC_O",
    /// Loads from local memory.
    LocalLoads = "LOC_LT",
    /// Stores to local memory.
    LocalStores = "LOC_WT",
    /// Loads from shared memory.
    SharedLoads = "SHR_LT",
    /// Stores to shared memory.
    SharedStores = "SHR_WT",
    /// Utilisation of shared memory.
    SharedUse = "SHR_U",
    /// Efficiency of shared memory. It stands in for the utilisation if that is missing.
    SharedEfficiency = "SHR_E",
    /// Operations on 16-bit floats.
    Float16 = "INST_F16",
    /// Operations on 32-bit floats.
    Float32 = "INST_F32",
    /// Operations on 64-bit floats.
    Float64 = "INST_F64",
    /// Operations on integers.
    Integers = "INST_INT",
    /// Instructions of no other class.
    Others = "INST_MISC",
    /// Loads and stores.
    LoadsStores = "INST_LDST",
    /// Branches.
    Branches = "INST_CONT",
    /// Conversions.
    Conversions = "INST_BCONV",
    /// Instructions executed, by warps on a GPU.
    Executed = "INST_EXE",
    /// Share of cycles in which an instruction is issued.
    IssueUse = "INST_ISSUE_U",
    /// Share of multiprocessors that are busy.
    Efficiency = "SM_E",
    /// Share of a warp's threads that are active.
    WarpEfficiency = "WARP_E",
    /// Share of a warp's threads that are active and not predicated off.
    WarpEfficiencyUnpredicated = "WARP_NP_E",
    /// Share of the possible warps that are active.
    Occupancy = "OCC",
    /// Utilisation of the special-function units.
    SpecialUse = "SFU_U",
    /// Utilisation of the texture units.
    TextureUnitUse = "TEXFU_U",
    /// Share of the peak rate of 32-bit floating-point operations.
    Float32Efficiency = "FLOP_SP_E",
    /// Work-items of the launch. No counter, but known for every launch.
    Threads = "THREADS",
    /// Work-items of a work-group.
    GroupThreads = "GROUP_THREADS",
}

impl Quantity {
    /// Returns the quantity with this abbreviation.
    pub fn from_abbreviation(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|quantity| quantity.abbreviation() == text)
    }
}

/// The readings of one run, by quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Readings(Vec<Option<f64>>);

impl Default for Readings {
    fn default() -> Self {
        Self(vec![None; Quantity::ALL.len()])
    }
}

impl Readings {
    /// Creates readings from pairs of abbreviation and value. Unknown abbreviations are left out.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, f64)>) -> Self {
        let mut readings = Self::default();
        for (abbreviation, value) in pairs {
            if let Some(quantity) = Quantity::from_abbreviation(abbreviation) {
                readings.set(quantity, value);
            }
        }
        readings
    }

    /// Sets the reading of `quantity`. A value that is negative or not finite counts as not read.
    pub fn set(&mut self, quantity: Quantity, value: f64) {
        self.0[quantity as usize] = Some(value).filter(|value| value.is_finite() && *value >= 0.0);
    }

    /// Returns the reading of `quantity`, if there is one.
    pub fn get(&self, quantity: Quantity) -> Option<f64> {
        self.0[quantity as usize]
    }
}
