//! A cache of machine code on disk, kept between runs.
//!
//! A key covers everything that the compiler reads: the source with its included files, the options
//! with the architecture, the requested names, and the compiler's version. An entry consists of two
//! files, first the binary and then its description. Each file is moved into place when it is
//! complete, so a killed run leaves no partial entry.

use crate::backends::gpu::GpuMade;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tunesmith_files::{DATA, TEXT};

/// The size limit of the cache in bytes, about ten thousand binaries. A larger cache loses its oldest
/// entries until it has half this size.
const MOST: u64 = 1 << 30;

/// A folder with binaries.
pub(super) struct BinaryCache {
    folder: PathBuf,
}

impl BinaryCache {
    /// Opens the cache in `folder`, and makes the folder if it is missing. Returns `None` if that
    /// is not possible; every configuration is then compiled again.
    pub(super) fn open(folder: &Path) -> Option<Self> {
        std::fs::create_dir_all(folder).ok()?;
        trim(folder, MOST);
        Some(Self { folder: folder.to_owned() })
    }

    fn binary(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.bin"))
    }

    fn description(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.json"))
    }

    /// Copies the binary of an entry to `to`, and returns its description. Returns `None` if there
    /// is no such entry.
    pub(super) fn get(&self, key: &str, to: &Path) -> Option<GpuMade> {
        let description = tunesmith_files::read(self.description(key), TEXT).ok()?;
        let made = serde_json::from_slice(&description).ok()?;
        std::fs::write(to, tunesmith_files::read(self.binary(key), DATA).ok()?).ok()?;
        Some(made)
    }

    /// Adds the binary at `from`. Ignores errors such as a full disk, because they only cost
    /// another compilation.
    pub(super) fn put(&self, key: &str, from: &Path, made: &GpuMade) {
        let _ = self.place(&self.binary(key), |path| std::fs::copy(from, path).map(drop)).and_then(|()| {
            let description = serde_json::to_vec(made)?;
            self.place(&self.description(key), |path| std::fs::write(path, &description))
        });
    }

    /// Lets `write` make a temporary file, and then renames it to `path`.
    fn place(&self, path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        let file = tempfile::Builder::new().prefix("new-").tempfile_in(&self.folder)?;
        write(file.path())?;
        file.persist(path)?;
        Ok(())
    }
}

/// Removes the oldest files of a folder larger than `most`, until half of `most` is left.
fn trim(folder: &Path, most: u64) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let file = |entry: std::fs::DirEntry| {
        let data = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((data.modified().unwrap_or(SystemTime::UNIX_EPOCH), data.len(), entry.path()))
    };
    let mut files: Vec<_> = entries.flatten().filter_map(file).collect();
    let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
    if bytes <= most {
        return;
    }
    files.sort();
    for (_, length, path) in files {
        if bytes <= most / 2 {
            return;
        }
        // A file that another run removes at the same time is gone as well.
        let _ = std::fs::remove_file(path);
        bytes -= length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::cuda::cubin::Spills;

    #[test]
    fn what_was_put_is_got_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let cache = BinaryCache::open(&folder.path().join("cubin")).unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::write(&from, "code").unwrap();
        assert!(cache.get("key", &to).is_none());
        let spills = Some(Spills { store_bytes: 4, load_bytes: 8 });
        let made = GpuMade { function: "_Z1fv".to_owned(), symbols: vec!["filter".to_owned()], spills };
        cache.put("key", &from, &made);
        assert_eq!(cache.get("key", &to), Some(made));
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "code");
        assert!(cache.get("other", &to).is_none());
        std::fs::remove_file(cache.binary("key")).unwrap();
        assert!(cache.get("key", &to).is_none());
    }

    #[test]
    fn a_cache_that_is_too_large_loses_files_down_to_half() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c", "d"] {
            std::fs::write(folder.path().join(name), [0; 100]).unwrap();
        }
        trim(folder.path(), 400);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
        trim(folder.path(), 399);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
