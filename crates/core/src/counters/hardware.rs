//! The size of a device, which counters do not report.

/// The size of a GPU, as far as known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hardware {
    /// NVIDIA's compute capability, such as 7.5.
    pub compute_capability: Option<f64>,
    /// The number of multiprocessors.
    pub multiprocessors: Option<f64>,
    /// The number of cores of all multiprocessors together, if stated.
    pub cores: Option<f64>,
}

impl Hardware {
    /// Returns the number of cores: the stated one, or else the one computed from the compute
    /// capability. `None` if neither is known.
    pub fn cores(&self) -> Option<f64> {
        let computed = || Some(self.multiprocessors? * cores_per_multiprocessor(self.compute_capability?)?);
        self.cores.or_else(computed)
    }
}

/// Returns the single-precision cores of a multiprocessor of an NVIDIA GPU of this compute
/// capability, or `None` if it is unknown.
pub fn cores_per_multiprocessor(compute_capability: f64) -> Option<f64> {
    // Compares tenths, because integers are exact and fractions are not.
    match (compute_capability * 10.0).round() as i64 {
        30..=39 => Some(192.0),
        50..=59 | 61..=62 => Some(128.0),
        60 | 70..=79 | 80 => Some(64.0),
        86..=90 => Some(128.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_follow_from_the_multiprocessors() {
        let of = |capability: f64, multiprocessors: f64| {
            let hardware = Hardware {
                compute_capability: Some(capability),
                multiprocessors: Some(multiprocessors),
                ..Hardware::default()
            };
            hardware.cores()
        };
        // GTX 680, GTX 750, GTX 1070, RTX 2080, RTX 2080 Ti
        let known =
            [(3.0, 8.0, 1536.0), (5.0, 4.0, 512.0), (6.1, 15.0, 1920.0), (7.5, 46.0, 2944.0), (7.5, 68.0, 4352.0)];
        for (capability, multiprocessors, cores) in known {
            assert_eq!(of(capability, multiprocessors), Some(cores));
        }
        assert_eq!(of(99.0, 1.0), None);
        assert_eq!(Hardware { cores: Some(7.0), ..Hardware::default() }.cores(), Some(7.0));
    }
}
