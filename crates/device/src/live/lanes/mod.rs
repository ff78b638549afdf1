//! The measuring workers of a run. Only one measures at a time, but all load at once.
//!
//! A driver that finds a program in its own cache still works for a while, on one processor (PoCL
//! preprocesses the source: 20 ms of the 40 that a short kernel's evaluation takes). Nothing is
//! measured meanwhile, so that the other processors are idle. The next programs are therefore loaded
//! beside it, each in the worker that will measure it.
//!
//! Loading ahead judges nothing. Programs that are not loaded here are loaded by their job, whose
//! report is the configuration's.

use crate::live::programs::BuiltKernels;
use crate::live::station::Station;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::Interrupt;
use tunesmith_kernel::DeviceError;
use tunesmith_kernel::measure::limits::Limit;

/// The largest number of measuring workers. Each opens the device and has all buffers.
const MOST: usize = 4;

/// The most memory in bytes for the buffers of all workers but the first.
const MOST_BYTES: u64 = 1 << 30;

/// Places where configurations are measured, each with a worker of its own.
pub(super) struct Lanes {
    /// The largest number of lanes.
    most: usize,
    /// The first one measures all configurations that were not loaded ahead.
    stations: Vec<Station>,
    /// The configurations that were loaded ahead and not measured yet.
    ahead: Vec<LoadedAhead>,
}

/// A configuration whose programs were loaded ahead.
struct LoadedAhead {
    built: Arc<BuiltKernels>,
    lane: usize,
    took: Duration,
}

/// Returns the number of lanes that are worthwhile, if `jobs` programs may be compiled at a time for
/// buffers of `bytes` bytes.
pub(super) fn lanes(jobs: usize, bytes: u64) -> usize {
    let affordable = 1 + usize::try_from(MOST_BYTES / bytes.max(1)).unwrap_or(MOST);
    jobs.min(MOST).min(affordable).max(1)
}

impl Lanes {
    /// Prepares for `most` lanes. Adds none yet.
    pub(super) fn new(most: usize) -> Self {
        Self { most, stations: Vec::new(), ahead: Vec::new() }
    }

    /// Returns the number of builds that can be loaded at once.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Adds a lane.
    pub(super) fn add(&mut self, station: Station) {
        let usual = self.stations.first().map(|first| Arc::clone(&first.usual_changes));
        let usual_changes = usual.unwrap_or_else(|| Arc::clone(&station.usual_changes));
        self.stations.push(Station { usual_changes, ..station });
    }

    pub(super) fn count(&self) -> usize {
        self.stations.len()
    }

    /// Returns the first lane, if there is one.
    pub(super) fn first(&self) -> Option<&Station> {
        self.stations.first()
    }

    /// Returns true if this build was loaded ahead, and not measured since.
    pub(super) fn has_loaded(&self, built: &BuiltKernels) -> bool {
        self.ahead.iter().any(|ahead| ahead.is_of(built))
    }

    /// Loads each of the `builds` in a lane of its own, at most as many as there are lanes. A single
    /// loading may take as long as `launch` and the data together. Forgets what was loaded before.
    /// Does without a lane whose worker cannot be started, except for the first.
    ///
    /// # Errors
    /// The first worker cannot be started.
    pub(super) fn load(
        &mut self,
        builds: Vec<Arc<BuiltKernels>>,
        launch: &Limit,
        interrupt: &Interrupt,
    ) -> Result<(), DeviceError> {
        self.ahead.clear();
        for (lane, built) in builds.iter().enumerate().take(self.stations.len()) {
            match self.stations[lane].begin_loading(built.programs(), interrupt) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) if lane == 0 => return Err(error),
                Err(_) => {
                    self.most = lane;
                    self.stations.truncate(lane);
                    break;
                }
            }
        }
        for (lane, (station, built)) in self.stations.iter_mut().zip(builds).enumerate() {
            if let Some(took) = station.finish_loading(launch, interrupt) {
                self.ahead.push(LoadedAhead { built, lane, took });
            }
        }
        Ok(())
    }

    /// Returns the lane in which a build is measured, and the time that loading it ahead took.
    /// Returns `None` if there are no lanes.
    pub(super) fn lane_of(&mut self, built: &BuiltKernels) -> Option<(&mut Station, Duration)> {
        let at = self.ahead.iter().position(|ahead| ahead.is_of(built));
        let (lane, took) =
            at.map(|at| self.ahead.swap_remove(at)).map_or((0, Duration::ZERO), |ahead| (ahead.lane, ahead.took));
        self.stations.get_mut(lane).map(|station| (station, took))
    }
}

impl LoadedAhead {
    fn is_of(&self, built: &BuiltKernels) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.built), built)
    }
}

#[cfg(test)]
mod tests;
