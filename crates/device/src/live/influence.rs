//! Looks for parameters that have no effect, and for names that cannot be macros.

use super::LiveEvaluator;
use crate::host::{Compiler, Ended, KEPT};
use crate::problem::{Argument, Kernel, KernelSpec, Language, Scope};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, fs};
use tunesmith_space::{ConfigId, Parameter, Value};

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
}

/// A reason to doubt that a parameter does what its user means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The source defines the parameter's macro itself, so that the value given has no effect.
    Overridden {
        /// The parameter.
        name: String,
        /// The definition.
        place: SourcePlace,
    },
    /// Nothing depends on the parameter: neither the source nor an option nor an expression.
    Unused {
        /// The parameter.
        name: String,
    },
    /// The source declares the name of a parameter or size, which is a macro there.
    Clash {
        /// The parameter or size.
        name: String,
        /// The declaration.
        place: SourcePlace,
    },
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overridden { name, place } => {
                write!(f, "parameter `{name}` has no effect: {place} defines it to something else")
            }
            Self::Unused { name } => {
                write!(f, "nothing depends on parameter `{name}`: neither a source nor an option nor a size")
            }
            Self::Clash { name, place } => {
                write!(f, "`{name}` is a macro (-D{name}=VALUE), but {place} declares something of this name")
            }
        }
    }
}

impl Doubt {
    /// Returns the name of the parameter or size.
    pub fn name(&self) -> &str {
        match self {
            Self::Overridden { name, .. } | Self::Unused { name } | Self::Clash { name, .. } => name,
        }
    }

    /// Returns the advice for users.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Overridden { .. } => "write the definition between `#ifndef` and `#endif`, or remove it",
            Self::Unused { .. } => "use it in the kernel, or remove it",
            Self::Clash { .. } => "rename one of them, or use the macro in place of the declaration",
        }
    }
}

/// Limit of a run of the preprocessor.
const LIMIT: Duration = Duration::from_secs(20);

/// Maximum number of source files that are read. Kernels have few.
const MOST_FILES: usize = 100;

impl LiveEvaluator {
    /// Returns a doubt for every parameter that has no effect on the kernels: their preprocessed
    /// sources, options and expressions are the same for two of its values. `config` is an example.
    /// Of alternative kernels, each is examined where it is chosen. Cost: one run of the preprocessor
    /// per kernel and parameter.
    pub fn ineffective(&self, config: ConfigId) -> Vec<Doubt> {
        let scope = self.scope(config);
        let kernels = &self.options.spec.kernels;
        // A generator may use any parameter.
        if kernels.iter().any(|kernel| kernel.generator.is_some()) {
            return Vec::new();
        }
        let sources = Sources::read(kernels);
        let before = self.preprocessed(&scope);
        let doubt = |parameter: &Parameter| {
            let name = parameter.name();
            let other = parameter.values().iter().find(|value| Some(*value) != scope.get(name))?;
            let changed = scope.with(name, other);
            let reaches = match (&before, self.preprocessed(&changed)) {
                (Some(before), Some(after)) if *before != after => true,
                (Some(before), Some(_)) => in_pragma(before, name) && sources.own_definition(name).is_none(),
                _ => sources.mention(name) && sources.own_definition(name).is_none(),
            };
            if reaches {
                return None;
            }
            if let Some(place) = sources.own_definition(name) {
                return Some(Doubt::Overridden { name: name.to_owned(), place });
            }
            let is_used = uses(&self.options.spec, name)
                || kernels.iter().any(|kernel| options(kernel, &scope) != options(kernel, &changed));
            (!is_used).then(|| Doubt::Unused { name: name.to_owned() })
        };
        let is_macro = |parameter: &&Parameter| scope.get(parameter.name()).is_some();
        self.space.parameters().iter().filter(is_macro).filter_map(doubt).collect()
    }

    /// Returns a doubt for every parameter and size that the sources declare as something else. It
    /// explains why a kernel does not compile; one that compiles may declare what it likes.
    pub fn clashes(&self) -> Vec<Doubt> {
        let sources = Sources::read(&self.options.spec.kernels);
        let example = Scope::example(&self.options.spec.sizes, &self.space).without(&self.options.knobs);
        let clash =
            |(name, _): (&str, &Value)| Some(Doubt::Clash { name: name.to_owned(), place: sources.declaration(name)? });
        example.iter().filter_map(clash).collect()
    }

    /// Returns the kernels' sources after the preprocessor. `None` if a compiler cannot tell, or if
    /// headers make a source so long that its end, the kernel, is not kept.
    fn preprocessed(&self, scope: &Scope) -> Option<String> {
        let worker = &self.options.worker;
        let kernels = self.options.spec.kernels.iter().zip(self.programs.plan_all(scope));
        let text = |(kernel, plan): (&Kernel, super::KernelPlan)| {
            let language = if kernel.language == Language::C { Language::C } else { Language::Cpp };
            let clock = Arc::clone(&self.options.clock);
            let compiler = Compiler::find(&self.options.compilers, worker, language, clock).ok()?;
            let arguments = match kernel.language {
                Language::C | Language::Cpp => compiled_options(&compiler, &plan.build.command),
                _ => driver_options(self.data.folder(), &plan.build.source, &plan.build.command)?,
            };
            match compiler.run(&arguments, LIMIT, worker.interrupt()).ok()? {
                (Ended::Exited(status), text) if status.success() => whole(text),
                _ => None,
            }
        };
        kernels.map(text).collect()
    }
}

/// Returns the preprocessor's output if all of it was kept.
fn whole(text: String) -> Option<String> {
    (text.len() < KEPT).then_some(text)
}

/// Returns true if a pragma of the preprocessed text `text` names the macro `name`. Preprocessors
/// leave pragmas that they do not know as they are; the compilers of devices replace macros there.
fn in_pragma(text: &str, name: &str) -> bool {
    let is_pragma =
        |line: &&str| line.trim_start().strip_prefix('#').is_some_and(|rest| rest.trim_start().starts_with("pragma"));
    text.lines().filter(is_pragma).any(|line| tokens(line).any(|token| token.text == name))
}

/// Returns true if `name` stands in an expression of an argument or a kernel, or in the name of a
/// function, which may be an instance of a template, or if it chooses among kernels.
fn uses(spec: &KernelSpec, name: &str) -> bool {
    let arguments = spec.arguments.iter().flat_map(Argument::expressions);
    let mut expressions = arguments.chain(spec.kernels.iter().flat_map(Kernel::expressions));
    let mut choices = spec.kernels.iter().filter_map(|kernel| kernel.alternative.as_ref());
    let mut functions = spec.kernels.iter().flat_map(|kernel| tokens(kernel.function.as_str()));
    expressions.any(|expr| expr.names().iter().any(|used| used.text == name))
        || functions.any(|token| token.text == name)
        || choices.any(|alternative| alternative.parameter == name)
}

/// Returns the arguments that preprocess what `command` compiles and links.
fn compiled_options(compiler: &Compiler, command: &[String]) -> Vec<String> {
    let own = compiler.words(&[]).len();
    let mut arguments: Vec<String> = ["-E", "-P", "-w"].map(str::to_owned).into();
    let mut words = command.iter().skip(own);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" => drop(words.next()),
            "-shared" | "-c" | "-lm" => {}
            _ => arguments.push(word.clone()),
        }
    }
    arguments
}

/// Returns the arguments that preprocess `source` for a device whose driver compiles it. The
/// system's preprocessor knows neither the driver's headers nor its macros. Where that matters, it
/// fails.
fn driver_options(folder: &Path, source: &str, command: &[String]) -> Option<Vec<String>> {
    let path = folder.join("preprocessed.cpp");
    fs::write(&path, source).ok()?;
    let counts = |word: &&String| ["-D", "-I", "-U"].iter().any(|option| word.starts_with(option));
    let fixed = ["-E", "-P", "-w", "-x", "c++"].map(str::to_owned);
    Some(fixed.into_iter().chain(command.iter().filter(counts).cloned()).chain([path.display().to_string()]).collect())
}

fn options(kernel: &Kernel, scope: &Scope) -> Vec<String> {
    kernel.options.iter().map(|option| option.expand(scope)).collect()
}

/// The users' sources, without comments and texts.
struct Sources(Vec<(PathBuf, String)>);

impl Sources {
    /// Reads the files of `kernels` and the files that they include by name.
    fn read(kernels: &[Kernel]) -> Self {
        let mut waiting: Vec<(PathBuf, Vec<PathBuf>)> = Vec::new();
        for kernel in kernels {
            let files = std::iter::once(&kernel.file).chain(&kernel.sources);
            waiting.extend(files.map(|file| (file.clone(), kernel.include.clone())));
        }
        let mut read: Vec<(PathBuf, String)> = Vec::new();
        while let Some((file, include)) = waiting.pop().filter(|_| read.len() < MOST_FILES) {
            if read.iter().any(|(known, _)| *known == file) {
                continue;
            }
            let Ok(text) = fs::read_to_string(&file) else { continue };
            let own = file.parent().map(Path::to_path_buf);
            for name in included(&text) {
                let found = own.iter().chain(&include).map(|folder| folder.join(name)).find(|path| path.is_file());
                waiting.extend(found.map(|path| (path, include.clone())));
            }
            read.push((file, code(&text)));
        }
        Self(read)
    }

    /// Returns true if some code mentions `name`.
    fn mention(&self, name: &str) -> bool {
        self.0.iter().any(|(_, text)| tokens(text).any(|token| token.text == name))
    }

    /// Returns the first definition of the macro `name`, or of a variable of that name.
    fn own_definition(&self, name: &str) -> Option<SourcePlace> {
        self.find(|line| {
            let mut words = line.trim_start().strip_prefix('#')?.split_whitespace();
            let defined = words.next().filter(|word| *word == "define").and_then(|_| words.next())?;
            (defined.split('(').next() == Some(name)).then_some(())
        })
    }

    /// Returns the first declaration of `name` as anything but a macro.
    fn declaration(&self, name: &str) -> Option<SourcePlace> {
        let declares = |(file, text): &(PathBuf, String)| {
            let code = without_directives(text);
            let all: Vec<Token<'_>> = tokens(&code).collect();
            let at = (0..all.len()).find(|at| all[*at].text == name && is_declared(&all, *at))?;
            Some(SourcePlace { file: file.clone(), line: all[at].line })
        };
        self.0.iter().find_map(declares)
    }

    fn find(&self, test: impl Fn(&str) -> Option<()>) -> Option<SourcePlace> {
        self.0.iter().find_map(|(file, text)| {
            let line = text.lines().position(|line| test(line).is_some())?;
            Some(SourcePlace { file: file.clone(), line: line + 1 })
        })
    }
}

/// Returns the names in `#include "NAME"`.
fn included(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        rest.trim_start().strip_prefix('"')?.split('"').next()
    })
}

/// Returns `text` with blanks in place of comments and of the contents of texts. Lines stay.
fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
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
struct Token<'a> {
    text: &'a str,
    line: usize,
}

/// Returns the words and signs of `code`.
fn tokens(code: &str) -> impl Iterator<Item = Token<'_>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.lines().enumerate().flat_map(move |(at, line)| {
        let mut rest = line;
        std::iter::from_fn(move || {
            rest = rest.trim_start();
            let first = rest.chars().next()?;
            let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
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
    let is_word = before.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let ends = ["=", ",", ">", ";", ")", "[", "{", "}"].contains(&after);
    (is_word && !BEFORE_USES.contains(&before) && ends) || is_in_enum(tokens, at)
}

fn is_in_enum(tokens: &[Token<'_>], at: usize) -> bool {
    let is_entry = ["{", ","].contains(&at.checked_sub(1).map_or("", |at| tokens[at].text));
    let mut before = tokens[..at].iter().rev().skip_while(|token| !["{", "}", ";"].contains(&token.text));
    let opened = before.next().is_some_and(|token| token.text == "{");
    is_entry
        && opened
        && before.take(6).take_while(|token| ![";", "}", ")"].contains(&token.text)).any(|token| token.text == "enum")
}

#[cfg(test)]
#[path = "influence_tests.rs"]
mod tests;
