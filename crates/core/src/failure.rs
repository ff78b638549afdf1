//! Failures of a single configuration.

use std::fmt;

/// The kinds of failure of the T4 result format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureKind {
    /// The configuration does not compile, or its compilation exceeded its limit.
    Compile,
    /// The kernel crashed, aborted, exited, or wrote outside its buffers.
    Runtime,
    /// The kernel did not end within its time limit, or its compilation was put aside.
    Timeout,
    /// The kernel ended and its output is wrong.
    Correctness,
    /// The device refused the configuration at launch, or a recording does not hold it.
    Constraints,
    /// The configuration is correct, and breaks a limit of the problem.
    Infeasible,
}

impl FailureKind {
    /// Every kind, in the order in which reports list them.
    pub const ALL: [Self; 6] =
        [Self::Compile, Self::Runtime, Self::Timeout, Self::Correctness, Self::Constraints, Self::Infeasible];

    /// Returns the word used in files and machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Compile => "compile",
            Self::Runtime => "runtime",
            Self::Timeout => "timeout",
            Self::Correctness => "correctness",
            Self::Constraints => "constraints",
            Self::Infeasible => "infeasible",
        }
    }

    /// Returns the kind for a word. Inverse of [`word`](Self::word).
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The reason why a configuration has no valid time.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The full message to the user. Its first line stands alone. Compiler logs follow.
    pub message: String,
    /// The limit that ended the configuration, if that limit followed from the time of another one. It
    /// is then too slow to win while the other one stands, and nothing is known against it.
    pub cut: Option<Cut>,
    /// The limit that ended its compilation, if that limit followed from the compile times of others. Nothing is known
    /// of the configuration then.
    pub aside: Option<CompileLimit>,
}

/// A limit of a compile time that followed from the usual one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompileLimit {
    /// The limit in milliseconds.
    pub limit_ms: f64,
    /// The usual compile time in milliseconds.
    pub usual_ms: f64,
}

/// A limit of time that followed from the best time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// The limit in milliseconds.
    pub limit_ms: f64,
    /// The best time in milliseconds.
    pub best_ms: f64,
}

/// The configurations that limits from the best time cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuts {
    /// Their number.
    pub count: usize,
    /// The least and the largest limit in milliseconds.
    pub limit_ms: (f64, f64),
    /// The least ratio of a limit and the best time that it followed from.
    pub factor: f64,
}

impl Cuts {
    /// Returns the sum of single cuts, or `None` if there is none.
    pub fn of(cuts: impl IntoIterator<Item = Cut>) -> Option<Self> {
        let single =
            |Cut { limit_ms, best_ms }| Self { count: 1, limit_ms: (limit_ms, limit_ms), factor: limit_ms / best_ms };
        cuts.into_iter().map(single).reduce(|one, other| Self {
            count: one.count + other.count,
            limit_ms: (one.limit_ms.0.min(other.limit_ms.0), one.limit_ms.1.max(other.limit_ms.1)),
            factor: one.factor.min(other.factor),
        })
    }
}

impl Failure {
    /// Creates a failure of `kind` explained by `message`.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), cut: None, aside: None }
    }

    /// Creates the failure of a configuration whose compilation was put aside at `limit`.
    pub fn put_aside(limit: CompileLimit) -> Self {
        let CompileLimit { limit_ms, usual_ms } = limit;
        let message = format!(
            "its compilation was put aside after {limit_ms:.0} ms, because the usual one takes {usual_ms:.0} ms and \
             time limits the run"
        );
        Self { aside: Some(limit), ..Self::new(FailureKind::Timeout, message) }
    }

    /// Returns the first line of the message.
    pub fn headline(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}
