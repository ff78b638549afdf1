//! Writes one configuration for a build: as compiler flags, macros, or settings of a build system.

use crate::names::Names;
use std::fmt::Write as _;
use tunesmith_choose::wisdom::{Config, Input, Portfolio};
use tunesmith_core::Refusal;

/// The form in which a build reads a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildForm {
    /// Options of a compiler, `-DNAME=VALUE`: `cc @kernel.flags`.
    Flags,
    /// A header with a `#define` for each parameter.
    Defines,
    /// A list `KERNEL_DEFINITIONS` for CMake's `target_compile_definitions`.
    CMake,
    /// A variable `KERNEL_FLAGS` for Make.
    Make,
    /// `NAME=VALUE` for a shell.
    Env,
}

impl BuildForm {
    /// Returns the name by which users call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Flags => "flags",
            Self::Defines => "defines",
            Self::CMake => "cmake",
            Self::Make => "make",
            Self::Env => "env",
        }
    }

    /// Returns the suffix of its files.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Defines => "defines.h",
            Self::Make => "mk",
            Self::Flags | Self::CMake | Self::Env => self.word(),
        }
    }
}

/// The macro that says that a build is tuned. It also marks files of flags, which have no comments.
pub const TUNED: &str = "TUNED_BY_TUNESMITH";

/// Returns the configuration of a portfolio that serves all of its inputs, for a build. Parameters keep their names, since
/// the kernel reads them as macros.
///
/// # Errors
/// There are several portfolios, or `form` cannot hold a name or a value.
pub fn for_build(form: BuildForm, portfolios: &[Portfolio]) -> Result<String, Refusal> {
    let (portfolio, config) = for_all_inputs(portfolios)?;
    let names = &Names::of(portfolios)?[0];
    let defines: Vec<(&str, String)> = config.iter().map(|(name, value)| (name.as_str(), value.define())).collect();
    defines.iter().try_for_each(|(name, value)| holds(name, value))?;
    let prefix = names.prefix.to_uppercase();
    let about =
        format!("Written by tunesmith: {} on {}, the configuration to build.", portfolio.kernel, portfolio.device);
    let about = about.replace(['\n', '\r'], " ");
    let words = |quote: &dyn Fn(&str) -> String| {
        defines.iter().map(|(name, value)| quote(&format!("{name}={value}"))).collect::<Vec<_>>()
    };
    Ok(match form {
        BuildForm::Flags => format!("-D{TUNED}=1\n{}", lines(&words(&|word| shell(&format!("-D{word}"))))),
        BuildForm::Defines => {
            let mut text = format!("/* {} */\n#define {TUNED} 1\n", about.replace("*/", "* /"));
            defines.iter().for_each(|(name, value)| _ = writeln!(text, "#define {name} {value}"));
            text
        }
        BuildForm::CMake => {
            let list = words(&cmake).iter().map(|word| format!("\n    {word}")).collect::<String>();
            format!("# {about}\nset({prefix}_DEFINITIONS\n    {TUNED}=1{list})\n")
        }
        BuildForm::Make => {
            let list = words(&|word| shell(&format!("-D{word}")).replace('$', "$$").replace('#', "\\#"));
            format!("# {about}\n{prefix}_FLAGS := -D{TUNED}=1 {}\n", list.join(" "))
        }
        BuildForm::Env => {
            let list = defines.iter().map(|(name, value)| format!("{name}={}", shell(value)));
            format!("# {about}\n{}", lines(&list.collect::<Vec<_>>()))
        }
    })
}

/// Returns the only portfolio, and its configuration that is to serve all inputs.
///
/// # Errors
/// There are several portfolios.
pub fn for_all_inputs(portfolios: &[Portfolio]) -> Result<(&Portfolio, &Config), Refusal> {
    let [portfolio] = portfolios else { return Err(several(portfolios)) };
    let config = match portfolio.chooser.robust {
        Some(robust) if !portfolio.features.is_empty() => &portfolio.configs[robust],
        _ => portfolio.choose(&Input::new()),
    };
    Ok((portfolio, config))
}

fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn several(portfolios: &[Portfolio]) -> Refusal {
    let kernels: Vec<String> =
        portfolios.iter().map(|portfolio| format!("`{}` on `{}`", portfolio.kernel, portfolio.device)).collect();
    Refusal::new(
        format!("a build takes one configuration, but the runs are of {}", kernels.join(" and ")),
        Some("export the runs of one kernel on one device; `--as c-header` holds several".to_string()),
    )
}

/// Refuses what is no macro.
pub(crate) fn holds(name: &str, value: &str) -> Result<(), Refusal> {
    let is_name = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if !is_name || name.starts_with(|first: char| first.is_ascii_digit()) {
        let remedy = Some("rename the parameter, or export `--as json`".to_string());
        return Err(Refusal::new(format!("parameter `{name}` cannot be the name of a macro"), remedy));
    }
    if name == TUNED {
        let remedy = Some("rename the parameter".to_string());
        return Err(Refusal::new(
            format!("parameter `{name}` has the name of the macro that marks a tuned build"),
            remedy,
        ));
    }
    if value.contains(['\n', '\r']) {
        let remedy = Some("write the value in one line, or export `--as json`".to_string());
        return Err(Refusal::new(format!("the value of `{name}` has several lines"), remedy));
    }
    Ok(())
}

/// Returns `word` for a shell and for a compiler's file of options.
fn shell(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=.,:/+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Returns `word` as an argument of CMake.
fn cmake(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=.,:/+".contains(letter);
    if word.chars().all(is_plain) {
        return word.to_string();
    }
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace(';', "\\;");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_split_are_quoted() {
        assert_eq!(shell("-DN=4"), "-DN=4");
        assert_eq!(shell("-DT=unsigned int"), "'-DT=unsigned int'");
        assert_eq!(shell("it's"), r"'it'\''s'");
        assert_eq!(cmake("T=unsigned int"), "\"T=unsigned int\"");
        assert_eq!(cmake("S=a;$b\""), "\"S=a\\;\\$b\\\"\"");
    }

    #[test]
    fn names_and_values_that_no_macro_has_are_refused() {
        assert!(holds("TILE", "4").is_ok());
        assert!(holds("block h", "4").unwrap_err().text.contains("`block h`"));
        assert!(holds("2D", "4").is_err());
        assert!(holds(TUNED, "4").unwrap_err().text.contains("marks a tuned build"));
        assert!(holds("T", "a\nb").unwrap_err().text.contains("several lines"));
    }
}
