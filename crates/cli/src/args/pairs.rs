//! Names with values on the command line.

/// Names with the text of their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    pub(crate) pairs: Vec<(String, String)>,
    /// The text as it was written.
    pub(crate) text: String,
}

/// Parses pairs of the form `NAME=VALUE,...`.
pub(super) fn pairs(text: &str) -> Result<Pairs, String> {
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').ok_or_else(|| format!("`{part}` is not of the form NAME=VALUE"))?;
        Ok((name.trim().to_string(), value.trim().to_string()))
    };
    let pairs: Vec<(String, String)> = text.split(',').map(pair).collect::<Result<_, String>>()?;
    for (at, (name, value)) in pairs.iter().enumerate() {
        if let Some((_, first)) = pairs[..at].iter().find(|(known, _)| known == name) {
            return Err(format!("`{name}` is there twice, as `{first}` and as `{value}`"));
        }
    }
    Ok(Pairs { pairs, text: text.to_string() })
}
