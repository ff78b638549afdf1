//! One counter of one architecture.

/// The subject of a counter (Filipovic et al., Using hardware performance counters to speed up
/// autotuning convergence on GPUs, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Work of the kernel (`PC_ops`). It depends on the configuration and hardly on the device.
    Operations,
    /// Load of a part of the processor (`PC_stress`). It differs between devices and inputs.
    Stress,
}

/// One counter of one architecture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counter {
    /// Its name in its tool.
    pub name: &'static str,
    /// Its quantity on every architecture: the abbreviation from the paper's Table 1, if it has
    /// one. Empty if no other architecture has such a counter.
    pub quantity: &'static str,
    /// Its kind: operations or stress.
    pub kind: Kind,
    /// The unit of a reading.
    pub unit: &'static str,
    /// The factor that turns a reading into a count or a share of the peak.
    pub scale: f64,
}

/// Creates a counter from a row of the tables: `name, quantity, kind, unit, scale`.
pub(super) const fn counter(
    name: &'static str,
    quantity: &'static str,
    kind: Kind,
    unit: &'static str,
    scale: f64,
) -> Counter {
    Counter { name, quantity, kind, unit, scale }
}
