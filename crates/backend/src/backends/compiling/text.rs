//! The text of a kernel: all its source files joined, and the files they include.

use crate::backends::KernelSource;
use crate::backends::compiling::raw::unwrapped;
use crate::backends::compiling::source_files::SourceFiles;
use crate::backends::compiling::{IncludedFile, line_directive};
use crate::host::faults;
use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use tunesmith_kernel::data::Fields;
use tunesmith_kernel::{DeviceError, Scope};

/// All source files of a kernel joined into one, on disk for compile workers. With a generator, the
/// text holds only the part behind the generated source.
pub(crate) struct SourceText {
    text: String,
    pub(crate) path: PathBuf,
    /// The files that the text was joined from, and those that it includes.
    files: SourceFiles,
}

impl SourceText {
    /// Reads the files, appends `more` and writes the text to `path`. Generated sources get `more`,
    /// too.
    ///
    /// # Errors
    /// A source cannot be read, or the text cannot be written.
    pub(crate) fn write(source: &KernelSource, path: PathBuf, more: &str) -> Result<Self, DeviceError> {
        let files = SourceFiles::default();
        let text = if source.kernel.generator.is_none() { joined(source, &files)? + more } else { more.to_owned() };
        faults::write(&path, &text)?;
        Ok(Self { text, path, files })
    }

    /// Returns the text for a configuration, or the reason why there is none.
    pub(crate) fn of(&self, source: &KernelSource, scope: &Scope) -> Result<Cow<'_, str>, String> {
        match &source.kernel.generator {
            None => Ok(Cow::Borrowed(&self.text)),
            Some(generator) => generator.generate(scope).map(|made| Cow::Owned(made.text + &self.text)),
        }
    }

    /// Returns the file with `text`, which is the common one or lies beside the configuration's `binary`.
    pub(crate) fn file(&self, text: &str, binary: &Path) -> Result<PathBuf, DeviceError> {
        if text == self.text {
            return Ok(self.path.clone());
        }
        let suffix = self.path.extension().unwrap_or_default();
        let path = binary.with_extension(suffix);
        faults::write(&path, text)?;
        Ok(path)
    }

    /// Refuses to go on if a source, or a file that the text includes, has changed since it was read.
    ///
    /// # Errors
    /// A file has changed.
    pub(crate) fn require_unchanged(&self) -> Result<(), DeviceError> {
        self.files.require_unchanged(|path| path.display().to_string())
    }

    /// Returns true if every `#include` in the text names its file literally, so that the file can
    /// be found.
    pub(crate) fn tells_what_it_includes(&self) -> bool {
        self.text.lines().filter_map(IncludedFile::read).all(|file| file != IncludedFile::Computed)
    }

    /// Returns a digest of the text and of the included files that are found. It also covers the
    /// kernel's options, work-items, arguments and function, before a configuration's values are
    /// filled in.
    pub(crate) fn digest(&self, source: &KernelSource) -> String {
        let kernel = &source.kernel;
        let mut hash = Fields::default();
        hash.add(&self.text);
        kernel.generator.iter().for_each(|generator| hash.add(generator.identity()));
        included(&self.text, source, &self.files).iter().for_each(|text| hash.add(text));
        kernel.options.iter().for_each(|option| hash.add(option.to_string()));
        kernel.expressions().for_each(|expr| hash.add(expr.text()));
        source.arguments.iter().for_each(|argument| hash.add(argument.element.to_string()));
        hash.add(kernel.function.as_str());
        hash.digest()
    }
}

/// Returns the folders to search for included files: those of the problem and the kernel's own.
pub(crate) fn include_folders(source: &KernelSource) -> Vec<PathBuf> {
    let kernel = &source.kernel;
    let own = kernel.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folders = kernel.include.iter().map(PathBuf::as_path).chain([own]);
    // Drivers compile in another folder, so the paths must be absolute.
    folders.map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_owned())).collect()
}

/// Returns a macro `NAME=VALUE` for every size and parameter, except for those that the source
/// declares itself. Generated sources get none: they contain the numbers, and their names would clash
/// with the macros.
pub(crate) fn defines(source: &KernelSource, scope: &Scope) -> impl Iterator<Item = String> {
    let kernel = &source.kernel;
    let is_macro = |name: &str| kernel.generator.is_none() && !kernel.reading.own_names.iter().any(|own| own == name);
    let values = scope.iter().filter(move |(name, _)| is_macro(name));
    values.map(|(name, value)| format!("{name}={}", value.define())).chain(kernel.function.define(scope))
}

/// Joins all source files, and remembers them. If there are several, each is marked with its name for messages.
fn joined(source: &KernelSource, files: &SourceFiles) -> Result<String, DeviceError> {
    let kernel = &source.kernel;
    let mut text = String::new();
    for file in kernel.sources.iter().chain([&kernel.file]) {
        let contents = files.read(file).and_then(|text| String::from_utf8(text).map_err(io::Error::other));
        let contents = contents.map_err(|error| source.unreadable(file, error))?;
        let contents = if *file == kernel.file { blanked(contents, &kernel.reading.not_code) } else { contents };
        if !kernel.sources.is_empty() {
            text += &line_directive(&file.to_string_lossy());
        }
        text += &unwrapped(&contents).unwrap_or(contents);
        text += "\n";
    }
    Ok(text)
}

/// Returns `text` with blanks in place of `spans`, except for ends of lines.
fn blanked(mut text: String, spans: &[Range<usize>]) -> String {
    for span in spans {
        // The file may have changed since the spans were found.
        let Some(part) = text.get(span.clone()) else { continue };
        let blanks: String = part.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
        text.replace_range(span.clone(), &blanks);
    }
    text
}

/// Returns the contents of the files that `text` includes, directly or indirectly, as far as they
/// are found, and remembers them. A driver does not report the files that it reads.
fn included(text: &str, source: &KernelSource, files: &SourceFiles) -> Vec<String> {
    let own = source.kernel.file.parent().unwrap_or(Path::new("."));
    let folders: Vec<&Path> = [own].into_iter().chain(source.kernel.include.iter().map(PathBuf::as_path)).collect();
    let found = files.read_included(vec![(text.to_owned(), own.to_owned())], &folders);
    found.into_iter().map(|(_, content)| content).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_keep_lines_and_columns() {
        let text = "#atf::tp name \"é\"\n  range {1}\nkernel void f() {}\n";
        let kernel = text.find("kernel").unwrap();
        let blanks = blanked(text.to_string(), &[0..kernel, 500..600]);
        assert_eq!(blanks.len(), text.len());
        assert_eq!(blanks.trim_start_matches([' ', '\n']), "kernel void f() {}\n");
        assert_eq!(blanks.lines().count(), 3);
    }
}
