//! Parcels that wait for the builds of their configurations.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of parcels that wait to be built from. The oldest ones go first.
const MOST_WAITING: usize = 8;

/// The parcels that arrived for configurations which are not built yet, by rank.
#[derive(Debug, Default)]
pub struct Parcels(Mutex<VecDeque<(u128, Vec<u8>)>>);

impl Parcels {
    /// Adds the parcel of the configuration with this rank.
    pub fn add(&self, rank: u128, parcel: Vec<u8>) {
        let mut waiting = self.lock();
        waiting.retain(|(known, _)| *known != rank);
        if waiting.len() == MOST_WAITING {
            waiting.pop_front();
        }
        waiting.push_back((rank, parcel));
    }

    /// Takes the parcel of a configuration.
    pub(super) fn take(&self, rank: u128) -> Option<Vec<u8>> {
        let mut waiting = self.lock();
        let place = waiting.iter().position(|(known, _)| *known == rank)?;
        waiting.remove(place).map(|(_, parcel)| parcel)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(u128, Vec<u8>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parcel_waits_for_its_configuration_and_old_ones_go() {
        let parcels = Parcels::default();
        parcels.add(1, b"old".to_vec());
        parcels.add(1, b"new".to_vec());
        assert_eq!((parcels.take(1), parcels.take(1)), (Some(b"new".to_vec()), None));
        (0..=8).for_each(|rank| parcels.add(rank, Vec::new()));
        assert_eq!((parcels.take(0), parcels.take(1)), (None, Some(Vec::new())));
    }
}
