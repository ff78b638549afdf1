//! OpenCL devices as the drivers describe them. Called only in workers.

use crate::backends::Absent;
use crate::backends::opencl::{OpenClDevice, OpenClKind, missing};
use opencl3::device::{CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, Device};
use opencl3::error_codes::{ClError, DLOPEN_RUNTIME_LOAD_FAILED};
use opencl3::platform::{Platform, get_platforms};
use std::collections::BTreeMap;

/// Lists every device.
///
/// # Errors
/// The missing part: the library, a driver, or a device.
pub(crate) fn describe_all() -> Result<Vec<OpenClDevice>, Absent> {
    let devices = all().map_err(|reason| missing(&reason))?.into_iter().enumerate();
    let described = devices.map(|(index, (platform, device))| describe(index, &platform, &device));
    described.collect::<Result<_, String>>().map_err(|reason| missing(&reason))
}

/// Returns the device at position `index`, with the handles to use it.
pub(super) fn open(index: usize) -> Result<Device, String> {
    let found = all()?.into_iter().nth(index).map(|(_, device)| device);
    found.ok_or_else(|| format!("OpenCL device {index} is no longer present"))
}

pub(super) fn kind(device: &Device) -> OpenClKind {
    match device.dev_type() {
        Ok(kind) if kind & CL_DEVICE_TYPE_GPU != 0 => OpenClKind::Gpu,
        Ok(kind) if kind & CL_DEVICE_TYPE_CPU != 0 => OpenClKind::Cpu,
        _ => OpenClKind::Other,
    }
}

fn all() -> Result<Vec<(Platform, Device)>, String> {
    let platforms = get_platforms().map_err(|error| match error.0 {
        DLOPEN_RUNTIME_LOAD_FAILED => "there is no OpenCL library (libOpenCL.so.1)".to_owned(),
        _ => format!("there is no OpenCL driver ({error})"),
    })?;
    let mut devices = Vec::new();
    for platform in platforms {
        // A platform without devices returns an error.
        for id in platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            devices.push((platform, Device::new(id)));
        }
    }
    if devices.is_empty() { Err("its drivers have no device".to_owned()) } else { Ok(devices) }
}

fn describe(index: usize, platform: &Platform, device: &Device) -> Result<OpenClDevice, String> {
    let cannot = |error: ClError| format!("device {index} cannot be queried: {error}");
    let text = |text: Result<String, ClError>| text.map(|text| text.trim().to_owned()).map_err(cannot);
    Ok(OpenClDevice {
        index,
        name: text(device.name())?,
        platform: format!("{} ({})", text(platform.name())?, text(platform.version())?),
        driver: text(device.driver_version())?,
        kind: kind(device),
        limits: limits(device),
    })
}

fn limits(device: &Device) -> BTreeMap<String, f64> {
    let mut limits = BTreeMap::new();
    let mut add = |name: &str, value: Result<f64, ClError>| {
        if let Ok(value) = value {
            limits.insert(name.to_owned(), value);
        }
    };
    add("compute_units", device.max_compute_units().map(f64::from));
    add("clock_mhz", device.max_clock_frequency().map(f64::from));
    add("max_work_group_size", device.max_work_group_size().map(|size| size as f64));
    add("local_memory", device.local_mem_size().map(|bytes| bytes as f64));
    add("global_memory", device.global_mem_size().map(|bytes| bytes as f64));
    add("constant_memory", device.max_constant_buffer_size().map(|bytes| bytes as f64));
    add("max_allocation", device.max_mem_alloc_size().map(|bytes| bytes as f64));
    add("cache", device.global_mem_cache_size().map(|bytes| bytes as f64));
    add("cache_line", device.global_mem_cacheline_size().map(f64::from));
    for (dimension, size) in device.max_work_item_sizes().unwrap_or_default().into_iter().enumerate() {
        add(&format!("max_work_item_size_{dimension}"), Ok(size as f64));
    }
    limits
}
