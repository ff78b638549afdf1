//! Errors in a loop nest and their places in the text.

use std::fmt;

/// A place in the text of a nest. Both numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line of the text.
    pub line: usize,
    /// Column of the line, in characters.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}", self.line, self.column)
    }
}

/// The refusal of a nest, a transformation or a question about a nest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NestError {
    /// The fault and its reason, without the place.
    pub message: String,
    /// The place in the text. `None` for a nest that a program built.
    pub place: Option<Place>,
    /// A correction to suggest to the user.
    pub remedy: Option<String>,
}

impl NestError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        NestError { message: message.into(), place: None, remedy: None }
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Fills in the place if none is known yet: the innermost place tells the most.
    pub(crate) fn at(mut self, place: impl Into<Option<Place>>) -> Self {
        self.place = self.place.or(place.into());
        self
    }

    /// Returns the error for an unknown name. It suggests the nearest known name.
    pub(crate) fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let nearest = known
            .into_iter()
            .map(|candidate| (strsim::osa_distance(candidate, name), candidate))
            .min()
            .filter(|(distance, _)| *distance <= 1 + name.len() / 3);
        let error = NestError::new(format!("there is no {what} `{name}`"));
        match nearest {
            Some((_, candidate)) => error.remedy(format!("did you mean `{candidate}`?")),
            None => error,
        }
    }
}
