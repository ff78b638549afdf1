//! Reads the `[kernel]` or the `[[kernel]]`s of a problem.

use crate::diagnostic::Messages;
use crate::options::Options;
use crate::tree::{Node, Section};
use std::ops::Range;
use std::path::{Path, PathBuf};
use tunesmith_device::{Argument, Extent, Kernel, Language, WorkSize};
use tunesmith_space::Expr;
use tunesmith_space::did_you_mean;

const KEYS: &[&str] = &[
    "name",
    "file",
    "language",
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

/// The places of a kernel's parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct KernelPlaces {
    pub(crate) file: Range<usize>,
    pub(crate) function: Range<usize>,
}

/// Returns the kernels in the order in which they run, with their places.
pub(crate) fn read(node: &Node<'_>, arguments: &[Argument], messages: &Messages) -> Vec<(Kernel, KernelPlaces)> {
    let mut kernels: Vec<(Kernel, KernelPlaces)> = Vec::new();
    for item in node.items() {
        let Some(section) = item.section() else { continue };
        let Some((kernel, places)) = read_one(&section, arguments, messages) else { continue };
        if node.is_list() && kernels.iter().any(|(known, _)| known.name == kernel.name) {
            let remedy = "give each a `name` of its own: reports show their times by it".to_string();
            item.error(format!("two kernels are called `{}`", kernel.name), Some(remedy));
        }
        kernels.push((kernel, places));
    }
    kernels
}

fn read_one(section: &Section<'_>, arguments: &[Argument], messages: &Messages) -> Option<(Kernel, KernelPlaces)> {
    section.allow(KEYS);
    let folder = messages.source.folder();
    let file = section.require("file", "file = \"kernel.c\"");
    let function_node = section.require("function", "function = \"name\"");
    let paths = |key: &str| -> Vec<PathBuf> {
        let texts = section.get(key).map(|node| node.strings()).unwrap_or_default();
        texts.into_iter().map(|text| folder.join(text.value)).collect()
    };
    let (file_node, file) = (file.clone()?, folder.join(file?.string()?));
    let language = match section.get("language") {
        Some(node) => language(&node, Language::from_name(node.string()?))?,
        None => language(&file_node, Language::from_suffix(&file))?,
    };
    let function = function_node.as_ref().and_then(Node::string);
    let name = section.get("name").and_then(|node| node.string()).or(function);
    let places =
        KernelPlaces { file: file_node.span(), function: function_node.map(|node| node.span()).unwrap_or_default() };
    let Options { mut include, templates } = options(section.get("options"), folder);
    include.extend(paths("include"));
    let kernel = Kernel {
        name: name?.to_string(),
        language,
        file,
        generator: None,
        sources: paths("sources"),
        include,
        function: function?.to_string(),
        options: templates,
        arguments: read_arguments(section, arguments),
        repeat: section.get("repeat").and_then(|node| node.expression()).map(|located| located.value),
        work: read_work(section, language, messages),
    };
    Some((kernel, places))
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

/// Returns the work-items. A language either must or cannot have them.
pub(crate) fn read_work(section: &Section<'_>, language: Language, messages: &Messages) -> Option<WorkSize> {
    if !language.has_work_items() {
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
    if local_node.is_none() && language == Language::Cuda {
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
            "languages are C (.c), C++ (.cpp, .cc, .cxx), OpenCL C (.cl, .opencl), CUDA C++ (.cu) and loop nests (.nest)"
                .to_string();
        node.error(text, Some(remedy));
    }
    language
}

/// Returns the compiler options. Folders that they name are relative to `folder`.
pub(crate) fn options(node: Option<Node<'_>>, folder: &Path) -> Options {
    let mut options = Options::default();
    let Some(node) = node else { return options };
    let texts = node.strings();
    for (option, problem) in options.add(texts.iter().map(|text| text.value), folder) {
        node.error(format!("option `{option}`: {problem}"), None);
    }
    options
}
