//! Counts the operations of a loop nest at given sizes without running it.

use super::in_words;
use super::placed::{PlacedNest, read, wrong};
use crate::{CostProperty, Error};
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::path::PathBuf;
use tunesmith_loopnest::{ArrayId, Counts, Memory, Nest, NestError, Property, count};

/// Options of a count.
#[derive(Clone, Debug, Default)]
pub struct CountOptions {
    /// The nest, with its transformations.
    pub kernel: PathBuf,
    /// A value for each of its sizes.
    pub sizes: Vec<(String, String)>,
    /// Values for parameters of its transformations, in place of their defaults.
    pub config: Vec<(String, String)>,
    /// True to include the counts that the paper leaves out.
    pub modern: bool,
}

/// Counts of a loop nest at given sizes. Its JSON form is that of `count --json`.
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
    /// The counts that the paper leaves out, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modern: Option<ModernCount>,
    /// The arrays in global memory.
    pub footprints: Vec<ArrayFootprint>,
}

/// The count of one property of a nest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PropertyCount {
    /// The property, named as in the guide to loop nests.
    pub property: CostProperty,
    /// The count, over all work-items.
    pub count: i128,
    /// The count as a formula in the sizes. `None` for a chain, which is a maximum over paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
}

/// The counts that the paper leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModernCount {
    /// The properties with a count that is not zero.
    pub properties: Vec<PropertyCount>,
    /// Kinds of properties that cannot be counted exactly, with the reasons.
    pub refused: Vec<(String, String)>,
}

/// The part of an array that a nest touches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArrayFootprint {
    /// The name of the array.
    pub array: String,
    /// Bytes that are touched at least once, or `None` if they cannot be counted exactly.
    pub bytes: Option<i128>,
    /// The bytes as a formula in the sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// The reason why they cannot be counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Counts the properties of a loop nest for the cost model. Costs some milliseconds, whatever the
/// sizes.
///
/// # Errors
///
/// Fails if:
/// - the file cannot be read or is not a nest;
/// - a size or parameter has no value, is unknown or breaks an assumption;
/// - an access leaves its array;
/// - a transformation is refused;
/// - a property cannot be counted exactly.
///
/// A footprint that cannot be counted is no error: its entry has the reason.
pub fn count(options: &CountOptions) -> Result<NestCount, Error> {
    let path = &options.kernel;
    let refused = |error: NestError| wrong(path, &in_words(&error), error.remedy);
    let PlacedNest { nest, sizes, config } = PlacedNest::new(&read(path)?, path, &options.sizes, &options.config)?;
    let counts = count::count(&nest).map_err(refused)?;
    let modern = if options.modern { Some(modern(&nest, &sizes).map_err(refused)?) } else { None };
    Ok(NestCount {
        kernel: nest.name.clone(),
        sizes: nest.sizes.iter().cloned().zip(sizes.iter().map(|size| Json::from(*size))).collect(),
        config: config.iter().map(|(name, value)| (name.clone(), Json::from(*value))).collect(),
        properties: present(&counts, &sizes).map_err(refused)?,
        modern,
        footprints: footprints(&nest, &sizes),
    })
}

/// Returns the counts that are not zero.
fn present(counts: &Counts, sizes: &[i64]) -> Result<Vec<PropertyCount>, NestError> {
    let found = counts.properties().iter().zip(counts.evaluate(sizes)?).zip(counts.formulas(sizes)?);
    let own = |((property, count), formula): ((&Property, i128), Option<String>)| PropertyCount {
        property: CostProperty::Items(*property),
        count,
        formula,
    };
    Ok(found.map(own).filter(|own| own.count != 0).collect())
}

fn modern(nest: &Nest, sizes: &[i64]) -> Result<ModernCount, NestError> {
    let modern = count::count_modern(nest)?;
    let refused = modern.refused.iter().map(|(kind, error)| ((*kind).to_string(), in_words(error))).collect();
    Ok(ModernCount { properties: present(&modern.counts, sizes)?, refused })
}

fn footprints(nest: &Nest, sizes: &[i64]) -> Vec<ArrayFootprint> {
    let footprint = |id: ArrayId| {
        let counted = count::footprint(nest, id);
        let values = counted.and_then(|counts| Ok((counts.evaluate(sizes)?, counts.formulas(sizes)?)));
        let (bytes, formula, reason) = match values {
            Ok((values, formulas)) => (Some(values.iter().sum()), formulas.into_iter().flatten().next(), None),
            Err(error) => (None, None, Some(in_words(&error))),
        };
        ArrayFootprint { array: nest.array(id).name.clone(), bytes, formula, reason }
    };
    nest.array_ids().filter(|id| nest.array(*id).memory == Memory::Global).map(footprint).collect()
}
