//! A function of a kernel or of a reference, with its source, its compilation and its launch.

use super::maker::Maker;
use std::io;
use std::path::{Path, PathBuf};
use tunesmith_kernel::{CudaCompiler, FunctionName, Language, Reading};
use tunesmith_space::Value;
use tunesmith_spec::{Faults, KernelDraft, Key, LANGUAGES, NO_LANGUAGE, NestDraft, Options, WorkDraft};

/// A function in its source, as the kernel or the reference of a problem.
///
/// Sizes and tuning parameters reach the source as macros. Work-items, repeats and options are
/// expressions over them, as in problem files.
///
/// ```
/// use tunesmith_problem::Code;
///
/// let scale = Code::opencl(
///     "scale",
///     "kernel void scale(global float *x, float by) { x[get_global_id(0)] *= by; }",
/// );
/// let scale = scale.global(["N"]).local(["THREADS"]).option("-cl-fast-relaxed-math");
/// ```
#[derive(Clone, Debug)]
pub struct Code {
    function: Option<String>,
    source: Source,
    languages: Vec<Language>,
    name: Option<String>,
    sources: Vec<PathBuf>,
    include: Vec<PathBuf>,
    options: Vec<String>,
    compiler: Option<CudaCompiler>,
    global: Vec<Value>,
    grid: Vec<Value>,
    local: Vec<Value>,
    arguments: Option<Vec<String>>,
    repeat: Option<Value>,
}

#[derive(Clone, Debug)]
enum Source {
    File(PathBuf),
    Text { suffix: &'static str, text: String },
}

impl Code {
    /// Takes `function` of the C source `text`.
    pub fn c(function: impl Into<String>, text: impl Into<String>) -> Self {
        Self::text(function, "c", text)
    }

    /// Takes `function` of the C++ source `text`. Its name may be qualified and have template
    /// arguments.
    pub fn cpp(function: impl Into<String>, text: impl Into<String>) -> Self {
        Self::text(function, "cpp", text)
    }

    /// Takes the kernel `function` of the OpenCL C source `text`.
    pub fn opencl(function: impl Into<String>, text: impl Into<String>) -> Self {
        Self::text(function, "cl", text)
    }

    /// Takes the kernel `function` of the CUDA C++ source `text`.
    pub fn cuda(function: impl Into<String>, text: impl Into<String>) -> Self {
        Self::text(function, "cu", text)
    }

    /// Takes the kernel `function` of the HIP C++ source `text`.
    pub fn hip(function: impl Into<String>, text: impl Into<String>) -> Self {
        Self::text(function, "hip", text)
    }

    /// Takes a loop nest in its text form. The nest itself defines its arguments and work-items.
    pub fn nest(text: impl Into<String>) -> Self {
        Self::of(None, Source::Text { suffix: "nest", text: text.into() })
    }

    /// Takes `function` of the source file `path`, whose suffix tells the language. A relative path
    /// starts from the problem's folder.
    pub fn file(function: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self::of(Some(function.into()), Source::File(path.into()))
    }

    fn text(function: impl Into<String>, suffix: &'static str, text: impl Into<String>) -> Self {
        Self::of(Some(function.into()), Source::Text { suffix, text: text.into() })
    }

    fn of(function: Option<String>, source: Source) -> Self {
        let (sources, include, options) = (Vec::new(), Vec::new(), Vec::new());
        let (global, grid, local) = (Vec::new(), Vec::new(), Vec::new());
        let (languages, name, compiler, arguments, repeat) = (Vec::new(), None, None, None, None);
        #[rustfmt::skip]
        let code = Self {
            function, source, languages, name, sources, include, options, compiler, global, grid, local, arguments,
            repeat,
        };
        code
    }

    /// Sets the language, if the suffix of the file does not tell it.
    #[must_use]
    pub fn language(self, language: Language) -> Self {
        Self { languages: vec![language], ..self }
    }

    /// Sets the languages that the one source is written in, one for each device. The first is the
    /// default.
    #[must_use]
    pub fn languages(self, languages: impl IntoIterator<Item = Language>) -> Self {
        Self { languages: languages.into_iter().collect(), ..self }
    }

    /// Sets the name of the kernel's times in reports. Without it, they have the function's name.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Adds a source file that is compiled with this one.
    #[must_use]
    pub fn source(mut self, path: impl Into<PathBuf>) -> Self {
        self.sources.push(path.into());
        self
    }

    /// Adds a folder to search for included files.
    #[must_use]
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Self {
        self.include.push(folder.into());
        self
    }

    /// Adds an option of the compiler. `{NAME}` stands for the value of a parameter or size.
    #[must_use]
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }

    /// Sets the compiler on CUDA devices. Without it, NVRTC compiles. nvcc also compiles sources that
    /// include headers of the host. The kernel must be in CUDA C++, or else the problem is refused.
    #[must_use]
    pub fn compiler(self, compiler: CudaCompiler) -> Self {
        Self { compiler: Some(compiler), ..self }
    }

    /// Sets the number of work-items (threads): an expression for each of up to three dimensions.
    #[must_use]
    pub fn global<V: Into<Value>>(self, extents: impl IntoIterator<Item = V>) -> Self {
        Self { global: extents.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets the number of work-groups (blocks) instead of the number of work-items.
    #[must_use]
    pub fn grid<V: Into<Value>>(self, extents: impl IntoIterator<Item = V>) -> Self {
        Self { grid: extents.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets the number of work-items in a work-group (threads in a block).
    #[must_use]
    pub fn local<V: Into<Value>>(self, extents: impl IntoIterator<Item = V>) -> Self {
        Self { local: extents.into_iter().map(Into::into).collect(), ..self }
    }

    /// Names the arguments that this kernel takes, in the order of its signature. Without names, it
    /// takes all arguments of the problem.
    #[must_use]
    pub fn arguments<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
        Self { arguments: Some(names.into_iter().map(Into::into).collect()), ..self }
    }

    /// Sets the number of launches in a row, as an expression. Without it, the kernel is launched
    /// once.
    #[must_use]
    pub fn repeat(self, times: impl Into<Value>) -> Self {
        Self { repeat: Some(times.into()), ..self }
    }

    /// Returns the function's name, by which messages call the code.
    pub(super) fn label(&self) -> &str {
        self.function.as_deref().unwrap_or("nest")
    }

    /// Returns true if the code is a loop nest.
    pub(super) fn is_nest(&self) -> bool {
        match &self.source {
            Source::File(path) => path.extension().is_some_and(|suffix| suffix == "nest"),
            Source::Text { suffix, .. } => *suffix == "nest",
        }
    }

    /// Returns the loop nest. Writes its text among the texts of `maker`.
    pub(super) fn nest_draft(&self, key: &Key, maker: &Maker<'_>) -> io::Result<NestDraft> {
        let options = self.compiler_options(key, maker);
        Ok(NestDraft { file: self.source_path(maker)?, options })
    }

    /// Returns the part `key` of a problem, unless one of its own parts is wrong. Writes its source among the texts of
    /// `maker`.
    pub(super) fn draft(&self, key: Key, maker: &Maker<'_>) -> io::Result<Option<KernelDraft>> {
        let file = self.source_path(maker)?;
        if self.is_nest() {
            let remedy = "a loop nest is the only kernel of its problem".to_string();
            maker.faults.error(key, "a loop nest can be no reference, alternative or one of several", Some(remedy));
            return Ok(None);
        }
        let (Some(languages), Some(function), Some(work)) = (
            self.languages_of(&file, &key, maker.faults),
            self.function_name(&key, maker.faults),
            self.work(&key, maker),
        ) else {
            return Ok(None);
        };
        let repeat = match &self.repeat {
            Some(times) => maker.expression(times, &key.field("repeat")),
            None => None,
        };
        let paths = |paths: &[PathBuf]| paths.iter().map(|path| maker.folder.join(path)).collect();
        let options = self.compiler_options(&key, maker);
        Ok(Some(KernelDraft {
            name: self.name.clone(),
            languages: languages.into_iter().map(|language| (language, options.clone())).collect(),
            file,
            function,
            sources: paths(&self.sources),
            include: paths(&self.include),
            compiler: self.compiler,
            arguments: self.arguments.clone(),
            repeat,
            work,
            reading: Reading::default(),
            key,
        }))
    }

    fn source_path(&self, maker: &Maker<'_>) -> io::Result<PathBuf> {
        let file = match &self.source {
            Source::File(path) => path.clone(),
            Source::Text { suffix, text } => maker.texts.write(self.label(), suffix, text.as_bytes())?,
        };
        Ok(maker.folder.join(file))
    }

    /// Returns the languages: those that were named, or that of the file's suffix.
    fn languages_of(&self, file: &Path, key: &Key, faults: &Faults) -> Option<Vec<Language>> {
        if !self.languages.is_empty() {
            return Some(self.languages.clone());
        }
        let language = Language::from_suffix(file);
        if language.is_none() {
            faults.named(key.field("file"), "", NO_LANGUAGE, Some(LANGUAGES.to_string()));
        }
        language.map(|language| vec![language])
    }

    fn function_name(&self, key: &Key, faults: &Faults) -> Option<FunctionName> {
        let name = FunctionName::parse(self.label());
        name.map_err(|error| faults.named(key.field("function"), "", format!(": {error}"), None)).ok()
    }

    fn work(&self, key: &Key, maker: &Maker<'_>) -> Option<WorkDraft> {
        let extents = |extents: &[Value], name: &str| match extents {
            [] => Some(None),
            stated => maker.expressions(stated, &key.field(name)).map(Some),
        };
        Some(WorkDraft {
            global: extents(&self.global, "global")?,
            grid: extents(&self.grid, "grid")?,
            local: extents(&self.local, "local")?,
        })
    }

    /// Returns the options of the compiler. Folders that they name are relative to the problem's.
    fn compiler_options(&self, key: &Key, maker: &Maker<'_>) -> Options {
        let mut options = Options::default();
        for fault in options.add(self.options.iter().map(String::as_str), maker.folder) {
            maker.faults.error(key.field("options"), fault, None);
        }
        options
    }
}
