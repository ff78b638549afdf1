//! The files of a problem, sent by the digests of their contents.

use crate::FleetError;
use crate::digest::digest_of;
use crate::wire::FileEntry;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use tunesmith_store::FleetReport;

/// Maximum length of all files together.
pub(crate) const MOST_BYTES: u64 = 256 << 20;

/// Maximum length of the contents kept in memory.
const MOST_KEPT: u64 = 32 << 20;

/// Maximum number of files.
const MOST_FILES: usize = 4096;

/// The problem's file and what lies in its folder and below.
#[derive(Clone, Debug)]
pub(crate) struct Bundle {
    folder: PathBuf,
    /// The problem's file among the files.
    pub(crate) problem: String,
    pub(crate) files: Vec<FileEntry>,
    /// Contents by digest, as far as they are small: all workers get what was there in the beginning,
    /// although engines and users may write into the folder.
    kept: BTreeMap<String, Vec<u8>>,
}

impl Bundle {
    /// Collects the files beside the problem's file, and those in folders below. Leaves out hidden
    /// names, journals, and links that lead out of the folder.
    ///
    /// # Errors
    /// A file cannot be read, there are too many or too long ones, or one that is needed would be left
    /// out.
    pub(crate) fn of(problem: &Path) -> Result<Self, FleetError> {
        let wrong = |error: std::io::Error| files_error(problem, error.to_string());
        let whole = problem.canonicalize().map_err(wrong)?;
        let (Some(folder), Some(name)) = (whole.parent(), whole.file_name().and_then(|name| name.to_str())) else {
            return Err(files_error(problem, "its name is no text".to_string()));
        };
        let mut bundle =
            Self { folder: folder.to_path_buf(), problem: name.to_string(), files: Vec::new(), kept: BTreeMap::new() };
        bundle.add_folder(folder, &mut 0)?;
        Ok(bundle)
    }

    fn add_folder(&mut self, folder: &Path, bytes: &mut u64) -> Result<(), FleetError> {
        let wrong = |error: std::io::Error| files_error(folder, error.to_string());
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(wrong)? {
            paths.push(entry.map_err(wrong)?.path());
        }
        paths.sort();
        for path in paths.into_iter().filter(|path| is_sent(path)) {
            let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
            let is_inside = path.canonicalize().is_ok_and(|path| path.starts_with(&self.folder));
            if path.is_dir() && !is_link {
                self.add_folder(&path, bytes)?;
            } else if path.is_file() && is_inside {
                self.add(&path, bytes)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, bytes: &mut u64) -> Result<(), FleetError> {
        let content = self.read(path, MOST_BYTES.saturating_sub(*bytes))?;
        let relative = path.strip_prefix(&self.folder).ok().and_then(Path::to_str);
        let relative = relative.ok_or_else(|| files_error(path, "its name is no text".to_string()))?;
        let mode = fs::metadata(path).map(|found| found.permissions().mode()).unwrap_or_default();
        self.refuse_left_out(path, &content)?;
        *bytes += content.len() as u64;
        self.files.push(FileEntry {
            path: relative.to_string(),
            digest: digest_of(&content),
            bytes: content.len() as u64,
            is_executable: mode & 0o100 != 0,
        });
        if *bytes <= MOST_KEPT {
            self.kept.insert(digest_of(&content), content);
        }
        if self.files.len() > MOST_FILES {
            return Err(too_much(&self.folder, format!("more than {MOST_FILES} files")));
        }
        Ok(())
    }

    /// Refuses the file if it names one that workers would not get: the problem's file by any text, a
    /// source by an `#include`.
    fn refuse_left_out(&self, path: &Path, content: &[u8]) -> Result<(), FleetError> {
        let Ok(text) = str::from_utf8(content) else { return Ok(()) };
        let is_problem = path == self.folder.join(&self.problem);
        let names = |line: &str| is_problem || line.trim_start().starts_with("#include");
        let beside = path.parent().unwrap_or(&self.folder);
        for (at, line) in text.lines().enumerate().filter(|(_, line)| names(line)) {
            let mut quoted = line.split(['"', '\'']);
            if let Some((name, why)) = quoted.find_map(|name| Some((name, self.left_out(&beside.join(name))?))) {
                let reason = format!(
                    "line {} names `{name}`, which {why}; workers do not get it: copy it into `{}`",
                    at + 1,
                    self.folder.display()
                );
                return Err(files_error(path, reason));
            }
        }
        Ok(())
    }

    /// Returns the reason why a file of this host is not sent. Absolute paths may be the same on all
    /// hosts.
    fn left_out(&self, path: &Path) -> Option<&'static str> {
        let whole = path.canonicalize().ok().filter(|whole| whole.is_file())?;
        match whole.strip_prefix(&self.folder) {
            Err(_) if path.starts_with(&self.folder) => Some("lies outside of the problem's folder"),
            Err(_) => None,
            Ok(inner) if inner.ancestors().all(|part| part.as_os_str().is_empty() || is_sent(part)) => None,
            Ok(inner) if inner.extension().is_some_and(|extension| extension == "jsonl") => None,
            Ok(_) => Some("is hidden or in a folder `target`"),
        }
    }

    fn read(&self, path: &Path, most: u64) -> Result<Vec<u8>, FleetError> {
        tunesmith_files::read(path, most).map_err(|error| match error.kind() {
            std::io::ErrorKind::FileTooLarge => too_much(&self.folder, format!("more than {} MiB", MOST_BYTES >> 20)),
            _ => files_error(path, error.to_string()),
        })
    }

    /// Returns the content with a digest.
    pub(crate) fn content(&self, digest: &str) -> Result<Vec<u8>, FleetError> {
        if let Some(content) = self.kept.get(digest) {
            return Ok(content.clone());
        }
        let entry = self.files.iter().find(|entry| entry.digest == digest);
        let entry =
            entry.ok_or_else(|| FleetError::Protocol("a worker wants a file that was not offered".to_string()))?;
        let path = self.folder.join(&entry.path);
        let content = tunesmith_files::read(&path, entry.bytes).ok().filter(|content| digest_of(content) == digest);
        let changed = "it changed since the run began; put the problem into a folder that nothing writes to";
        content.ok_or_else(|| files_error(&path, changed.to_string()))
    }
}

/// Checks a list of files from a coordinator.
pub(crate) fn check(files: &[FileEntry]) -> Result<(), FleetError> {
    let bytes = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.bytes));
    if files.len() > MOST_FILES || bytes > MOST_BYTES {
        return Err(FleetError::Protocol(format!("{} files of {bytes} bytes are too much", files.len())));
    }
    match files.iter().find(|file| !stays_inside(&file.path)) {
        Some(file) => Err(FleetError::Protocol(format!("the path {:?} leads out of the worker's folder", file.path))),
        None => Ok(()),
    }
}

/// Returns true if `path` names a place below the folder that it is joined to.
pub(crate) fn stays_inside(path: &str) -> bool {
    let mut components = Path::new(path).components().peekable();
    let is_plain = components.peek().is_some() && components.all(|one| matches!(one, Component::Normal(_)));
    is_plain && !path.contains('\0') && path.len() < 4096
}

/// Writes one of the files below `folder`, which is the worker's own. Its content must have the
/// digest that was announced.
pub(crate) fn keep(folder: &Path, file: &FileEntry, content: &[u8]) -> Result<(), FleetError> {
    if digest_of(content) != file.digest || !stays_inside(&file.path) {
        return Err(FleetError::Protocol(format!("the content of {:?} is not the one announced", file.path)));
    }
    let path = folder.join(&file.path);
    let wrong = |error: std::io::Error| files_error(&path, error.to_string());
    fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(wrong)?;
    let mode = if file.is_executable { 0o700 } else { 0o600 };
    // A second file of the same path would follow what the first made.
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
    opened.and_then(|mut opened| opened.write_all(content)).map_err(wrong)
}

fn is_sent(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let is_journal = path.extension().is_some_and(|extension| extension == "jsonl");
    !name.starts_with('.') && !is_journal && name != "target" && !FleetReport::is_path(path)
}

fn files_error(path: &Path, reason: String) -> FleetError {
    FleetError::Files { path: path.to_path_buf(), reason }
}

fn too_much(folder: &Path, what: String) -> FleetError {
    files_error(folder, format!("it has {what} to send to workers; put the problem into a folder of its own"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_bundle_is_kept_as_it_was_without_what_is_private() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |name: &str, text: &str| fs::write(from.path().join(name), text).unwrap();
        fs::create_dir(from.path().join("inner")).unwrap();
        write("p.toml", "a");
        write("inner/kernel.c", "b");
        write("run.jsonl", "c");
        write(".secret", "d");
        symlink("/etc/passwd", from.path().join("outside")).unwrap();
        symlink("inner/kernel.c", from.path().join("same.c")).unwrap();
        let mut bundle = Bundle::of(&from.path().join("p.toml")).unwrap();
        let names: Vec<&str> = bundle.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["inner/kernel.c", "p.toml", "same.c"]);
        check(&bundle.files).unwrap();
        for file in &bundle.files {
            keep(to.path(), file, &bundle.content(&file.digest).unwrap()).unwrap();
        }
        assert_eq!(fs::read_to_string(to.path().join("inner/kernel.c")).unwrap(), "b");
        write("p.toml", "x");
        let changed = bundle.files.iter().find(|file| file.path == "p.toml").unwrap().clone();
        for other in ["x", "longer"] {
            write("p.toml", other);
            assert_eq!(bundle.content(&changed.digest).unwrap(), b"a", "it is as it was");
            let kept = std::mem::take(&mut bundle.kept);
            let error = bundle.content(&changed.digest).unwrap_err().to_string();
            assert!(error.contains("it changed since the run began"), "{error}");
            bundle.kept = kept;
        }
    }

    #[test]
    fn a_file_that_is_needed_and_not_sent_is_refused() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("problem");
        fs::create_dir_all(folder.join("target")).unwrap();
        fs::create_dir_all(folder.join("inner")).unwrap();
        fs::write(outer.path().join("common.h"), "").unwrap();
        fs::write(folder.join("target/made.c"), "").unwrap();
        fs::write(folder.join("own.h"), "").unwrap();
        fs::write(folder.join("old.jsonl"), "").unwrap();
        symlink("../common.h", folder.join("link.h")).unwrap();
        let bundled = |problem: &str, source: &str| {
            fs::write(folder.join("p.toml"), problem).unwrap();
            fs::write(folder.join("inner/kernel.c"), source).unwrap();
            Bundle::of(&folder.join("p.toml")).map(|_| ()).map_err(|error| error.to_string())
        };
        let refused = |problem: &str, source: &str, parts: &[&str]| {
            let error = bundled(problem, source).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)) && error.lines().count() == 1, "{error}");
        };
        refused(
            "[kernel]\nfile = \"../common.h\"",
            "",
            &["p.toml", "line 2 names `../common.h`", "outside", "copy it"],
        );
        refused("file = 'link.h'", "", &["line 1 names `link.h`", "outside of the problem's folder"]);
        refused("file = 'target/made.c'", "", &["`target/made.c`", "in a folder `target`"]);
        refused("", "int x;\n # include\n#include \"../../common.h\"", &["inner/kernel.c", "line 3"]);
        bundled("a = '../nothing'\nb = '/usr/bin/env'\nh = 'old.jsonl'\nk = 'own.h'", "#include \"../own.h\"").unwrap();
        bundled("", "// \"../../common.h\"").unwrap();
    }

    #[test]
    fn no_path_leaves_the_folder() {
        for path in ["/etc/passwd", "../x", "a/../../x", "", ".", "a/./../../b", "a\0b", &"x/".repeat(3000)] {
            assert!(!stays_inside(path), "{path:?}");
            let file = FileEntry { path: path.to_string(), digest: digest_of(b""), bytes: 0, is_executable: false };
            assert!(check(std::slice::from_ref(&file)).is_err());
            assert!(keep(Path::new("/nowhere"), &file, b"").is_err());
        }
        assert!(stays_inside("a/b.c") && stays_inside("..a"));
        let long = FileEntry { path: "a".to_string(), digest: String::new(), bytes: u64::MAX, is_executable: false };
        assert!(check(&[long.clone(), long]).is_err());
    }

    #[test]
    fn another_content_than_announced_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = FileEntry { path: "a".to_string(), digest: digest_of(b"one"), bytes: 3, is_executable: false };
        assert!(keep(folder.path(), &file, b"two").is_err());
        keep(folder.path(), &file, b"one").unwrap();
        assert!(keep(folder.path(), &file, b"one").is_err(), "a path is written once");
    }
}
