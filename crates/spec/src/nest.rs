//! Loop nests as the kernel of a problem.

use crate::arguments::StatedArgument;
use crate::draft::NestDraft;
use crate::fault::{Faults, Key};
use crate::nest_data;
use crate::nests::{NestGenerator, arguments, in_words};
use crate::values::Sizes;
use std::path::PathBuf;
use std::sync::Arc;
use tunesmith_kernel::{Argument, ArgumentKind, CudaCompiler, Kernel, Language, Reference};
use tunesmith_loopnest::{Dialect, NestError, Recipe, codegen, count};
use tunesmith_space::{Parameter, Value, did_you_mean, lookup};

/// A nest to tune. The tuning parameters are those of its transformations.
#[derive(Clone, Debug)]
pub struct NestKernel {
    /// The nest and its transformations.
    pub recipe: Arc<Recipe>,
    /// The values of the nest's sizes, in their order.
    pub sizes: Vec<i64>,
    file: PathBuf,
    function: String,
    options: Vec<tunesmith_kernel::Template>,
    arguments: usize,
}

impl NestKernel {
    /// Returns the values that the nest states for the parameters of its transformations.
    pub fn defaults(&self) -> Vec<(&str, Value)> {
        let stated = self.recipe.parameters.iter();
        stated.map(|parameter| (parameter.name.as_str(), Value::Int(parameter.default))).collect()
    }

    /// Returns the kernel in a language that devices compile.
    pub fn kernel(&self, language: Language) -> Kernel {
        let generator = NestGenerator::new(Arc::clone(&self.recipe), self.sizes.clone(), language);
        Kernel {
            name: self.recipe.nest.name.clone(),
            language,
            file: self.file.clone(),
            options: generator.options().into_iter().chain(self.options.iter().cloned()).collect(),
            generator: Some(Arc::new(generator)),
            reading: tunesmith_kernel::Reading::default(),
            sources: Vec::new(),
            include: Vec::new(),
            function: self.function.clone().into(),
            arguments: (0..self.arguments).collect(),
            repeat: None,
            work: None,
            cuda_compiler: CudaCompiler::default(),
            alternative: None,
        }
    }

    /// Returns the nest without its transformations, in C.
    pub fn reference(&self) -> Reference {
        let generator = NestGenerator::reference(Arc::clone(&self.recipe), self.sizes.clone());
        let reference = Reference::new(Language::C, self.file.clone(), self.function.clone());
        Reference { options: generator.options(), generator: Some(Arc::new(generator)), ..reference }
    }
}

/// The context for reading a nest.
struct Reader<'a> {
    draft: &'a NestDraft,
    sizes: Sizes<'a>,
    /// The part of the problem that names the file.
    key: Key,
}

/// Reads the nest with the problem's sizes. The arguments in `stated`, which the problem declares, replace those of
/// the nest.
pub(crate) fn read(
    draft: &NestDraft,
    sizes: Sizes<'_>,
    stated: Vec<StatedArgument>,
) -> Option<(NestKernel, Vec<StatedArgument>)> {
    let reader = Reader { draft, sizes, key: key() };
    let recipe = reader.recipe()?;
    let values = reader.values(&recipe)?;
    reader.check_nest(&recipe, &values, &stated)?;
    let code = codegen::source(&recipe.nest, Dialect::C).map_err(|error| reader.nested(&error)).ok()?;
    let derived = arguments(&recipe.nest, &code.parameters, &values).map_err(|text| reader.wrong(&text, None)).ok()?;
    let arguments = reader.overridden(derived, stated);
    nest_data::check((&recipe.nest, &reader.key), &values, &arguments, sizes).then_some(())?;
    let nest = NestKernel {
        recipe: Arc::new(recipe),
        sizes: values,
        function: code.function,
        options: draft.options.templates.clone(),
        arguments: arguments.len(),
        file: draft.file.clone(),
    };
    Some((nest, arguments))
}

/// Returns the part of the problem that names the file of a nest.
pub(crate) fn key() -> Key {
    Key::of("kernel").field("file")
}

impl Reader<'_> {
    fn wrong(&self, text: &str, remedy: Option<String>) {
        self.sizes.faults.error(self.key.clone(), format!("`{}`: {text}", self.draft.file.display()), remedy);
    }

    fn nested(&self, error: &NestError) {
        self.wrong(&in_words(error), error.remedy.clone());
    }

    fn recipe(&self) -> Option<Recipe> {
        let text = tunesmith_files::read_text(&self.draft.file, tunesmith_files::TEXT);
        let text = text.map_err(|error| self.wrong(&error.to_string(), None)).ok()?;
        text.parse::<Recipe>().map_err(|error| self.nested(&error)).ok()
    }

    /// Returns the values of the nest's sizes.
    fn values(&self, recipe: &Recipe) -> Option<Vec<i64>> {
        let value = |name: &String| match lookup(self.sizes.sizes, name) {
            Some(Value::Int(value)) => Some(value),
            _ => {
                let remedy = format!("write `[problem] sizes = {{ {name} = 1024 }}`");
                self.wrong(&format!("its size `{name}` has no integer value"), Some(remedy));
                None
            }
        };
        let values: Vec<Option<i64>> = recipe.nest.sizes.iter().map(value).collect();
        values.into_iter().collect()
    }

    /// Checks that the nest can run with `values` of its sizes.
    fn check_nest(&self, recipe: &Recipe, values: &[i64], stated: &[StatedArgument]) -> Option<()> {
        if let Some(array) = looked_up(recipe, stated) {
            let remedy = format!(
                "state its contents: `[[arguments]] name = \"{array}\", fill = \"file\", path = \"{array}.npy\"`, or a \
                 generator"
            );
            self.wrong(&format!("values are looked up in `{array}`, which would be filled at random"), Some(remedy));
            return None;
        }
        if !recipe.nest.admits(values) {
            self.wrong("the sizes break an assumption of the nest", Some("change `sizes`".to_string()));
            return None;
        }
        match count::outside(&recipe.nest) {
            Ok(outside) => outside.refuse(values).map_err(|error| self.nested(&error)).ok(),
            Err(error) => {
                let text = format!("`{}`: {}", self.draft.file.display(), in_words(&error));
                self.sizes.faults.warning(self.key.clone(), text, error.remedy);
                Some(())
            }
        }
    }

    /// Returns the arguments of the nest, with the problem's own arguments in their places.
    fn overridden(&self, derived: Vec<Argument>, stated: Vec<StatedArgument>) -> Vec<StatedArgument> {
        let faults = self.sizes.faults;
        for (own, key) in &stated {
            if !derived.iter().any(|argument| argument.name == own.name) {
                let remedy = did_you_mean(&own.name, derived.iter().map(|argument| argument.name.as_str()));
                faults.error(key.clone(), format!("the nest has no array or argument `{}`", own.name), remedy);
            }
        }
        let choose = |argument: Argument| {
            let Some((own, key)) = stated.iter().find(|(own, _)| own.name == argument.name) else {
                return (argument, self.key.clone());
            };
            if !fits(&argument, own) {
                let remedy = format!("the nest has {} with {} bytes", argument.element, argument.bytes().unwrap_or(0));
                let text = format!("`{}` is declared otherwise in the nest", own.name);
                faults.error(key.clone(), text, Some(remedy));
            }
            (own.clone(), key.clone())
        };
        derived.into_iter().map(choose).collect()
    }
}

/// Returns an array that bounds or subscripts are looked up in, but whose contents the problem does
/// not state.
fn looked_up<'a>(recipe: &'a Recipe, stated: &[StatedArgument]) -> Option<&'a str> {
    let arrays = recipe.nest.lookups.iter().map(|lookup| recipe.nest.array(lookup.access.array).name.as_str());
    arrays.into_iter().find(|array| !stated.iter().any(|(argument, _)| argument.name == *array))
}

fn fits(nest: &Argument, own: &Argument) -> bool {
    let same_kind = std::mem::discriminant::<ArgumentKind>(&nest.kind) == std::mem::discriminant(&own.kind);
    nest.element == own.element && nest.bytes() == own.bytes() && same_kind
}

/// Reports tuning parameters that no transformation takes.
pub(crate) fn check_parameters(nest: &NestKernel, parameters: &[(Parameter, Key)], faults: &Faults) {
    let known = || nest.recipe.parameters.iter().map(|parameter| parameter.name.as_str());
    for (parameter, key) in parameters {
        if !known().any(|name| name == parameter.name()) {
            let remedy = did_you_mean(parameter.name(), known())
                .unwrap_or_else(|| format!("its parameters are {}", known().collect::<Vec<_>>().join(", ")));
            let text = format!("no transformation of the nest takes a parameter `{}`", parameter.name());
            faults.error(key.clone(), text, Some(remedy));
        }
    }
}
