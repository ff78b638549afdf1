//! What a loop nest does at given sizes, counted without running it.

use super::in_words;
use crate::Error;
use crate::suggest::did_you_mean;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::path::{Path, PathBuf};
use tunesmith_loopnest::{ArrayId, Memory, Nest, NestError, Recipe};

/// What to count.
#[derive(Clone, Debug, Default)]
pub struct CountOptions {
    /// The nest, with its transformations.
    pub kernel: PathBuf,
    /// A value for each of its sizes.
    pub sizes: Vec<(String, String)>,
    /// Values for parameters of its transformations, in place of those that it states.
    pub config: Vec<(String, String)>,
}

/// What a loop nest does at given sizes. Its JSON form is that of `count --json`.
#[derive(Clone, Debug, Serialize)]
pub struct NestCount {
    /// The name of the nest.
    pub kernel: String,
    /// Its sizes, in its order.
    pub sizes: Map<String, Json>,
    /// The parameters of its transformations.
    pub config: Map<String, Json>,
    /// The properties with a count that is not zero.
    pub properties: Vec<PropertyCount>,
    /// The arrays in global memory.
    pub footprints: Vec<ArrayFootprint>,
}

/// How often a nest does one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PropertyCount {
    /// The property as the guide to loop nests names it.
    pub property: String,
    /// The count, over all work-items.
    pub count: i128,
}

/// What a nest touches of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArrayFootprint {
    /// The name of the array.
    pub array: String,
    /// Bytes that are touched at least once; `None` where they cannot be counted exactly.
    pub bytes: Option<i128>,
    /// Why they cannot be counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Counts what a loop nest does, by the properties of the cost model. Cost: some milliseconds, whatever the sizes.
///
/// # Errors
///
/// Where the file cannot be read or is no nest, a size or parameter has no value, an unknown one or one that breaks an
/// assumption, an access leaves its array, a transformation is refused, or a property cannot be counted exactly. That a footprint cannot be
/// counted is said in its place.
pub fn count(options: &CountOptions) -> Result<NestCount, Error> {
    let path = &options.kernel;
    let refused = |error: NestError| wrong(path, &in_words(&error), error.remedy);
    let text = std::fs::read_to_string(path)
        .map_err(|error| wrong(path, &error.to_string(), Some("name a file with a loop nest".to_string())))?;
    let recipe = Recipe::parse(&text).map_err(refused)?;
    let sizes = sizes(&recipe.nest, options)?;
    let config = config(&recipe, options)?;
    let values: Vec<(&str, i64)> = config.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let nest = recipe.apply(&values).map_err(refused)?;
    if !nest.admits(&sizes) {
        let remedy = "give sizes that keep what the nest takes for granted with `assume`".to_string();
        return Err(wrong(path, "the sizes break an assumption of the nest", Some(remedy)));
    }
    recipe.nest.outside().and_then(|outside| outside.refuse(&sizes)).map_err(refused)?;
    let counts = nest.count().map_err(refused)?;
    let found = counts.evaluate(&sizes).map_err(refused)?;
    let counted = counts.properties().iter().zip(found).filter(|(_, count)| *count != 0);
    Ok(NestCount {
        kernel: nest.name.clone(),
        sizes: nest.sizes.iter().cloned().zip(sizes.iter().map(|size| Json::from(*size))).collect(),
        config: config.iter().map(|(name, value)| (name.clone(), Json::from(*value))).collect(),
        properties: counted.map(|(property, count)| PropertyCount { property: property.to_string(), count }).collect(),
        footprints: footprints(&nest, &sizes),
    })
}

fn wrong(path: &Path, text: &str, remedy: Option<String>) -> Error {
    Error::request(format!("`{}`: {text}", path.display()), remedy)
}

/// The values of the nest's sizes in its order.
fn sizes(nest: &Nest, options: &CountOptions) -> Result<Vec<i64>, Error> {
    all_known("size", &options.sizes, &nest.sizes, &options.kernel)?;
    let value = |name: &String| match given(&options.sizes, name)? {
        Some(value) => Ok(value),
        None => {
            let remedy = Some(format!("give `--size {name}=1024`"));
            Err(wrong(&options.kernel, &format!("its size `{name}` has no value"), remedy))
        }
    };
    nest.sizes.iter().map(value).collect()
}

/// The parameters of the transformations with their values.
fn config(recipe: &Recipe, options: &CountOptions) -> Result<Vec<(String, i64)>, Error> {
    let names: Vec<String> = recipe.parameters.iter().map(|parameter| parameter.name.clone()).collect();
    all_known("parameter", &options.config, &names, &options.kernel)?;
    let value = |parameter: &tunesmith_loopnest::Parameter| {
        let value = given(&options.config, &parameter.name)?.unwrap_or(parameter.default);
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

/// The value of a name; the last one where it is given twice.
fn given(values: &[(String, String)], name: &str) -> Result<Option<i64>, Error> {
    let Some((_, text)) = values.iter().rev().find(|(known, _)| known == name) else { return Ok(None) };
    let wrong = || Error::request(format!("`{name}={text}` is not an integer"), Some(format!("write `{name}=1024`")));
    text.parse().map(Some).map_err(|_| wrong())
}

fn footprints(nest: &Nest, sizes: &[i64]) -> Vec<ArrayFootprint> {
    let footprint = |id: ArrayId| {
        let (bytes, reason) = match nest.footprint(id).and_then(|counts| counts.evaluate(sizes)) {
            Ok(values) => (Some(values.iter().sum()), None),
            Err(error) => (None, Some(in_words(&error))),
        };
        ArrayFootprint { array: nest.array(id).name.clone(), bytes, reason }
    };
    nest.array_ids().filter(|id| nest.array(*id).memory == Memory::Global).map(footprint).collect()
}
