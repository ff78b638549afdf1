//! Did you mean?

/// ``did you mean `name`?`` for the name that `wrong` most resembles, if any does.
pub(crate) fn did_you_mean<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let distance = |name: &str| strsim::damerau_levenshtein(&wrong.to_lowercase(), &name.to_lowercase());
    let closest = names.into_iter().map(|name| (distance(name), name)).min()?;
    // A third of the letters: `evaluatons` is meant for `evaluations`, `x` for nothing longer.
    (closest.0 <= closest.1.chars().count().div_ceil(3)).then(|| format!("did you mean `{}`?", closest.1))
}
