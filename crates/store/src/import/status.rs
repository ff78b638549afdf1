//! Interprets the status words of other tools.

use tunesmith_core::{Failure, FailureKind};

/// Returns the failure for a status word, or `None` if the word means that the configuration is
/// correct.
///
/// Our own words and T4's are taken as they are. Of other words, `ok` in any case is correct, and a
/// word that contains `Compil` is a failure to compile (`CompilationFailedConfig`,
/// `CompilationFailed`). Any other word is a failure at run time. The word becomes the message, so
/// that nothing is lost.
pub(super) fn failure(word: &str) -> Option<Failure> {
    if word.eq_ignore_ascii_case("ok") || word == "correct" {
        return None;
    }
    let other = if word.contains("Compil") { FailureKind::Compile } else { FailureKind::Runtime };
    Some(Failure::new(FailureKind::from_word(word).unwrap_or(other), word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_all_tools_have_a_kind() {
        let kind = |word| failure(word).map(|failure| failure.kind);
        assert_eq!(["ok", "Ok", "correct"].map(kind), [None; 3]);
        assert_eq!(["CompilationFailedConfig", "compile"].map(kind), [Some(FailureKind::Compile); 2]);
        assert_eq!(["RuntimeFailedConfig", "ComputationFailed"].map(kind), [Some(FailureKind::Runtime); 2]);
        assert_eq!(kind("correctness"), Some(FailureKind::Correctness));
    }
}
