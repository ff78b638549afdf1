//! The forms in which results are exported.

use crate::BuildForm;
use std::str::FromStr;
use tunesmith_core::{Objective, Refusal};
use tunesmith_space::did_you_mean;

/// A format of exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Entries, portfolios and defaults, for [`Selector`](tunesmith_choose::Selector).
    Wisdom,
    /// Entries, portfolios and defaults as one JSON document.
    Json,
    /// A C header that chooses among the portfolio's configurations.
    CHeader,
    /// The same header with X-macros, which instantiate code for each of them.
    XMacro,
    /// A Rust module that does the same.
    Rust,
    /// Entries as Kernel Launcher's wisdom.
    KernelLauncher,
    /// The kernel's source with the macros of one configuration.
    Source,
    /// One configuration, for a build.
    Build(BuildForm),
}

/// An option of an export that measures times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasuringOption {
    /// Measures every choice for the measured inputs.
    Guard,
    /// Measures the choices at fresh sizes.
    Judge,
}

impl MeasuringOption {
    /// Returns the name by which users call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Guard => "guard",
            Self::Judge => "judge",
        }
    }
}

impl ExportFormat {
    /// Every format.
    pub const ALL: [Self; 12] = [
        Self::Wisdom,
        Self::Json,
        Self::CHeader,
        Self::XMacro,
        Self::Rust,
        Self::KernelLauncher,
        Self::Source,
        Self::Build(BuildForm::Flags),
        Self::Build(BuildForm::Defines),
        Self::Build(BuildForm::CMake),
        Self::Build(BuildForm::Make),
        Self::Build(BuildForm::Env),
    ];

    /// Returns the name by which users call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Wisdom => "wisdom",
            Self::Json => "json",
            Self::CHeader => "c-header",
            Self::XMacro => "x-macro",
            Self::Rust => "rust",
            Self::KernelLauncher => "kernel-launcher",
            Self::Source => "source",
            Self::Build(form) => form.word(),
        }
    }

    /// Checks that it can hold runs with this objective, and what the options measure.
    ///
    /// # Errors
    /// The objective is not time, but the files hold times or something measures them. Or the format holds no choices, which
    /// a judge would measure.
    pub fn check(self, objective: &Objective, measuring: &[MeasuringOption]) -> Result<(), Refusal> {
        if measuring.contains(&MeasuringOption::Judge) && self == Self::KernelLauncher {
            let text =
                format!("`{}` holds the fastest of measured inputs, and no choice for others to judge", self.word());
            return Err(Refusal::new(text, Some("leave --judge out, or export `--as wisdom`".to_string())));
        }
        let holds_times = |format: Self| matches!(format, Self::Wisdom | Self::Json | Self::KernelLauncher);
        if objective.is_time() || (measuring.is_empty() && !holds_times(self)) {
            return Ok(());
        }
        if let Some(option) = measuring.first().map(|option| option.word()) {
            let text = format!("the {option} measures times, and the runs were tuned to {objective}");
            let remedy =
                format!("leave --{option} out; `tunesmith verify-winner` measures the winner by its objective");
            return Err(Refusal::new(text, Some(remedy)));
        }
        let others = Self::ALL.into_iter().filter(|format| !holds_times(*format));
        let words: Vec<&str> = others.map(Self::word).collect();
        let text = format!("`{}` holds times, and the runs were tuned to {objective}", self.word());
        Err(Refusal::new(text, Some(format!("export them as one of {}", words.join(", ")))))
    }

    /// Returns the suffix of its files. The source keeps its own behind it.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Wisdom | Self::KernelLauncher => "wisdom",
            Self::Json => "wisdom.json",
            Self::CHeader => "h",
            Self::XMacro => "x.h",
            Self::Rust => "rs",
            Self::Source => "tuned",
            Self::Build(form) => form.suffix(),
        }
    }

    /// Returns true if it is compiled, and needs none of the measurements.
    pub fn is_code(self) -> bool {
        !matches!(self, Self::Wisdom | Self::Json | Self::KernelLauncher)
    }

    /// Returns true if it holds one configuration.
    pub fn is_single(self) -> bool {
        matches!(self, Self::Source | Self::Build(_))
    }
}

impl FromStr for ExportFormat {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let words = Self::ALL.map(Self::word);
        let found = Self::ALL.into_iter().find(|format| format.word() == word);
        found.ok_or_else(|| {
            let meant = did_you_mean(word, words).map(|meant| meant + " ").unwrap_or_default();
            Refusal::new(format!("there is no form `{word}`"), Some(format!("{meant}forms are {}", words.join(", "))))
        })
    }
}
