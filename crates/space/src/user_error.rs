//! The meaning of an error for the user: "did you mean" is one kind of advice.

use std::error::Error;

/// The part that an error blames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The request: an option, a name, a value, a file that the user named.
    Request,
    /// The run: a device or the disk failed.
    Run,
    /// Nothing: somebody ended the work.
    Interruption,
}

impl ErrorClass {
    /// Returns the class of a wrong request if `is_request`, else that of a failed run.
    pub fn request_if(is_request: bool) -> Self {
        if is_request { Self::Request } else { Self::Run }
    }
}

/// An error that a command may end with.
///
/// Front ends know nothing else of an error than its text and this trait. It stands here because the
/// crates that applications embed have such errors, too.
pub trait UserError: Error + Send + Sync + 'static {
    /// Returns the class, which decides the exit code.
    fn class(&self) -> ErrorClass;

    /// Returns the advice for the user, if there is any beyond the text of the error.
    fn remedy(&self) -> Option<&str> {
        None
    }
}
