//! Contents of buffers from files.

use crate::data::npy::{NpyError, NpyHeader};
use crate::error::DataError;
use crate::problem::ElementType;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

/// Writes the contents of `path` for a buffer of `shape` elements. An `.npy` file is checked for
/// its type and shape. Any other file holds raw bytes and must have the exact length.
pub(crate) fn copy_file(path: &Path, element: ElementType, shape: &[u64], to: &mut dyn Write) -> Result<(), DataError> {
    let wrong = |problem: String| DataError::File { path: path.to_owned(), problem };
    let cannot_read = |error: io::Error| wrong(format!("cannot be read: {error}"));
    let bytes = shape.iter().product::<u64>() * element.size() as u64;
    let file = tunesmith_files::open(path).map_err(cannot_read)?;
    let mut from = BufReader::new(file);
    if path.extension().is_some_and(|suffix| suffix == "npy") {
        let lanes = NpyHeader::read(&mut from)
            .and_then(|header| header.check(element, shape))
            .map_err(|error: NpyError| wrong(error.to_string()))?;
        if lanes < element.stored_lanes() {
            return pad_lanes(&mut from, element, bytes, to).map_err(cannot_read);
        }
    } else {
        let length = from.get_ref().metadata().map_err(cannot_read)?.len();
        if length != bytes {
            return Err(wrong(format!("has {length} bytes, but the problem says {bytes} ({element} x {shape:?})")));
        }
    }
    match io::copy(&mut from.take(bytes), to)? {
        copied if copied < bytes => Err(wrong(format!("ends after {copied} of {bytes} bytes"))),
        _ => Ok(()),
    }
}

/// Copies the data and inserts the padding lane of three-lane vectors.
fn pad_lanes(from: &mut dyn Read, element: ElementType, bytes: u64, to: &mut dyn Write) -> io::Result<()> {
    let mut place = vec![0; element.size()];
    for _ in 0..bytes / element.size() as u64 {
        from.read_exact(&mut place[..element.lanes() * element.scalar().size()])?;
        to.write_all(&place)?;
    }
    Ok(())
}
