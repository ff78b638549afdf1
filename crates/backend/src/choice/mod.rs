//! Device choices as users write them.

mod function;

pub use function::{Function, OwnFunction};

use crate::{KernelBackend, WhichDevice};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tunesmith_kernel::Language;
use tunesmith_space::{ErrorClass, Expr, ExprError, UserError, did_you_mean};

/// A device as a user names it: `c`, `opencl`, `cuda:1`, `hip`, `command`, `replay:FILE` or
/// `synthetic:EXPR`. The machine may not have this device.
#[derive(Clone, Debug)]
pub enum DeviceChoice {
    /// A device of a backend that runs kernels.
    Kernels(KernelBackend, WhichDevice),
    /// Any program, for problems that tune a command.
    Command,
    /// A recording: the journal of an earlier run, or measurements of another tool.
    Replay {
        /// The recorded file.
        file: PathBuf,
        /// True if samples are redrawn from the recorded noise.
        noise: bool,
    },
    /// An expression over the parameters. Its value is the time in milliseconds.
    Synthetic(Expr),
    /// A function of the program. No text names it.
    Function(OwnFunction),
}

/// An error in the text of a device choice.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// An unknown name.
    #[error("there is no device `{text}`")]
    Unknown {
        /// The text as written.
        text: String,
        /// The remedy.
        remedy: String,
    },
    /// A faulty expression of a synthetic device.
    #[error("in `{text}`: {error}")]
    Expression {
        /// The expression as written.
        text: String,
        /// The error in it.
        error: ExprError,
    },
    /// An unknown option of a replay.
    #[error("a replay has no option `{option}`")]
    ReplayOption {
        /// The option as written.
        option: String,
        /// The remedy.
        remedy: String,
    },
}

/// The forms of `--device` for devices of no backend: a name, and what follows it.
const FORMS: [(&str, &str); 3] = [("command", ""), ("replay", ":FILE[?noise]"), ("synthetic", ":EXPR")];

/// Returns all forms of `--device`: a name, and what follows it.
fn forms() -> impl Iterator<Item = (&'static str, &'static str)> {
    KernelBackend::all().map(|backend| (backend.name(), backend.form())).chain(FORMS)
}

impl UserError for ChoiceError {
    fn class(&self) -> ErrorClass {
        ErrorClass::Request
    }

    fn remedy(&self) -> Option<&str> {
        match self {
            Self::Unknown { remedy, .. } | Self::ReplayOption { remedy, .. } => Some(remedy),
            Self::Expression { error, .. } => error.remedy.as_deref(),
        }
    }
}

impl ChoiceError {
    fn unknown(text: &str, name: &str) -> Self {
        let names: Vec<&str> = forms().map(|(name, _)| name).collect();
        let known = || forms().map(|(name, rest)| [name, rest].concat()).collect::<Vec<_>>().join(", ");
        let similar = did_you_mean(name, names.iter().copied()).filter(|_| !names.contains(&name));
        let remedy = similar.unwrap_or_else(|| format!("devices are {}", known()));
        Self::Unknown { text: text.to_string(), remedy }
    }
}

impl FromStr for DeviceChoice {
    type Err = ChoiceError;

    /// Parses one of the forms of `--device`. Asks no driver. For a replay, it checks whether a
    /// file has the whole text as its name.
    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        match (name, rest) {
            ("command", None) => Ok(Self::Command),
            ("replay", Some(file)) => replay(file),
            ("synthetic", Some(expression)) => Expr::parse(expression)
                .map(Self::Synthetic)
                .map_err(|error| ChoiceError::Expression { text: expression.to_string(), error }),
            (_, which) => KernelBackend::named(name)
                .filter(|backend| which.is_none() || backend.has_several())
                .map(|backend| Self::Kernels(backend, WhichDevice::parse(which)))
                .ok_or_else(|| ChoiceError::unknown(text, name)),
        }
    }
}

/// Parses `FILE` or `FILE?noise`. If a file has the whole text as its name, the text means that
/// file.
fn replay(text: &str) -> Result<DeviceChoice, ChoiceError> {
    match text.rsplit_once('?') {
        Some((file, "noise")) if !Path::new(text).exists() => {
            Ok(DeviceChoice::Replay { file: PathBuf::from(file), noise: true })
        }
        Some((_, option)) if !Path::new(text).exists() => {
            let remedy = did_you_mean(option, ["noise"]).unwrap_or_else(|| "the only option is `?noise`".to_string());
            Err(ChoiceError::ReplayOption { option: option.to_string(), remedy })
        }
        _ => Ok(DeviceChoice::Replay { file: PathBuf::from(text), noise: false }),
    }
}

impl From<Language> for DeviceChoice {
    /// Returns the best of the devices that run the language.
    fn from(language: Language) -> Self {
        Self::Kernels(language.into(), WhichDevice::Best)
    }
}

impl DeviceChoice {
    /// Returns the choice of this machine's processor.
    pub fn processor() -> Self {
        Self::Kernels(KernelBackend::default(), WhichDevice::Best)
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernels(backend, which) => write!(f, "{}{which}", backend.name()),
            Self::Command => f.write_str("command"),
            Self::Replay { file, noise } => {
                write!(f, "replay:{}{}", file.display(), if *noise { "?noise" } else { "" })
            }
            Self::Synthetic(expression) => write!(f, "synthetic:{}", expression.text()),
            Self::Function(function) => write!(f, "function:{}", function.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceKind;

    #[test]
    fn what_is_parsed_is_written_as_it_was() {
        let texts = [
            "c",
            "opencl",
            "opencl:0",
            "opencl:Portable Computing",
            "opencl:0::1",
            "opencl:NVIDIA::gpu 0",
            "opencl:::cpu",
            "opencl:pocl::pthread",
            "cuda",
            "cuda:3",
            "hip",
            "hip:1",
            "command",
            "replay:run.jsonl",
            "replay:run.jsonl?noise",
            "synthetic:1 + abs(X - 3)",
        ];
        for text in texts {
            assert_eq!(text.parse::<DeviceChoice>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_language_chooses_the_device_that_it_names() {
        for language in [Language::C, Language::Cpp, Language::OpenCl, Language::Cuda, Language::Hip] {
            assert_eq!(DeviceChoice::from(language).to_string(), language.device());
        }
    }

    #[test]
    fn numbers_and_parts_of_names_select_devices() {
        let which = |text: &str| match text.parse().unwrap() {
            DeviceChoice::Kernels(_, which) => which,
            other => panic!("{other}"),
        };
        assert_eq!(which("opencl"), WhichDevice::Best);
        assert_eq!(which("cuda:1"), WhichDevice::Number(1));
        assert_eq!(which("opencl:pocl"), WhichDevice::Named("pocl".to_string()));
        let of_platform = |platform: &str, kind, device: &str| WhichDevice::OfPlatform {
            platform: platform.to_string(),
            kind,
            device: device.to_string(),
        };
        assert_eq!(which("opencl:0::1"), of_platform("0", None, "1"));
        assert_eq!(which("opencl:Intel::gpu 2"), of_platform("Intel", Some(DeviceKind::Gpu), "2"));
        assert_eq!(which("opencl:::cpu"), of_platform("", Some(DeviceKind::Cpu), ""));
    }

    #[test]
    fn what_names_no_device_is_told_with_a_remedy() {
        let wrong = |text: &str| {
            let error = text.parse::<DeviceChoice>().unwrap_err();
            format!("{error}; {}", error.remedy().unwrap_or_default())
        };
        assert_eq!(wrong("opencll"), "there is no device `opencll`; did you mean `opencl`?");
        assert!(wrong("c:1").starts_with("there is no device `c:1`; devices are c, opencl[:N"));
        assert!(wrong("replay:run?nois").contains("did you mean `noise`?"));
        assert!(wrong("replay:run?quietly").contains("the only option is `?noise`"));
        assert!(wrong("synthetic:1 +").starts_with("in `1 +`: "));
    }
}
