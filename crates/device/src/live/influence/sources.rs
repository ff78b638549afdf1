//! Searches the users' sources for names.

use std::path::{Path, PathBuf};
use tunesmith_backend::compiling::{IncludedFile, functions};
use tunesmith_files::TEXT;
use tunesmith_kernel::{Kernel, Reference};

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
}

/// Maximum number of source files that are read. Kernels have few.
const MOST_FILES: usize = 100;

/// The users' sources, without comments and texts.
#[derive(Debug, Default)]
pub(super) struct Sources {
    files: Vec<Source>,
    /// False if a file was left out, or if the name of an included file is not known.
    is_complete: bool,
    /// True if a header of the system, or of the device's compiler, is included. It was not read.
    has_system_headers: bool,
}

/// One source file.
#[derive(Debug)]
struct Source {
    file: PathBuf,
    /// The text with blanks in place of comments and of the contents of texts.
    code: String,
    /// The texts, if some of them may be pragmas (`_Pragma`).
    texts: Option<String>,
    /// True if no condition decides whether the file is compiled.
    is_certain: bool,
}

/// The definition of a macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) place: SourcePlace,
    /// True if no condition decides about the definition, and nothing before it in its file uses the name.
    pub(super) is_certain: bool,
}

/// A file that is still to be read.
struct Waiting {
    file: PathBuf,
    include: Vec<PathBuf>,
    is_certain: bool,
}

impl Sources {
    /// Reads the files of `kernels` and the files that they include.
    pub(super) fn of_kernels(kernels: &[Kernel]) -> Self {
        let files = kernels.iter().flat_map(|kernel| {
            let files = std::iter::once(&kernel.file).chain(&kernel.sources);
            files.map(|file| Waiting { file: file.clone(), include: kernel.include.clone(), is_certain: true })
        });
        Self::read(files.collect())
    }

    /// Reads the files of a reference and the files that they include.
    pub(super) fn of_reference(reference: &Reference, kernels: &[Kernel]) -> Self {
        // A generator reads its file, whatever that is.
        if reference.generator.is_some() {
            return Self { is_complete: true, ..Self::default() };
        }
        let of_kernel = kernels.iter().take(1).flat_map(|kernel| &kernel.include);
        let include: Vec<PathBuf> = reference.include.iter().chain(of_kernel).cloned().collect();
        let files = std::iter::once(&reference.file).chain(&reference.sources);
        Self::read(
            files.map(|file| Waiting { file: file.clone(), include: include.clone(), is_certain: true }).collect(),
        )
    }

    fn read(mut waiting: Vec<Waiting>) -> Self {
        let mut sources = Self { is_complete: true, ..Self::default() };
        while let Some(Waiting { file, include, is_certain }) = waiting.pop() {
            if let Some(known) = sources.files.iter_mut().find(|known| known.file == file) {
                known.is_certain |= is_certain;
                continue;
            }
            let bytes = tunesmith_files::read(&file, TEXT).ok().filter(|_| sources.files.len() < MOST_FILES);
            let Some(bytes) = bytes else {
                sources.is_complete = false;
                continue;
            };
            let text = String::from_utf8_lossy(&bytes);
            let source = Source::new(file, &text, is_certain);
            for (included, is_certain) in source.included(&text) {
                match find(included, &source.file, &include) {
                    Found::File(file) => waiting.push(Waiting { file, include: include.clone(), is_certain }),
                    Found::Nowhere => sources.is_complete = false,
                    Found::System => sources.has_system_headers = true,
                }
            }
            sources.files.push(source);
        }
        sources
    }

    /// Creates the sources of one text.
    #[cfg(test)]
    pub(super) fn of_text(file: &str, text: &str) -> Self {
        Self { files: vec![Source::new(file.into(), text, true)], is_complete: true, has_system_headers: false }
    }

    /// Returns true if every file was read.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns true if they include a header of the system, or of the device's compiler.
    pub(super) fn have_system_headers(&self) -> bool {
        self.has_system_headers
    }

    /// Returns the number of files.
    pub(super) fn count(&self) -> usize {
        self.files.len()
    }

    /// Returns true if the code of some file, or a pragma, mentions `name`.
    pub(super) fn mention(&self, name: &str) -> bool {
        let texts = self.files.iter().flat_map(|source| std::iter::once(&source.code).chain(&source.texts));
        texts.into_iter().any(|text| mentions(text, name))
    }

    /// Returns true if some code uses `name` as a type, a function or a structure.
    pub(super) fn apply(&self, name: &str) -> bool {
        self.files.iter().any(|source| {
            let code = without_directives(&source.code);
            let all: Vec<Token<'_>> = tokens(&code).collect();
            let is_applied = |pair: &[Token<'_>]| {
                pair[0].text == name && (["(", "."].contains(&pair[1].text) || is_word(pair[1].text))
            };
            all.windows(2).any(is_applied)
        })
    }

    /// Returns the first certain definition of the macro `name`, or else the first one.
    pub(super) fn own_definition(&self, name: &str) -> Option<Definition> {
        let all = || self.files.iter().filter_map(|source| source.definition(name));
        all().find(|definition| definition.is_certain).or_else(|| all().next())
    }

    /// Returns the first declaration of `name` as anything but a macro.
    pub(super) fn declaration(&self, name: &str) -> Option<SourcePlace> {
        self.files.iter().find_map(|source| {
            let code = without_directives(&source.code);
            let all: Vec<Token<'_>> = tokens(&code).collect();
            let places = || (0..all.len()).filter(|at| all[*at].text == name);
            let is_function = functions(&code).iter().any(|function| {
                let is_named = |text: &String| {
                    let before_extents = text.split('[').next().unwrap_or_default();
                    tokens(before_extents)
                        .filter(|token| is_word(token.text))
                        .last()
                        .is_some_and(|last| last.text == name)
                };
                function.name == name || function.parameters.iter().any(is_named)
            });
            let declared = places().find(|at| is_declared(&all, *at));
            let at = declared.or_else(|| places().next().filter(|_| is_function))?;
            Some(SourcePlace { file: source.file.clone(), line: all[at].line })
        })
    }
}

enum Found {
    File(PathBuf),
    /// One of the system's headers.
    System,
    Nowhere,
}

/// Finds the file that a line of the file `from` includes.
fn find(included: IncludedFile<'_>, from: &Path, include: &[PathBuf]) -> Found {
    let (name, own) = match included {
        IncludedFile::Quoted(name) => (name, from.parent().map(Path::to_path_buf)),
        IncludedFile::Angled(name) => (name, None),
        IncludedFile::Computed => return Found::Nowhere,
    };
    let found = own.iter().chain(include).map(|folder| folder.join(name)).find(|path| path.is_file());
    match (found, included) {
        (Some(file), _) => Found::File(file),
        (None, IncludedFile::Angled(_)) => Found::System,
        (None, _) => Found::Nowhere,
    }
}

impl Source {
    fn new(file: PathBuf, text: &str, is_certain: bool) -> Self {
        let code = code(text);
        let texts = code.contains("_Pragma").then(|| text.to_owned());
        Self { file, code, texts, is_certain }
    }

    /// Returns the included files, each with whether no condition decides about it. Names are read from
    /// `text`, because the code has no texts.
    fn included<'t>(&self, text: &'t str) -> Vec<(IncludedFile<'t>, bool)> {
        let certain = self.certain_lines();
        let lines = text.lines().zip(self.code.lines()).zip(certain);
        // A line in a comment includes nothing.
        let lines = lines.filter(|((_, code), _)| code.trim_start().starts_with('#'));
        lines.filter_map(|((line, _), is_certain)| Some((IncludedFile::read(line)?, is_certain))).collect()
    }

    /// Returns for each line whether no condition decides about it. The guard of a header is none.
    fn certain_lines(&self) -> Vec<bool> {
        let mut conditions: Vec<bool> = Vec::new();
        let mut guard = None;
        let mut lines = Vec::new();
        for line in self.code.lines() {
            let (word, rest) = directive(line).unwrap_or_default();
            let name = rest.split_whitespace().next().unwrap_or_default();
            match word {
                "if" | "ifdef" | "ifndef" => conditions.push(true),
                "endif" => drop(conditions.pop()),
                "define" if guard == Some(name) => {
                    if let Some(condition) = conditions.last_mut() {
                        *condition = false;
                    }
                }
                _ => {}
            }
            if !word.is_empty() {
                guard = Some(name).filter(|_| word == "ifndef" && conditions.len() == 1);
            }
            lines.push(self.is_certain && !conditions.contains(&true));
        }
        lines
    }

    fn definition(&self, name: &str) -> Option<Definition> {
        let mut is_used = false;
        let mut first = None;
        let mut guarded = None;
        for (at, (line, is_certain)) in self.code.lines().zip(self.certain_lines()).enumerate() {
            let (word, rest) = directive(line).unwrap_or_default();
            let defined = rest.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
            if word == "define" && defined == name {
                let place = SourcePlace { file: self.file.clone(), line: at + 1 };
                let is_certain = is_certain && !is_used && guarded != Some(name);
                let definition = Definition { place, is_certain };
                if is_certain {
                    return Some(definition);
                }
                first = first.or(Some(definition));
            }
            if !word.is_empty() {
                guarded = Some(defined).filter(|_| word == "ifndef");
            }
            is_used |= !["undef", "ifdef", "ifndef"].contains(&word) && mentions(line, name);
        }
        first
    }
}

/// Returns the word and the rest of a line that is a directive.
fn directive(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let (word, rest) = rest.split_at(rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len()));
    Some((word, rest.trim_start()))
}

/// Returns true if a word of `code` is `name`.
pub(super) fn mentions(code: &str, name: &str) -> bool {
    code.contains(name) && tokens(code).any(|token| token.text == name)
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Returns `text` with blanks in place of comments and of the contents of texts. Lines stay.
pub(super) fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            // The quotes of a character begin no text.
            '\'' if rest.starts_with("'\"'") => 3,
            '\'' if rest.starts_with("'\\\"'") => 4,
            '"' => quoted(rest),
            _ => 0,
        };
        if skipped == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        code.extend(rest[..skipped].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &rest[skipped..];
    }
    code
}

/// Returns the length of the text in quotation marks that `rest` begins with. It ends with the line.
fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return at,
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    rest.len()
}

/// Returns `code` without the lines of directives, which may go on after a backslash.
fn without_directives(code: &str) -> String {
    let mut in_directive = false;
    let mut text = String::with_capacity(code.len());
    for line in code.lines() {
        in_directive = in_directive || line.trim_start().starts_with('#');
        if !in_directive {
            text.push_str(line);
        }
        in_directive = in_directive && line.ends_with('\\');
        text.push('\n');
    }
    text
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    line: usize,
}

/// Returns the words and signs of `code`.
pub(super) fn tokens(code: &str) -> impl Iterator<Item = Token<'_>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.lines().enumerate().flat_map(move |(at, line)| {
        let mut rest = line;
        std::iter::from_fn(move || {
            rest = rest.trim_start();
            let first = rest.chars().next()?;
            let end = if is_part(first) { rest.find(|c| !is_part(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
            let text = &rest[..end];
            rest = &rest[end..];
            Some(Token { text, line: at + 1 })
        })
    })
}

/// Words before a name that is used, not declared.
const BEFORE_USES: [&str; 20] = [
    "return", "case", "else", "goto", "sizeof", "do", "new", "delete", "throw", "and", "or", "not", "const",
    "volatile", "static", "inline", "extern", "register", "restrict", "typedef",
];

/// Returns true if the token at `at` is a declared name: it follows a type or another word, and
/// something follows that no type is followed by. Entries of `enum` are declared, too.
fn is_declared(tokens: &[Token<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |at| tokens[at].text);
    let after = tokens.get(at + 1).map_or("", |token| token.text);
    let is_name = before.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let ends = ["=", ",", ">", ";", ")", "[", "{", "}"].contains(&after);
    (is_name && !BEFORE_USES.contains(&before) && ends) || is_in_enum(tokens, at)
}

fn is_in_enum(tokens: &[Token<'_>], at: usize) -> bool {
    let is_entry = ["{", ","].contains(&at.checked_sub(1).map_or("", |at| tokens[at].text));
    let mut before = tokens[..at].iter().rev().skip_while(|token| !["{", "}", ";"].contains(&token.text));
    let opened = before.next().is_some_and(|token| token.text == "{");
    is_entry
        && opened
        && before.take(6).take_while(|token| ![";", "}", ")"].contains(&token.text)).any(|token| token.text == "enum")
}
