//! The ending of a command.

/// The ending of a command, other than an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Done.
    Done,
    /// The command ran, but no configuration was correct.
    NothingCorrect,
    /// The command ran, and its measurements do not confirm an earlier result.
    Unconfirmed,
    /// The request is wrong, and the command has already explained it.
    WrongRequest,
    /// The user ended the command.
    Interrupted,
}

impl Ending {
    /// Returns the exit code of the process.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::NothingCorrect | Self::Unconfirmed => 1,
            Self::WrongRequest => 2,
            Self::Interrupted => 130,
        }
    }
}
