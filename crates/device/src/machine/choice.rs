//! Device choices as users write them.

use crate::function::OwnFunction;
use crate::problem::Language;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use tunesmith_space::{ErrorClass, Expr, ExprError, UserError, did_you_mean};

/// A device as a user names it: `c`, `opencl`, `cuda:1`, `hip`, `command`, `replay:FILE` or
/// `synthetic:EXPR`. The machine may not have this device;
/// [`Machine::device_or`](super::Machine::device_or) finds out.
#[derive(Clone, Debug)]
pub enum DeviceChoice {
    /// The processor of this machine, through its C or C++ compiler.
    C,
    /// An OpenCL device.
    OpenCl(WhichDevice),
    /// A CUDA device.
    Cuda(WhichDevice),
    /// A HIP device.
    Hip(WhichDevice),
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

/// Selects one of a driver's devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WhichDevice {
    /// The best device.
    #[default]
    Best,
    /// The device with this number.
    Number(usize),
    /// The first device whose name contains this text.
    Named(String),
    /// A device of one of OpenCL's platforms.
    OfPlatform {
        /// The platform: its number among those that have devices, or a part of its name and
        /// version. Empty for any.
        platform: String,
        /// The kind of the device.
        kind: Option<DeviceKind>,
        /// Its number among the platform's devices of that kind, or a part of its name. Empty for
        /// the best.
        device: String,
    },
}

/// A kind of OpenCL devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// Processors.
    Cpu,
    /// Graphics processors.
    Gpu,
    /// All others.
    Accelerator,
}

/// The kinds of devices with their names.
const KINDS: [(&str, DeviceKind); 3] =
    [("cpu", DeviceKind::Cpu), ("gpu", DeviceKind::Gpu), ("accelerator", DeviceKind::Accelerator)];

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

/// The forms of `--device`: a name, and what follows it.
const FORMS: [(&str, &str); 7] = [
    ("c", ""),
    ("opencl", "[:N or a part of its name, or PLATFORM::DEVICE]"),
    ("cuda", "[:N]"),
    ("hip", "[:N]"),
    ("command", ""),
    ("replay", ":FILE[?noise]"),
    ("synthetic", ":EXPR"),
];

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
        let names = FORMS.map(|(name, _)| name);
        let known = || format!("devices are {}", FORMS.map(|(name, rest)| [name, rest].concat()).join(", "));
        let remedy = did_you_mean(name, names).filter(|_| !names.contains(&name)).unwrap_or_else(known);
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
            ("c", None) => Ok(Self::C),
            ("opencl", which) => Ok(Self::OpenCl(WhichDevice::parse(which))),
            ("cuda", which) => Ok(Self::Cuda(WhichDevice::parse(which))),
            ("hip", which) => Ok(Self::Hip(WhichDevice::parse(which))),
            ("command", None) => Ok(Self::Command),
            ("replay", Some(file)) => replay(file),
            ("synthetic", Some(expression)) => Expr::parse(expression)
                .map(Self::Synthetic)
                .map_err(|error| ChoiceError::Expression { text: expression.to_string(), error }),
            _ => Err(ChoiceError::unknown(text, name)),
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
        match language {
            Language::C | Language::Cpp => Self::C,
            Language::OpenCl => Self::OpenCl(WhichDevice::Best),
            Language::Cuda => Self::Cuda(WhichDevice::Best),
            Language::Hip => Self::Hip(WhichDevice::Best),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::C => f.write_str("c"),
            Self::OpenCl(which) => write!(f, "opencl{which}"),
            Self::Cuda(which) => write!(f, "cuda{which}"),
            Self::Hip(which) => write!(f, "hip{which}"),
            Self::Command => f.write_str("command"),
            Self::Replay { file, noise } => {
                write!(f, "replay:{}{}", file.display(), if *noise { "?noise" } else { "" })
            }
            Self::Synthetic(expression) => write!(f, "synthetic:{}", expression.text()),
            Self::Function(function) => write!(f, "function:{}", function.name()),
        }
    }
}

impl WhichDevice {
    fn parse(text: Option<&str>) -> Self {
        match text {
            None => Self::Best,
            Some(text) => match text.split_once("::") {
                Some((platform, device)) => Self::of_platform(platform, device),
                None => text.parse().map_or_else(|_| Self::Named(text.to_string()), Self::Number),
            },
        }
    }

    /// Returns the device that is left of `::` called `platform`, and right of it `device`, which
    /// may begin with a kind.
    fn of_platform(platform: &str, device: &str) -> Self {
        let (first, rest) = device.split_once(' ').unwrap_or((device, ""));
        let kind = KINDS.iter().find(|(name, _)| *name == first).map(|(_, kind)| *kind);
        let device = if kind.is_some() { rest } else { device };
        Self::OfPlatform { platform: platform.to_string(), kind, device: device.to_string() }
    }
}

impl fmt::Display for WhichDevice {
    /// Writes the suffix of the backend's name: nothing, `:1` or `:pocl`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Best => Ok(()),
            Self::Number(number) => write!(f, ":{number}"),
            Self::Named(part) => write!(f, ":{part}"),
            Self::OfPlatform { platform, kind, device } => {
                let name = kind.and_then(|kind| KINDS.iter().find(|(_, known)| *known == kind)).map(|(name, _)| *name);
                let parts: Vec<&str> =
                    name.into_iter().chain([device.as_str()]).filter(|part| !part.is_empty()).collect();
                write!(f, ":{platform}::{}", parts.join(" "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            DeviceChoice::OpenCl(which) | DeviceChoice::Cuda(which) | DeviceChoice::Hip(which) => which,
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
