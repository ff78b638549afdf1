//! The place of copies. What lies beside the problem's folder lies beside each copy, as links.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Folders like those above the problem's, with links to all their other entries. `..` and `../..`
/// in a copy therefore lead to the same files as in the problem's folder.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// The folder with the parents of copies. It stands for the folder two levels above the problem's.
    above: PathBuf,
    /// The name of the problem's folder and of the one above.
    name: OsString,
    parent_name: OsString,
    /// The entries beside the problem's folder.
    beside: Vec<PathBuf>,
}

impl Surroundings {
    /// Makes the folders above the parents of copies in `root`, which stands for `/`. A folder above
    /// that cannot be listed stays without links. `..` then leads to nothing, which a program
    /// reports.
    pub(super) fn new(original: &Path, root: &Path) -> Self {
        let mut levels: Vec<&Path> = original.ancestors().skip(2).collect();
        levels.reverse();
        let mut above = root.to_owned();
        let _ = std::fs::create_dir_all(&above);
        for (at, folder) in levels.iter().enumerate() {
            above.extend(folder.file_name());
            let _ = std::fs::create_dir_all(&above);
            // The next level is a folder, not a link.
            let next = levels.get(at + 1).and_then(|next| next.file_name());
            link_all(&entries_beside(folder, next), &above);
        }
        let name_of = |path: Option<&Path>| path.and_then(Path::file_name).unwrap_or(OsStr::new("root")).to_owned();
        let beside = original.parent().map(|parent| entries_beside(parent, original.file_name())).unwrap_or_default();
        Self { above, name: name_of(Some(original)), parent_name: name_of(original.parent()), beside }
    }

    /// Makes the empty folder of a copy, and the folder around it. Returns the latter first.
    ///
    /// # Errors
    /// The folders cannot be made.
    pub(super) fn place(&self, number: u64) -> io::Result<(PathBuf, PathBuf)> {
        let mut name = self.parent_name.clone();
        name.push(format!("~{number}"));
        let parent = self.above.join(name);
        // A link to a folder of this name may stand here.
        let _ = std::fs::remove_file(&parent);
        std::fs::create_dir(&parent)?;
        let path = parent.join(&self.name);
        std::fs::create_dir(&path)?;
        link_all(&self.beside, &parent);
        Ok((parent, path))
    }
}

/// Returns the entries of `folder` but the one named `left_out`.
fn entries_beside(folder: &Path, left_out: Option<&OsStr>) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| Some(entry.file_name().as_os_str()) != left_out).map(|entry| entry.path()).collect()
}

fn link_all(targets: &[PathBuf], folder: &Path) {
    for target in targets {
        if let Some(name) = target.file_name() {
            // Without the link, a program does not find the file, and says so.
            let _ = symlink(target, folder.join(name));
        }
    }
}
