//! Reads and writes counter models as JSON.

use super::{CounterModel, Predictor, Provenance};
use crate::table::repeated;
use crate::trees::Regressor as _;
use crate::{Column, Kind, ModelError, saved};
use serde::{Deserialize, Serialize};

/// The value of `kind` in every file of a counter model.
pub const COUNTERS_KIND: &str = "counters";
/// The version written, and the latest version read.
const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
struct CounterDocument {
    kind: String,
    version: u64,
    provenance: Provenance,
    parameters: Vec<Parameter>,
    counters: Vec<String>,
    model: Predictor,
}

/// A tuning parameter. It has levels unless its values are ordered numbers.
#[derive(Serialize, Deserialize)]
struct Parameter {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    levels: Option<Vec<String>>,
}

pub(super) fn text(model: &CounterModel) -> String {
    let parameter = |column: &Column| Parameter {
        name: column.name.clone(),
        levels: match &column.kind {
            Kind::Ordinal => None,
            Kind::Categorical(levels) => Some(levels.clone()),
        },
    };
    let document = CounterDocument {
        kind: COUNTERS_KIND.to_string(),
        version: VERSION,
        provenance: model.provenance.clone(),
        parameters: model.columns.iter().map(parameter).collect(),
        counters: model.counters.clone(),
        model: model.predictor.clone(),
    };
    // Keys are texts and numbers are finite, so nothing can fail.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

pub(super) fn parse(text: &str) -> Result<CounterModel, ModelError> {
    let document: CounterDocument =
        serde_json::from_value(saved(text, COUNTERS_KIND, VERSION)?).map_err(ModelError::Json)?;
    let column = |parameter: Parameter| match parameter.levels {
        None => Column::ordinal(parameter.name),
        Some(levels) => Column::categorical(parameter.name, levels),
    };
    let model = CounterModel {
        provenance: document.provenance,
        columns: document.parameters.into_iter().map(column).collect(),
        counters: document.counters,
        predictor: document.model,
    };
    check(&model).map(|()| model)
}

/// Refuses parts that do not fit together.
fn check(model: &CounterModel) -> Result<(), ModelError> {
    let damaged = |what: String| ModelError::Damaged { what };
    let (columns, counters) = (&model.columns, model.counters.len());
    if let Some(name) = repeated(columns) {
        return Err(damaged(format!("two parameters, or two levels of one, have the name `{name}`")));
    }
    let fits = match &model.predictor {
        Predictor::Exact(exact) => exact.has_lengths(columns.len(), counters),
        Predictor::Tree(trees) => trees.len() == counters && trees.iter().all(|tree| tree.columns() == columns),
        Predictor::LeastSquares(models) => models.len() == counters && models.iter().all(|model| model.fits(columns)),
        Predictor::Trees(trees) => trees.len() == counters && trees.iter().all(|tree| tree.columns() == columns),
    };
    if fits { Ok(()) } else { Err(damaged("its parts have different parameters or counters".to_string())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_counter_model_is_refused_with_the_reason() {
        let refused = |text: &str| parse(text).unwrap_err().to_string();
        assert!(refused("{").contains("not readable as JSON"));
        assert!(refused(r#"{"kind": "timing"}"#).contains("kind `timing`"));
        assert!(refused(r#"{"kind": "counters", "version": 9}"#).contains("version 9"));
        let head = r#"{"kind": "counters", "version": 1, "provenance": {"kernel": null, "device": null,
            "counter_set": "s", "rows": 1}, "parameters": [{"name": "X"}], "counters": ["a"], "model": "#;
        assert!(
            parse(&format!(r#"{head}{{"exact": {{"rows": [{{"parameters": [1], "counters": [2]}}]}}}}}}"#)).is_ok()
        );
        assert!(refused(&format!(r#"{head}{{"tree": []}}}}"#)).contains("damaged"));
        let twice = head.replace(r#"{"name": "X"}"#, r#"{"name": "X"}, {"name": "X", "levels": ["a"]}"#);
        let twice = format!(r#"{twice}{{"exact": {{"rows": [{{"parameters": [1, 0], "counters": [2]}}]}}}}}}"#);
        assert!(refused(&twice).contains("two parameters, or two levels of one, have the name `X`"));
    }
}
