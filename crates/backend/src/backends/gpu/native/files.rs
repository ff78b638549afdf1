//! The files through which a driver reaches its devices.

use serde::Deserialize;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;

/// The state of device files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DeviceFiles {
    /// They may be read and written.
    Usable,
    /// They are there, but this user may not open them.
    Denied,
    /// There are none.
    Absent,
}

impl DeviceFiles {
    /// Looks at one file.
    pub(crate) fn at(path: &Path) -> Self {
        match OpenOptions::new().read(true).write(true).open(path) {
            Ok(_) => Self::Usable,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Self::Denied,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Absent,
            // An error of the device itself, which the driver's own error describes better.
            Err(_) => Self::Usable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_there_are_absent() {
        assert_eq!(DeviceFiles::at(Path::new("/dev/no-such-device")), DeviceFiles::Absent);
        assert_eq!(DeviceFiles::at(Path::new("/dev/null")), DeviceFiles::Usable);
    }
}
