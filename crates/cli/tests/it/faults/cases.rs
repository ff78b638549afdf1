//! The cases: their names, their statuses and what they do.

use crate::common::Folder;

/// Cases that are configurations of one problem.
pub(crate) struct Family {
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
    /// Makes the folder with the problem. The first configuration is innocent, the cases follow.
    pub(crate) build: fn(&[Case]) -> Ready,
}

/// A problem to tune.
pub(crate) struct Ready {
    pub(crate) folder: Folder,
    /// Additions to the environment.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// The values that must live until the run ends.
    pub(crate) _kept: Option<std::net::TcpListener>,
}

/// A configuration, or a request, that misbehaves.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The statuses that it may get. There are two if both tell the truth.
    pub(crate) statuses: Vec<&'static str>,
    pub(crate) why: &'static str,
    /// Text before `@body`: declarations of the source.
    pub(crate) before: &'static str,
    /// The kernel's body, a shell script, or a rule of a scripted driver.
    pub(crate) body: &'static str,
    /// Text after `@build`: a build step.
    pub(crate) build: &'static str,
}

impl Family {
    /// Returns the cases in the order of the file.
    pub(crate) fn cases(&self) -> Vec<Case> {
        self.text.split("@case ").skip(1).map(Case::parse).collect()
    }
}

impl Case {
    fn parse(text: &'static str) -> Self {
        let (head, rest) = text.split_once('\n').unwrap();
        let (name, head) = head.split_once(": ").unwrap();
        let (statuses, why) = head.split_once(" | ").unwrap();
        let (rest, build) = rest.split_once("@build\n").unwrap_or((rest, ""));
        let (before, body) = rest.split_once("@body\n").unwrap_or(("", rest));
        Self { name, statuses: statuses.split('|').collect(), why, before, body, build }
    }
}

/// Returns `text` for each case with its number, counted from 1. Case 0 is innocent.
pub(crate) fn numbered(cases: &[Case], text: impl Fn(usize, &Case) -> String) -> String {
    cases.iter().enumerate().map(|(at, case)| text(at + 1, case)).collect()
}
