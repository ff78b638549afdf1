//! Loop nests as the kernel of a problem: `[kernel] file = "x.nest"`.

use crate::diagnostic::Messages;
use crate::kernel::KernelPlaces;
use crate::nest_data;
use crate::nests::{NestGenerator, arguments, in_words};
use crate::tree::{Node, Section};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use tunesmith_device::{Argument, ArgumentKind, CudaCompiler, Kernel, Language, Reference};
use tunesmith_loopnest::{Dialect, NestError, Recipe, codegen, count};
use tunesmith_space::did_you_mean;
use tunesmith_space::lookup;
use tunesmith_space::{Parameter, Value};

/// A nest to tune. The tuning parameters are those of its transformations.
#[derive(Clone, Debug)]
pub struct NestKernel {
    /// The nest and its transformations.
    pub recipe: Arc<Recipe>,
    /// The values of the nest's sizes, in their order.
    pub sizes: Vec<i64>,
    file: PathBuf,
    function: String,
    options: Vec<tunesmith_device::Template>,
    arguments: usize,
}

impl NestKernel {
    /// Returns the values that the nest states for the parameters of its transformations.
    pub(crate) fn defaults(&self) -> Vec<(&str, Value)> {
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
            reading: tunesmith_device::Reading::default(),
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

/// The kernel of a nest, with the other parts of a problem that the nest defines.
pub(crate) struct Read {
    pub(crate) nest: NestKernel,
    pub(crate) places: KernelPlaces,
    pub(crate) arguments: Vec<(Argument, Range<usize>)>,
}

/// Returns true if `[kernel]` is a nest.
pub(crate) fn is_nest(kernel: &Node<'_>) -> bool {
    let section = if kernel.is_table() { kernel.section() } else { None };
    let file = section.and_then(|section| section.get("file"));
    file.and_then(|node| node.scalar()).is_some_and(|file| is_file(&file))
}

/// Returns true if `file` names a file with a loop nest.
pub(crate) fn is_file(file: &Value) -> bool {
    matches!(file, Value::Str(name) if name.ends_with(".nest"))
}

/// Reads the nest with the problem's sizes. The arguments in `stated`, which the file declares,
/// replace those of the nest.
pub(crate) fn read(
    section: &Section<'_>,
    sizes: &[(String, Value)],
    stated: Vec<(Argument, Range<usize>)>,
    messages: &Messages,
) -> Option<Read> {
    section.allow(&["file", "options"]);
    let node = section.get("file")?;
    let file = messages.source.folder().join(node.string()?);
    let wrong = |text: String, remedy: Option<String>| node.error(format!("`{}`: {text}", file.display()), remedy);
    let nested = |error: &NestError| wrong(in_words(error), error.remedy.clone());
    let text = tunesmith_files::read_text(&file, tunesmith_files::TEXT).map_err(|error| wrong(error.to_string(), None));
    let recipe = text.ok()?.parse::<Recipe>().map_err(|error| nested(&error)).ok()?;
    let value = |name: &String| match lookup(sizes, name) {
        Some(Value::Int(value)) => Some(value),
        _ => {
            let remedy = format!("write `[problem] sizes = {{ {name} = 1024 }}`");
            wrong(format!("its size `{name}` has no integer value"), Some(remedy));
            None
        }
    };
    let values: Vec<i64> =
        recipe.nest.sizes.iter().map(value).collect::<Vec<_>>().into_iter().collect::<Option<_>>()?;
    if let Some(array) = looked_up(&recipe, &stated) {
        let remedy = format!(
            "state its contents: `[[arguments]] name = \"{array}\", fill = \"file\", path = \"{array}.npy\"`, or a \
                 generator"
        );
        wrong(format!("values are looked up in `{array}`, which would be filled at random"), Some(remedy));
        return None;
    }
    if !recipe.nest.admits(&values) {
        wrong("the sizes break an assumption of the nest".to_string(), Some("change `sizes`".to_string()));
        return None;
    }
    match count::outside(&recipe.nest) {
        Ok(outside) => outside.refuse(&values).map_err(|error| nested(&error)).ok()?,
        Err(error) => {
            messages.warning(node.span(), format!("`{}`: {}", file.display(), in_words(&error)), error.remedy);
        }
    }
    let code = codegen::source(&recipe.nest, Dialect::C).map_err(|error| nested(&error)).ok()?;
    let derived = arguments(&recipe.nest, &code.parameters, &values).map_err(|text| wrong(text, None)).ok()?;
    let arguments = overridden(derived, stated, &node, messages);
    if !nest_data::check((&recipe.nest, node.span()), &values, sizes, &arguments, messages) {
        return None;
    }
    let options = crate::kernel::options(section.get("options"), messages.source.folder()).templates;
    let places = KernelPlaces { file: node.span(), function: node.span() };
    let nest = NestKernel {
        recipe: Arc::new(recipe),
        sizes: values,
        function: code.function,
        options,
        arguments: arguments.len(),
        file: file.clone(),
    };
    Some(Read { nest, places, arguments })
}

/// Returns an array that bounds or subscripts are looked up in, but whose contents the problem does
/// not state.
fn looked_up<'a>(recipe: &'a Recipe, stated: &[(Argument, Range<usize>)]) -> Option<&'a str> {
    let arrays = recipe.nest.lookups.iter().map(|lookup| recipe.nest.array(lookup.access.array).name.as_str());
    arrays.into_iter().find(|array| !stated.iter().any(|(argument, _)| argument.name == *array))
}

/// Returns the arguments of the nest, with the file's own arguments in their places.
fn overridden(
    derived: Vec<Argument>,
    stated: Vec<(Argument, Range<usize>)>,
    node: &Node<'_>,
    messages: &Messages,
) -> Vec<(Argument, Range<usize>)> {
    for (own, place) in &stated {
        if !derived.iter().any(|argument| argument.name == own.name) {
            let remedy = did_you_mean(&own.name, derived.iter().map(|argument| argument.name.as_str()));
            messages.error(place.clone(), format!("the nest has no array or argument `{}`", own.name), remedy);
        }
    }
    let choose = |argument: Argument| {
        let Some((own, place)) = stated.iter().find(|(own, _)| own.name == argument.name) else {
            return (argument, node.span());
        };
        if !fits(&argument, own) {
            let remedy = format!("the nest has {} with {} bytes", argument.element, argument.bytes().unwrap_or(0));
            messages.error(place.clone(), format!("`{}` is declared otherwise in the nest", own.name), Some(remedy));
        }
        (own.clone(), place.clone())
    };
    derived.into_iter().map(choose).collect()
}

fn fits(nest: &Argument, own: &Argument) -> bool {
    let same_kind = std::mem::discriminant::<ArgumentKind>(&nest.kind) == std::mem::discriminant(&own.kind);
    nest.element == own.element && nest.bytes() == own.bytes() && same_kind
}

/// Reports tuning parameters that no transformation takes.
pub(crate) fn check_parameters(
    nest: &NestKernel,
    parameters: &[Parameter],
    places: &[Range<usize>],
    messages: &Messages,
) {
    let known = || nest.recipe.parameters.iter().map(|parameter| parameter.name.as_str());
    for (parameter, place) in parameters.iter().zip(places) {
        if !known().any(|name| name == parameter.name()) {
            let remedy = did_you_mean(parameter.name(), known())
                .unwrap_or_else(|| format!("its parameters are {}", known().collect::<Vec<_>>().join(", ")));
            let text = format!("no transformation of the nest takes a parameter `{}`", parameter.name());
            messages.error(place.clone(), text, Some(remedy));
        }
    }
}
