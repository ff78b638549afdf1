//! The digests by which contents travel.

use ring::digest::{SHA256, digest};

/// Returns the digest of a content, in hexadecimal.
pub(crate) fn digest_of(content: &[u8]) -> String {
    tunesmith_space::hex(digest(&SHA256, content).as_ref())
}
