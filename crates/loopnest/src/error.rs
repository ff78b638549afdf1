//! Errors in a loop nest, with their places.

use std::fmt;

/// A place in the text of a nest; both numbers count from 1.
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

/// A nest, a transformation of it or a question to it that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NestError {
    /// The fault and its reason, without the place.
    pub message: String,
    /// The place in the text; nothing for a nest that was built in a program.
    pub place: Option<Place>,
    /// A recommendation of what to write instead, if there is one.
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

    /// Fills in the place where none is known yet: the innermost place is the most telling.
    pub(crate) fn at(mut self, place: impl Into<Option<Place>>) -> Self {
        self.place = self.place.or(place.into());
        self
    }

    /// Returns a name that is not known, with the nearest one that is.
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
