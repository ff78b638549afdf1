//! Names that a language reserves.

use tunesmith_kernel::{Language, Meaning, Scope};
use tunesmith_space::Value;

pub(super) fn in_words(language: Language, meaning: Meaning) -> String {
    match meaning {
        Meaning::Keyword => format!("a keyword of {language}"),
        Meaning::BuiltIn => format!("built into {language}"),
        Meaning::Macro => format!("a macro of {language}"),
    }
}

/// Returns the line that stands before a compiler's messages if a name of `scope` is a keyword of
/// `language`: a number in its place makes errors anywhere, and the compiler names the place alone.
pub(in crate::live) fn blamed(language: Language, scope: &Scope) -> Option<String> {
    let is_keyword = |(name, value): &(&str, &Value)| {
        language.meaning(name) == Some(Meaning::Keyword) && !matches!(value, Value::Str(_))
    };
    let (name, value) = scope.iter().find(is_keyword)?;
    let meaning = in_words(language, Meaning::Keyword);
    let value = value.define();
    let free = free(name);
    Some(format!(
        "`{name}` is {meaning}, and -D{name}={value} replaces it everywhere; rename it, for example to `{free}`"
    ))
}

/// Returns a name like `name` that neither languages nor headers use.
pub(super) fn free(name: &str) -> String {
    format!("{}_VALUE", name.trim_matches('_').to_uppercase())
}
