//! The failures of a run by kind and by message.

use std::cmp::Reverse;
use std::collections::HashMap;
use tunesmith_core::FailureKind;
use tunesmith_store::LimitKind;

/// Maximum number of different messages that are counted. Messages that name addresses never repeat.
const MOST: usize = 1000;

/// The number of failures of each kind, and of each headline.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failures {
    kinds: [u64; FailureKind::ALL.len()],
    headlines: HashMap<(FailureKind, String), u64>,
    /// Failures whose headline came after [`MOST`] others.
    uncounted: u64,
    /// Number of configurations that limits from the best time cut. They did not fail.
    pub(crate) cut: u64,
    /// Number of configurations whose compilation was put aside. They did not fail, either.
    pub(crate) aside: u64,
}

/// Failures of one kind with one headline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    pub(crate) kind: FailureKind,
    pub(crate) headline: String,
    pub(crate) count: u64,
}

impl Failures {
    /// Returns the number of configurations that a limit of this kind ended.
    pub(crate) fn of_limit(&mut self, limit: LimitKind) -> &mut u64 {
        match limit {
            LimitKind::Cut => &mut self.cut,
            LimitKind::Aside => &mut self.aside,
        }
    }

    /// Counts a failure with its message.
    pub(crate) fn add(&mut self, kind: FailureKind, message: &str) {
        let position = FailureKind::ALL.iter().position(|known| *known == kind);
        self.kinds[position.unwrap_or_default()] += 1;
        let cause = (kind, message.lines().next().unwrap_or_default().to_string());
        if self.headlines.len() < MOST || self.headlines.contains_key(&cause) {
            *self.headlines.entry(cause).or_default() += 1;
        } else {
            self.uncounted += 1;
        }
    }

    /// Returns the number of all failures.
    pub(crate) fn count(&self) -> u64 {
        self.kinds.iter().sum()
    }

    /// Returns the kinds that occurred with their numbers, the commonest first.
    pub(crate) fn kinds(&self) -> Vec<(FailureKind, u64)> {
        let counts = FailureKind::ALL.into_iter().zip(self.kinds);
        let mut found: Vec<(FailureKind, u64)> = counts.filter(|(_, count)| *count > 0).collect();
        found.sort_by_key(|(_, count)| Reverse(*count));
        found
    }

    /// Returns the causes, the commonest first.
    pub(crate) fn causes(&self) -> Vec<Cause> {
        let cause = |((kind, headline), count): (&(FailureKind, String), &u64)| Cause {
            kind: *kind,
            headline: headline.clone(),
            count: *count,
        };
        let mut found: Vec<Cause> = self.headlines.iter().map(cause).collect();
        found.sort_by(|a, b| (Reverse(a.count), a.kind, &a.headline).cmp(&(Reverse(b.count), b.kind, &b.headline)));
        found
    }

    /// Returns the number of failures that [`causes`](Self::causes) lacks.
    pub(crate) fn uncounted(&self) -> u64 {
        self.uncounted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_by_kind_and_by_headline() {
        let mut failures = Failures::default();
        for (kind, message) in [
            (FailureKind::Compile, "no register\nlog 1"),
            (FailureKind::Timeout, "2 s"),
            (FailureKind::Compile, "no register\nlog 2"),
            (FailureKind::Compile, "other"),
        ] {
            failures.add(kind, message);
        }
        assert_eq!(failures.kinds(), [(FailureKind::Compile, 3), (FailureKind::Timeout, 1)]);
        let causes = failures.causes();
        assert_eq!((causes[0].headline.as_str(), causes[0].count, causes.len()), ("no register", 2, 3));
    }

    #[test]
    fn messages_that_never_repeat_take_bounded_memory() {
        let mut failures = Failures::default();
        (0..5000).for_each(|at| failures.add(FailureKind::Runtime, &format!("at 0x{at:x}")));
        failures.add(FailureKind::Runtime, "at 0x1");
        assert_eq!((failures.count(), failures.causes().len(), failures.uncounted()), (5001, MOST, 4000));
        assert_eq!(failures.causes()[0].count, 2);
    }
}
