//! The identity of a problem: a resumed run must have the same one as the run that wrote the
//! journal.

use crate::Problem;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tunesmith_kernel::{ArgumentKind, Fill, Shape};
use tunesmith_space::hex;
use tunesmith_spec::Further;

impl Problem {
    /// Returns a digest of all that decides the time and correctness of a configuration: sizes,
    /// arguments, tolerances and limits. The search settings and the location of the problem's folder do
    /// not enter.
    pub fn digest(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write!(text, "{} {:?}", self.spec.name(), self.spec.sizes());
        for argument in self.spec.arguments() {
            let _ = match &argument.kind {
                ArgumentKind::Scalar(value) => {
                    write!(text, "\n{} {:?} {}", argument.name, argument.element, value.text())
                }
                ArgumentKind::Object(bytes) => write!(text, "\n{} object {bytes:?}", argument.name),
                ArgumentKind::Local { shape } => {
                    let extents: Vec<&str> = shape.iter().map(tunesmith_space::Expr::text).collect();
                    write!(text, "\n{} {:?} local {extents:?}", argument.name, argument.element)
                }
                ArgumentKind::Buffer { shape, fill, access, memory } => write!(
                    text,
                    "\n{} {:?} {} {} {access:?} {memory:?}",
                    argument.name,
                    argument.element,
                    shape_text(shape),
                    self.fill_text(fill)
                ),
            };
        }
        let _ = write!(
            text,
            "\n{:?} {:?} {:?}",
            self.spec.verify().relative,
            self.spec.verify().absolute,
            self.spec.verify().tolerances
        );
        for (name, fill) in &self.spec.verify().expected {
            let _ = write!(text, "\n{name} {}", self.fill_text(fill));
        }
        for limit in self.spec.limits() {
            let _ = write!(text, "\nlimit {} {}", limit.name, limit.condition.text());
        }
        self.add_verification(&mut text);
        hex(&Sha256::digest(text.as_bytes()))
    }

    /// Adds what changes the verdict on a configuration, as far as the problem states it.
    /// Returns a digest of the files that fill arguments or hold correct outputs, or `None` if there
    /// are none. A file that cannot be read counts as an empty one: opening the device says why.
    pub fn data_digest(&self) -> Option<String> {
        let of_argument = |argument: &'_ tunesmith_kernel::Argument| match &argument.kind {
            ArgumentKind::Buffer { fill: Fill::File(path), .. } => Some(path.clone()),
            _ => None,
        };
        let expected = self.spec.verify().expected.iter().filter_map(|(_, fill)| match fill {
            Fill::File(path) => Some(path.clone()),
            _ => None,
        });
        let files: Vec<PathBuf> = self.spec.arguments().iter().filter_map(of_argument).chain(expected).collect();
        let mut hash = Sha256::new();
        for file in &files {
            let content = tunesmith_files::read(file, tunesmith_files::RECORD).unwrap_or_default();
            hash.update((content.len() as u64).to_le_bytes());
            hash.update(&content);
        }
        (!files.is_empty()).then(|| hex(&hash.finalize()))
    }

    fn add_verification(&self, text: &mut String) {
        for (name, ranges) in &self.spec.verify().compare {
            let _ = write!(text, "\ncompare {name} {ranges:?}");
        }
        for Further { label, .. } in self.spec.further() {
            let _ = write!(text, "\nat {label}");
        }
        let Some(reference) = &self.spec.verify().reference else { return };
        if let Some(arguments) = &reference.arguments {
            let _ = write!(text, "\nreference {arguments:?}");
        }
        for option in &reference.options {
            let _ = write!(text, "\nreference {option}");
        }
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

fn shape_text(shape: &Shape) -> String {
    match shape {
        Shape::Fixed(extents) => format!("{extents:?}"),
        Shape::Varying(extents) => format!("{:?}", extents.iter().map(tunesmith_space::Expr::text).collect::<Vec<_>>()),
    }
}
