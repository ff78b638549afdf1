//! Reads `[[alternative]]`: kernels, or sequences of kernels, that compute the same in different ways.
//! The search chooses one.
//!
//! The choice is a tuning parameter with the alternatives' names as values. A parameter that only
//! some alternatives have keeps its first value where another one is chosen, so that the space is
//! the sum of the alternatives' spaces, not their product.

use crate::diagnostic::Messages;
use crate::kernel::{self, ReadKernel};
use crate::parameters::{self, ReadConstraint, ReadParameter};
use crate::tree::{Node, Section};
use crate::{command, nest};
use std::ops::Range;
use tunesmith_device::{Alternative, Argument};
use tunesmith_space::{Constraint, Expr, Parameter, Value};

/// The keys of an alternative beside those of a kernel. `kernel` is a list of kernels.
const OWN: [&str; 3] = ["parameters", "constraints", "kernel"];

/// The key to which an alternative adds its own values.
const EXTENDED: &str = "options";

/// The parameter that chooses, unless the file names it.
const CHOICE: &str = "alternative";

/// The alternatives of a problem.
pub(crate) struct Alternatives<'a> {
    /// The name of the parameter that chooses.
    choice: String,
    /// The place of that name, or of the first alternative.
    place: Range<usize>,
    /// The alternatives, each with its name. What all of them share is filled in from `[kernel]`.
    entries: Vec<(String, Section<'a>)>,
}

/// A parameter of some alternatives, with their names.
struct Owned {
    parameter: ReadParameter,
    owners: Vec<String>,
}

/// Returns the alternatives, if the problem has any. Reports those that it cannot have.
pub(crate) fn read<'a>(root: &Section<'a>, messages: &Messages) -> Option<Alternatives<'a>> {
    let node = root.get("alternative")?;
    let kernel = root.get("kernel");
    if let Some(reason) = kernel.as_ref().and_then(refusal) {
        node.error(reason.0, Some(reason.1.to_string()));
        return None;
    }
    let shared = kernel.and_then(|kernel| kernel.section());
    let choice_node = shared.as_ref().and_then(|section| section.get(CHOICE));
    if let Some(section) = &shared {
        section.allow(&kernel::keys().chain([CHOICE]).collect::<Vec<_>>());
    }
    let choice = choice_node.as_ref().map_or(Some(CHOICE), Node::string)?.to_string();
    let place = choice_node.map_or_else(|| node.span(), |node| node.span());
    let mut entries: Vec<(String, Section<'_>)> = Vec::new();
    for item in node.items() {
        let Some(section) = item.section() else { continue };
        section.allow(&kernel::keys().chain(OWN).collect::<Vec<_>>());
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
    if messages.have_errors() { None } else { Some(Alternatives { choice, place, entries }) }
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
        let (place, remedy) = if known.name.starts_with("kernel.") {
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

impl Alternatives<'_> {
    /// Returns the parameters of the problem: the choice, the `shared` ones, then those of the
    /// alternatives. Adds to `constraints` the alternatives' own, and those that keep a parameter at
    /// its first value where no alternative with it is chosen.
    pub(crate) fn join(
        &self,
        shared: Vec<ReadParameter>,
        constraints: &mut Vec<ReadConstraint>,
        sizes: &[(String, Value)],
        messages: &Messages,
    ) -> Vec<ReadParameter> {
        let mut owned: Vec<Owned> = Vec::new();
        for (name, section) in &self.entries {
            let entries = section.get("parameters").and_then(|node| node.section());
            for read in entries.iter().flat_map(|section| parameters::read_section(section, sizes, messages)) {
                self.add(&mut owned, read, name, &shared, messages);
            }
            let own = section.get("constraints").and_then(|node| node.section());
            let own = own.iter().flat_map(|section| parameters::read_constraints_of(section, messages));
            constraints.extend(own.map(|(constraint, place)| (self.only_where(&constraint, name), place)));
        }
        constraints.extend(owned.iter().filter_map(|owned| self.pin(owned)));
        let names = self.entries.iter().map(|(name, _)| Value::Str(name.as_str().into()));
        let choice = match Parameter::new(self.choice.clone(), names) {
            Ok(choice) => Some((choice, self.place.clone())),
            Err(error) => {
                messages.error(self.place.clone(), error.to_string(), None);
                None
            }
        };
        if let Some((_, place)) = shared.iter().find(|(parameter, _)| parameter.name() == self.choice) {
            let remedy = "rename it, or name the other: [kernel] alternative = \"WAY\"".to_string();
            messages.error(place.clone(), format!("`{}` is the parameter that chooses", self.choice), Some(remedy));
        }
        choice.into_iter().chain(shared).chain(owned.into_iter().map(|owned| owned.parameter)).collect()
    }

    /// Adds a parameter of the alternative `owner`. Another alternative may have the same one, with
    /// the same values.
    fn add(
        &self,
        owned: &mut Vec<Owned>,
        read: ReadParameter,
        owner: &str,
        shared: &[ReadParameter],
        messages: &Messages,
    ) {
        let (parameter, place) = &read;
        let name = parameter.name();
        if name == self.choice || shared.iter().any(|(known, _)| known.name() == name) {
            let whose = if name == self.choice { "chooses the alternative" } else { "stands in `[parameters]`, too" };
            let remedy = "a parameter of all alternatives stands in [parameters] alone".to_string();
            messages.error(place.clone(), format!("`{name}` {whose}"), Some(remedy));
            return;
        }
        match owned.iter_mut().find(|known| known.parameter.0.name() == name) {
            Some(known) if known.parameter.0.values() == parameter.values() => known.owners.push(owner.to_string()),
            Some(known) => {
                let text = format!("`{name}` has other values than in alternative `{}`", known.owners[0]);
                messages.error(place.clone(), text, Some("give it the same values, or another name".to_string()));
            }
            None => owned.push(Owned { parameter: read, owners: vec![owner.to_string()] }),
        }
    }

    /// Returns `constraint` where the alternative `name` is chosen, and true elsewhere.
    fn only_where(&self, constraint: &Constraint, name: &str) -> Constraint {
        let expr = constraint.expr();
        let guarded = Expr::parse(&format!("{} != '{name}' or ({})", self.choice, expr.text()));
        // An expression in parentheses is one wherever it stands alone.
        Constraint::new(format!("{} (in {name})", constraint.name()), guarded.unwrap_or_else(|_| expr.clone()))
    }

    /// Returns the constraint that keeps a parameter at its first value where no alternative with it
    /// is chosen. `None` if all have it, or if it has one value only.
    fn pin(&self, owned: &Owned) -> Option<ReadConstraint> {
        let (parameter, place) = &owned.parameter;
        let everywhere = owned.owners.len() == self.entries.len();
        let first = parameter.values().first().filter(|_| !everywhere && parameter.values().len() > 1)?;
        let chosen: Vec<String> = owned.owners.iter().map(|name| format!("{} == '{name}'", self.choice)).collect();
        let text = format!("{} or {} == {}", chosen.join(" or "), parameter.name(), first.python());
        let name = format!("only {} varies {}", owned.owners.join(" and "), parameter.name());
        Some((Constraint::new(name, Expr::parse(&text).ok()?), place.clone()))
    }

    /// Returns the kernels of all alternatives.
    pub(crate) fn kernels(&self, arguments: &[Argument], messages: &Messages) -> Vec<ReadKernel> {
        let entries = self.entries.iter();
        entries.flat_map(|(name, section)| self.kernels_of(name, section, arguments, messages)).collect()
    }

    /// Returns the kernels of an alternative in the order in which they run.
    fn kernels_of<'a>(
        &self,
        name: &str,
        section: &Section<'a>,
        arguments: &[Argument],
        messages: &Messages,
    ) -> Vec<ReadKernel> {
        let within = |inner: Section<'a>| {
            refuse_repeated(&inner, section);
            inner.with_defaults(section)
        };
        let mut kernels = match section.own("kernel") {
            Some(node) => kernel::read_sequence(&node, within, arguments, messages),
            None => Vec::from_iter(kernel::read_one(section, arguments, messages)),
        };
        let alternative = Alternative { parameter: self.choice.clone(), value: Value::Str(name.into()) };
        for version in kernels.iter_mut().flat_map(|read| std::iter::once(&mut read.kernel).chain(&mut read.others)) {
            version.alternative = Some(alternative.clone());
        }
        kernels
    }

    /// Returns the name of the parameter that chooses.
    pub(crate) fn choice(&self) -> &str {
        &self.choice
    }
}
