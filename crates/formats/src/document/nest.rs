//! Reads `[kernel] file = "x.nest"`.

use super::kernels;
use super::tree::{Node, Section};
use tunesmith_space::Value;
use tunesmith_spec::{Messages, NestDraft};

/// Returns true if `[kernel]` is a nest.
pub(super) fn is_nest(kernel: &Node<'_>) -> bool {
    let section = if kernel.is_table() { kernel.section() } else { None };
    let file = section.and_then(|section| section.get("file"));
    file.and_then(|node| node.scalar()).is_some_and(|file| is_file(&file))
}

/// Returns true if `file` names a file with a loop nest.
pub(super) fn is_file(file: &Value) -> bool {
    matches!(file, Value::Str(name) if name.ends_with(".nest"))
}

/// Reads the nest that `section` names.
pub(super) fn read(section: &Section<'_>, messages: &Messages) -> Option<NestDraft> {
    section.allow(&["file", "options"]);
    let folder = messages.source.folder();
    let file = folder.join(section.get("file")?.string()?);
    Some(NestDraft { file, options: kernels::options(section.get("options"), folder) })
}
