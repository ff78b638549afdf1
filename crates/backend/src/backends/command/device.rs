//! The device that commands run on.

use crate::backends::DeviceInfo;
use crate::host::{limits, processor_name};

/// Returns this machine as the device of any program. It is always usable.
pub fn device() -> DeviceInfo {
    DeviceInfo {
        id: "command".to_owned(),
        name: processor_name(),
        backend: "command".to_owned(),
        driver: "any program".to_owned(),
        limits: limits(),
    }
}
