//! The identity of a problem: a resumed run must have the same one as the run that wrote the
//! journal.

use crate::Problem;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::Path;
use tunesmith_device::{ArgumentKind, Fill};

impl Problem {
    /// Returns a digest of all that decides the time and correctness of a configuration: sizes,
    /// arguments and tolerances. The search settings and the location of the problem's folder do
    /// not enter.
    pub fn digest(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write!(text, "{} {:?}", self.name, self.sizes);
        for argument in &self.arguments {
            let _ = match &argument.kind {
                ArgumentKind::Scalar(value) => {
                    write!(text, "\n{} {:?} {}", argument.name, argument.element, value.text())
                }
                ArgumentKind::Local { shape } => {
                    let extents: Vec<&str> = shape.iter().map(tunesmith_space::Expr::text).collect();
                    write!(text, "\n{} {:?} local {extents:?}", argument.name, argument.element)
                }
                ArgumentKind::Buffer { shape, fill, access, memory } => write!(
                    text,
                    "\n{} {:?} {shape:?} {} {access:?} {memory:?}",
                    argument.name,
                    argument.element,
                    self.fill_text(fill)
                ),
            };
        }
        let _ = write!(text, "\n{:?} {:?} {:?}", self.verify.relative, self.verify.absolute, self.verify.tolerances);
        for (name, path) in &self.verify.expected {
            let _ = write!(text, "\n{name} {}", self.relative(path).display());
        }
        hex(&Sha256::digest(text.as_bytes()))
    }

    fn fill_text(&self, fill: &Fill) -> String {
        match fill {
            Fill::File(path) => self.relative(path).display().to_string(),
            // Only the text: its parsed form may change from version to version.
            Fill::Generator(expr) => format!("generator {}", expr.text()),
            other => format!("{other:?}"),
        }
    }

    fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        let texts = self.texts.iter().find_map(|texts| path.strip_prefix(texts.path()).ok());
        texts.or_else(|| path.strip_prefix(self.folder()).ok()).unwrap_or(path)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
