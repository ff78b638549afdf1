//! The secret that a coordinator and its workers share.

use crate::FleetError;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Least number of characters of a token. A peer that pretends to be the coordinator learns a proof
/// by which it can try tokens on its own machine, so that a token must not be guessable.
const LEAST: usize = 32;

/// Maximum number of characters of a token.
const MOST: usize = 4096;

/// Number of random bytes in a token that this program makes.
const FRESH: usize = 32;

/// A secret of at least 32 characters. Its value is never printed.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Makes a random token.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn fresh() -> Result<Self, FleetError> {
        let mut bytes = [0; FRESH];
        let filled = SystemRandom::new().fill(&mut bytes);
        filled.map_err(|_| FleetError::Token("the system gives no random numbers".to_string()))?;
        Ok(Self(tunesmith_space::hex(&bytes)))
    }

    /// Takes a token as a user wrote it, without spaces around it.
    ///
    /// # Errors
    /// It is too short or too long.
    pub fn parse(text: &str) -> Result<Self, FleetError> {
        let text = text.trim();
        match text.len() {
            0..LEAST => Err(FleetError::Token(format!(
                "it has {} characters, fewer than {LEAST}; make one with `openssl rand -hex 32`",
                text.len()
            ))),
            LEAST..=MOST => Ok(Self(text.to_string())),
            _ => Err(FleetError::Token(format!("it has more than {MOST} characters"))),
        }
    }

    /// Reads a token from a file that nobody but its owner may read.
    ///
    /// # Errors
    /// The file cannot be read, others may read it, or its content is no token.
    pub fn read(path: &Path) -> Result<Self, FleetError> {
        let wrong = |reason: String| FleetError::Token(format!("`{}`: {reason}", path.display()));
        let file = tunesmith_files::open(path).map_err(|error| wrong(error.to_string()))?;
        let mode = file.metadata().map_err(|error| wrong(error.to_string()))?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(wrong(format!("others may read it (mode {:o}); run `chmod 600` on it", mode & 0o777)));
        }
        let text = tunesmith_files::read_text(path, MOST as u64).map_err(|error| wrong(error.to_string()))?;
        Self::parse(&text)
    }

    /// Returns the text, to hand it to a worker.
    pub(crate) fn secret(&self) -> &str {
        &self.0
    }

    /// Returns the key of proofs.
    pub(crate) fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, self.0.as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_token_is_long_enough_and_is_not_printed() {
        let fresh = Token::fresh().unwrap();
        assert_eq!(fresh.secret().len(), 64);
        assert_ne!(fresh.secret(), Token::fresh().unwrap().secret());
        assert_eq!(format!("{fresh:?}"), "Token(..)");
        let error = Token::parse("secret").unwrap_err().to_string();
        assert!(error.contains("6 characters, fewer than 32") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, format!("{}\n", "x".repeat(40))).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = Token::read(&path).unwrap_err().to_string();
        assert!(error.contains("mode 644") && error.contains("chmod 600"), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(Token::read(&path).unwrap().secret(), "x".repeat(40));
    }
}
