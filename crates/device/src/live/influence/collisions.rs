//! Names of parameters and sizes that mean something else to the language, the compiler or a header.

use super::Doubt;
use super::keywords::in_words;
use super::preprocess::{Form, TraceLine, traced};
use super::sources::{SourcePlace, Sources, mentions};
use crate::live::LiveEvaluator;
use tunesmith_kernel::{Kernel, Language, Meaning, Scope};
use tunesmith_space::{ConfigId, Value};

impl LiveEvaluator {
    /// Returns a doubt for every parameter and size whose macro the compiler, or a header of the system,
    /// defines itself. If the kernel of `config` does not compile, `log` is the compiler's message. Then
    /// it also returns a doubt for every name that has another meaning to the language, and for those that
    /// the sources declare, or that headers use, as something else: a kernel that compiles may use what
    /// names it likes.
    pub fn clashes(&self, config: ConfigId, log: Option<&str>) -> Vec<Doubt> {
        let scope = self.scope(config);
        let kernels = &self.options.spec.kernels;
        // Generated sources get no macros.
        if kernels.iter().any(|kernel| kernel.generator.is_some()) {
            return Vec::new();
        }
        let sources = Sources::of_kernels(kernels);
        let traces = Traces::of(self, &scope);
        let doubt = |(name, value): (&str, &Value)| {
            let name_of = || name.to_owned();
            let redefined =
                || Some(Doubt::Redefined { name: name_of(), place: traces.redefinition(name, &scope)?.place() });
            let reserved = |log: &str| reserved(kernels, &sources, (name, value), log);
            let declared = || Some(Doubt::Clash { name: name_of(), place: sources.declaration(name)? });
            let in_header = |log: &str| {
                let place = traces.use_in_header(name).filter(|_| mentions(log, name))?;
                Some(Doubt::InHeader { name: name_of(), place })
            };
            let explained = log.and_then(|log| reserved(log).or_else(declared).or_else(|| in_header(log)));
            explained.or_else(redefined)
        };
        // A size that a source declares itself is no macro there.
        let is_declared =
            |name: &str| kernels.iter().any(|kernel| kernel.reading.own_names.iter().any(|own| own == name));
        let is_macro = |(name, _): &(&str, &Value)| self.space.parameter_index(name).is_some() || !is_declared(name);
        scope.iter().filter(is_macro).filter_map(doubt).collect()
    }
}

/// Returns the doubt about a name of `scope` that one of the kernels' languages reserves. A number in
/// place of a keyword makes errors anywhere. Of other names, the compiler's `log` must speak, or the
/// sources must use the name as no number can be used. A text, such as the name of a type, may serve.
fn reserved(kernels: &[Kernel], sources: &Sources, (name, value): (&str, &Value), log: &str) -> Option<Doubt> {
    if matches!(value, Value::Str(_)) {
        return None;
    }
    let mut meanings = kernels.iter().filter_map(|kernel| Some((kernel.language, kernel.language.meaning(name)?)));
    let is_blamed = |meaning: &Meaning| *meaning == Meaning::Keyword || sources.apply(name) || mentions(log, name);
    let (language, meaning) = meanings.find(|(_, meaning)| is_blamed(meaning))?;
    Some(Doubt::Reserved { name: name.to_owned(), meaning: in_words(language, meaning) })
}

/// A definition of a macro that is not the problem's.
enum Definition {
    /// The compiler's own.
    OfCompiler,
    /// The one at this place of a header.
    InHeader(SourcePlace),
}

impl Definition {
    fn place(self) -> Option<SourcePlace> {
        match self {
            Self::OfCompiler => None,
            Self::InHeader(place) => Some(place),
        }
    }
}

/// The preprocessor's view of the kernels in C and C++, with and without the problem's macros.
struct Traces {
    languages: Vec<Language>,
    /// With them.
    full: String,
    /// Without them. If the sources need them, the compiler's own macros alone.
    bare: String,
}

impl Traces {
    fn of(live: &LiveEvaluator, scope: &Scope) -> Self {
        let languages: Vec<Language> = live.options.spec.kernels.iter().map(|kernel| kernel.language).collect();
        // What the system's compiler defines says nothing about the compilers of devices.
        if !languages.iter().all(|language| matches!(language, Language::C | Language::Cpp)) {
            return Self { languages, full: String::new(), bare: String::new() };
        }
        let bare = live.preprocessed(scope, Form::Bare).or_else(|| live.preprocessed(scope, Form::Empty));
        let bare = bare.unwrap_or_default();
        let definitions = traced(&bare).filter(|line| line.is_system).filter_map(|line| line.definition());
        let is_needed = definitions.into_iter().any(|(name, _)| scope.get(name).is_some());
        let full = is_needed.then(|| live.preprocessed(scope, Form::Trace)).flatten().unwrap_or_default();
        Self { languages, full, bare }
    }

    /// Returns the definition that contradicts the macro `name` of `scope`.
    fn redefinition(&self, name: &str, scope: &Scope) -> Option<Definition> {
        let value = scope.get(name)?.define();
        let defines = |line: &TraceLine<'_>| line.definition().is_some_and(|(known, of)| known == name && of != value);
        let is_own = |language: &Language| language.meaning(name) == Some(Meaning::Macro);
        if self.languages.iter().any(is_own) || traced(&self.bare).any(|line| line.is_built_in() && defines(&line)) {
            return Some(Definition::OfCompiler);
        }
        traced(&self.full).find(|line| line.is_system && defines(line)).map(|line| Definition::InHeader(line.place()))
    }

    /// Returns the first place where code of a system's header uses `name`.
    fn use_in_header(&self, name: &str) -> Option<SourcePlace> {
        let is_use = |line: &TraceLine<'_>| {
            line.is_system && !line.text.trim_start().starts_with('#') && mentions(line.text, name)
        };
        traced(&self.bare).find(is_use).map(|line| line.place())
    }
}
