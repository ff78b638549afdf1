//! Files for parsers that read a path. They lie in memory, and every input reuses them.

use std::path::PathBuf;
use std::sync::OnceLock;

/// Returns the folder of this process. `run` names its parent in `TMPDIR` and removes it.
pub fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("tunesmith-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        folder
    })
}

/// Writes `bytes` to the file `name`, and returns its path.
pub fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    std::fs::write(&path, bytes).expect("the temporary folder can be written");
    path
}

/// Returns the text of `path`.
pub fn read(path: &std::path::Path) -> String {
    std::fs::read_to_string(path).expect("the file was written as text")
}
