//! Texts with placeholders of the form `{NAME}`.

use crate::problem::Scope;
use std::fmt;

/// A text with placeholders. `{NAME}` stands for the value of a parameter or size; `{{` and `}}`
/// stand for the braces themselves. A template is parsed once and expanded for every configuration.
///
/// ```
/// # use tunesmith_kernel::Template;
/// let template = Template::parse("-funroll-loops={FACTOR}")?;
/// assert_eq!(template.names().collect::<Vec<_>>(), ["FACTOR"]);
/// # Ok::<(), tunesmith_kernel::TemplateError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Name(String),
}

/// An unbalanced brace or an unknown name in a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// A brace without its partner.
    #[error("`{text}` has a `{brace}` without its partner; write `{brace}{brace}` for the character itself")]
    Unbalanced {
        /// The whole text.
        text: String,
        /// The brace.
        brace: char,
    },
    /// A name that is not a parameter or size.
    #[error("`{{{name}}}` is neither a parameter nor a size{}", did_you_mean(.suggestion))]
    UnknownName {
        /// The name.
        name: String,
        /// The known name that is most similar.
        suggestion: Option<String>,
    },
}

/// Formats "; did you mean ...?" if there is a suggestion.
pub fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map(|known| format!("; did you mean `{known}`?")).unwrap_or_default()
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// A brace has no partner.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let unbalanced = |brace| TemplateError::Unbalanced { text: text.to_owned(), brace };
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let brace = if rest[at..].starts_with('{') { '{' } else { '}' };
            literal.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                literal.push(brace);
                rest = after;
            } else if brace == '{' {
                let (name, after) = rest.split_once('}').ok_or_else(|| unbalanced('{'))?;
                // Printed, such a name would be another template.
                if name.contains('{') {
                    return Err(unbalanced('{'));
                }
                parts.push(Part::Text(std::mem::take(&mut literal)));
                parts.push(Part::Name(name.trim().to_owned()));
                rest = after;
            } else {
                return Err(unbalanced('}'));
            }
        }
        literal.push_str(rest);
        parts.push(Part::Text(literal));
        parts.retain(|part| *part != Part::Text(String::new()));
        Ok(Self { parts })
    }

    /// Creates a template of `text` without placeholders: its braces are braces.
    pub(crate) fn plain(text: &str) -> Self {
        Self { parts: vec![Part::Text(text.to_owned())] }
    }

    /// Returns the names in the template, in order, with repetitions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Name(name) => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// Checks that `scope` knows every name.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn check(&self, scope: &Scope) -> Result<(), TemplateError> {
        match self.names().find(|name| scope.get(name).is_none()) {
            None => Ok(()),
            Some(name) => Err(TemplateError::UnknownName { name: name.to_owned(), suggestion: scope.similar(name) }),
        }
    }

    /// Replaces every name by its value in `scope`, spelt as in `-DNAME=VALUE`. Unknown names stay
    /// as they are; [`check`](Self::check) finds them.
    pub fn expand(&self, scope: &Scope) -> String {
        let expanded = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Name(name) => scope.get(name).map_or_else(|| format!("{{{name}}}"), |value| value.define()),
        });
        expanded.collect()
    }
}

/// Writes the template as it was given.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}")),
            Part::Name(name) => write!(f, "{{{name}}}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tunesmith_space::Value;

    fn scope() -> Scope {
        Scope::new([
            ("TILE".to_owned(), Value::Int(8)),
            ("FAST".to_owned(), Value::Bool(true)),
            ("KIND".to_owned(), Value::Str("row".into())),
        ])
    }

    fn expand(text: &str) -> String {
        Template::parse(text).unwrap().expand(&scope())
    }

    #[test]
    fn names_are_replaced_by_values_as_a_define_spells_them() {
        assert_eq!(expand("-DA={TILE},{FAST},{ KIND }"), "-DA=8,1,row");
        assert_eq!(expand("plain"), "plain");
        assert_eq!(expand(""), "");
    }

    #[test]
    fn doubled_braces_are_braces() {
        assert_eq!(expand("{{TILE}} {{{TILE}}}"), "{TILE} {8}");
    }

    #[test]
    fn an_unknown_name_is_named_with_the_closest_known() {
        let error = Template::parse("{TIEL}").unwrap().check(&scope()).unwrap_err();
        assert_eq!(error.to_string(), "`{TIEL}` is neither a parameter nor a size; did you mean `TILE`?");
    }

    #[test]
    fn a_brace_without_partner_is_refused() {
        for text in ["{TILE", "TILE}", "{{TILE}", "{ {}", "{a{b}"] {
            assert!(matches!(Template::parse(text), Err(TemplateError::Unbalanced { .. })), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_template_reads_back_from_what_it_displays(text in "[a {}]{0,12}") {
            if let Ok(template) = Template::parse(&text) {
                prop_assert_eq!(Template::parse(&template.to_string()), Ok(template));
            }
        }
    }
}
