//! Configurations.

use crate::handle::{close, find, ts_config};
use crate::memory::{put, put_text, text};
use crate::status::{Fault, fault, guard, ts_status};
use std::ffi::c_char;
use tunesmith_choose::wisdom::Config;
use tunesmith_space::{Value, ValueKind, did_you_mean};

/// Gets the value of a parameter of integers or booleans.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_config_int(config: ts_config, name: *const c_char, value: *mut i64) -> ts_status {
    unsafe { get(config, name, value, Value::as_int, "an integer") }
}

/// Gets the value of a parameter of numbers or booleans.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_config_float(config: ts_config, name: *const c_char, value: *mut f64) -> ts_status {
    unsafe { get(config, name, value, Value::as_float, "a number") }
}

/// Gets the value of a parameter of booleans or integers: true unless it is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_config_bool(config: ts_config, name: *const c_char, value: *mut bool) -> ts_status {
    unsafe { get(config, name, value, |found| found.as_int().map(|found| found != 0), "a truth value") }
}

/// Copies the value of any parameter as a text, as a compiler takes it in `-DNAME=VALUE`.
///
/// Writes at most `capacity` bytes with the closing zero, and the length without it to `length`.
/// `buffer` may be NULL to ask for the length alone, and `length` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_config_text(
    config: ts_config,
    name: *const c_char,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> ts_status {
    guard(|| unsafe {
        let (config, name) = (find::<Config>(config.id)?, text(name, "name")?);
        put_text(&parameter(&config, name)?.define(), buffer, capacity, length)
    })
}

/// Gets the number of parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_config_count(config: ts_config, count: *mut usize) -> ts_status {
    guard(|| unsafe { put(count, find::<Config>(config.id)?.len(), "count") })
}

/// Copies the name of the parameter at `index`, counted from 0, as `ts_config_text` copies a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_config_name(
    config: ts_config,
    index: usize,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> ts_status {
    guard(|| unsafe {
        let config = find::<Config>(config.id)?;
        let count = config.len();
        let missing = || fault(ts_status::TS_NOT_FOUND, format!("there is no parameter {index} of {count}"));
        put_text(&config.get(index).ok_or_else(missing)?.0, buffer, capacity, length)
    })
}

/// Copies the whole configuration as `NAME=VALUE,NAME=VALUE`, as `ts_config_text` copies a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_config_print(
    config: ts_config,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> ts_status {
    guard(|| unsafe {
        let config = find::<Config>(config.id)?;
        let pairs: Vec<String> = config.iter().map(|(name, value)| format!("{name}={}", value.define())).collect();
        put_text(&pairs.join(","), buffer, capacity, length)
    })
}

/// Closes a configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_config_close(config: ts_config) -> ts_status {
    guard(|| close::<Config>(config.id).map(drop))
}

/// Gets the value of a parameter as `read` takes it. The type is `wanted` in messages.
unsafe fn get<T>(
    config: ts_config,
    name: *const c_char,
    value: *mut T,
    read: impl FnOnce(&Value) -> Option<T>,
    wanted: &str,
) -> ts_status {
    guard(|| unsafe {
        let (config, name) = (find::<Config>(config.id)?, text(name, "name")?);
        let found = parameter(&config, name)?;
        put(value, read(found).ok_or_else(|| wrong_type(name, found, wanted))?, "value")
    })
}

fn parameter<'a>(config: &'a Config, name: &str) -> Result<&'a Value, Fault> {
    let found = config.iter().find(|(own, _)| own == name).map(|(_, value)| value);
    found.ok_or_else(|| {
        let names = config.iter().map(|(own, _)| own.as_str());
        let hint = did_you_mean(name, names).map_or_else(String::new, |hint| format!("; {hint}"));
        let message = format!("the configuration has no parameter `{name}`{hint}");
        fault(ts_status::TS_NOT_FOUND, message)
    })
}

fn wrong_type(name: &str, value: &Value, wanted: &str) -> Fault {
    let function = match value.kind() {
        ValueKind::Int | ValueKind::Bool => "ts_config_int",
        ValueKind::Float => "ts_config_float",
        ValueKind::Str => "ts_config_text",
    };
    let kind = value.kind();
    fault(ts_status::TS_WRONG_TYPE, format!("parameter `{name}` is a {kind}, not {wanted}; call {function}"))
}
