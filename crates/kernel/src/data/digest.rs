//! Digests of texts and files.

use sha2::{Digest, Sha256};
use tunesmith_space::hex;

/// A digest of a sequence of parts. The boundaries between the parts count.
#[derive(Default)]
pub struct Fields(Sha256);

impl Fields {
    /// Returns the digest of a single part.
    pub fn of(part: impl AsRef<[u8]>) -> String {
        let mut fields = Self::default();
        fields.add(part);
        fields.digest()
    }

    /// Adds a part.
    pub fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// Returns the digest of all parts in order.
    pub fn digest(self) -> String {
        hex(&self.0.finalize())
    }
}
