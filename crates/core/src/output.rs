//! Files that commands write.

use crate::Refusal;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tunesmith_space::{ErrorClass, UserError};

/// A file or folder that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {source}", path.display())]
pub struct WriteError {
    /// The file or folder.
    pub path: PathBuf,
    /// The reason.
    pub source: io::Error,
}

impl UserError for WriteError {
    fn class(&self) -> ErrorClass {
        // A missing folder is a wrong name.
        ErrorClass::request_if(self.source.kind() == io::ErrorKind::NotFound)
    }
}

/// Refuses to write to `out` if that would destroy something else than a former output: one of
/// `inputs`, under any name, or a file with content for which `is_former` is false.
///
/// # Errors
/// The refusal, with the remedy.
pub fn refuse_overwriting<'a>(
    out: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
    is_former: impl FnOnce(&Path) -> bool,
) -> Result<(), Refusal> {
    let Ok(found) = fs::metadata(out) else { return Ok(()) };
    let identity = |data: &fs::Metadata| (data.dev(), data.ino());
    let is_input = |input: &Path| fs::metadata(input).is_ok_and(|input| identity(&input) == identity(&found));
    // Writing to a pipe or a device destroys nothing.
    if !found.is_file() {
        return Ok(());
    }
    if inputs.into_iter().any(is_input) {
        let text = format!("`{}` would be overwritten, but this command reads it", out.display());
        return Err(Refusal::new(text, Some("name another file with --out".to_string())));
    }
    if found.len() == 0 || is_former(out) {
        return Ok(());
    }
    let text = format!("`{}` exists already, and this command did not write it", out.display());
    Err(Refusal::new(text, Some("name another file with --out, or remove it".to_string())))
}

/// The bytes at the beginning and at the end of a file that tell its kind.
const TELLING: u64 = 4096;

/// Returns true if `file` contains one of `marks` near its beginning or its end.
pub fn is_marked(file: &Path, marks: &[&str]) -> bool {
    let read = || -> std::io::Result<(Vec<u8>, Vec<u8>)> {
        let mut file = File::open(file)?;
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        (&file).take(TELLING).read_to_end(&mut head)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TELLING)))?;
        file.take(TELLING).read_to_end(&mut tail)?;
        Ok((head, tail))
    };
    read().is_ok_and(|(head, tail)| marks.iter().any(|mark| contains(&head, mark) || contains(&tail, mark)))
}

fn contains(text: &[u8], mark: &str) -> bool {
    text.windows(mark.len()).any(|window| window == mark.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_former_outputs_and_empty_files_are_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let former = write("former", &format!("{}<footer>ours", "x".repeat(10_000)));
        let (foreign, empty, input) = (write("foreign", "theirs"), write("empty", ""), write("input", "ours"));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&input, &link).unwrap();
        let check = |out: &Path| refuse_overwriting(out, [input.as_path()], |file| is_marked(file, &["ours"]));
        for out in [&former, &empty, &folder.path().join("new"), Path::new("/dev/null")] {
            assert_eq!(check(out), Ok(()), "{}", out.display());
        }
        assert!(check(&foreign).unwrap_err().text.contains("this command did not write it"));
        for out in [&input, &link] {
            assert!(check(out).unwrap_err().text.contains("this command reads it"));
        }
    }
}
