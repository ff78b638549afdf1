//! Reads `[[alternative]]`: kernels, or sequences of kernels, that compute the same in different ways.
//! The search chooses one.
//!
//! The choice is a tuning parameter with the alternatives' names as values. A parameter that only
//! some alternatives have keeps its first value where another one is chosen, so that the space is
//! the sum of the alternatives' spaces, not their product.

use super::tree::{Node, Section};
use super::{command, kernels, nest, parameters};
use tunesmith_spec::{AlternativeDraft, AlternativesDraft, KernelDraft, Messages};

/// The keys of an alternative beside those of a kernel. `kernel` is a list of kernels.
const OWN: [&str; 3] = ["parameters", "constraints", "kernel"];

/// The key to which an alternative adds its own values.
const EXTENDED: &str = "options";

/// The parameter that chooses, unless the file names it.
const CHOICE: &str = "alternative";

/// Returns the alternatives, if the problem has any. Reports those that it cannot have.
pub(super) fn read(root: &Section<'_>, messages: &Messages) -> Option<AlternativesDraft> {
    let node = root.get("alternative")?;
    let kernel = root.get("kernel");
    if let Some(reason) = kernel.as_ref().and_then(refusal) {
        node.error(reason.0, Some(reason.1.to_string()));
        return None;
    }
    let shared = kernel.and_then(|kernel| kernel.section());
    let choice_node = shared.as_ref().and_then(|section| section.get(CHOICE));
    if let Some(section) = &shared {
        section.allow(&kernels::keys().chain([CHOICE]).collect::<Vec<_>>());
    }
    let choice = choice_node.as_ref().map_or(Some(CHOICE), Node::string)?.to_string();
    let mut entries: Vec<(String, Section<'_>)> = Vec::new();
    for item in node.items() {
        let Some(section) = item.section() else { continue };
        section.allow(&kernels::keys().chain(OWN).collect::<Vec<_>>());
        let Some(name) = section.require("name", "name = \"tiled\"") else { continue };
        let Some(text) = name.string() else { continue };
        check_name(&name, text, &entries);
        if let Some(shared) = &shared {
            refuse_repeated(&section, shared);
        }
        let section = match &shared {
            Some(shared) => section.with_defaults(shared),
            None => section,
        };
        if has_nest(&section) {
            let remedy = "write a problem file for each loop nest, or alternatives in C, OpenCL or CUDA".to_string();
            item.error(format!("alternative `{text}` is a loop nest"), Some(remedy));
            continue;
        }
        entries.push((text.to_string(), section));
    }
    if messages.have_errors() {
        return None;
    }
    let draft = |(name, section): (String, Section<'_>)| alternative(name, &section, messages);
    Some(AlternativesDraft { choice, entries: entries.into_iter().map(draft).collect() })
}

/// Returns the reason, with a remedy, why a problem with this `[kernel]` cannot have alternatives.
fn refusal(kernel: &Node<'_>) -> Option<(&'static str, &'static str)> {
    if command::is_command(kernel) {
        return Some((
            "a command has no `[[alternative]]`",
            "write a parameter with the programs as values: command = [\"./{SOLVER}\", ...]",
        ));
    }
    if nest::is_nest(kernel) {
        return Some(("a loop nest has no `[[alternative]]`", "write a problem file for each loop nest"));
    }
    kernel.is_list().then_some((
        "`[[kernel]]` and `[[alternative]]` exclude each other",
        "`[kernel]` holds what all alternatives share; write several kernels as `[[alternative.kernel]]`",
    ))
}

/// Returns true if a kernel of the alternative is a loop nest.
fn has_nest(alternative: &Section<'_>) -> bool {
    let kernels = alternative.own("kernel").map(|node| node.items()).unwrap_or_default();
    let inside = kernels.iter().filter(|item| item.is_table()).filter_map(|item| item.section());
    let mut sections = inside.chain([alternative.clone()]);
    sections.any(|section| section.get("file").and_then(|file| file.scalar()).is_some_and(|file| nest::is_file(&file)))
}

/// Checks the name of an alternative: a word that no other has. Kernels get it as a macro.
fn check_name(node: &Node<'_>, name: &str, others: &[(String, Section<'_>)]) {
    let is_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_word {
        node.error(
            format!("`{name}` cannot be the name of an alternative"),
            Some("use letters, digits and `_`".into()),
        );
    }
    if others.iter().any(|(other, _)| other == name) {
        let remedy = "give each a name of its own: it is the value of the parameter that chooses".to_string();
        node.error(format!("two alternatives are called `{name}`"), Some(remedy));
    }
}

/// Reports the keys that a section and the one around it both have. Only `options` may stand in both.
fn refuse_repeated(own: &Section<'_>, around: &Section<'_>) {
    for (key, node) in own.entries().filter(|(key, _)| key.value != EXTENDED) {
        let Some(known) = around.get(key.value) else { continue };
        let (place, remedy) = if known.name().starts_with("kernel.") {
            ("[kernel]", "`[kernel]` is for what all alternatives share; state this in each alternative, or only there")
        } else {
            (
                "[[alternative]]",
                "`[[alternative]]` is for what its kernels share; state this in each kernel, or only there",
            )
        };
        // An alternative and its kernels have names of their own.
        if key.value != "name" || place == "[kernel]" {
            node.error(format!("`{}` stands in `{place}`, too", key.value), Some(remedy.to_string()));
        }
    }
}

/// Returns the alternative that a section describes.
fn alternative(name: String, section: &Section<'_>, messages: &Messages) -> AlternativeDraft {
    let parameters = section.get("parameters").and_then(|node| node.section());
    let constraints = section.get("constraints").and_then(|node| node.section());
    AlternativeDraft {
        key: section.key.clone(),
        kernels: kernels_of(section, messages),
        parameters: parameters.iter().flat_map(|own| parameters::read_section(own, messages)).collect(),
        constraints: constraints.iter().flat_map(|own| parameters::read_constraints_of(own, messages)).collect(),
        name,
    }
}

/// Returns the kernels of an alternative in the order in which they run.
fn kernels_of<'a>(section: &Section<'a>, messages: &Messages) -> Vec<KernelDraft> {
    let within = |inner: Section<'a>| {
        refuse_repeated(&inner, section);
        inner.with_defaults(section)
    };
    match section.own("kernel") {
        Some(node) => kernels::read_sequence(&node, within, messages),
        None => Vec::from_iter(kernels::read_one(section, kernels::EXAMPLES, messages)),
    }
}
