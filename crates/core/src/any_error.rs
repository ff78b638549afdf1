//! The error of a command, whatever its kind.

use crate::Refusal;
use crate::output::WriteError;
use std::error::Error;
use std::path::Path;
use std::{fmt, io};
use tunesmith_space::{ErrorClass, UserError};

/// An error of a command: any [`UserError`]. `?` turns every such error into it.
///
/// ```
/// use tunesmith_core::{AnyError, Target, TargetParseError};
///
/// fn objective(text: &str) -> Result<Target, AnyError> {
///     Ok(text.parse()?)
/// }
///
/// let error = objective("a = 1").unwrap_err();
/// assert_eq!(error.to_string(), "`a = 1` is not an objective");
/// assert!(error.is_request() && error.remedy().is_some());
/// assert!(error.downcast_ref::<TargetParseError>().is_some());
/// ```
pub struct AnyError(Box<dyn UserError>);

impl AnyError {
    /// Creates the error of a wrong request.
    pub fn request(text: impl Into<String>, remedy: Option<String>) -> Self {
        Refusal::new(text, remedy).into()
    }

    /// Returns the function that turns an error of writing to `path` into the error of a command.
    pub fn write(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        |source| WriteError { path: path.to_path_buf(), source }.into()
    }

    /// Returns true if the user's request is wrong, rather than a device or the disk (exit code 2
    /// rather than 3).
    pub fn is_request(&self) -> bool {
        self.0.class() == ErrorClass::Request
    }

    /// Returns true if the command was interrupted, and nothing is wrong.
    pub fn is_interruption(&self) -> bool {
        self.0.class() == ErrorClass::Interruption
    }

    /// Returns the advice for the user, if there is any beyond the text of the error.
    pub fn remedy(&self) -> Option<&str> {
        self.0.remedy()
    }

    /// Returns the error itself if it is of the kind `E`. The faults of a problem file, with their
    /// places, are a `ProblemError`.
    pub fn downcast_ref<E: UserError>(&self) -> Option<&E> {
        let error: &dyn Error = self.0.as_ref();
        error.downcast_ref()
    }
}

impl<E: UserError> From<E> for AnyError {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

impl Error for AnyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl fmt::Display for AnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for AnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
