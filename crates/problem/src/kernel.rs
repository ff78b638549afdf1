//! Reads the `[kernel]` or the `[[kernel]]`s of a problem.

use crate::diagnostic::Messages;
use crate::options::Options;
use crate::tree::{Node, Section};
use std::ops::Range;
use std::path::{Path, PathBuf};
use tunesmith_device::{Argument, CudaCompiler, Extent, FunctionName, Kernel, Language, WorkSize};
use tunesmith_space::Expr;
use tunesmith_space::did_you_mean;

const KEYS: &[&str] = &[
    "name",
    "file",
    "language",
    "compiler",
    "sources",
    "include",
    "function",
    "options",
    "arguments",
    "repeat",
    "global",
    "local",
    "grid",
];

/// Returns the keys of a kernel.
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().copied()
}

/// The places of a kernel's parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct KernelPlaces {
    pub(crate) file: Range<usize>,
    pub(crate) function: Range<usize>,
}

/// A kernel as a problem file has it.
#[derive(Debug)]
pub(crate) struct ReadKernel {
    /// The kernel in its first language.
    pub(crate) kernel: Kernel,
    /// The same kernel in the other languages of its list.
    pub(crate) others: Vec<Kernel>,
    pub(crate) places: KernelPlaces,
}

/// Returns the kernels in the order in which they run.
pub(crate) fn read(node: &Node<'_>, arguments: &[Argument], messages: &Messages) -> Vec<ReadKernel> {
    read_sequence(node, |section| section, arguments, messages)
}

/// Returns the kernels of a list in the order in which they run. `completed` adds to a kernel's
/// section what stands outside of the list.
pub(crate) fn read_sequence<'a>(
    node: &Node<'a>,
    completed: impl Fn(Section<'a>) -> Section<'a>,
    arguments: &[Argument],
    messages: &Messages,
) -> Vec<ReadKernel> {
    let mut kernels: Vec<ReadKernel> = Vec::new();
    for item in node.items() {
        let Some(section) = item.section() else { continue };
        section.allow(KEYS);
        let Some(read) = read_one(&completed(section), arguments, messages) else { continue };
        if node.is_list() && kernels.iter().any(|known| known.kernel.name == read.kernel.name) {
            let remedy = "give each a `name` of its own: reports show their times by it".to_string();
            item.error(format!("two kernels are called `{}`", read.kernel.name), Some(remedy));
        }
        kernels.push(read);
    }
    kernels
}

/// Returns the kernel that `section` describes.
pub(crate) fn read_one(section: &Section<'_>, arguments: &[Argument], messages: &Messages) -> Option<ReadKernel> {
    let folder = messages.source.folder();
    let file = section.require("file", "file = \"kernel.c\"");
    let function_node = section.require("function", "function = \"name\"");
    let paths = |key: &str| -> Vec<PathBuf> {
        let texts = section.get(key).map(|node| node.strings()).unwrap_or_default();
        texts.into_iter().map(|text| folder.join(text.value)).collect()
    };
    let (file_node, file) = (file.clone()?, folder.join(file?.string()?));
    let languages = match section.get("language") {
        Some(node) => languages(&node)?,
        None => vec![language(&file_node, Language::from_suffix(&file))?],
    };
    let function = function_node.as_ref().and_then(Node::string);
    // Further out, it is the name of an alternative.
    let name = section.own("name").and_then(|node| node.string()).or(function);
    let function_place = function_node.as_ref().map(Node::span).unwrap_or_default();
    let places = KernelPlaces { file: file_node.span(), function: function_place };
    let options = |language| {
        let Options { mut include, templates } = options_for(section, language, &languages, folder);
        include.extend(paths("include"));
        (include, templates)
    };
    let (include, templates) = options(languages[0]);
    let kernel = Kernel {
        name: name?.to_string(),
        language: languages[0],
        file,
        generator: None,
        reading: tunesmith_device::Reading::default(),
        sources: paths("sources"),
        include,
        function: function_name(function_node.as_ref()?)?,
        options: templates,
        cuda_compiler: cuda_compiler(section, &languages),
        arguments: read_arguments(section, arguments),
        repeat: section.get("repeat").and_then(|node| node.expression()).map(|located| located.value),
        work: read_work(section, &languages, messages),
        alternative: None,
    };
    let other = |language: &Language| {
        let (include, options) = options(*language);
        Kernel { language: *language, include, options, ..kernel.clone() }
    };
    let others = languages[1..].iter().map(other).collect();
    Some(ReadKernel { kernel, others, places })
}

/// Returns the name of a function, which may depend on the configuration.
fn function_name(node: &Node<'_>) -> Option<FunctionName> {
    FunctionName::parse(node.string()?).map_err(|error| node.error(format!("`{}`: {error}", node.name), None)).ok()
}

/// Returns the languages that one source is written in. The first is the default.
fn languages(node: &Node<'_>) -> Option<Vec<Language>> {
    let items = node.items();
    let mut languages: Vec<Language> = Vec::new();
    for item in &items {
        let language = language(item, Language::from_name(item.string()?))?;
        if let Some(known) = languages.iter().find(|known| known.device() == language.device()) {
            let text = format!("{known} and {language} run on the same device, `{}`", language.device());
            item.error(text, Some("name one language for each device".to_string()));
            return None;
        }
        languages.push(language);
    }
    if languages.is_empty() {
        node.error("the list of languages is empty", Some("write language = [\"opencl\", \"cuda\"]".to_string()));
        return None;
    }
    if languages.iter().any(|language| language.has_work_items() != languages[0].has_work_items()) {
        let remedy = "one source may be OpenCL C and CUDA C++; write a second problem file for C".to_string();
        node.error("one kernel cannot be in languages with and without work-items", Some(remedy));
        return None;
    }
    Some(languages)
}

/// Returns the compiler on CUDA devices.
fn cuda_compiler(section: &Section<'_>, languages: &[Language]) -> CudaCompiler {
    let Some((node, name)) = section.get("compiler").and_then(|node| Some((node.clone(), node.string()?))) else {
        return CudaCompiler::default();
    };
    if !languages.contains(&Language::Cuda) {
        let remedy = "remove it; the compilers of C and C++ are those in CC and CXX".to_string();
        node.error(format!("`compiler` has no meaning for {}", languages[0]), Some(remedy));
    }
    let known = CudaCompiler::ALL.into_iter().find(|compiler| compiler.name() == name);
    known.unwrap_or_else(|| {
        let names = CudaCompiler::ALL.map(CudaCompiler::name);
        let remedy = did_you_mean(name, names).unwrap_or_else(|| format!("write {}", names.join(" or ")));
        node.error(format!("`{name}` is no compiler of CUDA"), Some(remedy));
        CudaCompiler::default()
    })
}

/// Returns the compiler options for one of the kernel's languages: those that kernels share, then
/// its own. `options` is a list, or a table with a list for each language.
fn options_for<'a>(section: &Section<'a>, language: Language, languages: &[Language], folder: &Path) -> Options {
    let names: Vec<&str> = languages.iter().map(|language| language.name()).collect();
    let of_language = |node: Node<'a>| {
        let Some(table) = node.is_table().then(|| node.section()).flatten() else { return Some(node) };
        // Each language reads the table, but a fault of it is one message.
        if language == languages[0] {
            table.allow(&names);
        }
        table.get(language.name())
    };
    options(section.layers("options").into_iter().filter_map(of_language), folder)
}

/// Returns the positions of the kernel's arguments among the problem's. Without the key, the kernel
/// takes all of them.
pub(crate) fn read_arguments(section: &Section<'_>, arguments: &[Argument]) -> Vec<usize> {
    let Some(node) = section.get("arguments") else { return (0..arguments.len()).collect() };
    let position = |name: &str| {
        let position = arguments.iter().position(|argument| argument.name == name);
        if position.is_none() {
            let known: Vec<&str> = arguments.iter().map(|argument| argument.name.as_str()).collect();
            let remedy = did_you_mean(name, known.iter().copied())
                .unwrap_or_else(|| format!("[[arguments]] declares {}", known.join(", ")));
            node.error(format!("there is no argument `{name}`"), Some(remedy));
        }
        position
    };
    node.strings().into_iter().filter_map(|name| position(name.value)).collect()
}

/// Returns the work-items. A language either must or cannot have them; all of `languages` agree.
pub(crate) fn read_work(section: &Section<'_>, languages: &[Language], messages: &Messages) -> Option<WorkSize> {
    if let Some(language) = languages.iter().find(|language| !language.has_work_items()) {
        for extra in ["global", "local", "grid"].iter().filter_map(|key| section.get(key)) {
            let text = format!("`{}` has no meaning for {language}, which has no work-items", extra.name);
            messages.warning(extra.span(), text, Some("remove it".to_string()));
        }
        return None;
    }
    let extent = match (section.get("global"), section.get("grid")) {
        (Some(global), None) => Extent::Global(dimensions(&global)?),
        (None, Some(grid)) => Extent::Groups(dimensions(&grid)?),
        (Some(_), Some(grid)) => {
            grid.error("`global` and `grid` exclude each other", Some("`grid` counts work-groups".to_string()));
            return None;
        }
        (None, None) => {
            let remedy = "write `global = [\"N\"]` in work-items, or `grid` in work-groups".to_string();
            messages.error(section.span.clone(), "the number of work-items is missing", Some(remedy));
            return None;
        }
    };
    let local_node = section.get("local");
    if local_node.is_none() && languages.iter().any(|language| language.needs_blocks()) {
        let remedy = "write `local = [\"256\"]`".to_string();
        messages.error(section.span.clone(), "the number of threads in a block is missing", Some(remedy));
        return None;
    }
    let local = local_node.as_ref().map(dimensions);
    let (Extent::Global(extents) | Extent::Groups(extents)) = &extent;
    match (&local, local_node) {
        (Some(None), _) => return None,
        (Some(Some(local)), Some(node)) if local.len() != extents.len() => {
            let text = format!("`{}` has {} dimensions, but there are {}", node.name, local.len(), extents.len());
            node.error(text, None);
            return None;
        }
        _ => {}
    }
    Some(WorkSize { extent, local: local.flatten() })
}

/// Returns one to three expressions.
fn dimensions(node: &Node<'_>) -> Option<Vec<Expr>> {
    let items = node.items();
    if items.is_empty() || items.len() > 3 {
        node.error(
            format!("`{}` has {} dimensions", node.name, items.len()),
            Some("there are one to three".to_string()),
        );
        return None;
    }
    items.iter().map(|item| item.expression().map(|located| located.value)).collect()
}

/// Returns the language. Reports at `node` a language that this version does not compile.
pub(crate) fn language(node: &Node<'_>, language: Option<Language>) -> Option<Language> {
    if language.is_none() {
        let text = format!("`{}` names no language that can be compiled", node.name);
        let remedy =
            "languages are C (.c), C++ (.cpp, .cc, .cxx), OpenCL C (.cl, .opencl), CUDA C++ (.cu), HIP C++ (.hip) and \
             loop nests (.nest)"
                .to_string();
        node.error(text, Some(remedy));
    }
    language
}

/// Returns the compiler options of all `nodes`. Folders that they name are relative to `folder`.
pub(crate) fn options<'a>(nodes: impl IntoIterator<Item = Node<'a>>, folder: &Path) -> Options {
    let mut options = Options::default();
    for node in nodes {
        let texts = node.strings();
        for (option, problem) in options.add(texts.iter().map(|text| text.value), folder) {
            node.error(format!("option `{option}`: {problem}"), None);
        }
    }
    options
}
