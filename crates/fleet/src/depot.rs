//! Contents that travel by their digests: machine code, compiled once and sent to many.

use std::collections::VecDeque;
use std::sync::Arc;

/// A content with its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) digest: String,
    pub(crate) content: Arc<Vec<u8>>,
}

/// Contents by digest. The oldest go when all of them together are too long.
#[derive(Clone, Debug)]
pub(crate) struct Depot<T> {
    entries: VecDeque<(String, u64, T)>,
    bytes: u64,
    most: u64,
}

impl<T> Depot<T> {
    /// Creates the depot of a coordinator.
    pub(crate) fn of_coordinator() -> Self {
        Self::new(512 << 20)
    }

    /// Creates the depot of a worker. The coordinator follows by the same rule which contents a worker
    /// has. If it errs, the worker compiles.
    pub(crate) fn of_worker() -> Self {
        Self::new(128 << 20)
    }

    fn new(most: u64) -> Self {
        Self { entries: VecDeque::new(), bytes: 0, most }
    }

    /// Adds a content of this length, unless it is there.
    pub(crate) fn add(&mut self, digest: &str, bytes: u64, content: T) {
        if self.get(digest).is_some() {
            return;
        }
        self.entries.push_back((digest.to_string(), bytes, content));
        self.bytes += bytes;
        while self.bytes > self.most {
            let Some((_, bytes, _)) = self.entries.pop_front() else { return };
            self.bytes -= bytes;
        }
    }

    /// Returns the content with this digest.
    pub(crate) fn get(&self, digest: &str) -> Option<&T> {
        self.entries.iter().find(|(known, ..)| known == digest).map(|(.., content)| content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_contents_go_and_none_is_kept_twice() {
        let mut depot = Depot::new(10);
        for (digest, bytes) in [("a", 4), ("b", 4), ("a", 4), ("c", 2)] {
            depot.add(digest, bytes, digest.to_uppercase());
        }
        assert_eq!(["a", "b", "c"].map(|digest| depot.get(digest).is_some()), [true; 3]);
        depot.add("d", 1, "D".to_string());
        assert_eq!((depot.get("a"), depot.get("b").map(String::as_str), depot.bytes), (None, Some("B"), 7));
        depot.add("e", 11, "E".to_string());
        assert_eq!((depot.entries.len(), depot.bytes), (0, 0), "what is too long is not kept");
    }
}
