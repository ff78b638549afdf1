//! CUPTI's Profiler Host interface: the metrics of a chip, which need not be in this machine, and
//! the evaluation of counter data.
#![allow(unsafe_code)] // calls NVIDIA's libraries

use super::layout::{
    AddMetrics, ChipName, ConfigImage, ConfigSize, Evaluate, HostDeinitialize, HostInitialize, Object, Passes,
    RANGE_PROFILER, SupportedChips,
};
use super::library::Cupti;
use super::status::Refusal;
use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};

/// The metrics of one chip.
pub(super) struct Host {
    cupti: Cupti,
    object: Object,
}

impl Host {
    /// Opens a chip by NVIDIA's name, such as `GH100`. `available` lists the counters that a GPU
    /// and its driver permit. Without it, all counters of the chip are available.
    pub(super) fn open(cupti: Cupti, chip: &str, available: Option<&[u8]>) -> Result<Self, Refusal> {
        let chip = c_string(chip);
        let mut host = HostInitialize::new();
        (host.kind, host.chip, host.availability) = (RANGE_PROFILER, chip.as_ptr(), null());
        if let Some(available) = available {
            host.availability = available.as_ptr();
        }
        // SAFETY: the name and the image, which is CUPTI's, live until the call returns.
        unsafe { cupti.call(&mut host) }?;
        Ok(Self { cupti, object: host.object })
    }

    /// Adds `metrics` to the measured ones.
    ///
    /// # Errors
    /// The chip lacks one of them.
    pub(super) fn add(&mut self, metrics: &[&str]) -> Result<(), Refusal> {
        let names = MetricNames::new(metrics);
        let mut add = AddMetrics::new();
        (add.object, add.names, add.count) = (self.object, names.pointers.as_ptr(), metrics.len());
        // SAFETY: the object is ours, the names live until the call returns.
        unsafe { self.cupti.call(&mut add) }
    }

    /// Returns the configuration of the hardware that measures the added metrics.
    pub(super) fn config(&self) -> Result<Vec<u8>, Refusal> {
        let mut size = ConfigSize::new();
        size.object = self.object;
        // SAFETY: the object is ours.
        unsafe { self.cupti.call(&mut size) }?;
        let mut image = vec![0; size.bytes];
        let mut config = ConfigImage::new();
        (config.object, config.bytes, config.image) = (self.object, image.len(), image.as_mut_ptr());
        // SAFETY: the object is ours, and the image has the bytes that were asked for.
        unsafe { self.cupti.call(&mut config) }?;
        Ok(image)
    }

    /// Returns the number of passes needed to measure all of them.
    pub(super) fn passes(&self, config: &[u8]) -> Result<usize, Refusal> {
        let mut passes = Passes::new();
        (passes.bytes, passes.image) = (config.len(), config.as_ptr());
        // SAFETY: the image is one of CUPTI's and lives until the call returns.
        unsafe { self.cupti.call(&mut passes) }?;
        Ok(passes.passes)
    }

    /// Returns the values of `metrics` in the only range of the counter data.
    pub(super) fn evaluate(&self, counted: &[u8], metrics: &[&str]) -> Result<Vec<f64>, Refusal> {
        let names = MetricNames::new(metrics);
        let mut values = vec![0.0; metrics.len()];
        let mut evaluate = Evaluate::new();
        (evaluate.object, evaluate.data, evaluate.bytes) = (self.object, counted.as_ptr(), counted.len());
        (evaluate.range, evaluate.names, evaluate.count) = (0, names.pointers.as_ptr(), metrics.len());
        evaluate.values = values.as_mut_ptr();
        // SAFETY: the object is ours, the image is CUPTI's, and there is a place for the value of
        // every name.
        unsafe { self.cupti.call(&mut evaluate) }?;
        Ok(values)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let mut host = HostDeinitialize::new();
        host.object = self.object;
        // SAFETY: the object is ours and not used any more. A failure leaks it, which harms nobody.
        let _ = unsafe { self.cupti.call(&mut host) };
        self.object = null_mut();
    }
}

/// Returns the chips whose metrics CUPTI knows.
pub(super) fn known_chips(cupti: Cupti) -> Result<Vec<String>, Refusal> {
    let mut chips = SupportedChips::new();
    // SAFETY: CUPTI sets all fields.
    unsafe { cupti.call(&mut chips) }?;
    // SAFETY: CUPTI says that so many names lie there, for the life of the library.
    Ok((0..chips.count).map(|at| unsafe { text(*chips.names.add(at)) }).collect())
}

/// Returns the chip of the GPU at a position.
pub(super) fn chip_of(cupti: Cupti, device: usize) -> Result<String, Refusal> {
    let mut chip = ChipName::new();
    chip.device = device;
    // SAFETY: CUPTI sets the name.
    unsafe { cupti.call(&mut chip) }?;
    // SAFETY: the name lives as long as the library.
    Ok(unsafe { text(chip.name) })
}

/// # Safety
/// `name` is null or a C string.
unsafe fn text(name: *const c_char) -> String {
    if name.is_null() {
        return String::new();
    }
    // SAFETY: the caller says so.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

/// Names as C strings.
pub(super) struct MetricNames {
    _strings: Vec<CString>,
    pub(super) pointers: Vec<*const c_char>,
}

impl MetricNames {
    pub(super) fn new(names: &[&str]) -> Self {
        let strings: Vec<CString> = names.iter().map(|name| c_string(name)).collect();
        Self { pointers: strings.iter().map(|name| name.as_ptr()).collect(), _strings: strings }
    }
}

/// Converts a name to a C string, without zero bytes. CUPTI knows neither a name with a zero byte
/// nor what remains of it.
fn c_string(name: &str) -> CString {
    CString::new(name.replace('\0', "")).unwrap_or_default()
}
