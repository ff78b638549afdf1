//! The device that commands run on.

use crate::c::{limits, processor_name};
use crate::devices::DeviceInfo;

/// This machine, for any program; it is always there.
pub fn device() -> DeviceInfo {
    DeviceInfo {
        id: "command".to_owned(),
        name: processor_name(),
        backend: "command".to_owned(),
        driver: "any program".to_owned(),
        limits: limits(),
    }
}
