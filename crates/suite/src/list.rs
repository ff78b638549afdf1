//! Lists the problems of a suite.

use crate::{Suite, SuiteEntry};
use serde::Serialize;
use tunesmith::Error;

/// A problem in the list of a suite. Its JSON form is the output of `suite list --json`.
#[derive(Clone, Debug, Serialize)]
pub struct ListedProblem {
    /// The name.
    pub name: String,
    /// The computation, in a few words.
    pub title: String,
    /// The paper and section it comes from.
    pub paper: String,
    /// The backends.
    pub backends: Vec<&'static str>,
    /// The problem files.
    pub files: Vec<ListedFile>,
}

/// A problem file in the list of a suite.
#[derive(Clone, Debug, Serialize)]
pub struct ListedFile {
    /// Its name.
    pub file: String,
    /// The backends that it is for. Empty for a further variant of the space.
    pub backends: Vec<&'static str>,
    /// The number of tuning parameters.
    pub parameters: usize,
    /// The number of configurations at the file's sizes, without a device's limits, in decimal.
    pub configurations: String,
}

/// Lists the problems of `suite`. Builds the space of every problem file.
///
/// # Errors
/// A problem file is wrong.
pub fn list_suite(suite: &Suite) -> Result<Vec<ListedProblem>, Error> {
    suite.entries.iter().map(listed).collect()
}

fn listed(entry: &SuiteEntry) -> Result<ListedProblem, Error> {
    let file = |name: &str| {
        let problem = entry.load(&entry.folder.join(name), false)?;
        let of = |backend: &&str| entry.about.problems.get(*backend).is_some_and(|own| own == name);
        Ok(ListedFile {
            file: name.to_string(),
            backends: entry.backends().filter(of).collect(),
            parameters: problem.spec().parameters().len(),
            configurations: problem.space(&[])?.space.size().to_string(),
        })
    };
    Ok(ListedProblem {
        name: entry.name.clone(),
        title: entry.about.title.clone(),
        paper: entry.about.paper.clone(),
        backends: entry.backends().collect(),
        files: entry.files().into_iter().map(file).collect::<Result<_, Error>>()?,
    })
}
