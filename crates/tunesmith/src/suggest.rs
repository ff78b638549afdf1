//! Did you mean?

use tunesmith_space::closest;

/// ``did you mean `name`?`` for the name that `wrong` most resembles, if any does.
pub(crate) fn did_you_mean<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(wrong, names).map(|name| format!("did you mean `{name}`?"))
}
