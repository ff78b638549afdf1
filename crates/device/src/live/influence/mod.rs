//! Looks for parameters that have no effect, and for names that cannot be macros.

mod collisions;
mod keywords;
mod preprocess;
mod sources;

pub(super) use keywords::blamed;
pub use sources::SourcePlace;

use super::LiveEvaluator;
use keywords::free;
use preprocess::{Form, traced};
use sources::{Sources, mentions, tokens};
use std::fmt;
use tunesmith_kernel::{Argument, Kernel, KernelSpec, Scope};
use tunesmith_space::{ConfigId, Parameter};

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
        /// True if constraints name it.
        is_constrained: bool,
    },
    /// The source declares the name of a parameter or size, which is a macro there.
    Clash {
        /// The parameter or size.
        name: String,
        /// The declaration.
        place: SourcePlace,
    },
    /// The language gives the name of a parameter or size a meaning.
    Reserved {
        /// The parameter or size.
        name: String,
        /// The meaning, as part of a message: "a keyword of C".
        meaning: String,
    },
    /// One of the system's headers uses the name of a parameter or size for something else.
    InHeader {
        /// The parameter or size.
        name: String,
        /// The use.
        place: SourcePlace,
    },
    /// The compiler, or a header of the system, defines the macro of a parameter or size, too.
    Redefined {
        /// The parameter or size.
        name: String,
        /// The definition in a header. `None` for a macro that the compiler has without any header.
        place: Option<SourcePlace>,
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
            Self::Unused { name, is_constrained } => {
                let besides = if *is_constrained { "besides constraints, " } else { "" };
                write!(f, "{besides}nothing depends on parameter `{name}`: neither a source nor an option nor a size")
            }
            Self::Clash { name, place } => {
                write!(f, "`{name}` is a macro (-D{name}=VALUE), but {place} declares something of this name")
            }
            Self::Reserved { name, meaning } => {
                write!(f, "`{name}` is {meaning}, and the macro of this name (-D{name}=VALUE) replaces it everywhere")
            }
            Self::InHeader { name, place } => {
                write!(f, "`{name}` is a macro (-D{name}=VALUE), but {place} uses the name for something else")
            }
            Self::Redefined { name, place: Some(place) } => {
                write!(f, "`{name}` does not keep its value (-D{name}=VALUE): {place} defines it to something else")
            }
            Self::Redefined { name, place: None } => {
                write!(
                    f,
                    "the compiler defines the macro `{name}` itself: -D{name}=VALUE replaces that value in headers, \
                     too, or is lost"
                )
            }
        }
    }
}

impl Doubt {
    /// Returns the name of the parameter or size.
    pub fn name(&self) -> &str {
        match self {
            Self::Overridden { name, .. }
            | Self::Unused { name, .. }
            | Self::Clash { name, .. }
            | Self::Reserved { name, .. }
            | Self::InHeader { name, .. }
            | Self::Redefined { name, .. } => name,
        }
    }

    /// Returns true if the doubt explains why a kernel does not compile.
    pub fn explains_failure(&self) -> bool {
        matches!(self, Self::Clash { .. } | Self::Reserved { .. } | Self::InHeader { .. })
    }

    /// Returns the advice for users.
    pub fn remedy(&self) -> String {
        match self {
            Self::Overridden { .. } => "write the definition between `#ifndef` and `#endif`, or remove it".to_owned(),
            Self::Unused { is_constrained: false, .. } => "use it in the kernel, or remove it".to_owned(),
            Self::Unused { is_constrained: true, .. } => {
                "use it in the kernel, or remove it and the constraints on it".to_owned()
            }
            Self::Clash { name, .. } => {
                format!(
                    "rename one of them, for example to `{}`, or use the macro in place of the declaration",
                    free(name)
                )
            }
            Self::Reserved { name, .. } | Self::InHeader { name, .. } | Self::Redefined { name, .. } => {
                format!("rename it in the problem and in the kernel, for example to `{}`", free(name))
            }
        }
    }
}

/// The number of configurations, spread over the space, that must agree that a parameter has no effect.
const WITNESSES: u128 = 4;

impl LiveEvaluator {
    /// Returns a doubt for every parameter that has no effect on the kernels: no source, option or
    /// expression names it, or a source defines it to something else in any case. The preprocessed
    /// sources of several configurations, `config` among them, must be the same for two of its values.
    /// Of alternative kernels, each is examined where it is chosen.
    ///
    /// A parameter whose name some source mentions is not doubted: few configurations tell nothing
    /// about a condition such as `#if A == 8 && B == 2`.
    pub fn ineffective(&self, config: ConfigId) -> Vec<Doubt> {
        let spec = &self.options.spec;
        // A generator may use any parameter.
        if spec.kernels.iter().any(|kernel| kernel.generator.is_some()) {
            return Vec::new();
        }
        let scope = self.scope(config);
        let kernels = Sources::of_kernels(&spec.kernels);
        let of_reference = |reference| Sources::of_reference(reference, &spec.kernels);
        let reference = spec.verify.reference.as_ref().map(of_reference).unwrap_or_default();
        let is_read = kernels.is_complete() && (spec.verify.reference.is_none() || reference.is_complete());
        let doubt = |parameter: &Parameter| {
            let name = parameter.name();
            let definition = kernels.own_definition(name);
            match definition {
                Some(definition) if definition.is_certain => {
                    let is_sure = self.is_without_effect(parameter, config).unwrap_or(kernels.count() == 1);
                    is_sure.then(|| Doubt::Overridden { name: name.to_owned(), place: definition.place })
                }
                Some(_) => None,
                None => {
                    let is_named = uses(spec, name) || kernels.mention(name) || reference.mention(name);
                    let is_unused = !is_named
                        && is_read
                        && !self.headers_test(&kernels, &scope, name)
                        && self.is_without_effect(parameter, config).unwrap_or(true);
                    is_unused
                        .then(|| Doubt::Unused { name: name.to_owned(), is_constrained: self.is_constrained(name) })
                }
            }
        };
        // A parameter of one value is a name for it, if no more.
        let is_tuned = |parameter: &&Parameter| scope.get(parameter.name()).is_some() && parameter.values().len() > 1;
        self.space.parameters().iter().filter(is_tuned).filter_map(doubt).collect()
    }

    /// Returns true if another value of the parameter changes the preprocessed sources in none of
    /// several configurations. `None` if no source can be preprocessed.
    fn is_without_effect(&self, parameter: &Parameter, config: ConfigId) -> Option<bool> {
        let step = (u128::try_from(self.space.size()).unwrap_or(u128::MAX) / WITNESSES).max(1);
        let others = (0..WITNESSES).filter_map(|at| self.space.id(at * step)).filter(|other| *other != config);
        let mut answer = None;
        for config in std::iter::once(config).chain(others) {
            let scope = self.scope(config);
            let is_other = |value: &&_| Some(*value) != scope.get(parameter.name());
            let Some(other) = parameter.values().iter().find(is_other) else { continue };
            let changed = scope.with(parameter.name(), other);
            let texts = [&scope, &changed].map(|scope| self.preprocessed(scope, Form::Code));
            match texts {
                [Some(before), Some(after)] if before == after => answer = Some(true),
                // One value lets the preprocessor fail, and the other one does not.
                [Some(_), _] | [_, Some(_)] => return Some(false),
                [None, None] => {}
            }
        }
        answer
    }

    /// Returns true if a header of the system may test the macro `name`: a directive there mentions it, or
    /// nobody can tell which headers there are.
    fn headers_test(&self, sources: &Sources, scope: &Scope, name: &str) -> bool {
        if !sources.have_system_headers() {
            return false;
        }
        let Some(trace) = self.preprocessed(scope, Form::Trace) else { return true };
        let mut files: Vec<&str> = traced(&trace).filter(|line| line.is_system).map(|line| line.file).collect();
        files.sort_unstable();
        files.dedup();
        files.into_iter().any(|file| {
            let text = preprocess::whole(file.as_ref(), tunesmith_files::TEXT).unwrap_or_default();
            text.contains(name)
                && text.lines().any(|line| line.trim_start().starts_with('#') && mentions(&sources::code(line), name))
        })
    }

    fn is_constrained(&self, name: &str) -> bool {
        let mut names = self.space.constraints().iter().flat_map(|constraint| constraint.expr().names());
        names.any(|used| used.text == name)
    }
}

/// Returns true if `name` stands in an expression of an argument or a kernel, in an option, or in the
/// name of a function, which may be an instance of a template, or if it chooses among kernels.
fn uses(spec: &KernelSpec, name: &str) -> bool {
    let arguments = spec.arguments.iter().flat_map(Argument::expressions);
    let mut expressions = arguments.chain(spec.kernels.iter().flat_map(Kernel::expressions));
    let mut choices = spec.kernels.iter().filter_map(|kernel| kernel.alternative.as_ref());
    let mut functions = spec.kernels.iter().flat_map(|kernel| tokens(kernel.function.as_str()));
    let mut options = spec.kernels.iter().flat_map(|kernel| &kernel.options);
    expressions.any(|expr| expr.names().iter().any(|used| used.text == name))
        || functions.any(|token| token.text == name)
        || choices.any(|alternative| alternative.parameter == name)
        || options.any(|option| option.names().any(|used| used == name))
}

#[cfg(test)]
mod tests;
