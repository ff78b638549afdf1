//! Finds the program of a command, or suggests another one.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tunesmith_space::closest;

/// A program that cannot be run: the fault, which follows its name, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NoProgram {
    pub(super) problem: String,
    pub(super) remedy: String,
}

/// Finds the program that `word` names for a command that runs in `folder`. A name with a slash is
/// a file relative to the folder. Any other name is searched for in the same way as a shell does.
pub(super) fn find(word: &str, folder: &Path) -> Result<PathBuf, NoProgram> {
    let found = if word.contains('/') { find_file(word, folder) } else { find_in_path(word, folder) };
    found.map_err(|missing| {
        if word.contains(char::is_whitespace) { NoProgram { remedy: split(word), ..missing } } else { missing }
    })
}

/// Returns the replacement for a line that is meant for a shell.
fn split(line: &str) -> String {
    let words: Vec<String> = line.split_whitespace().map(|word| format!("{word:?}")).collect();
    format!("write a list of words: [{}]", words.join(", "))
}

fn find_file(word: &str, folder: &Path) -> Result<PathBuf, NoProgram> {
    let path = folder.join(word);
    if is_program(&path) {
        return Ok(path);
    }
    if path.is_file() {
        let remedy = format!("`chmod +x {word}`, or name the interpreter first");
        return Err(NoProgram { problem: "is not executable".to_owned(), remedy });
    }
    let parent = Path::new(word).parent().unwrap_or(Path::new(""));
    let names = names_in(&folder.join(parent));
    let name = Path::new(word).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let meant = closest(&name, names.iter().map(String::as_str)).map(|name| parent.join(name));
    let remedy = match meant {
        Some(meant) => format!("did you mean `{}`?", meant.display()),
        None => "paths are relative to the problem's folder; `build` may make the program".to_owned(),
    };
    Err(NoProgram { problem: "does not exist".to_owned(), remedy })
}

fn find_in_path(word: &str, folder: &Path) -> Result<PathBuf, NoProgram> {
    let folders: Vec<PathBuf> = search_path().iter().map(|entry| folder.join(entry)).collect();
    if let Some(path) = folders.iter().map(|folder| folder.join(word)).find(|path| is_program(path)) {
        return Ok(path);
    }
    let remedy = if folder.join(word).is_file() {
        format!("write `./{word}` for the file in the problem's folder")
    } else {
        let names: Vec<String> = folders.iter().flat_map(|folder| names_in(folder)).collect();
        // Among thousands of programs, some name is always slightly similar.
        let alike = |name: &&str| name.len().abs_diff(word.len()) <= 2 && name.chars().next() == word.chars().next();
        let meant = closest(word, names.iter().map(String::as_str).filter(alike));
        meant.map_or_else(|| "install it, or name its file".to_owned(), |name| format!("did you mean `{name}`?"))
    };
    Err(NoProgram { problem: "is not among the installed programs".to_owned(), remedy })
}

/// Returns the folders in which shells search for programs. It asks a shell, so that the shell's
/// own additions are included.
fn search_path() -> Vec<PathBuf> {
    let mut shell = Command::new("sh");
    shell.args(["-c", "printf %s \"$PATH\""]).stdin(Stdio::null()).stderr(Stdio::null());
    let said = shell.output().map(|output| output.stdout).unwrap_or_default();
    std::env::split_paths(String::from_utf8_lossy(&said).as_ref()).collect()
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("solve.py"), "").unwrap();
        std::fs::write(folder.path().join("run.sh"), "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(folder.path().join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
        folder
    }

    #[test]
    fn programs_are_found_as_files_and_as_a_shell_finds_them() {
        let folder = folder();
        assert!(find("./run.sh", folder.path()).is_ok());
        assert!(find("sh", folder.path()).unwrap().is_absolute());
    }

    #[test]
    fn what_is_not_found_has_a_remedy() {
        let folder = folder();
        let remedy = |word| find(word, folder.path()).unwrap_err().remedy;
        assert_eq!(remedy("./rnu.sh"), "did you mean `./run.sh`?");
        assert_eq!(remedy("./solve.py"), "`chmod +x ./solve.py`, or name the interpreter first");
        assert_eq!(remedy("run.sh"), "write `./run.sh` for the file in the problem's folder");
        assert_eq!(remedy("echo {N} fast"), "write a list of words: [\"echo\", \"{N}\", \"fast\"]");
        assert_eq!(remedy("no-such-program-anywhere"), "install it, or name its file");
    }
}
