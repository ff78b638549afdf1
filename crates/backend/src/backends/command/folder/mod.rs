//! The folders in which configurations build and run: copies of the problem's folder.
//!
//! A configuration must not find what another one made: a program, an object file, a result. Each one
//! therefore has a copy of the problem's folder, and only the original's names lead to both. The
//! original is looked at once per run ([`scan`]), and copied for each configuration ([`copy`]).
//!
//! A file that is too large for a copy is shared with the file system's help (a reflink), or else a
//! link to the original, which the sandbox protects. `..` leads to links to what lies beside the
//! original ([`surroundings`]).

mod copy;
mod scan;
mod surroundings;

use crate::backends::command::digest::shell_words;
use crate::sandbox::Sandbox;
use scan::{Contents, Entry, Kind, Rules};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use tunesmith_files::remove_tree;
use tunesmith_kernel::DeviceError;
use tunesmith_kernel::command::CommandSpec;

pub(crate) use surroundings::Surroundings;

/// The problem's folder, of which each configuration gets a copy.
#[derive(Debug)]
pub(super) struct ProblemFolder {
    /// The folder, without links in its path.
    original: PathBuf,
    /// The folder as the problem names it.
    named: PathBuf,
    contents: Contents,
    /// True if the problem has build steps.
    is_built: bool,
}

/// The copy of the problem's folder that belongs to one configuration. Dropping this value removes
/// it.
#[derive(Debug)]
pub(super) struct OwnFolder {
    path: PathBuf,
    /// The folder around the copy, which goes with it.
    parent: PathBuf,
    /// The programs that the copy does not have yet, because the build may make them.
    left_out: Vec<PathBuf>,
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        // A folder that cannot be removed now is removed with all folders at the end.
        let _ = remove_tree(&self.parent);
    }
}

impl OwnFolder {
    /// Returns the folder's path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what an earlier run wrote: the files `names`. A folder is removed only if it lies in
    /// the configuration's own.
    ///
    /// # Errors
    /// The system refuses. A file that does not exist is no error.
    pub(super) fn remove_results(&self, names: &[String], out: &Path) -> io::Result<()> {
        for path in names.iter().filter(|name| !name.is_empty()).map(|name| self.path.join(name)) {
            match std::fs::symlink_metadata(&path) {
                Err(error) if is_missing(&error) => {}
                Ok(found) if found.is_dir() => {
                    let is_own = path.starts_with(&self.path) || path.starts_with(out);
                    if is_own && is_inside(&path) && path != self.path && path != out {
                        remove_tree(&path)?;
                    }
                }
                _ => std::fs::remove_file(&path)?,
            }
        }
        Ok(())
    }
}

/// The files that compilers read, by the ends of their names.
const SOURCES: [&str; 22] = [
    "S", "asm", "c", "cc", "cl", "cmake", "cpp", "cu", "cuh", "cxx", "f", "f90", "F90", "go", "h", "hip", "hpp", "hxx",
    "inc", "mk", "rs", "s",
];

/// The files that tell how to build.
const RULES: [&str; 5] = ["CMakeLists.txt", "GNUmakefile", "Makefile", "makefile", "meson.build"];

/// Returns true if the name is that of a source or of the rules of a build.
fn is_source(path: &Path) -> bool {
    let is_one_of =
        |name: Option<&OsStr>, names: &[&str]| name.is_some_and(|name| names.iter().any(|one| name == *one));
    is_one_of(path.extension(), &SOURCES) || is_one_of(path.file_name(), &RULES)
}

/// Returns true if a path has no `..`.
fn is_inside(path: &Path) -> bool {
    path.components().all(|component| component != Component::ParentDir)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

impl ProblemFolder {
    /// Looks at the folder of `spec`. What the sandbox forbids to read is not copied.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(super) fn new(spec: &CommandSpec, sandbox: Option<&Sandbox>) -> Result<Self, DeviceError> {
        let unreadable =
            |source| DeviceError::Source { what: "the problem's folder", path: spec.folder.clone(), source };
        let private = sandbox.into_iter().flat_map(|sandbox| &sandbox.private);
        let private: BTreeSet<PathBuf> = private.filter_map(|path| path.canonicalize().ok()).collect();
        let is_built = !spec.build.is_empty();
        let original = spec.folder.canonicalize().map_err(unreadable)?;
        let contents = scan::scan(&original, &Rules { is_built, private }).map_err(unreadable)?;
        Ok(Self { original, named: spec.folder.clone(), contents, is_built })
    }

    /// Returns the sources in the folder that a build may read, without being named by one of its words. A folder
    /// without a build has none: what its commands run, their words name.
    pub(super) fn sources(&self) -> Vec<PathBuf> {
        let is_copied = |entry: &&Entry| matches!(entry.kind, Kind::File { is_compiled: false });
        let sources = self.contents.entries.iter().filter(is_copied).filter(|entry| is_source(&entry.path));
        sources.filter(|_| self.is_built).map(|entry| self.original.join(&entry.path)).collect()
    }

    /// Returns the bytes that each copy takes.
    pub(super) fn bytes(&self) -> u64 {
        self.contents.bytes
    }

    /// Makes the place for copies in the run's folder `scratch`.
    pub(super) fn surroundings(&self, scratch: &Path) -> Surroundings {
        Surroundings::new(&self.original, &scratch.join("folders"))
    }

    /// Copies the folder without the files `writes` and those that a shell's line in `command` writes, and
    /// without the programs of `command` that the build may make.
    ///
    /// # Errors
    /// A file cannot be copied.
    pub(super) fn copy(
        &self,
        surroundings: &Surroundings,
        number: u64,
        writes: &[String],
        command: &[String],
        build: &[String],
    ) -> io::Result<OwnFolder> {
        let (parent, path) = surroundings.place(number)?;
        let own = OwnFolder { path, parent, left_out: self.made(command, build) };
        // `sh -c "... > result.txt"` says by itself what it writes.
        let redirected = command.iter().flat_map(|word| shell_words(word)).filter(|(_, is_written)| *is_written);
        let redirected = redirected.map(|(name, _)| normal(&name));
        let written = writes.iter().map(|name| normal(name)).chain(redirected);
        let written: BTreeSet<PathBuf> = written.filter(|name| !name.as_os_str().is_empty()).collect();
        for entry in &self.contents.entries {
            let is_written = written.iter().any(|name| entry.path.starts_with(name));
            if !is_written && !own.left_out.contains(&entry.path) {
                self.copy_entry(entry, &own)?;
            }
        }
        Ok(own)
    }

    /// Copies the programs that were left out and that the build did not make.
    ///
    /// # Errors
    /// A program cannot be copied.
    pub(super) fn restore(&self, own: &OwnFolder) -> io::Result<()> {
        let left_out = self.contents.entries.iter().filter(|entry| own.left_out.contains(&entry.path));
        let is_missing = |entry: &&Entry| std::fs::symlink_metadata(own.path.join(&entry.path)).is_err();
        left_out.filter(is_missing).try_for_each(|entry| self.copy_entry(entry, own))
    }

    fn copy_entry(&self, entry: &Entry, own: &OwnFolder) -> io::Result<()> {
        let (from, to) = (self.original.join(&entry.path), own.path.join(&entry.path));
        copy::copy(&entry.kind, &from, &to, |target| self.moved(target, &own.path))
    }

    /// Returns the compiled files that words of the command name. `make` does not make a program again
    /// that exists and has no sources. A file that words of the build name, too, may be one of its
    /// inputs, unless it is the program itself.
    fn made(&self, command: &[String], build: &[String]) -> Vec<PathBuf> {
        if !self.is_built {
            return Vec::new();
        }
        let program = command.first().map(|word| normal(word));
        let inner = command.iter().flat_map(|word| shell_words(word)).map(|(word, _)| normal(&word));
        let named: BTreeSet<PathBuf> = command.iter().map(|word| normal(word)).chain(inner).collect();
        let inputs: BTreeSet<PathBuf> = build.iter().map(|word| normal(word)).collect();
        let is_made = |entry: &&Entry| {
            let is_compiled = matches!(entry.kind, Kind::File { is_compiled: true });
            let is_input = inputs.contains(&entry.path) && program.as_ref() != Some(&entry.path);
            is_compiled && named.contains(&entry.path) && !is_input
        };
        self.contents.entries.iter().filter(is_made).map(|entry| entry.path.clone()).collect()
    }

    /// Returns the place in a copy that a link with an absolute `target` in the folder means.
    fn moved(&self, target: &Path, own: &Path) -> PathBuf {
        let inner = [&self.original, &self.named].into_iter().find_map(|folder| target.strip_prefix(folder).ok());
        inner.map_or_else(|| target.to_owned(), |inner| own.join(inner))
    }
}

/// Returns a relative path without `.`.
fn normal(path: &str) -> PathBuf {
    Path::new(path).components().filter(|component| *component != Component::CurDir).collect()
}
