//! Writes portfolios as X-macros, from which code is instantiated for each configuration.
//!
//! Beside the functions of [`c_header`](crate::c_header()) there are two ways:
//!
//! - `KERNEL_CONFIGS(X)` calls a macro of the user's with the number and the values of each
//!   configuration. It makes tables, declarations, and instances of templates.
//! - A file can be included once for each configuration, with its parameters as macros as in tuning.
//!   A kernel's source needs this, since it reads them in `#if` and as macros of its own.

use crate::build::{TUNED, holds};
use crate::c_header;
use crate::names::Names;
use std::fmt::Write as _;
use tunesmith_choose::wisdom::{Config, Portfolio};
use tunesmith_core::Refusal;

/// Returns `portfolios` as one header for C and C++, as [`c_header`](crate::c_header()) does, with
/// an X-macro for each. The numbers of configurations are those that the chooser returns.
///
/// # Errors
/// A portfolio is empty, or its configurations have different parameters. Or a name or value cannot
/// be a macro, or a macro's argument.
pub fn x_macro(portfolios: &[Portfolio]) -> Result<String, Refusal> {
    let all = Names::of(portfolios)?;
    for config in portfolios.iter().flat_map(|portfolio| &portfolio.configs) {
        config.iter().try_for_each(|(name, value)| {
            let value = value.define();
            holds(name, &value)?;
            is_argument(name, &value)
        })?;
    }
    let mut text = c_header(portfolios)?;
    // The list belongs into the guard of the header, and the inclusions do not.
    let end = text.rfind("\n#endif\n").unwrap_or(text.len());
    let lists: String = all.iter().map(list).collect();
    text.insert_str(end, &lists);
    text.extend(all.iter().map(inclusions));
    Ok(text)
}

/// Returns the values of `config` as macros, in the order of the first configuration.
fn defines<'c>(names: &'c Names<'_>, config: &'c Config) -> impl Iterator<Item = (&'c str, String)> {
    let parameters = names.portfolio.configs[0].iter().map(|(name, _)| name.as_str());
    parameters.zip(names.values(config).map(tunesmith_space::Value::define))
}

fn list(names: &Names<'_>) -> String {
    let (upper, configs) = (names.prefix.to_uppercase(), &names.portfolio.configs);
    let parameters: Vec<&str> = configs[0].iter().map(|(name, _)| name.as_str()).collect();
    let arguments = [&["number"], parameters.as_slice()].concat().join(", ");
    let calls: Vec<String> = configs
        .iter()
        .enumerate()
        .map(|(number, config)| {
            let values = std::iter::once(number.to_string()).chain(defines(names, config).map(|(_, value)| value));
            format!("    X({})", values.collect::<Vec<_>>().join(", "))
        })
        .collect();
    format!(
        "\n/* Calls X({arguments}) for each configuration. */\n#define {upper}_CONFIG_COUNT {}\n\
         #define {upper}_CONFIGS(X) \\\n{}\n",
        configs.len(),
        calls.join(" \\\n")
    )
}

/// Returns the part of the header that includes a file for each configuration. It stands behind the
/// guard, so that it works as often as the header is included.
fn inclusions(names: &Names<'_>) -> String {
    let (upper, each) = (names.prefix.to_uppercase(), format!("{}_EACH", names.prefix.to_uppercase()));
    let mut text = format!(
        "\n/* Define {each} as the name of a file, and include this header: it includes the file for each\n \
         * configuration, with the parameters as macros, {upper}_CONFIG as the number of the configuration, and\n \
         * {upper}_NAME(name) as a name of its own: name_0, name_1, ... */\n\
         #if defined({each}) && !defined({upper}_CONFIG)\n#define {TUNED} 1\n"
    );
    for (number, config) in names.portfolio.configs.iter().enumerate() {
        let _ = write!(text, "\n#define {upper}_CONFIG {number}\n#define {upper}_NAME(name) name##_{number}\n");
        defines(names, config).for_each(|(name, value)| _ = writeln!(text, "#define {name} {value}"));
        let _ = writeln!(text, "#include {each}");
        defines(names, config).for_each(|(name, _)| _ = writeln!(text, "#undef {name}"));
        let _ = write!(text, "#undef {upper}_NAME\n#undef {upper}_CONFIG\n");
    }
    let _ = write!(text, "\n#undef {TUNED}\n#undef {each}\n#endif\n");
    text
}

/// Refuses a value that is not one argument of a macro: a comma outside of parentheses and quotes
/// divides arguments.
fn is_argument(name: &str, value: &str) -> Result<(), Refusal> {
    let (mut depth, mut quote, mut escaped, mut divides) = (0i64, None, false, false);
    for letter in value.chars() {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), _) => quote = Some(open).filter(|open| *open != letter),
            (None, '"' | '\'') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') => depth -= 1,
            (None, ',') if depth == 0 => divides = true,
            _ => {}
        }
        divides |= depth < 0;
    }
    if !divides && depth == 0 && quote.is_none() {
        return Ok(());
    }
    let remedy = Some("put the value in parentheses, or export `--as defines`".to_string());
    Err(Refusal::new(format!("the value `{value}` of `{name}` cannot be an argument of a macro"), remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_divides_arguments_is_refused() {
        for value in ["4", "-O2 -g", "", "f(a, b)", "\"a, b\"", "'\\''", "(4, 2)"] {
            assert!(is_argument("X", value).is_ok(), "{value}");
        }
        for value in ["4, 2", "f(a", "a)(b", "\"a", "it's"] {
            assert!(is_argument("X", value).unwrap_err().text.contains("argument of a macro"), "{value}");
        }
    }
}
