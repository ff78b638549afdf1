//! Remarks about the device for users. Each is passed on once in a run.

use std::collections::BTreeSet;

/// The remarks of a run.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    said: BTreeSet<String>,
    waiting: Vec<String>,
}

impl Remarks {
    /// Adds a remark, unless it was added before.
    pub(super) fn add(&mut self, line: String) {
        if self.said.insert(line.clone()) {
            self.waiting.push(line);
        }
    }

    /// Returns the remarks that were added since the last call.
    pub(super) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_is_passed_on_once() {
        let mut remarks = Remarks::default();
        ["hot", "shared", "hot"].into_iter().for_each(|line| remarks.add(line.to_owned()));
        assert_eq!(remarks.take(), ["hot", "shared"]);
        remarks.add("hot".to_owned());
        assert!(remarks.take().is_empty());
    }
}
