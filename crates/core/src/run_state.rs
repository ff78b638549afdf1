//! The state in which a run ended.

/// The state in which a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It came to its verdict.
    Complete,
    /// It was ended in the search.
    Interrupted,
    /// It was ended in the final re-measurement. What is known rests on a part of the turns.
    UnfinishedFinal,
}

impl RunState {
    /// Returns its name in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::UnfinishedFinal => "unfinished final",
        }
    }

    /// Returns what a reader of the results must know about it, if anything.
    pub fn remark(self) -> Option<&'static str> {
        match self {
            Self::Complete | Self::Interrupted => None,
            Self::UnfinishedFinal => {
                Some("unfinished: the run was ended in its final; the best may change when it is resumed")
            }
        }
    }
}
