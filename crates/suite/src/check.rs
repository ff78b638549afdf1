//! Checks the problem files of a suite, and that their spaces have the stated sizes.

use crate::{Count, Place, Suite, SuiteEntry};
use serde::Serialize;
use tunesmith::{Diagnostic, Error, Level, Problem};
use tunesmith_device::Machine;

/// The check of one problem file.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedFile {
    /// The name of the problem.
    pub name: String,
    /// The problem file.
    pub file: String,
    /// The device it was checked for; `None` if this machine has none that runs it. Then only the
    /// file and its space were checked.
    pub device: Option<String>,
    /// The number of configurations that `about.toml` states, in decimal.
    pub stated: Option<String>,
    /// The number of configurations at the file's sizes, without a device's limits.
    pub configurations: Option<String>,
    /// The faults. Without any, the file is good.
    pub faults: Vec<String>,
    /// The warnings.
    pub warnings: Vec<String>,
    /// The warnings, each in one short line.
    #[serde(skip)]
    pub brief_warnings: Vec<String>,
}

impl CheckedFile {
    /// Returns true if the file is good.
    pub fn is_ok(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Checks every problem file of `suite` as [`check`](tunesmith::check()) does, on the first device of
/// this machine that runs it, and compares the sizes of the spaces with the stated ones. Calls
/// `on_file` after each.
///
/// # Errors
/// A check itself cannot be done, for example without a compiler.
pub fn check_suite(
    suite: &Suite,
    machine: &Machine,
    on_file: &mut dyn FnMut(&CheckedFile),
) -> Result<Vec<CheckedFile>, Error> {
    let chosen: Vec<_> = machine.device.iter().cloned().collect();
    let (places, _) = Place::all(&chosen, machine)?;
    let mut checked = Vec::new();
    for entry in &suite.entries {
        let mut files = entry.files();
        files.extend(entry.about.naive.as_deref().filter(|naive| !files.contains(naive)));
        for file in files {
            let one = checked_file(entry, file, &places)?;
            on_file(&one);
            checked.push(one);
        }
    }
    Ok(checked)
}

fn checked_file(entry: &SuiteEntry, file: &str, places: &[Place]) -> Result<CheckedFile, Error> {
    let is_naive = entry.about.naive.as_deref() == Some(file);
    let path = entry.folder.join(file);
    let problem = entry.load(&path, false);
    let place = match entry.backend_of(file) {
        Some(_) => places.iter().find(|place| entry.about.problems.get(place.backend).is_some_and(|own| own == file)),
        // The naive loop is in C. A further variant of a space is for whatever its kernel is in.
        None => places.iter().find(|place| problem.as_ref().is_ok_and(|problem| runs(problem, place))),
    };
    let stated = entry.about.configurations.get(file).map(Count::digits);
    let mut checked = CheckedFile {
        name: entry.name.clone(),
        file: file.to_string(),
        device: place.map(|place| place.text.clone()),
        stated: stated.or(is_naive.then(|| "1".to_string())),
        configurations: None,
        faults: Vec::new(),
        warnings: Vec::new(),
        brief_warnings: Vec::new(),
    };
    if let Some(place) = place {
        let check = tunesmith::check(&path, &[], &place.machine)?;
        let of = |level: Level| -> Vec<String> {
            check.messages.iter().filter(|message| message.level == level).map(words).collect()
        };
        (checked.faults, checked.warnings) = (of(Level::Error), of(Level::Warning));
        checked.brief_warnings =
            check.messages.iter().filter(|message| message.level == Level::Warning).map(brief).collect();
    }
    match problem.and_then(|problem| Ok(problem.space(&[])?.space.size().to_string())) {
        Ok(size) => checked.configurations = Some(size),
        // The check has told it already.
        Err(_) if !checked.faults.is_empty() => return Ok(checked),
        Err(error) => checked.faults.push(error.to_string()),
    }
    checked.faults.extend(mismatch(&checked));
    Ok(checked)
}

/// Returns true if a device runs the language of a problem's kernels.
fn runs(problem: &Problem, place: &Place) -> bool {
    problem.spec().kernels().first().is_some_and(|kernel| kernel.language.device() == place.backend)
}

/// Returns the fault of a space whose size differs from the stated one.
fn mismatch(checked: &CheckedFile) -> Option<String> {
    let found = checked.configurations.as_ref()?;
    match &checked.stated {
        Some(stated) if stated == found => None,
        Some(stated) => Some(format!("the space has {found} configurations, but about.toml states {stated}")),
        None => Some(format!("about.toml does not state the number of configurations, which is {found}")),
    }
}

fn words(message: &Diagnostic) -> String {
    let remedy = message.remedy.as_ref().map(|remedy| format!("; {remedy}")).unwrap_or_default();
    format!("{}:{}: {}{remedy}", message.file.display(), message.line, message.text)
}

fn brief(message: &Diagnostic) -> String {
    message.brief.as_ref().map_or_else(|| words(message), |brief| format!("line {}: {brief}", message.line))
}
