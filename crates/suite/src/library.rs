//! The libraries that one would use instead of a tuned kernel.

use crate::operation::OperationKind;
use crate::refusal::refused;
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;
use tunesmith::Error;
use tunesmith_backend::Target;
use tunesmith_kernel::Language;
use tunesmith_space::did_you_mean;

/// A library with ready-made operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Library {
    /// OpenBLAS: products on the processor.
    OpenBlas,
    /// CLBlast: products on OpenCL devices.
    ClBlast,
    /// cuBLAS: products on NVIDIA's GPUs.
    CuBlas,
    /// cuDNN: convolutions on NVIDIA's GPUs.
    CuDnn,
}

impl Library {
    /// The libraries that are known.
    pub const ALL: [Self; 4] = [Self::OpenBlas, Self::ClBlast, Self::CuBlas, Self::CuDnn];

    /// Returns the name in `about.toml` and for `--against`.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenBlas => "openblas",
            Self::ClBlast => "clblast",
            Self::CuBlas => "cublas",
            Self::CuDnn => "cudnn",
        }
    }

    /// Returns the kind of operation that the library computes.
    pub fn computes(self) -> OperationKind {
        match self {
            Self::OpenBlas | Self::ClBlast | Self::CuBlas => OperationKind::Product,
            Self::CuDnn => OperationKind::Convolution,
        }
    }

    /// Returns true if the library is what one would use on a device.
    pub(crate) fn serves(self, target: &Target) -> bool {
        match self {
            Self::OpenBlas => target.is_processor(),
            Self::ClBlast => target.language() == Language::OpenCl,
            Self::CuBlas | Self::CuDnn => target.language() == Language::Cuda,
        }
    }

    /// Returns the advice if the library cannot be opened.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Self::OpenBlas => "install libopenblas0 or libopenblas0-serial",
            Self::ClBlast => "install libclblast1",
            Self::CuBlas => "install CUDA's runtime and cuBLAS, and name their folders in LD_LIBRARY_PATH",
            Self::CuDnn => "install CUDA's runtime and cuDNN 8 or 9, and name their folders in LD_LIBRARY_PATH",
        }
    }

    /// Returns the names of these libraries, for messages.
    fn names(of: impl Iterator<Item = Self>) -> String {
        of.map(Self::name).collect::<Vec<_>>().join(", ")
    }

    /// Returns the names of the libraries that compute operations of a kind, for messages.
    pub(crate) fn names_of(kind: OperationKind) -> String {
        Self::names(Self::ALL.into_iter().filter(|library| library.computes() == kind))
    }
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Library {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|library| library.name() == name).ok_or_else(|| {
            let known = || Self::ALL.into_iter().map(Self::name);
            let all = || format!("libraries are {}", Self::names(Self::ALL.into_iter()));
            let remedy = did_you_mean(name, known()).unwrap_or_else(all);
            refused(format!("`{name}` is no library to compare with"), Some(remedy))
        })
    }
}

/// Reads a name in a file. The error has its remedy in the text.
impl TryFrom<String> for Library {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse().map_err(|error: Error| match error.remedy() {
            Some(remedy) => format!("{error}; {remedy}"),
            None => error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written_and_another_one_is_refused_with_the_nearest() {
        for library in Library::ALL {
            assert_eq!(library.to_string().parse::<Library>().unwrap(), library);
        }
        let error = Library::try_from("cublass".to_string()).unwrap_err();
        assert_eq!(error, "`cublass` is no library to compare with; did you mean `cublas`?");
        let error = Library::try_from("atlas-of-clouds".to_string()).unwrap_err();
        assert!(error.ends_with("libraries are openblas, clblast, cublas, cudnn"), "{error}");
        assert_eq!(Library::names_of(OperationKind::Product), "openblas, clblast, cublas");
    }

    #[test]
    fn a_library_serves_the_devices_that_one_would_use_it_on() {
        let served = Library::ALL.map(|library| library.serves(&Target::processor()));
        assert_eq!(served, [true, false, false, false]);
    }
}
