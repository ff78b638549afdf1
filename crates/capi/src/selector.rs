//! Choosing among known configurations.

use crate::handle::{close, find, open, ts_config, ts_selector};
use crate::memory::{check, items, put, put_if, put_text, text};
use crate::status::{Fault, fault, guard, ts_status};
use std::ffi::c_char;
use tunesmith_choose::{Selector, Source};

/// A size of an input.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ts_size {
    /// Its name.
    pub name: *const c_char,
    /// Its value.
    pub value: f64,
}

/// Reads the sizes of an input.
pub(crate) unsafe fn sizes<'a>(pointer: *const ts_size, count: usize) -> Result<Vec<(&'a str, f64)>, Fault> {
    let sizes = unsafe { items(pointer, count, "sizes") }?;
    sizes.iter().map(|size| Ok((unsafe { text(size.name, "name of a size") }?, size.value))).collect()
}

/// The origin of a choice.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ts_source {
    /// Measured on this device for this input.
    TS_SOURCE_EXACT = 0,
    /// Predicted for this device.
    TS_SOURCE_PREDICTED = 1,
    /// Measured on this device for the nearest input.
    TS_SOURCE_NEAREST_INPUT = 2,
    /// Predicted from other devices.
    TS_SOURCE_PREDICTED_ELSEWHERE = 3,
    /// Measured on another device.
    TS_SOURCE_OTHER_DEVICE = 4,
    /// The default.
    TS_SOURCE_DEFAULT = 5,
    /// The most robust of the configurations measured on this device, since the input is far from
    /// all that were measured.
    TS_SOURCE_ROBUST = 6,
}

/// Says where a choice comes from.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ts_choice {
    /// Its origin.
    pub source: ts_source,
    /// The distance of the input from those that were measured, in doublings of sizes.
    pub distance: f64,
    /// The time that was measured, in milliseconds, or NaN.
    pub time_ms: f64,
    /// True if the choice rests on no measurement near the input.
    pub is_doubtful: bool,
}

/// Opens files of wisdom and timing models. Never fails because of a file; see
/// `ts_selector_warning`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_selector_open(
    paths: *const *const c_char,
    count: usize,
    selector: *mut ts_selector,
) -> ts_status {
    guard(|| unsafe {
        check(selector, "selector")?;
        let paths: Vec<&str> =
            items(paths, count, "paths")?.iter().map(|path| text(*path, "path")).collect::<Result<_, Fault>>()?;
        put(selector, ts_selector { id: open(Selector::open(paths)) }, "selector")
    })
}

/// Chooses a configuration for an input of `kernel` on `device`. `choice` may be NULL. Close the
/// configuration with `ts_config_close`. `TS_NOT_FOUND` means that not even a default is known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_selector_select(
    selector: ts_selector,
    kernel: *const c_char,
    device: *const c_char,
    sizes: *const ts_size,
    count: usize,
    config: *mut ts_config,
    choice: *mut ts_choice,
) -> ts_status {
    guard(|| unsafe {
        check(config, "config")?;
        let selector = find::<Selector>(selector.id)?;
        let (kernel, device) = (text(kernel, "kernel")?, text(device, "device")?);
        let none = || fault(ts_status::TS_NOT_FOUND, format!("nothing is known of kernel `{kernel}`"));
        let found = selector.select(kernel, device, &self::sizes(sizes, count)?).ok_or_else(none)?;
        let (source, distance) = origin(&found.source);
        let time_ms = found.time_ms.unwrap_or(f64::NAN);
        put_if(choice, ts_choice { source, distance, time_ms, is_doubtful: found.source.is_doubtful() });
        put(config, ts_config::new(found.config.clone()), "config")
    })
}

fn origin(source: &Source<'_>) -> (ts_source, f64) {
    match source {
        Source::Exact => (ts_source::TS_SOURCE_EXACT, 0.0),
        Source::Predicted { outside } => (ts_source::TS_SOURCE_PREDICTED, *outside),
        Source::Robust { outside } => (ts_source::TS_SOURCE_ROBUST, *outside),
        Source::NearestInput { distance } => (ts_source::TS_SOURCE_NEAREST_INPUT, *distance),
        Source::PredictedElsewhere { outside, .. } => (ts_source::TS_SOURCE_PREDICTED_ELSEWHERE, *outside),
        Source::OtherDevice { distance, .. } => (ts_source::TS_SOURCE_OTHER_DEVICE, *distance),
        Source::Default => (ts_source::TS_SOURCE_DEFAULT, 0.0),
    }
}

/// Gets the number of warnings about the files.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_selector_warnings(selector: ts_selector, count: *mut usize) -> ts_status {
    guard(|| unsafe { put(count, find::<Selector>(selector.id)?.warnings().len(), "count") })
}

/// Copies the warning at `index`, counted from 0, as `ts_config_text` copies a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_selector_warning(
    selector: ts_selector,
    index: usize,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> ts_status {
    guard(|| unsafe { put_text(warning(find::<Selector>(selector.id)?.warnings(), index)?, buffer, capacity, length) })
}

/// Returns the warning at `index`.
pub(crate) fn warning(warnings: &[String], index: usize) -> Result<&str, Fault> {
    let none = || fault(ts_status::TS_NOT_FOUND, format!("there is no warning {index} of {}", warnings.len()));
    warnings.get(index).map(String::as_str).ok_or_else(none)
}

/// Closes a selector.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_selector_close(selector: ts_selector) -> ts_status {
    guard(|| close::<Selector>(selector.id).map(drop))
}
