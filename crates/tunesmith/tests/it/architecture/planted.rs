//! Small workspaces with one fault each, on which the checks prove that they find it.

use std::path::Path;

use tempfile::TempDir;

use crate::architecture::house::House;

/// A workspace of its own in a temporary folder.
pub(crate) struct Planted {
    pub(crate) house: House,
    _folder: TempDir,
}

/// A crate: its package, the crates that it uses, and its files under `src` with their texts.
type PlantedCrate<'a> = (&'a str, &'a [&'a str], &'a [(&'a str, &'a str)]);

impl Planted {
    /// Writes a workspace of `crates` and reads it.
    pub(crate) fn new(crates: &[PlantedCrate<'_>]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write(&folder.path().join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n");
        for (name, uses, files) in crates {
            let own = folder.path().join("crates").join(name);
            write(&own.join("Cargo.toml"), &manifest(name, uses));
            for (path, text) in *files {
                write(&own.join("src").join(path), text);
            }
        }
        Self { house: House::read(folder.path()), _folder: folder }
    }
}

fn manifest(name: &str, uses: &[&str]) -> String {
    let package = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\n");
    let dependencies = uses.iter().map(|used| format!("{used} = {{ path = \"../{used}\" }}\n"));
    package + &dependencies.collect::<String>()
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder is made");
    std::fs::write(path, text).expect("a file is written");
}
