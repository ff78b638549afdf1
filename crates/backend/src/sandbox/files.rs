//! The files that everybody in the sandbox may read: all but the user's secrets.
//!
//! Landlock knows only what is allowed, for everything beneath a path. A folder with a secret in it
//! is therefore replaced by its entries, down to the secret.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns the paths beneath which everything may be read, so that no path of `private` is among
/// them.
pub(super) fn readable(private: &[PathBuf]) -> Vec<PathBuf> {
    // A link to a secret leads to its true place.
    let private: BTreeSet<PathBuf> = private.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut allowed = Vec::new();
    descend(Path::new("/"), &private, &mut allowed);
    allowed
}

fn descend(path: &Path, private: &BTreeSet<PathBuf>, allowed: &mut Vec<PathBuf>) {
    if private.contains(path) {
        return;
    }
    if !private.iter().any(|secret| secret.starts_with(path)) {
        allowed.push(path.to_owned());
        return;
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    for entry in entries {
        // A rule follows links, and could lead to a secret. The place that the link names has a
        // rule of its own.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            descend(&entry.path(), private, allowed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Returns true if `path` may be read: if it, or a folder above it, is allowed.
    fn may_read(allowed: &[PathBuf], path: &Path) -> bool {
        let path = path.canonicalize().unwrap();
        path.ancestors().any(|above| allowed.iter().any(|one| one == above))
    }

    #[test]
    fn everything_but_the_secrets_may_be_read() {
        let home = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            path
        };
        let files = ["a", ".config/b", ".config/gh/token", ".ssh/id", ".ssh/deep/key", ".netrc", "work/c"].map(file);
        let secrets = [".ssh", ".config/gh", ".netrc", ".missing"].map(|name| home.path().join(name));
        let allowed = readable(&secrets);
        let may: Vec<bool> = files.iter().map(|path| may_read(&allowed, path)).collect();
        assert_eq!(may, [true, true, false, false, false, false, true]);
        assert!(may_read(&allowed, Path::new("/usr")) && may_read(&allowed, Path::new("/proc/self/stat")));
    }

    #[test]
    fn a_link_leads_to_no_secret() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("vault")).unwrap();
        fs::write(home.path().join("vault/key"), "").unwrap();
        std::os::unix::fs::symlink(home.path().join("vault"), home.path().join(".ssh")).unwrap();
        let allowed = readable(&[home.path().join(".ssh")]);
        assert!(!may_read(&allowed, &home.path().join("vault/key")));
        assert!(!allowed.contains(&home.path().join(".ssh")));
    }

    #[test]
    fn without_secrets_the_root_is_enough() {
        assert_eq!(readable(&[]), [PathBuf::from("/")]);
        assert_eq!(readable(&[PathBuf::from("/no/such/file")]), [PathBuf::from("/")]);
    }
}
