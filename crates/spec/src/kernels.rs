//! The kernels, each in the languages of its source, and the reference.

use crate::draft::{AlternativesDraft, KernelDraft, WorkDraft};
use crate::fault::{Faults, Key};
use crate::options::Options;
use tunesmith_kernel::{Alternative, Argument, Extent, Kernel, Language, Reference, WorkSize};
use tunesmith_space::{Expr, Value, did_you_mean};

/// A kernel in each of the languages of its source.
#[derive(Clone, Debug)]
pub struct Versions {
    /// The kernel in its first language.
    pub first: Kernel,
    /// The same kernel in the other ones.
    pub others: Vec<Kernel>,
    /// The part of the problem that states it.
    pub key: Key,
}

/// Returns the kernels of a list in the order in which they run.
pub(crate) fn sequence(drafts: &[KernelDraft], arguments: &[Argument], faults: &Faults) -> Vec<Versions> {
    let mut kernels: Vec<Versions> = Vec::new();
    for draft in drafts {
        let Some(kernel) = versions(draft, arguments, faults) else { continue };
        if kernels.iter().any(|known| known.first.name == kernel.first.name) {
            let remedy = "give each a `name` of its own: reports show their times by it".to_string();
            let text = format!("two kernels are called `{}`", kernel.first.name);
            faults.error(draft.key.clone(), text, Some(remedy));
        }
        kernels.push(kernel);
    }
    kernels
}

/// Returns the kernels of all alternatives.
pub(crate) fn of_alternatives(
    alternatives: &AlternativesDraft,
    arguments: &[Argument],
    faults: &Faults,
) -> Vec<Versions> {
    let mut kernels = Vec::new();
    for one in &alternatives.entries {
        let alternative =
            Alternative { parameter: alternatives.choice.clone(), value: Value::Str(one.name.as_str().into()) };
        let mut own = sequence(&one.kernels, arguments, faults);
        for version in own.iter_mut().flat_map(|kernel| std::iter::once(&mut kernel.first).chain(&mut kernel.others)) {
            version.alternative = Some(alternative.clone());
        }
        kernels.extend(own);
    }
    kernels
}

fn versions(draft: &KernelDraft, arguments: &[Argument], faults: &Faults) -> Option<Versions> {
    if !check_languages(draft, faults) {
        return None;
    }
    check_compiler(draft, faults);
    let taken = positions(draft, arguments, faults).unwrap_or_else(|| (0..arguments.len()).collect());
    let name = draft.name.clone().unwrap_or_else(|| draft.function.to_string());
    let version = |(language, options): &(Language, Options)| Kernel {
        name: name.clone(),
        language: *language,
        file: draft.file.clone(),
        generator: None,
        reading: draft.reading.clone(),
        sources: draft.sources.clone(),
        include: options.include.iter().chain(&draft.include).cloned().collect(),
        function: draft.function.clone(),
        options: options.templates.clone(),
        cuda_compiler: draft.compiler.unwrap_or_default(),
        arguments: taken.clone(),
        repeat: draft.repeat.clone(),
        work: None,
        alternative: None,
    };
    let mut versions: Vec<Kernel> = draft.languages.iter().map(version).collect();
    let work = work(&draft.work, &languages(draft), &draft.key, faults);
    versions.iter_mut().for_each(|version| version.work.clone_from(&work));
    let others = versions.split_off(1);
    Some(Versions { first: versions.pop()?, others, key: draft.key.clone() })
}

/// Returns the reference of outputs, in its first language.
pub(crate) fn reference(draft: &KernelDraft, arguments: &[Argument], faults: &Faults) -> Option<Reference> {
    let (language, options) = draft.languages.first()?;
    Some(Reference {
        sources: draft.sources.clone(),
        include: draft.include.iter().chain(&options.include).cloned().collect(),
        options: options.templates.clone(),
        arguments: positions(draft, arguments, faults),
        work: work(&draft.work, &[*language], &draft.key, faults),
        ..Reference::new(*language, draft.file.clone(), draft.function.to_string())
    })
}

fn languages(draft: &KernelDraft) -> Vec<Language> {
    draft.languages.iter().map(|(language, _)| *language).collect()
}

/// Returns true if one source can have these languages.
fn check_languages(draft: &KernelDraft, faults: &Faults) -> bool {
    let (languages, key) = (languages(draft), draft.key.field("language"));
    for (at, language) in languages.iter().enumerate() {
        if let Some(known) = languages[..at].iter().find(|known| known.device() == language.device()) {
            let text = format!("{known} and {language} run on the same device, `{}`", language.device());
            faults.error(key.at(at), text, Some("name one language for each device".to_string()));
            return false;
        }
    }
    if languages.is_empty() {
        let remedy = "write language = [\"opencl\", \"cuda\"]".to_string();
        faults.error(key, "the list of languages is empty", Some(remedy));
        return false;
    }
    if languages.iter().any(|language| language.has_work_items() != languages[0].has_work_items()) {
        let remedy = "one source may be OpenCL C and CUDA C++; write a second problem file for C".to_string();
        faults.error(key, "one kernel cannot be in languages with and without work-items", Some(remedy));
        return false;
    }
    true
}

/// Checks that the compiler on CUDA devices has a kernel in CUDA.
fn check_compiler(draft: &KernelDraft, faults: &Faults) {
    let languages = languages(draft);
    if draft.compiler.is_some() && !languages.contains(&Language::Cuda) {
        let remedy = "remove it; the compilers of C and C++ are those in CC and CXX".to_string();
        let text = format!("`compiler` has no meaning for {}", languages[0]);
        faults.error(draft.key.field("compiler"), text, Some(remedy));
    }
}

/// Returns the positions of the named arguments among the problem's. `None` without names.
fn positions(draft: &KernelDraft, arguments: &[Argument], faults: &Faults) -> Option<Vec<usize>> {
    let position = |name: &String| {
        let position = arguments.iter().position(|argument| argument.name == *name);
        if position.is_none() {
            let known: Vec<&str> = arguments.iter().map(|argument| argument.name.as_str()).collect();
            let remedy = did_you_mean(name, known.iter().copied())
                .unwrap_or_else(|| format!("[[arguments]] declares {}", known.join(", ")));
            faults.error(draft.key.field("arguments"), format!("there is no argument `{name}`"), Some(remedy));
        }
        position
    };
    draft.arguments.as_ref().map(|names| names.iter().filter_map(position).collect())
}

/// Returns the work-items. A language either must or cannot have them; all of `languages` agree.
fn work(draft: &WorkDraft, languages: &[Language], key: &Key, faults: &Faults) -> Option<WorkSize> {
    if let Some(language) = languages.iter().find(|language| !language.has_work_items()) {
        for (name, extents) in [("global", &draft.global), ("local", &draft.local), ("grid", &draft.grid)] {
            if extents.is_some() {
                let text = format!(" has no meaning for {language}, which has no work-items");
                faults.named_warning(key.field(name), "", text, Some("remove it".to_string()));
            }
        }
        return None;
    }
    let extent = extent(draft, key, faults)?;
    let (Extent::Global(extents) | Extent::Groups(extents)) = &extent;
    if draft.local.is_none() && languages.iter().any(|language| language.needs_blocks()) {
        let remedy = "write `local = [\"256\"]`".to_string();
        faults.error(key.clone(), "the number of threads in a block is missing", Some(remedy));
        return None;
    }
    check_dimensions(extents, key.field(if draft.global.is_some() { "global" } else { "grid" }), faults)?;
    let Some(local) = &draft.local else { return Some(WorkSize { extent, local: None }) };
    let at = key.field("local");
    check_dimensions(local, at.clone(), faults)?;
    if local.len() != extents.len() {
        let text = format!(" has {} dimensions, but there are {}", local.len(), extents.len());
        faults.named(at, "", text, None);
        return None;
    }
    Some(WorkSize { extent, local: Some(local.clone()) })
}

/// Returns the number of work-items or of work-groups.
fn extent(draft: &WorkDraft, key: &Key, faults: &Faults) -> Option<Extent> {
    match (&draft.global, &draft.grid) {
        (Some(global), None) => Some(Extent::Global(global.clone())),
        (None, Some(grid)) => Some(Extent::Groups(grid.clone())),
        (Some(_), Some(_)) => {
            let remedy = "`grid` counts work-groups".to_string();
            faults.error(key.field("grid"), "`global` and `grid` exclude each other", Some(remedy));
            None
        }
        (None, None) => {
            let remedy = "write `global = [\"N\"]` in work-items, or `grid` in work-groups".to_string();
            faults.error(key.clone(), "the number of work-items is missing", Some(remedy));
            None
        }
    }
}

fn check_dimensions(extents: &[Expr], key: Key, faults: &Faults) -> Option<()> {
    if (1..=3).contains(&extents.len()) {
        return Some(());
    }
    let text = format!(" has {} dimensions", extents.len());
    faults.named(key, "", text, Some("there are one to three".to_string()));
    None
}
