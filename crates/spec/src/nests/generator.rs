//! Generates source code from a nest, for every configuration of its transformations.

use super::{dialect, in_words};
use std::sync::Arc;
use tunesmith_kernel::{Generated, Generator, Grid, Language, Scope, Template};
use tunesmith_loopnest::{Memory, Nest, Recipe, codegen};
use tunesmith_space::Value;

/// The generator of a nest's kernels.
#[derive(Debug)]
pub struct NestGenerator {
    recipe: Arc<Recipe>,
    sizes: Vec<i64>,
    language: Language,
    /// True to apply the transformations. Without them, the nest is the reference.
    transformed: bool,
}

impl NestGenerator {
    /// Creates a generator of the kernels of a recipe for these sizes.
    pub fn new(recipe: Arc<Recipe>, sizes: Vec<i64>, language: Language) -> Self {
        Self { recipe, sizes, language, transformed: true }
    }

    /// Creates a generator of the nest as it was written, as a function in C.
    pub fn reference(recipe: Arc<Recipe>, sizes: Vec<i64>) -> Self {
        Self { recipe, sizes, language: Language::C, transformed: false }
    }

    /// Returns the options with which its sources should be compiled. A problem's own options come
    /// after them and may undo them.
    pub fn options(&self) -> Vec<Template> {
        let of_c: &[&str] = if self.language == Language::C { &codegen::C_OPTIONS } else { &[] };
        of_c.iter().filter_map(|option| Template::parse(option).ok()).collect()
    }

    /// Returns the nest of the configuration that `scope` describes.
    pub fn nest(&self, scope: &Scope) -> Result<Nest, String> {
        if !self.transformed {
            return Ok(self.recipe.nest.clone());
        }
        let value = |name: &str| match scope.get(name) {
            None => Ok(None),
            Some(Value::Int(value)) => Ok(Some(*value)),
            Some(other) => Err(format!("`{name}` is {other}, but transformations take integers")),
        };
        let mut values = Vec::new();
        for parameter in &self.recipe.parameters {
            values.extend(value(&parameter.name)?.map(|value| (parameter.name.as_str(), value)));
        }
        let nest = self.recipe.apply(&values).map_err(|error| in_words(&error))?;
        match moved(&self.recipe.nest, &nest) {
            Some(array) => Err(format!("a transformation changes the layout of `{array}`, which the caller fills")),
            None => Ok(nest),
        }
    }
}

/// Returns the name of a global array whose cells have moved.
fn moved<'a>(before: &'a Nest, after: &Nest) -> Option<&'a str> {
    let lies_elsewhere = |array: &&tunesmith_loopnest::Array| {
        let now = after.arrays.iter().find(|other| other.name == array.name);
        array.memory == Memory::Global && now.is_none_or(|now| now.layout != array.layout)
    };
    before.arrays.iter().find(lies_elsewhere).map(|array| array.name.as_str())
}

impl Generator for NestGenerator {
    fn generate(&self, scope: &Scope) -> Result<Generated, String> {
        let nest = self.nest(scope)?;
        let code = codegen::source(&nest, dialect(self.language)).map_err(|error| in_words(&error))?;
        if !self.language.has_work_items() {
            return Ok(Generated { text: code.text, grid: None });
        }
        let items = |number: i128| usize::try_from(number).ok().filter(|number| *number > 0);
        let none = || "there are no work-groups in these sizes".to_string();
        let local: Option<Vec<usize>> =
            nest.local_size().map_err(|error| in_words(&error))?.into_iter().map(items).collect();
        let groups: Option<Vec<usize>> = nest.group_counts(&self.sizes).into_iter().map(items).collect();
        let (local, groups) = (local.ok_or_else(none)?, groups.ok_or_else(none)?);
        let global = local.iter().zip(&groups).map(|(local, groups)| local * groups).collect();
        Ok(Generated { text: code.text, grid: Some(Grid { global, local: Some(local) }) })
    }

    fn identity(&self) -> String {
        format!("{}\n{:?}\n{:?}", self.recipe.nest, self.recipe.steps, self.sizes)
    }
}
