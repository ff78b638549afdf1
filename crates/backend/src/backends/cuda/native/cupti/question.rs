//! A question to CUPTI about the counters of a chip.

use super::host::Host;
use super::library::Cupti;
use super::resolution::Metrics;
use super::status::Refusal;

/// A question about the counters of a chip.
pub(super) struct Question<'a> {
    pub(super) cupti: Cupti,
    pub(super) chip: &'a str,
    /// The counters that a GPU permits. `None` if there is no GPU.
    pub(super) available: Option<&'a [u8]>,
}

impl Metrics for Question<'_> {
    fn passes(&self, metrics: &[&str]) -> Result<usize, Refusal> {
        // Added metrics cannot be removed from a host, so each question takes a new one.
        let mut host = Host::open(self.cupti, self.chip, self.available)?;
        host.add(metrics)?;
        let config = host.config()?;
        host.passes(&config)
    }
}
