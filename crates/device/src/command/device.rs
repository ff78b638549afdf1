//! The device that commands run on.

use crate::c::{processor_name, threads};
use crate::devices::DeviceInfo;
use std::collections::BTreeMap;

/// This machine, for any program; it is always there.
pub fn device() -> DeviceInfo {
    DeviceInfo {
        id: "command".to_owned(),
        name: processor_name(),
        backend: "command".to_owned(),
        driver: "any program".to_owned(),
        limits: BTreeMap::from([("threads".to_owned(), threads() as f64)]),
    }
}
