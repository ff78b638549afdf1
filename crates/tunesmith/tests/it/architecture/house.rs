//! The crates of a workspace as cargo describes them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::architecture::source::Source;

/// A workspace: the folder of its manifest and its crates.
pub(crate) struct House {
    pub(crate) folder: PathBuf,
    pub(crate) crates: Vec<Crate>,
}

/// A package of the workspace.
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// The first files of its library and of its binaries.
    pub(crate) roots: Vec<PathBuf>,
    /// The names of the packages that it uses outside tests.
    pub(crate) uses: Vec<String>,
}

impl House {
    /// Returns this workspace.
    pub(crate) fn own() -> Self {
        Self::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../"))
    }

    /// Returns the workspace whose manifest is in `folder`.
    pub(crate) fn read(folder: &Path) -> Self {
        let folder = folder.canonicalize().expect("the folder of the workspace exists");
        let metadata = metadata(&folder.join("Cargo.toml"));
        let crates = list(&metadata["packages"]).map(Crate::read).collect();
        Self { folder, crates }
    }

    /// Returns the crate `name`.
    pub(crate) fn find(&self, name: &str) -> &Crate {
        self.crates.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("there is no package {name}"))
    }

    /// Returns `path` as seen from the folder of the workspace.
    pub(crate) fn short(&self, path: &Path) -> String {
        path.strip_prefix(&self.folder).unwrap_or(path).display().to_string()
    }
}

impl Crate {
    fn read(package: &Value) -> Self {
        let manifest = Path::new(text(&package["manifest_path"]));
        Self {
            name: text(&package["name"]).to_string(),
            folder: manifest.parent().expect("a manifest is in a folder").to_path_buf(),
            roots: list(&package["targets"]).filter(|target| is_product(target)).map(root).collect(),
            uses: list(&package["dependencies"]).filter(|one| one["kind"] != "dev").map(used).collect(),
        }
    }

    /// Returns the files of the crate without what is compiled for tests alone.
    pub(crate) fn sources(&self) -> Vec<Source> {
        self.roots.iter().flat_map(|root| Source::follow(root)).collect()
    }
}

fn metadata(manifest: &Path) -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline", "--manifest-path"])
        .arg(manifest)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

fn is_product(target: &Value) -> bool {
    list(&target["kind"]).any(|kind| ["lib", "bin", "cdylib", "proc-macro", "custom-build"].contains(&text(kind)))
}

fn root(target: &Value) -> PathBuf {
    PathBuf::from(text(&target["src_path"]))
}

fn used(dependency: &Value) -> String {
    text(&dependency["name"]).to_string()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().expect("cargo metadata gives a list").iter()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("cargo metadata gives a text")
}
