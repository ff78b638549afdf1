//! "Did you mean": the known name closest to a misspelt name.

/// Returns the name in `known` that is most similar to a misspelt `name`, or `None` if no name is
/// similar enough. Every "did you mean" of Tunesmith calls this function.
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Below this similarity, a suggestion misleads more often than it helps. 0.7 still joins `WGS`
    // and `WG_SIZE`.
    const SIMILAR: f64 = 0.7;
    // A longer text is no misspelt name. To compare it costs the product of both lengths.
    const LONGEST: usize = 100;
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Returns ``did you mean `name`?`` with the known name closest to `wrong`, or `None` if none is
/// close.
pub fn did_you_mean<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(wrong, known).map(|name| format!("did you mean `{name}`?"))
}
