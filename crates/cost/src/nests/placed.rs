//! A loop nest in the form that commands take it: a file, sizes, and parameters of its
//! transformations.

use super::in_words;
use crate::Error;
use std::path::Path;
use tunesmith_loopnest::{Nest, NestError, Recipe, count};
use tunesmith_space::did_you_mean;

/// A transformed nest with values for its sizes.
pub(crate) struct PlacedNest {
    /// The nest after its transformations.
    pub(crate) nest: Nest,
    /// The values of its sizes, in its order.
    pub(crate) sizes: Vec<i64>,
    /// The parameters of its transformations.
    pub(crate) config: Vec<(String, i64)>,
}

impl PlacedNest {
    /// Transforms the nest that was read from `path`. Parameters that `config` does not name have
    /// their defaults.
    ///
    /// # Errors
    ///
    /// Fails if a size or parameter has no value, is unknown or breaks an assumption, if an access
    /// leaves its array, or if a transformation is refused.
    pub(crate) fn new(
        recipe: &Recipe,
        path: &Path,
        named_sizes: &[(String, String)],
        named_config: &[(String, String)],
    ) -> Result<Self, Error> {
        let refused = |error: NestError| wrong(path, &in_words(&error), error.remedy);
        let sizes = sizes(&recipe.nest, path, named_sizes)?;
        let config = config(recipe, path, named_config)?;
        let values: Vec<(&str, i64)> = config.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let nest = recipe.apply(&values).map_err(refused)?;
        if !nest.admits(&sizes) {
            let remedy = "give sizes that satisfy the `assume` lines of the nest".to_string();
            return Err(wrong(path, "the sizes break an assumption of the nest", Some(remedy)));
        }
        count::outside(&recipe.nest).and_then(|outside| outside.refuse(&sizes)).map_err(refused)?;
        Ok(Self { nest, sizes, config })
    }
}

/// Reads a nest with its transformations.
///
/// # Errors
///
/// Fails if the file cannot be read or is not a nest.
pub(crate) fn read(path: &Path) -> Result<Recipe, Error> {
    let text = tunesmith_files::read_text(path, tunesmith_files::TEXT)
        .map_err(|error| wrong(path, &error.to_string(), Some("name a file with a loop nest".to_string())))?;
    // For another file, such as a problem, the first line that is not part of a nest is not the
    // fault.
    let is_nest = path.extension().is_some_and(|suffix| suffix == "nest");
    let other = (!is_nest).then(|| "name a loop nest (`.nest`); a problem names that of its kernel".to_string());
    text.parse::<Recipe>().map_err(|error| wrong(path, &in_words(&error), other.or(error.remedy)))
}

/// Returns the error for a request that the nest at `path` does not allow.
pub(super) fn wrong(path: &Path, text: &str, remedy: Option<String>) -> Error {
    Error::request(format!("`{}`: {text}", path.display()), remedy)
}

/// Returns the values of the nest's sizes in its order.
fn sizes(nest: &Nest, path: &Path, named: &[(String, String)]) -> Result<Vec<i64>, Error> {
    all_known("size", named, &nest.sizes, path)?;
    let value = |name: &String| match given(named, name)? {
        Some(value) => Ok(value),
        None => {
            let remedy = Some(format!("give `--size {name}=1024`"));
            Err(wrong(path, &format!("its size `{name}` has no value"), remedy))
        }
    };
    nest.sizes.iter().map(value).collect()
}

/// Returns the parameters of the transformations with their values.
fn config(recipe: &Recipe, path: &Path, named: &[(String, String)]) -> Result<Vec<(String, i64)>, Error> {
    let names: Vec<String> = recipe.parameters.iter().map(|parameter| parameter.name.clone()).collect();
    all_known("parameter", named, &names, path)?;
    let value = |parameter: &tunesmith_loopnest::Parameter| {
        let value = given(named, &parameter.name)?.unwrap_or(parameter.default);
        Ok((parameter.name.clone(), value))
    };
    recipe.parameters.iter().map(value).collect()
}

fn all_known(what: &str, given: &[(String, String)], known: &[String], path: &Path) -> Result<(), Error> {
    match given.iter().find(|(name, _)| !known.contains(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let all = || format!("it has {}", if known.is_empty() { "none".to_string() } else { known.join(", ") });
            let remedy = did_you_mean(name, known.iter().map(String::as_str)).unwrap_or_else(all);
            Err(wrong(path, &format!("the nest has no {what} `{name}`"), Some(remedy)))
        }
    }
}

/// Returns the value of a name. If it is given twice, the last value counts.
fn given(values: &[(String, String)], name: &str) -> Result<Option<i64>, Error> {
    let Some((_, text)) = values.iter().rev().find(|(known, _)| known == name) else { return Ok(None) };
    let wrong = || Error::request(format!("`{name}={text}` is not an integer"), Some(format!("write `{name}=1024`")));
    text.parse().map(Some).map_err(|_| wrong())
}
