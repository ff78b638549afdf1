//! The journal of a calibration: its measurements so far. An interrupted calibration continues from
//! it.

use crate::Error;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// One measurement: a line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The kernel with its shape.
    pub(super) kernel: String,
    /// Its main size.
    pub(super) size: i64,
    /// The time, or `None` if the kernel failed.
    pub(super) seconds: Option<f64>,
    /// The noise of the runs.
    pub(super) noise: f64,
}

/// The journal beside the device file.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the journal of the calibration of `device` into `out` and returns its entries. The
    /// journal of another device starts anew. A truncated last line is dropped.
    pub(super) fn open(out: &Path, device: &str) -> Result<(Self, Vec<Entry>), Error> {
        let path = PathBuf::from(format!("{}.part", out.display()));
        let head = format!("{}\n", serde_json::Value::from(device));
        let text = tunesmith_files::read_text(&path, tunesmith_files::DATA).unwrap_or_default();
        let known = text.strip_prefix(&head).unwrap_or_default();
        let entries: Vec<Entry> = known.lines().map_while(|line| serde_json::from_str(line).ok()).collect();
        let failed = Error::write(&path);
        let kept: String = entries.iter().map(line).collect();
        tunesmith_files::replace(&path, head + &kept).map_err(failed)?;
        let file = tunesmith_files::open_with(OpenOptions::new().append(true), &path).map_err(failed)?;
        Ok((Self { path, file }, entries))
    }

    /// Adds a measurement.
    pub(super) fn add(&mut self, entry: &Entry) -> Result<(), Error> {
        let written = self.file.write_all(line(entry).as_bytes());
        written.map_err(Error::write(&self.path))
    }

    /// Removes the journal, because the device file now holds its entries.
    pub(super) fn finish(self) {
        // A journal that stays does no harm: the next calibration reads it again.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn line(entry: &Entry) -> String {
    serde_json::to_string(entry).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_is_found_again_without_a_cut_line_and_not_for_another_device() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("device.json");
        let entry = |size, seconds| Entry { kernel: "copy 128x1".into(), size, seconds, noise: 0.01 };
        let (mut journal, before) = Journal::open(&out, "one").unwrap();
        assert_eq!(before, []);
        journal.add(&entry(4096, Some(1e-5))).unwrap();
        journal.add(&entry(8192, None)).unwrap();
        let mut file = OpenOptions::new().append(true).open(&journal.path).unwrap();
        file.write_all(b"{\"kernel\":\"copy 12").unwrap();
        let (_, known) = Journal::open(&out, "one").unwrap();
        assert_eq!(known, [entry(4096, Some(1e-5)), entry(8192, None)]);
        let (journal, other) = Journal::open(&out, "two").unwrap();
        assert_eq!(other, []);
        journal.finish();
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
    }
}
