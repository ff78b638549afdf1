//! Chooses names and types in generated code.

use std::collections::BTreeSet;
use tunesmith_choose::wisdom::{Config, HeldOutRegret, Measure, Portfolio, widened};
use tunesmith_core::Refusal;
use tunesmith_space::{Value, ValueKind};

/// Words that cannot be names in C, C++ or Rust. They are replaced in all three, so that the names
/// are the same.
const KEYWORDS: &[&str] = &[
    "abstract",
    "alignas",
    "alignof",
    "and",
    "as",
    "asm",
    "async",
    "auto",
    "await",
    "become",
    "bool",
    "box",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "crate",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dyn",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "final",
    "float",
    "fn",
    "for",
    "friend",
    "gen",
    "goto",
    "if",
    "impl",
    "in",
    "inline",
    "int",
    "let",
    "long",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "nullptr",
    "operator",
    "or",
    "override",
    "priv",
    "private",
    "protected",
    "pub",
    "public",
    "ref",
    "register",
    "restrict",
    "return",
    "self",
    "Self",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "super",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "trait",
    "true",
    "try",
    "type",
    "typedef",
    "typeof",
    "typename",
    "union",
    "unsafe",
    "unsigned",
    "unsized",
    "use",
    "using",
    "virtual",
    "void",
    "volatile",
    "where",
    "while",
    "xor",
    "yield",
];

/// The sentence about choices that were not judged.
const NOT_JUDGED: &str =
    "Not judged: the choices were not measured against the default at fresh sizes (export --judge).";

/// The names in the code of one portfolio.
pub(crate) struct Names<'a> {
    pub(crate) portfolio: &'a Portfolio,
    /// The prefix in C, the module in Rust.
    pub(crate) prefix: String,
    /// The names of all sizes as members of a structure, in the order of the problem file.
    pub(crate) sizes: Vec<String>,
    /// The sizes that tell inputs apart, as members of the argument `sizes`.
    pub(crate) features: Vec<String>,
    /// The sizes that were the same in all inputs, as members of the argument `sizes`.
    constants: Vec<(String, f64)>,
    /// The names of the parameters as fields, with the kind of their values.
    pub(crate) fields: Vec<(String, ValueKind)>,
}

impl<'a> Names<'a> {
    /// Returns the names of all portfolios: the kernel's, and also the device's if one kernel has
    /// several.
    pub(crate) fn of(portfolios: &'a [Portfolio]) -> Result<Vec<Self>, Refusal> {
        let mut taken = BTreeSet::new();
        let of = |portfolio: &'a Portfolio| {
            let others = portfolios.iter().filter(|other| other.kernel == portfolio.kernel).count() > 1;
            let name =
                if others { format!("{}_{}", portfolio.kernel, portfolio.device) } else { portfolio.kernel.clone() };
            let mut names: Vec<&String> = portfolio.sizes.iter().collect();
            let others = portfolio.features.iter().chain(portfolio.constants.keys());
            others.for_each(|name| {
                if !names.contains(&name) {
                    names.push(name)
                }
            });
            let sizes = identifiers(names.iter().copied());
            let member = |name: &String| {
                let place = names.iter().position(|own| *own == name);
                place.map(|place| format!("sizes.{}", sizes[place]))
            };
            Ok(Self {
                portfolio,
                prefix: unique(identifier(&name.to_lowercase()), &mut taken),
                features: portfolio.features.iter().filter_map(member).collect(),
                constants: portfolio.constants.iter().filter_map(|(name, size)| Some((member(name)?, *size))).collect(),
                fields: fields(portfolio)?,
                sizes,
            })
        };
        portfolios.iter().map(of).collect()
    }

    /// Returns the value of each field in `config`, in their order.
    pub(crate) fn values<'c>(&'c self, config: &'c Config) -> impl Iterator<Item = &'c Value> + 'c {
        let first = &self.portfolio.configs[0];
        first.iter().filter_map(|(name, _)| config.iter().find(|(own, _)| own == name).map(|(_, value)| value))
    }

    /// Returns an introduction for readers of the code, as lines: the choice, its measured regret,
    /// and the inputs that it covers.
    pub(crate) fn about(&self) -> Vec<String> {
        let Portfolio { kernel, device, configs, regret, features, chooser, .. } = self.portfolio;
        let mut lines = vec![
            format!("{kernel} on {device}. Configurations: {}. Measured inputs: {}.", configs.len(), regret.inputs),
            format!("Choice: {}.", chooser.rule.describe(features)),
            format!(
                "Worse than the best known configuration of an input by {} on average, {} at most.",
                percent(regret.chosen),
                percent(regret.worst)
            ),
        ];
        lines.extend(regret.held_out.iter().map(held_out));
        if let Some(over) = regret.held_out.and_then(|held_out| held_out.over_default) {
            lines.push(match over > 0.0 {
                true => format!("Held out, a choice was worse than the default by {} at most.", percent(over)),
                false => "Held out, no choice was worse than the default.".to_string(),
            });
        }
        lines.extend(self.judged());
        lines.extend(self.covered());
        lines.iter().map(|line| line.replace("*/", "* /").replace(['\n', '\r'], " ")).collect()
    }

    /// Returns a sentence about the judgement at fresh sizes. A single input has nothing to be judged for.
    fn judged(&self) -> Option<String> {
        let Portfolio { judgement, regret, .. } = self.portfolio;
        match judgement {
            Some(judgement) => Some(format!("Judged: {judgement}.")),
            None if regret.inputs > 1 => Some(NOT_JUDGED.to_string()),
            None => None,
        }
    }

    /// Returns sentences about the covered inputs.
    fn covered(&self) -> Vec<String> {
        let Portfolio { features, constants, chooser, .. } = self.portfolio;
        let range = |(measure, (low, high)): (Measure, (f64, f64))| match low == high {
            true => format!("{} = {low}", measure.text(features)),
            false => format!("{} from {} to {}", measure.text(features), short(low), short(high)),
        };
        let constants = constants.iter().map(|(name, size)| format!("{name} = {size}"));
        let all: Vec<String> = chooser.coverage.ranges().map(range).chain(constants).collect();
        if all.is_empty() { Vec::new() } else { vec![format!("It covers {}.", all.join(", "))] }
    }

    /// Returns the condition that an input is not far from what was measured. Returns `None` if
    /// nothing tells inputs apart. As in the library, the other sizes do not count.
    pub(crate) fn near(&self) -> Option<String> {
        self.conjunction(self.measured().map(|(number, range)| (number, widened(range))))
    }

    /// Returns the condition that an input lies within what was measured, the sizes that were always
    /// the same included. Returns `None` if there are no sizes.
    pub(crate) fn within(&self) -> Option<String> {
        let constants = self.constants.iter().map(|(number, size)| (number.clone(), (*size, *size)));
        self.conjunction(self.measured().chain(constants))
    }

    /// Returns every measure with its measured range.
    fn measured(&self) -> impl Iterator<Item = (String, (f64, f64))> + '_ {
        let ranges = self.portfolio.chooser.coverage.ranges();
        ranges.map(|(measure, range)| (measure.text(&self.features), range))
    }

    fn conjunction(&self, ranges: impl Iterator<Item = (String, (f64, f64))>) -> Option<String> {
        let conditions = ranges.map(|(number, (low, high))| format!("{number} >= {low:?} && {number} <= {high:?}"));
        let all: Vec<String> = conditions.collect();
        (!all.is_empty()).then(|| all.join(" && "))
    }

    /// Returns a sentence about the worst choice for a measured input, for the function that
    /// chooses.
    pub(crate) fn worst(&self) -> String {
        let regret = &self.portfolio.regret;
        match regret.inputs {
            0 => "The regret of the choice was not measured.".to_string(),
            1 => "One input was measured: for any other, the choice is a guess.".to_string(),
            inputs => format!(
                "For each of the {inputs} measured inputs, at most {} worse than the best known one.",
                percent(regret.worst)
            ),
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Returns a sentence about the regret on inputs held out.
fn held_out(held_out: &HeldOutRegret) -> String {
    let HeldOutRegret { mean, worst, unknown, .. } = *held_out;
    let unknown = match unknown {
        0 => String::new(),
        count => format!(" ({count} of these choices were not measured, and count as the worst known)"),
    };
    format!("For inputs held out of the choice: by {} on average, {} at most{unknown}.", percent(mean), percent(worst))
}

/// Returns a number with at most three decimals.
fn short(number: f64) -> String {
    format!("{}", (number * 1000.0).round() / 1000.0)
}

/// Returns the parameters, each with the one kind of its values.
fn fields(portfolio: &Portfolio) -> Result<Vec<(String, ValueKind)>, Refusal> {
    let first = portfolio.configs.first().ok_or_else(|| Refusal::new("the portfolio is empty", None))?;
    let names = identifiers(first.iter().map(|(name, _)| name));
    let kind = |(name, _): &(String, Value)| {
        let values = portfolio.configs.iter().map(|config| config.iter().find(|(own, _)| own == name));
        let kinds: BTreeSet<Option<ValueKind>> = values.map(|value| value.map(|(_, value)| value.kind())).collect();
        match kinds.into_iter().collect::<Vec<_>>()[..] {
            [Some(kind)] => Ok(kind),
            // A list of floats may contain integers.
            [Some(ValueKind::Int), Some(ValueKind::Float)] => Ok(ValueKind::Float),
            _ => {
                let text = format!(
                    "parameter `{name}` of `{}` is not in all configurations or of several types",
                    portfolio.kernel
                );
                Err(Refusal::new(text, Some("export runs of one version of the kernel".to_string())))
            }
        }
    };
    names.into_iter().zip(first).map(|(field, parameter)| Ok((field, kind(parameter)?))).collect()
}

/// Returns a distinct identifier for each of `names`.
fn identifiers<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    names.map(|name| unique(identifier(name), &mut taken)).collect()
}

fn unique(name: String, taken: &mut BTreeSet<String>) -> String {
    let mut candidate = name.clone();
    for number in 2.. {
        if taken.insert(candidate.clone()) {
            break;
        }
        candidate = format!("{name}_{number}");
    }
    candidate
}

/// Returns `name` with replacements for characters that an identifier cannot have.
fn identifier(name: &str) -> String {
    let mut identifier: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if !identifier.starts_with(|first: char| first.is_ascii_alphabetic()) {
        identifier.insert(0, 'n');
    }
    if KEYWORDS.contains(&identifier.as_str()) { identifier + "_" } else { identifier }
}

/// Returns `name` as part of a file's name.
pub fn file_name(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let plain: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    if plain.trim_matches('.').is_empty() { "tuned".to_string() } else { plain }
}

/// Returns a string literal that is valid in C and in Rust.
pub(crate) fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => literal.extend(['\\', letter]),
            '\n' => literal += "\\n",
            '\t' => literal += "\\t",
            '\r' => literal += "\\r",
            other => literal.push(other),
        }
    }
    literal + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_becomes_an_identifier() {
        for (name, expected) in [
            ("block_h", "block_h"),
            ("2d conv", "n2d_conv"),
            ("type", "type_"),
            ("", "n"),
            ("größe", "gr__e"),
            ("_x", "n_x"),
        ] {
            assert_eq!(identifier(name), expected);
        }
        let names = ["a b".to_string(), "a_b".to_string(), "a_b_2".to_string()];
        assert_eq!(identifiers(names.iter()), ["a_b", "a_b_2", "a_b_2_2"]);
        assert_eq!((file_name("a/b c").as_str(), file_name("..").as_str()), ("a_b_c", "tuned"));
        assert_eq!(literal("say \"\\\n"), r#""say \"\\\n""#);
    }
}
