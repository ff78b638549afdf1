//! Errors of drivers. APIs number and name them in their own way; what follows from an error is
//! decided once, by its [`ErrorKind`].

use crate::backends::Fault;
use crate::energy::Trouble;
use std::borrow::Cow;
use std::fmt;

/// The meaning of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    InvalidValue,
    InvalidConfiguration,
    OutOfMemory,
    NoDevice,
    DeviceUnavailable,
    SystemNotReady,
    DriverMismatch,
    InvalidDevice,
    InvalidImage,
    NoBinaryForDevice,
    EccUncorrectable,
    UnsupportedPtx,
    InvalidHandle,
    NotFound,
    NotReady,
    IllegalAddress,
    OutOfResources,
    Timeout,
    ContextDestroyed,
    Assert,
    StackError,
    IllegalInstruction,
    MisalignedAddress,
    InvalidAddressSpace,
    InvalidProgramCounter,
    LaunchFailed,
    CooperativeTooLarge,
    NotSupported,
    Other,
}

impl ErrorKind {
    /// Returns true if the device merely does not accept the configuration: too many threads,
    /// registers or bytes.
    fn is_refusal(self) -> bool {
        matches!(
            self,
            Self::InvalidValue
                | Self::InvalidConfiguration
                | Self::OutOfMemory
                | Self::OutOfResources
                | Self::CooperativeTooLarge
        )
    }

    /// Returns true if every call fails from now on, until another process starts.
    fn is_sticky(self) -> bool {
        matches!(
            self,
            Self::EccUncorrectable
                | Self::DeviceUnavailable
                | Self::IllegalAddress
                | Self::Timeout
                | Self::ContextDestroyed
                | Self::Assert
                | Self::StackError
                | Self::IllegalInstruction
                | Self::MisalignedAddress
                | Self::InvalidAddressSpace
                | Self::InvalidProgramCounter
                | Self::LaunchFailed
        )
    }

    /// Returns an explanation beyond the error's name.
    fn meaning(self) -> &'static str {
        match self {
            Self::IllegalAddress => " (it read or wrote memory that is not its own)",
            Self::MisalignedAddress => " (it read or wrote a vector at an address that is not a multiple of its size)",
            Self::OutOfResources => " (too many registers or threads for a block)",
            Self::InvalidConfiguration => " (a block or grid that the device does not take)",
            Self::Assert => " (an assertion of the kernel does not hold)",
            Self::NoBinaryForDevice => " (it is compiled for another architecture)",
            Self::InvalidValue => " (a size or address that the device does not take)",
            Self::OutOfMemory => " (the device has no memory left)",
            Self::DeviceUnavailable => {
                " (another process has the GPU for itself, or it is lost: see `nvidia-smi` and `dmesg`)"
            }
            Self::UnsupportedPtx => " (NVRTC is newer than the driver)",
            _ => "",
        }
    }
}

/// The errors of an API, by code, with their names.
pub(crate) struct ErrorTable(pub(crate) &'static [(u32, &'static str, ErrorKind)]);

impl ErrorTable {
    /// Returns the error with a code. `name` is asked for the names of codes that the table lacks.
    pub(crate) fn of_code(&self, code: u32, name: impl FnOnce() -> String) -> DriverError {
        let known = self.0.iter().find(|(known, ..)| *known == code);
        known.map_or_else(|| DriverError { name: name().into(), kind: ErrorKind::Other }, DriverError::of)
    }

    /// Returns the API's error of a kind. An API that does not tell some kinds apart from others
    /// reports a failed launch.
    pub(crate) fn of_kind(&self, kind: ErrorKind) -> DriverError {
        let find = |kind| self.0.iter().find(|(.., known)| *known == kind);
        let found = find(kind).or_else(|| find(ErrorKind::LaunchFailed));
        found.map_or(DriverError { name: "unknown error".into(), kind: ErrorKind::Other }, DriverError::of)
    }

    /// Returns the error with a name.
    pub(super) fn named(&self, name: &str) -> Option<DriverError> {
        self.0.iter().find(|(_, known, _)| *known == name).map(DriverError::of)
    }
}

/// An error of a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DriverError {
    /// The API's name of the error.
    name: Cow<'static, str>,
    kind: ErrorKind,
}

impl DriverError {
    /// Returns the error of a call that the API does not have.
    pub(super) fn not_supported() -> Self {
        Self { name: "not supported".into(), kind: ErrorKind::NotSupported }
    }

    fn of((_, name, kind): &(u32, &'static str, ErrorKind)) -> Self {
        Self { name: Cow::Borrowed(name), kind: *kind }
    }

    pub(crate) fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns true if every call fails from now on, until another process starts.
    pub(crate) fn is_sticky(&self) -> bool {
        self.kind.is_sticky()
    }

    /// Returns the trouble of the device behind the error, if no configuration is to blame.
    fn trouble(&self) -> Option<Trouble> {
        match self.kind {
            ErrorKind::EccUncorrectable => Some(Trouble::Memory),
            ErrorKind::DeviceUnavailable | ErrorKind::NoDevice => Some(Trouble::Lost(self.name.to_string())),
            _ => None,
        }
    }

    /// Returns the fault of the configuration, or of the device. `what` names the failed operation.
    pub(crate) fn fault(&self, what: &str) -> Fault {
        if let Some(trouble) = self.trouble() {
            return Fault::Device(trouble);
        }
        let text = format!("{what}: {self}");
        if self.kind.is_refusal() { Fault::Refused(text) } else { Fault::Failed(text) }
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, self.kind.meaning())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: ErrorTable = ErrorTable(&[
        (46, "UNAVAILABLE", ErrorKind::DeviceUnavailable),
        (214, "ECC", ErrorKind::EccUncorrectable),
        (2, "OUT_OF_MEMORY", ErrorKind::OutOfMemory),
        (700, "ILLEGAL_ADDRESS", ErrorKind::IllegalAddress),
        (719, "LAUNCH_FAILED", ErrorKind::LaunchFailed),
    ]);

    #[test]
    fn errors_are_told_apart_by_what_they_cost() {
        let error = |code| TABLE.of_code(code, || "its own name".to_owned());
        assert!(matches!(error(2).fault("no memory"), Fault::Refused(_)));
        let Fault::Failed(text) = error(700).fault("the kernel failed") else { panic!("not a failure") };
        assert_eq!(text, "the kernel failed: ILLEGAL_ADDRESS (it read or wrote memory that is not its own)");
        assert!(error(700).is_sticky() && !error(2).is_sticky() && !error(3).is_sticky());
        assert_eq!(error(214).fault("the kernel failed"), Fault::Device(Trouble::Memory));
        assert_eq!(error(46).fault("a copy failed"), Fault::Device(Trouble::Lost("UNAVAILABLE".to_owned())));
        assert_eq!(error(3).to_string(), "its own name");
        assert_eq!(TABLE.of_kind(ErrorKind::MisalignedAddress), error(719));
        assert_eq!((TABLE.named("OUT_OF_MEMORY"), TABLE.named("x")), (Some(error(2)), None));
    }
}
