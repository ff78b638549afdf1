//! Messages about a problem file. Each has a place and a remedy.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tunesmith_space::{ErrorClass, ExprError, UserError};

/// A value with the bytes of the text it came from.
#[derive(Clone, Debug)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// The bytes.
    pub span: Range<usize>,
}

/// The severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The problem can be tuned, but probably not as intended.
    Warning,
    /// The problem cannot be tuned.
    Error,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Error { "error" } else { "warning" })
    }
}

/// One message about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub level: Level,
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1. It is 0 in a problem made in code, which has no lines.
    pub line: usize,
    /// The column in characters, counted from 1. It is 0 in a problem made in code.
    pub column: usize,
    /// The bytes of the file that the message is about.
    pub span: Range<usize>,
    /// The fault.
    pub text: String,
    /// The advice for the user.
    pub remedy: Option<String>,
    /// The same in one short line, for a list of many such messages. `text` and `remedy` say more.
    pub brief: Option<String>,
}

impl Diagnostic {
    /// Returns the file with line and column, if it has any.
    pub fn location(&self) -> String {
        match self.line {
            0 => self.file.display().to_string(),
            line => format!("{}:{line}:{}", self.file.display(), self.column),
        }
    }

    /// Returns the message with its short form.
    pub fn in_brief(self, brief: String) -> Self {
        Self { brief: Some(brief), ..self }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.location(), self.level, self.text)?;
        match &self.remedy {
            Some(remedy) => write!(f, " ({remedy})"),
            None => Ok(()),
        }
    }
}

/// A text file that messages point into.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path, as the user named it.
    pub path: PathBuf,
    /// The content.
    pub text: Arc<str>,
}

impl SourceFile {
    /// Returns a file that was read.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// Returns the name of the file without its suffix, which names a problem that states no name.
    pub fn stem(&self) -> String {
        self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns the folder that relative paths in the file start from.
    pub fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
            Some(folder) => folder,
            None => Path::new("."),
        }
    }

    /// Returns the line and column of a byte offset, both counted from 1.
    fn position(&self, offset: usize) -> (usize, usize) {
        let before = &self.text[..self.text.floor_char_boundary(offset)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// Returns a message about `span` of this file.
    pub fn diagnostic(&self, level: Level, span: Range<usize>, text: String, remedy: Option<String>) -> Diagnostic {
        let (line, column) = self.position(span.start);
        Diagnostic { level, file: self.path.clone(), line, column, span, text, remedy, brief: None }
    }
}

impl SourceFile {
    /// Returns the bytes of the file for `inside`, a span of the expression `text` that stands, quoted, at `span`. If
    /// the file writes the expression in another way (with escapes), returns all of `span`.
    pub fn inside(&self, span: &Range<usize>, text: &str, inside: &Range<usize>) -> Range<usize> {
        match self.text.get(span.clone()).and_then(|written| written.find(text)) {
            Some(offset) if !text.is_empty() => span.start + offset + inside.start..span.start + offset + inside.end,
            _ => span.clone(),
        }
    }
}

/// A problem that cannot be used, with all of its faults.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", texts(messages))]
pub struct ProblemError {
    /// The messages, at least one of them an error.
    pub messages: Vec<Diagnostic>,
    /// The file that they point into.
    pub source_file: SourceFile,
}

impl UserError for ProblemError {
    fn class(&self) -> ErrorClass {
        ErrorClass::Request
    }
}

impl ProblemError {
    /// Returns an error about the file at `path` as a whole, for example a file that cannot be
    /// read.
    pub fn unreadable(path: &Path, text: String, remedy: Option<String>) -> Self {
        let source_file = SourceFile::new(path, "");
        let message = source_file.diagnostic(Level::Error, 0..0, text, remedy);
        Self { messages: vec![message], source_file }
    }
}

fn texts(messages: &[Diagnostic]) -> String {
    messages.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Collects messages while a file is read, so that one reading reports everything.
#[derive(Debug)]
pub struct Messages {
    /// The file.
    pub source: SourceFile,
    list: RefCell<Vec<Diagnostic>>,
}

impl Messages {
    /// Returns no messages about a file.
    pub fn new(source: SourceFile) -> Self {
        Self { source, list: RefCell::default() }
    }

    /// Adds an error about `span`.
    pub fn error(&self, span: Range<usize>, text: impl Into<String>, remedy: Option<String>) {
        self.add(Level::Error, span, text.into(), remedy);
    }

    /// Adds a warning about `span`.
    pub fn warning(&self, span: Range<usize>, text: impl Into<String>, remedy: Option<String>) {
        self.add(Level::Warning, span, text.into(), remedy);
    }

    /// Adds an error inside the expression `text` that stands, quoted, at `span`.
    pub fn expression(&self, span: &Range<usize>, text: &str, error: &ExprError) {
        let place = self.source.inside(span, text, &error.span);
        self.error(place, format!("in `{text}`: {error}"), error.remedy.clone());
    }

    fn add(&self, level: Level, span: Range<usize>, text: String, remedy: Option<String>) {
        self.push(self.source.diagnostic(level, span, text, remedy));
    }

    /// Adds a message.
    pub fn push(&self, message: Diagnostic) {
        self.list.borrow_mut().push(message);
    }

    /// Returns true if any message is an error.
    pub fn have_errors(&self) -> bool {
        self.list.borrow().iter().any(|message| message.level == Level::Error)
    }

    /// Returns the messages.
    pub fn into_list(self) -> Vec<Diagnostic> {
        self.list.into_inner()
    }
}
