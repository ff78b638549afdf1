//! CUPTI's Range Profiler interface: counts the launches on a device.
#![allow(unsafe_code)] // calls NVIDIA's libraries

use super::host::{Host, MetricNames, chip_of};
use super::layout::{
    Availability, DataInitialize, DataSize, Decode, Disable, Enable, Object, Pop, Push, SetConfig, Start, Stop,
    USER_RANGE, USER_REPLAY,
};
use super::library::Cupti;
use super::question::Question;
use super::resolution::resolution;
use super::status::Refusal;
use crate::backends::Profiler;
use crate::backends::cuda::ChipCounters;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::Path;
use std::ptr::null_mut;
use std::rc::Rc;
use tunesmith_core::counters::VOLTA;

/// A GPU with readable counters, set up to count all counters of the table that it has.
pub(crate) struct Gpu {
    cupti: Cupti,
    context: *mut c_void,
    host: Host,
    counters: ChipCounters,
    config: Vec<u8>,
}

impl Gpu {
    /// Prepares the GPU at position `device`, whose current context is `context` (a `CUcontext`).
    /// Takes about 50 ms.
    ///
    /// # Safety
    /// The context lives as long as this value and the values made from it.
    ///
    /// # Errors
    /// CUPTI is missing or too old, the user may not read counters, or the GPU has none.
    pub(crate) unsafe fn open(libraries: Option<&Path>, device: usize, context: *mut c_void) -> Result<Self, Refusal> {
        let cupti = Cupti::open(libraries)?;
        cupti.begin()?;
        let chip = chip_of(cupti, device)?;
        // SAFETY: by this function's contract.
        let available = unsafe { availability(cupti, context) }?;
        let counters = resolution(&chip, &VOLTA, &Question { cupti, chip: &chip, available: Some(&available) })?;
        let mut host = Host::open(cupti, &chip, Some(&available))?;
        host.add(&counters.metrics())?;
        let config = host.config()?;
        Ok(Self { cupti, context, host, counters, config })
    }
}

/// Returns the chip's counters that this GPU and its driver permit.
///
/// # Safety
/// The context is one of the driver's.
unsafe fn availability(cupti: Cupti, context: *mut c_void) -> Result<Vec<u8>, Refusal> {
    let mut image = Availability::new();
    image.context = context;
    // SAFETY: without a place for the image, the call returns its size.
    unsafe { cupti.call(&mut image) }?;
    let mut bytes = vec![0; image.bytes];
    image.image = bytes.as_mut_ptr();
    // SAFETY: the place has that size.
    unsafe { cupti.call(&mut image) }?;
    Ok(bytes)
}

/// Counts one configuration. Profiling is on during the life of this value, and slows launches
/// down.
pub(crate) struct CuptiCounting {
    gpu: Rc<Gpu>,
    object: Object,
    /// The counter data, written by CUPTI.
    counted: Vec<u8>,
}

/// The name of the only range.
const RANGE: &str = "configuration";

impl CuptiCounting {
    /// Enables profiling.
    ///
    /// # Errors
    /// The user may not read counters, or another program reads them.
    pub(crate) fn begin(gpu: Rc<Gpu>) -> Result<Self, Refusal> {
        let mut enable = Enable::new();
        enable.context = gpu.context;
        // SAFETY: the context lives as long as the GPU's description.
        unsafe { gpu.cupti.call(&mut enable) }?;
        // Dropping this value disables profiling.
        let mut counting = Self { object: enable.object, counted: Vec::new(), gpu };
        counting.make_room()?;
        counting.configure()?;
        Ok(counting)
    }

    fn make_room(&mut self) -> Result<(), Refusal> {
        let names = MetricNames::new(&self.gpu.counters.metrics());
        let mut size = DataSize::new();
        (size.object, size.names, size.count) = (self.object, names.pointers.as_ptr(), names.pointers.len());
        (size.ranges, size.nodes) = (1, 1);
        // SAFETY: the names live until the call returns.
        unsafe { self.gpu.cupti.call(&mut size) }?;
        self.counted = vec![0; size.bytes];
        let mut initialize = DataInitialize::new();
        (initialize.object, initialize.bytes, initialize.data) =
            (self.object, self.counted.len(), self.counted.as_mut_ptr());
        // SAFETY: the place has the size that CUPTI returned.
        unsafe { self.gpu.cupti.call(&mut initialize) }
    }

    fn configure(&mut self) -> Result<(), Refusal> {
        let mut set = SetConfig::new();
        (set.object, set.config_bytes, set.config) = (self.object, self.gpu.config.len(), self.gpu.config.as_ptr());
        (set.data_bytes, set.data) = (self.counted.len(), self.counted.as_mut_ptr());
        (set.range, set.replay, set.ranges) = (USER_RANGE, USER_REPLAY, 1);
        (set.levels, set.least_level, set.pass, set.level) = (1, 1, 0, 1);
        // SAFETY: both images live as long as profiling is on, and neither moves: their vectors do
        // not grow.
        unsafe { self.gpu.cupti.call(&mut set) }
    }

    fn start(&mut self) -> Result<(), Refusal> {
        let (mut start, mut push) = (Start::new(), Push::new());
        let name = MetricNames::new(&[RANGE]);
        (start.object, push.object, push.name) = (self.object, self.object, name.pointers[0]);
        // SAFETY: the object is ours, the name lives until the calls return.
        unsafe { self.gpu.cupti.call(&mut start).and_then(|()| self.gpu.cupti.call(&mut push)) }
    }

    /// Returns true if more passes are needed.
    fn stop(&mut self) -> Result<bool, Refusal> {
        let (mut pop, mut stop) = (Pop::new(), Stop::new());
        (pop.object, stop.object) = (self.object, self.object);
        // SAFETY: the object is ours.
        unsafe { self.gpu.cupti.call(&mut pop).and_then(|()| self.gpu.cupti.call(&mut stop)) }?;
        Ok(stop.all_submitted == 0)
    }

    fn values(&mut self) -> Result<Vec<f64>, Refusal> {
        let mut decode = Decode::new();
        decode.object = self.object;
        // SAFETY: the object is ours.
        unsafe { self.gpu.cupti.call(&mut decode) }?;
        self.gpu.host.evaluate(&self.counted, &self.gpu.counters.metrics())
    }
}

impl Profiler for CuptiCounting {
    fn begin(&mut self) -> Result<(), String> {
        self.start().map_err(|refusal| refusal.explained())
    }

    fn end(&mut self) -> Result<bool, String> {
        self.stop().map_err(|refusal| refusal.explained())
    }

    fn readings(&mut self) -> Result<BTreeMap<String, f64>, String> {
        let values = self.values().map_err(|refusal| refusal.explained())?;
        let names = self.gpu.counters.counters.iter().map(|counter| counter.name.clone());
        Ok(names.zip(values).filter(|(_, value)| value.is_finite()).collect())
    }
}

impl Drop for CuptiCounting {
    fn drop(&mut self) {
        let mut disable = Disable::new();
        disable.object = self.object;
        // SAFETY: the object is ours and not used any more. A failure leaves profiling on until the
        // worker ends.
        let _ = unsafe { self.gpu.cupti.call(&mut disable) };
        self.object = null_mut();
    }
}
