//! The `[kernel]` of a problem.

use super::diagnostic::Messages;
use super::tree::Node;
use super::{Kernel, folder_of};
use std::path::PathBuf;
use toml::de::DeValue;
use tunesmith_device::{Language, Template};

const KEYS: &[&str] = &["name", "file", "language", "sources", "include", "function", "options"];

/// Keys that only languages with work-items have.
const WORK_ITEM_KEYS: &[&str] = &["global", "local", "grid"];

pub(super) fn read(node: &Node<'_>, messages: &Messages) -> Option<Kernel> {
    if matches!(node.value.get_ref(), DeValue::Array(_)) {
        node.error("a problem has one `[kernel]` in this version", None);
        return None;
    }
    let section = node.section()?;
    section.allow(&[KEYS, WORK_ITEM_KEYS].concat());
    for extra in WORK_ITEM_KEYS.iter().filter_map(|key| section.get(key)) {
        let text = format!("`{}` has no meaning for C and C++, which have no work-items", extra.name);
        messages.warning(extra.span(), text, Some("remove it".to_string()));
    }
    let folder = folder_of(&messages.source.path);
    let file = section.require("file", "file = \"kernel.c\"");
    let function = section.require("function", "function = \"name\"").and_then(|node| node.string());
    let paths = |key: &str| -> Vec<PathBuf> {
        let texts = section.get(key).map(|node| node.strings()).unwrap_or_default();
        texts.into_iter().map(|text| folder.join(text.value)).collect()
    };
    let (file_node, file) = (file.clone()?, folder.join(file?.string()?));
    let language = match section.get("language") {
        Some(node) => language(&node, Language::from_name(node.string()?))?,
        None => language(&file_node, Language::from_suffix(&file))?,
    };
    Some(Kernel {
        language,
        file,
        sources: paths("sources"),
        include: paths("include"),
        function: function?.to_string(),
        options: section.get("options").map(|node| options(&node)).unwrap_or_default(),
    })
}

/// The language, reported at `node` where it is none that this version compiles.
pub(super) fn language(node: &Node<'_>, language: Option<Language>) -> Option<Language> {
    if language.is_none() {
        let text = format!("`{}` names no language that can be compiled", node.name);
        node.error(text, Some("languages are C (.c) and C++ (.cpp, .cc, .cxx)".to_string()));
    }
    language
}

fn options(node: &Node<'_>) -> Vec<Template> {
    let mut templates = Vec::new();
    for option in node.strings() {
        match Template::parse(option.value) {
            Ok(template) => templates.push(template),
            Err(error) => node.error(format!("option `{}`: {error}", option.value), None),
        }
    }
    templates
}
