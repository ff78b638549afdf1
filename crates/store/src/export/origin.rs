//! The origin of an export, which its file tells.

use flate2::read::MultiGzDecoder;
use std::io::Read;
use std::path::Path;

/// The key by which exports tell that they are ours.
pub(super) const WRITTEN_BY: &str = "written_by";

/// Returns the text of [`WRITTEN_BY`].
pub(super) fn written_by() -> String {
    format!("Tunesmith {}", env!("CARGO_PKG_VERSION"))
}

/// Returns true if `file` is an export, compressed or not.
pub(super) fn is_export(file: &Path) -> bool {
    const HEAD: u64 = 64 << 10;
    let head = || -> std::io::Result<String> {
        let mut head = Vec::new();
        let opened = tunesmith_files::open(file)?;
        if file.extension().is_some_and(|extension| extension == "gz") {
            MultiGzDecoder::new(opened).take(HEAD).read_to_end(&mut head)?;
        } else {
            opened.take(HEAD).read_to_end(&mut head)?;
        }
        Ok(String::from_utf8_lossy(&head).into_owned())
    };
    head().is_ok_and(|head| head.contains(&format!("\"{WRITTEN_BY}\"")))
}
