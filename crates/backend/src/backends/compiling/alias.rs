//! Aliases: plain names of users' files and folders, for compilers.
//!
//! A source cannot name every file: `#include "NAME"` has no quotation mark and no line break in NAME,
//! and names that are not UTF-8 are no text. Options of drivers cannot hold every folder, either: those
//! of OpenCL are one text, which some drivers split at every blank, and nvcc splits lists at commas. A
//! file or folder with such a name gets a symbolic link with a plain name in the run's folder. Compilers
//! see the link alone.

use crate::host::faults;
use std::path::{Path, PathBuf};
use tunesmith_kernel::DeviceError;

/// The place where compilers find a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamePlace {
    /// A source, or an argument of a compiler for C.
    Source,
    /// The options of a driver or of nvcc.
    Options,
}

impl NamePlace {
    /// Returns true if every compiler takes `path` as it is. Clang writes a backslash as `/` into its
    /// dependency files, `??` may begin a trigraph, and a path that is no text cannot stand in an option.
    fn takes(self, path: &Path) -> bool {
        let is_odd = |letter: char| {
            let odd_in_options = self == Self::Options && (letter.is_whitespace() || ['\'', ','].contains(&letter));
            letter.is_control() || ['"', '\\'].contains(&letter) || odd_in_options
        };
        path.to_str().is_some_and(|text| !text.contains("??") && !text.contains(is_odd))
    }
}

/// A link in the run's folder.
#[derive(Debug)]
struct Link {
    /// The file or folder as the problem names it.
    original: PathBuf,
    path: PathBuf,
}

/// The links of one kernel.
#[derive(Debug)]
pub(crate) struct Aliases {
    links: Vec<Link>,
    /// The folders of files that have links themselves. The compiler must search them for
    /// `#include "NAME"`, because it takes the folder of the link for the file's.
    beside: Vec<PathBuf>,
}

impl Aliases {
    /// Makes links in the folder `run` for those of `files` and `folders` whose names the place does not
    /// take. `name` keeps the links of one kernel apart from those of another.
    ///
    /// # Errors
    /// The name of the run's folder is odd, too, or a link cannot be made.
    pub(crate) fn new<'a>(
        (run, name): (&Path, &str),
        place: NamePlace,
        files: impl IntoIterator<Item = &'a Path>,
        folders: impl IntoIterator<Item = &'a Path>,
    ) -> Result<Self, DeviceError> {
        let mut aliases = Self { links: Vec::new(), beside: Vec::new() };
        let stem = run.join(name);
        for folder in folders {
            aliases.add(folder, place, &stem, "")?;
        }
        for file in files {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            aliases.add(folder, place, &stem, "")?;
            if !place.takes(&aliases.of(file)) {
                aliases.beside.push(aliases.of(folder));
                aliases.add(file, place, &stem, &suffix(file))?;
            }
        }
        Ok(aliases)
    }

    fn add(&mut self, original: &Path, place: NamePlace, stem: &Path, suffix: &str) -> Result<(), DeviceError> {
        if place.takes(original) || self.links.iter().any(|link| link.original == original) {
            return Ok(());
        }
        if !place.takes(stem) {
            let path = original.to_owned();
            return Err(DeviceError::FileName { path, folder: stem.parent().unwrap_or(stem).to_owned() });
        }
        let path = stem.with_added_extension(format!("alias-{}{suffix}", self.links.len() + 1));
        faults::link(original, &path)?;
        self.links.push(Link { original: original.to_owned(), path });
        Ok(())
    }

    /// Returns the name of a file or folder for compilers.
    pub(crate) fn of(&self, path: &Path) -> PathBuf {
        let link = |original: &Path| self.links.iter().find(|link| link.original == original);
        if let Some(link) = link(path) {
            return link.path.clone();
        }
        if let (Some(link), Some(name)) = (path.parent().and_then(link), path.file_name()) {
            return link.path.join(name);
        }
        // Compilers take such a word for an option, or for a file of options.
        let is_option = [b"-", b"@"].iter().any(|sign| path.as_os_str().as_encoded_bytes().starts_with(*sign));
        if is_option { Path::new(".").join(path) } else { path.to_owned() }
    }

    /// Returns the folders that the compiler must search for `#include "NAME"` alone.
    pub(crate) fn beside(&self) -> &[PathBuf] {
        &self.beside
    }

    /// Returns a compiler's `text` with the users' names.
    pub(crate) fn restored(&self, text: &str) -> String {
        let replace =
            |text: String, link: &Link| text.replace(&*link.path.to_string_lossy(), &link.original.to_string_lossy());
        // Names with more digits go first, because the others are their beginnings.
        self.links.iter().rev().fold(text.to_owned(), replace)
    }
}

/// Returns the suffix of a file with its dot, by which compilers know the language. Empty if that is odd.
fn suffix(file: &Path) -> String {
    let suffix = file.extension().and_then(|suffix| suffix.to_str());
    let is_plain = |suffix: &&str| suffix.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '+');
    suffix.filter(is_plain).map(|suffix| format!(".{suffix}")).unwrap_or_default()
}
