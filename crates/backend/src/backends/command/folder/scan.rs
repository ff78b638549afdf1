//! Looks at the problem's folder, and decides for each entry how copies get it.

use std::collections::{BTreeSet, VecDeque};
use std::fs::{DirEntry, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tunesmith_kernel::data::is_scratch;

/// The most entries that a copy has beneath its subfolders. A copy of so many takes some tens of
/// milliseconds. A subfolder that exceeds the number is linked.
const MOST_ENTRIES: usize = 4096;

/// The most bytes of a file that is copied. Sources and programs are smaller, data sets are larger.
const MOST_OF_A_FILE: u64 = 8 << 20;

/// The most bytes of a copy. Some twenty copies exist at a time, often in memory.
const MOST_BYTES: u64 = 64 << 20;

/// Folders that programs only read, and that have many files.
const SHARED: [&str; 4] = [".git", ".hg", ".svn", "node_modules"];

/// The file that marks a folder as Python's environment.
const ENVIRONMENT: &str = "pyvenv.cfg";

/// The file that marks a folder as a cache (<https://bford.info/cachedir/>), such as Cargo's `target`.
const CACHE: &str = "CACHEDIR.TAG";

/// The files of a folder that CMake or Meson configured. They name the absolute path of the folder,
/// so that they refuse a copy.
const CONFIGURED: [&str; 3] = ["CMakeCache.txt", "CMakeFiles", "meson-private"];

/// The first bytes of object files and programs, of archives, and of LLVM's bitcode.
const COMPILED: [&[u8]; 4] = [b"\x7fELF", b"!<arch>\n", b"!<thin>\n", b"BC\xc0\xde"];

/// The contents of a folder. A folder comes before what is in it.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) entries: Vec<Entry>,
    /// The bytes of all files that are copied.
    pub(super) bytes: u64,
}

/// An entry of the problem's folder or of a folder in it.
#[derive(Debug)]
pub(super) struct Entry {
    /// The path from the problem's folder.
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    bytes: u64,
}

/// The way in which a copy gets an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A folder of its own.
    Folder,
    /// A file of its own.
    File {
        /// True if a compiler made the file, and the problem has a build that may make it again.
        is_compiled: bool,
    },
    /// A file that is too large to be copied.
    LargeFile,
    /// The same symbolic link.
    Symlink,
    /// A link to the original.
    Link,
}

/// The rules for entries that do not follow from the entries themselves.
pub(super) struct Rules {
    /// True if the problem has a build. What its tools made before is then left out.
    pub(super) is_built: bool,
    /// The files and folders that must not be copied, without links in their paths.
    pub(super) private: BTreeSet<PathBuf>,
}

/// Looks at a folder and at everything in it.
///
/// # Errors
/// The folder itself cannot be read. A subfolder that cannot be read is linked.
pub(super) fn scan(folder: &Path, rules: &Rules) -> io::Result<Contents> {
    let mut contents = Contents::default();
    let mut waiting = VecDeque::new();
    take(PathBuf::new(), entries_of(folder)?, rules, &mut contents, &mut waiting);
    // Level by level: what lies deep is linked first.
    while let Some(at) = waiting.pop_front() {
        let inner = entries_of(&folder.join(&contents.entries[at].path));
        match inner {
            Ok(inner) if contents.entries.len() + inner.len() <= MOST_ENTRIES => {
                let path = contents.entries[at].path.clone();
                take(path, inner, rules, &mut contents, &mut waiting);
            }
            _ => contents.entries[at].kind = Kind::Link,
        }
    }
    limit_bytes(&mut contents);
    Ok(contents)
}

fn entries_of(folder: &Path) -> io::Result<Vec<DirEntry>> {
    let mut entries = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

/// Adds the entries `inner` of the folder at `path`. The places of folders among them are appended to
/// `waiting`.
fn take(path: PathBuf, inner: Vec<DirEntry>, rules: &Rules, contents: &mut Contents, waiting: &mut VecDeque<usize>) {
    for entry in inner {
        let Ok(metadata) = entry.metadata() else { continue };
        let Some(kind) = kind_of(&entry, &metadata, rules) else { continue };
        if kind == Kind::Folder {
            waiting.push_back(contents.entries.len());
        }
        let bytes = if matches!(kind, Kind::File { .. }) { metadata.len() } else { 0 };
        contents.entries.push(Entry { path: path.join(entry.file_name()), kind, bytes });
    }
}

/// Returns the kind of an entry. Returns `None` if copies do not have it.
fn kind_of(entry: &DirEntry, metadata: &Metadata, rules: &Rules) -> Option<Kind> {
    let (path, name) = (entry.path(), entry.file_name());
    let is_one_of = |names: &[&str]| names.iter().any(|one| name == *one);
    let has = |marker: &str| path.join(marker).is_file();
    if rules.is_built && is_one_of(&CONFIGURED) {
        return None;
    }
    if metadata.is_symlink() {
        return Some(Kind::Symlink);
    }
    if rules.private.contains(&path) {
        return Some(Kind::Link);
    }
    if metadata.is_dir() {
        return match () {
            () if is_scratch(&path) => None,
            () if is_one_of(&SHARED) || has(ENVIRONMENT) => Some(Kind::Link),
            () if has(CACHE) => (!rules.is_built).then_some(Kind::Link),
            () => Some(Kind::Folder),
        };
    }
    if !metadata.is_file() {
        return Some(Kind::Link);
    }
    if metadata.len() > MOST_OF_A_FILE {
        return Some(Kind::LargeFile);
    }
    Some(Kind::File { is_compiled: rules.is_built && may_be_compiled(metadata) && is_compiled(&path) })
}

/// Returns true unless a file is too short to have been compiled.
fn may_be_compiled(metadata: &Metadata) -> bool {
    metadata.len() >= 8 && metadata.permissions().mode() & 0o400 != 0
}

fn is_compiled(path: &Path) -> bool {
    let mut first = [0; 8];
    let read = tunesmith_files::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && COMPILED.iter().any(|magic| first.starts_with(magic))
}

/// Takes the largest files for too large until the others are few enough bytes.
fn limit_bytes(contents: &mut Contents) {
    contents.bytes = contents.entries.iter().map(|entry| entry.bytes).sum();
    let mut largest: Vec<usize> = (0..contents.entries.len()).collect();
    largest.sort_by_key(|at| std::cmp::Reverse(contents.entries[*at].bytes));
    for at in largest {
        if contents.bytes <= MOST_BYTES {
            return;
        }
        contents.bytes -= contents.entries[at].bytes;
        contents.entries[at].kind = Kind::LargeFile;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;
    use std::fs::File;

    /// Returns the kinds of the entries of a folder with these files.
    fn kinds(files: &[(&str, &[u8])], private: &str, is_built: bool) -> BTreeMap<String, Kind> {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let path = folder.path().canonicalize().unwrap();
        let rules = Rules { is_built, private: BTreeSet::from([path.join(private)]) };
        let entries = scan(&path, &rules).unwrap().entries;
        entries.into_iter().map(|entry| (entry.path.display().to_string(), entry.kind)).collect()
    }

    fn of<const N: usize>(kinds: [(&str, Kind); N]) -> BTreeMap<String, Kind> {
        kinds.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect()
    }

    #[test]
    fn trees_of_build_tools_are_left_out_of_a_build_and_linked_otherwise() {
        let files: [(&str, &[u8]); 5] = [
            ("target/CACHEDIR.TAG", b""),
            ("build/CMakeCache.txt", b""),
            ("build/CMakeFiles/a", b""),
            (".venv/pyvenv.cfg", b""),
            (".git/HEAD", b""),
        ];
        let linked = [(".git", Kind::Link), (".venv", Kind::Link), ("build", Kind::Folder)];
        assert_eq!(kinds(&files, "none", true), of(linked));
        let file = Kind::File { is_compiled: false };
        let rest = [("build/CMakeCache.txt", file), ("build/CMakeFiles", Kind::Folder), ("build/CMakeFiles/a", file)];
        let all: BTreeMap<String, Kind> = of(linked).into_iter().chain(of(rest)).collect();
        assert_eq!(kinds(&files, "none", false), all.into_iter().chain(of([("target", Kind::Link)])).collect());
    }

    #[test]
    fn secrets_and_runs_are_not_copied_and_compiled_files_are_known() {
        let files: [(&str, &[u8]); 5] = [
            ("keys/id", b"secret"),
            ("tunesmith-x/in-use", b""),
            ("a.o", b"\x7fELF...."),
            ("lib.a", b"!<arch>\n"),
            ("short", b"\x7fELF"),
        ];
        let file = |is_compiled| Kind::File { is_compiled };
        let kinds_of = |compiled| {
            of([("keys", Kind::Link), ("a.o", file(compiled)), ("lib.a", file(compiled)), ("short", file(false))])
        };
        assert_eq!(kinds(&files, "keys", true), kinds_of(true));
        assert_eq!(kinds(&files, "keys", false), kinds_of(false));
    }

    #[test]
    fn a_folder_with_too_many_files_is_linked_and_the_largest_files_too() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["few", "many", "many/deep"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("few/a"), "").unwrap();
        (0..MOST_ENTRIES).for_each(|name| fs::write(folder.path().join(format!("many/{name}")), "").unwrap());
        for name in 0..9 {
            let file = File::create(folder.path().join(format!("few/{name}"))).unwrap();
            file.set_len(MOST_OF_A_FILE - name).unwrap();
        }
        let contents = scan(folder.path(), &Rules { is_built: true, private: BTreeSet::new() }).unwrap();
        let kind = |name: &str| contents.entries.iter().find(|entry| entry.path == Path::new(name)).unwrap().kind;
        assert_eq!((kind("many"), kind("few"), kind("few/a")), (Kind::Link, Kind::Folder, kind("few/8")));
        assert_eq!((kind("few/0"), contents.bytes <= MOST_BYTES), (Kind::LargeFile, true));
        assert_eq!(contents.entries.len(), 2 + 10);
    }
}
