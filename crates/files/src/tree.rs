//! Removal of whole folders, however deep they are and whatever their modes forbid.

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, chmodat, fstat, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::path::Arg;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// The beginning of the names that nested folders get in the root of their tree.
const RAISED: &str = ".raised-";

/// The number of times that a tree is removed. A process that ends meanwhile may still add to it,
/// and on a full disk the first time makes the room that the second one needs.
const ROUNDS: usize = 3;

/// Removes a folder with everything in it. Nesting costs neither memory nor descriptors nor long
/// paths, and folders whose modes forbid it are opened up first. Links are removed, not followed,
/// and a mounted file system is left alone. A folder that does not exist counts as removed.
///
/// # Errors
/// Something remains. The error counts the entries and names the first one.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let mut removed = Ok(());
    for _ in 0..ROUNDS {
        removed = empty_tree(path).and_then(|()| gone(unlinkat(CWD, path, AtFlags::REMOVEDIR)).map_err(Into::into));
        if removed.is_ok() {
            break;
        }
    }
    removed
}

/// Removes everything in a folder as [`remove_tree`] does, and leaves the folder.
///
/// # Errors
/// As [`remove_tree`].
pub fn empty_tree(path: &Path) -> io::Result<()> {
    let root = match open_folder(CWD, path, None) {
        Err(Errno::NOENT) => return Ok(()),
        opened => opened?,
    };
    let mut flattening = Flattening { device: fstat(&root)?.st_dev, root, raised: 0, left: Left::default() };
    flattening.run();
    flattening.left.report(path)
}

/// A tree that is removed. Nested folders are raised into the root one by one, so that nothing is
/// ever deeper than two levels for long.
struct Flattening {
    root: OwnedFd,
    /// The file system of the root.
    device: u64,
    /// The number of names that were used for nested folders.
    raised: u64,
    left: Left,
}

/// The entries that cannot be removed.
#[derive(Default)]
struct Left {
    entries: u64,
    first: Option<(CString, Errno)>,
}

impl Flattening {
    fn run(&mut self) {
        if let Err(error) = self.empty_root() {
            self.left.add(c".", error);
        }
        let mut next = 0;
        while next < self.raised {
            let name = raised_name(next);
            let removed = self.remove_folder(&name);
            self.note(&name, removed);
            next += 1;
        }
    }

    fn empty_root(&mut self) -> Result<(), Errno> {
        let mut entries = Dir::read_from(&self.root)?;
        while let Some(name) = next_name(&mut entries)? {
            let removed = match unlinkat(&self.root, &name, AtFlags::empty()) {
                Err(Errno::ISDIR) => self.remove_folder(&name),
                removed => removed,
            };
            self.note(&name, removed);
        }
        Ok(())
    }

    /// Removes a folder of the root. Raises the folders in it.
    fn remove_folder(&mut self, name: &CStr) -> Result<(), Errno> {
        let mut entries = Dir::new(open_folder(self.root.as_fd(), name, Some(self.device))?)?;
        while let Some(nested) = next_name(&mut entries)? {
            let removed = match unlinkat(entries.fd()?, &nested, AtFlags::empty()) {
                Err(Errno::ISDIR) => self.raise(entries.fd()?, &nested),
                removed => removed,
            };
            self.note(&nested, removed);
        }
        unlinkat(&self.root, name, AtFlags::REMOVEDIR)
    }

    /// Moves a nested folder into the root.
    fn raise(&mut self, parent: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
        // A folder that moves is written, because it holds a link to its parent. Its mode may forbid
        // that.
        drop(open_folder(parent, name, Some(self.device))?);
        loop {
            let to = raised_name(self.raised);
            self.raised += 1;
            match renameat(parent, name, &self.root, &to) {
                // The tree has an entry of that name already.
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                moved => return moved,
            }
        }
    }

    fn note(&mut self, name: &CStr, removed: Result<(), Errno>) {
        if let Err(error) = gone(removed) {
            self.left.add(name, error);
        }
    }
}

impl Left {
    fn add(&mut self, name: &CStr, error: Errno) {
        self.entries += 1;
        self.first.get_or_insert_with(|| (name.to_owned(), error));
    }

    fn report(self, path: &Path) -> io::Result<()> {
        let Some((name, error)) = self.first else { return Ok(()) };
        let (error, name) = (io::Error::from(error), name.to_string_lossy().into_owned());
        let text = match self.entries {
            1 => format!("`{name}` remains in `{}`: {error}", path.display()),
            entries => format!("{entries} entries remain in `{}`, the first is `{name}`: {error}", path.display()),
        };
        Err(io::Error::new(error.kind(), text))
    }
}

/// Opens a folder for reading, without following a link. Allows this user everything in it. Refuses
/// a folder on another file system than `device`.
fn open_folder(parent: BorrowedFd<'_>, name: impl Arg, device: Option<u64>) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // This handle needs no right on the folder.
    let handle = openat(parent, name, flags | OFlags::PATH, Mode::empty())?;
    let found = fstat(&handle)?;
    if device.is_some_and(|device| device != found.st_dev) {
        return Err(Errno::XDEV);
    }
    if !Mode::from_raw_mode(found.st_mode).contains(Mode::RWXU) {
        // If the folder is another user's, the removal tells.
        let _ = chmodat(CWD, format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::RWXU, AtFlags::empty());
    }
    openat(&handle, c".", flags | OFlags::RDONLY, Mode::empty())
}

/// Returns the name of the next entry, or `None` after the last one.
fn next_name(entries: &mut Dir) -> Result<Option<CString>, Errno> {
    loop {
        let Some(entry) = entries.read().transpose()? else { return Ok(None) };
        if entry.file_name() != c"." && entry.file_name() != c".." {
            return Ok(Some(entry.file_name().to_owned()));
        }
    }
}

fn raised_name(number: u64) -> CString {
    CString::new(format!("{RAISED}{number}")).unwrap_or_default()
}

/// Returns success for an entry that somebody else has removed.
fn gone(removed: Result<(), Errno>) -> Result<(), Errno> {
    removed.or_else(|error| if error == Errno::NOENT { Ok(()) } else { Err(error) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::mkdirat;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    /// The variable with the folder of a test that runs once more as another user.
    const AGAIN: &str = "TUNESMITH_TREE_TEST";

    /// Makes `levels` folders, each in the one before, with a file in the deepest one.
    fn nest(root: &Path, levels: usize) {
        let open = |parent: BorrowedFd<'_>, name: &Path| {
            openat(parent, name, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).unwrap()
        };
        let mut folder = open(CWD, root);
        for _ in 0..levels {
            mkdirat(&folder, "d", Mode::RWXU).unwrap();
            folder = open(folder.as_fd(), Path::new("d"));
        }
        openat(&folder, "file", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
    }

    #[test]
    fn twenty_thousand_levels_are_removed() {
        // A disk can take milliseconds for each folder.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        nest(&root, 20_000);
        remove_tree(&root).unwrap();
        assert!(!root.exists());
    }

    #[test]
    fn links_are_removed_and_what_they_lead_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "kept").unwrap();
        fs::set_permissions(&outside, Permissions::from_mode(0o500)).unwrap();
        for place in ["link", "a/link", "a/b/link"] {
            symlink(&outside, root.join(place)).unwrap();
        }
        remove_tree(&root).unwrap();
        assert!(!root.exists());
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "kept");
        assert_eq!(fs::metadata(&outside).unwrap().permissions().mode() & 0o777, 0o500);
    }

    #[test]
    fn names_that_the_tree_has_already_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        for name in [".raised-0/x/y", "a/.raised-1/z", "a/b/c/d", "e/.raised-3"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join(".raised-2"), "a file").unwrap();
        remove_tree(&root).unwrap();
        assert!(!root.exists());
    }

    #[test]
    fn emptying_leaves_the_folder_and_a_missing_one_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        remove_tree(&root).unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), "").unwrap();
        empty_tree(&root).unwrap();
        assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    }

    #[test]
    fn a_link_or_a_file_in_the_place_of_the_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::create_dir(&target).unwrap();
        fs::write(target.join("file"), "").unwrap();
        symlink(&target, &link).unwrap();
        assert!(remove_tree(&link).is_err());
        assert!(remove_tree(&target.join("file")).is_err());
        assert!(target.join("file").exists());
    }

    /// Only a user other than root feels a mode. As root, the test runs once more as `nobody`.
    #[test]
    #[allow(clippy::disallowed_methods, clippy::print_stderr)] // a message of this test to itself
    fn folders_that_nobody_may_enter_are_removed() {
        if let Some(root) = std::env::var_os(AGAIN) {
            return remove_forbidden(Path::new(&root));
        }
        let folder = tempfile::tempdir().unwrap();
        if !rustix::process::geteuid().is_root() {
            return remove_forbidden(folder.path());
        }
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "tree::tests::folders_that_nobody_may_enter_are_removed"]);
        match again.env(AGAIN, folder.path()).uid(65534).gid(65534).output() {
            Ok(ran) => assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout)),
            Err(error) => eprintln!("skipped: the test cannot run as another user: {error}"),
        }
    }

    fn remove_forbidden(folder: &Path) {
        let root = folder.join("root");
        fs::create_dir_all(root.join("a/b/c/d")).unwrap();
        fs::write(root.join("a/b/file"), "").unwrap();
        for (name, mode) in [("a/b/c/d", 0o000), ("a/b/c", 0o000), ("a/b", 0o300), ("a", 0o500), ("", 0o000)] {
            fs::set_permissions(root.join(name), Permissions::from_mode(mode)).unwrap();
        }
        remove_tree(&root).unwrap();
        assert!(!root.exists());
    }
}
