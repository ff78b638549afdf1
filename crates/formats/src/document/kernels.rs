//! Reads the `[kernel]` or the `[[kernel]]`s of a problem, and its reference.

use super::tree::{Node, Section};
use std::path::{Path, PathBuf};
use tunesmith_kernel::{CudaCompiler, FunctionName, Language, Reading};
use tunesmith_space::{Expr, did_you_mean};
use tunesmith_spec::{KernelDraft, LANGUAGES, Messages, NO_LANGUAGE, Options, WorkDraft};

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
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().copied()
}

/// A file and a function of a kernel, as messages show them.
pub(super) const EXAMPLES: [&str; 2] = ["file = \"kernel.c\"", "function = \"name\""];

/// Returns the kernels of a list in the order in which they run. `completed` adds to a kernel's
/// section what stands outside of the list.
pub(super) fn read_sequence<'a>(
    node: &Node<'a>,
    completed: impl Fn(Section<'a>) -> Section<'a>,
    messages: &Messages,
) -> Vec<KernelDraft> {
    let kernel = |item: Node<'a>| {
        let section = item.section()?;
        section.allow(KEYS);
        read_one(&completed(section), EXAMPLES, messages)
    };
    node.items().into_iter().filter_map(kernel).collect()
}

/// Returns the kernel or the reference that `section` describes. `examples` are of its file and function, for messages.
pub(super) fn read_one(section: &Section<'_>, examples: [&str; 2], messages: &Messages) -> Option<KernelDraft> {
    let folder = messages.source.folder();
    let [file, function] = examples;
    let (file, function) = (section.require("file", file), section.require("function", function));
    let paths = |key: &str| -> Vec<PathBuf> {
        let texts = section.get(key).map(|node| node.strings()).unwrap_or_default();
        texts.into_iter().map(|text| folder.join(text.value)).collect()
    };
    let (file_node, file) = (file.clone()?, folder.join(file?.string()?));
    let languages = match section.get("language") {
        Some(node) => languages(&node)?,
        None => vec![language(&file_node, Language::from_suffix(&file))?],
    };
    // Further out, it is the name of an alternative.
    let name = section.own("name").and_then(|node| node.string());
    let arguments = section.get("arguments").map(|node| node.strings());
    Some(KernelDraft {
        key: section.key.clone(),
        name: name.map(str::to_string),
        function: function_name(function.as_ref()?)?,
        sources: paths("sources"),
        include: paths("include"),
        compiler: section.get("compiler").and_then(|node| cuda_compiler(&node)),
        arguments: arguments.map(|names| names.into_iter().map(|name| name.value.to_string()).collect()),
        repeat: section.get("repeat").and_then(|node| node.expression()).map(|located| located.value),
        work: read_work(section)?,
        reading: Reading::default(),
        languages: languages.iter().map(|own| (*own, options_for(section, *own, &languages, folder))).collect(),
        file,
    })
}

/// Returns the name of a function, which may depend on the configuration.
fn function_name(node: &Node<'_>) -> Option<FunctionName> {
    FunctionName::parse(node.string()?).map_err(|error| node.error(format!("`{}`: {error}", node.name()), None)).ok()
}

/// Returns the languages that one source is written in. The first is the default.
fn languages(node: &Node<'_>) -> Option<Vec<Language>> {
    node.items().iter().map(|item| language(item, Language::from_name(item.string()?))).collect()
}

/// Returns the compiler on CUDA devices.
fn cuda_compiler(node: &Node<'_>) -> Option<CudaCompiler> {
    let name = node.string()?;
    let known = CudaCompiler::ALL.into_iter().find(|compiler| compiler.name() == name);
    if known.is_none() {
        let names = CudaCompiler::ALL.map(CudaCompiler::name);
        let remedy = did_you_mean(name, names).unwrap_or_else(|| format!("write {}", names.join(" or ")));
        node.error(format!("`{name}` is no compiler of CUDA"), Some(remedy));
    }
    known
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

/// Returns the work-items. `None` if an extent is no expression.
fn read_work(section: &Section<'_>) -> Option<WorkDraft> {
    let extents = |key: &str| section.get(key).map_or(Some(None), |node| expressions(&node).map(Some));
    Some(WorkDraft { global: extents("global")?, grid: extents("grid")?, local: extents("local")? })
}

fn expressions(node: &Node<'_>) -> Option<Vec<Expr>> {
    node.items().iter().map(|item| item.expression().map(|located| located.value)).collect()
}

/// Returns the language. Reports at `node` a language that this version does not compile.
pub(super) fn language(node: &Node<'_>, language: Option<Language>) -> Option<Language> {
    if language.is_none() {
        node.error(format!("`{}`{NO_LANGUAGE}", node.name()), Some(LANGUAGES.to_string()));
    }
    language
}

/// Returns the compiler options of all `nodes`. Folders that they name are relative to `folder`.
pub(super) fn options<'a>(nodes: impl IntoIterator<Item = Node<'a>>, folder: &Path) -> Options {
    let mut options = Options::default();
    for node in nodes {
        let texts = node.strings();
        for fault in options.add(texts.iter().map(|text| text.value), folder) {
            node.error(fault, None);
        }
    }
    options
}
