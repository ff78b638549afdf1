//! Opens, reads and replaces the files that a user names, and removes the folders of programs.
//!
//! A path may name anything. A FIFO blocks whoever opens it until somebody writes into it,
//! `/dev/zero` never ends, and a file of a few bytes on disk may claim a terabyte. A reader that
//! opens files here meets none of them: it gets a regular file, and reads at most the bytes that it
//! asked for.
//!
//! A program may leave folders nested by the thousand, or folders that nobody may enter.
//! `remove_tree`, with the feature `removal`, removes those, too.

pub mod json;
mod lines;
mod replace;
#[cfg(feature = "removal")]
mod tree;

pub use lines::LineFile;
pub use replace::replace;
#[cfg(feature = "removal")]
pub use tree::{empty_tree, remove_tree};

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Maximum length of a text that a person writes: a problem, a source, a loop nest.
pub const TEXT: u64 = 64 << 20;

/// Maximum length of a file that a program writes and reads as a whole: a model, wisdom.
pub const DATA: u64 = 1 << 30;

/// Maximum length of a recording or a journal. One of a million evaluations takes less than 1 GiB.
pub const RECORD: u64 = 16 << 30;

/// Returns `text` as a part of a file's name, with `_` for characters that not every name can have.
pub fn plain_name(text: &str) -> String {
    let is_plain = |sign: char| sign.is_alphanumeric() || "=,.-+".contains(sign);
    text.chars().map(|sign| if is_plain(sign) { sign } else { '_' }).collect()
}

/// Opens the regular file at `path` for reading. Never blocks.
///
/// # Errors
/// The errors of [`File::open`], and [`InvalidInput`](ErrorKind::InvalidInput) for a FIFO, device,
/// socket or directory.
pub fn open(path: impl AsRef<Path>) -> Result<File> {
    open_with(OpenOptions::new().read(true), path.as_ref())
}

/// Opens the regular file at `path` with `options`, which may create it. Never blocks.
///
/// # Errors
/// As [`open`].
pub fn open_with(options: &mut OpenOptions, path: &Path) -> Result<File> {
    open_regular(options, path, std::fs::metadata(path), 0)
}

/// Opens the regular file at `path` with `options` as [`open_with`] does, but follows no link that stands there: for
/// files of a folder in which others may write.
///
/// # Errors
/// As [`open`], and for a symbolic link.
pub fn open_in_shared(options: &mut OpenOptions, path: &Path) -> Result<File> {
    open_regular(options, path, std::fs::symlink_metadata(path), libc::O_NOFOLLOW)
}

fn open_regular(options: &mut OpenOptions, path: &Path, there: Result<Metadata>, flags: i32) -> Result<File> {
    // Opening a device can have an effect. What is there already is therefore looked at first. It
    // may be replaced meanwhile: the flag keeps a FIFO from blocking, and the look at the open file
    // decides.
    if let Ok(there) = there {
        require_regular(&there)?;
    }
    let file = options.custom_flags(libc::O_NONBLOCK | flags).open(path)?;
    require_regular(&file.metadata()?)?;
    Ok(file)
}

/// Creates the regular file at `path`, in a folder of the program's own. What another process put there, a FIFO or a
/// link, is removed, not opened. Never blocks.
///
/// # Errors
/// The errors of [`File::create_new`].
pub fn create(path: impl AsRef<Path>) -> Result<File> {
    const TRIES: usize = 8;
    let path = path.as_ref();
    for _ in 1..TRIES {
        match File::create_new(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => std::fs::remove_file(path)?,
            created => return created,
        }
    }
    File::create_new(path)
}

/// Writes the file at `path`, in a folder of the program's own, as [`create`] makes it.
///
/// # Errors
/// As [`create`], and those of a full disk.
pub fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> Result<()> {
    create(path)?.write_all(contents.as_ref())
}

/// Reads the regular file at `path`, of at most `most` bytes. Never blocks.
///
/// # Errors
/// As [`open`], and [`FileTooLarge`](ErrorKind::FileTooLarge) for a longer file.
pub fn read(path: impl AsRef<Path>, most: u64) -> Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_long(most));
    }
    let mut bytes = Vec::new();
    let needed = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(1);
    bytes.try_reserve_exact(needed).map_err(|_| Error::new(ErrorKind::FileTooLarge, "it is longer than the memory"))?;
    // The file may grow while it is read.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_long(most)) } else { Ok(bytes) }
}

/// Reads the regular file at `path` as text, of at most `most` bytes. Never blocks.
///
/// # Errors
/// As [`read`], and [`InvalidData`](ErrorKind::InvalidData) if the file is not UTF-8.
pub fn read_text(path: impl AsRef<Path>, most: u64) -> Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|error| Error::new(ErrorKind::InvalidData, format!("it is no text: {error}")))
}

/// Reads a text that the operating system makes, such as `/proc/meminfo`. Returns `None` where it does not.
pub fn system_text(path: impl AsRef<Path>) -> Option<String> {
    read_text(path, TEXT).ok()
}

/// Returns true if the error lies in the path that the user named, and false if the disk failed.
pub fn is_wrong_path(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound
            | ErrorKind::InvalidInput
            | ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::FileTooLarge
    )
}

fn require_regular(found: &Metadata) -> Result<()> {
    let kind = found.file_type();
    if kind.is_file() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidInput, format!("it is {}, not a regular file", name(kind))))
}

fn name(kind: FileType) -> &'static str {
    match kind {
        _ if kind.is_dir() => "a directory",
        _ if kind.is_symlink() => "a symbolic link",
        _ if kind.is_fifo() => "a FIFO",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

fn too_long(most: u64) -> Error {
    let text = match most >> 20 {
        0 => format!("it is longer than {most} bytes"),
        mebibytes => format!("it is longer than {mebibytes} MiB"),
    };
    Error::new(ErrorKind::FileTooLarge, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    fn refusal(path: &Path) -> String {
        read(path, TEXT).unwrap_err().to_string()
    }

    #[test]
    fn a_fifo_a_device_and_a_directory_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        mkfifo(&fifo, Mode::S_IRWXU).unwrap();
        assert_eq!(refusal(&fifo), "it is a FIFO, not a regular file");
        assert_eq!(refusal(Path::new("/dev/zero")), "it is a device, not a regular file");
        assert_eq!(refusal(folder.path()), "it is a directory, not a regular file");
        assert!(is_wrong_path(&read(&fifo, TEXT).unwrap_err()));
        let mut append = OpenOptions::new();
        append.append(true);
        assert!(open_with(&mut append, &fifo).is_err());
    }

    #[test]
    fn what_others_put_in_the_place_of_an_own_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, outside) = (folder.path().join("own"), folder.path().join("outside"));
        std::fs::write(&outside, "kept").unwrap();
        mkfifo(&path, Mode::S_IRWXU).unwrap();
        write(&path, "1").unwrap();
        assert_eq!(read_text(&path, 9).unwrap(), "1");
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&outside, &path).unwrap();
        write(&path, "2").unwrap();
        assert_eq!([read_text(&path, 9).unwrap(), read_text(&outside, 9).unwrap()], ["2", "kept"]);
        assert!(write(folder.path(), "3").is_err());
    }

    #[test]
    fn a_file_is_read_up_to_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_text(&path, 5).unwrap(), "12345");
        assert_eq!(read(&path, 4).unwrap_err().to_string(), "it is longer than 4 bytes");
        std::fs::write(&path, [0xff]).unwrap();
        assert_eq!(read_text(&path, 5).unwrap_err().kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn a_file_that_claims_a_terabyte_takes_no_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(refusal(&path), "it is longer than 64 MiB");
    }

    #[test]
    fn a_new_file_is_created_and_a_missing_one_is_a_wrong_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        assert!(is_wrong_path(&open(&path).unwrap_err()));
        assert!(open_with(OpenOptions::new().append(true).create(true), &path).is_ok());
        assert!(open(&path).is_ok());
    }
}
