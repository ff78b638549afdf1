//! The device file: it keeps the cost models of a device.

use super::case::Case;
use super::domain::Domain;
use super::model::{CostModel, Form};
use super::own::OwnProperty;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use tunesmith_loopnest::Lanes;
use tunesmith_model::{ModelError, saved};

/// The `kind` of every device file.
pub const DEVICE_KIND: &str = "device";
/// The version written, and the only one read. Earlier versions counted other properties: version 5
/// took cells that lie apart for neighbours, so that a quarter of the cells was `4/4`.
const VERSION: u64 = 6;

/// The text form of [`Lanes`] in device files.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Lanes", rename_all = "snake_case")]
enum LanesText {
    InRows(u32),
    InBlocks(u32),
    Numbered(u32),
}

/// The origin of a device's cost models.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The device's name.
    pub device: String,
    /// The backend: `c`, `opencl`, `cuda`.
    pub backend: String,
    /// The program that measured, with its version.
    pub program: String,
    /// The time of the measurement, in seconds since the Unix epoch.
    pub measured: u64,
    /// The lanes in which operations were counted.
    #[serde(with = "LanesText")]
    pub lanes: Lanes,
    /// The time of launching an empty kernel, in seconds.
    pub launch_seconds: f64,
    /// The number of runs of each kernel, and the number of first runs that were left out.
    pub runs: (usize, usize),
    /// The spread of the middle half of a kernel's runs as a share of their median: the median over
    /// the kernels.
    pub noise: f64,
}

/// The cost models of a device and the measured kernels to which they were fitted. Saved as JSON
/// that people can read.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceFile {
    /// Its origin.
    pub provenance: Provenance,
    /// One model for each form.
    pub models: Vec<CostModel>,
    /// The measured kernels.
    pub cases: Vec<Case>,
    /// The user's properties, whose counts the cases have.
    pub own: Vec<OwnProperty>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    kind: String,
    version: u64,
    provenance: Provenance,
    models: Vec<CostModel>,
    #[serde(default)]
    own: Vec<OwnProperty>,
    cases: Vec<Case>,
}

impl DeviceFile {
    /// Returns the model of this form, if the file has it.
    pub fn model(&self, form: Form) -> Option<&CostModel> {
        self.models.iter().find(|model| model.form == form)
    }

    /// Returns a model of the file with the kernels to which it was fitted. Costs cases^2 x
    /// properties.
    pub fn domain(&self, model: &CostModel) -> Domain {
        Domain::new(model, &self.cases, &self.own)
    }

    /// Returns the file as JSON text with one line for each case.
    pub fn text(&self) -> String {
        let cases: Vec<String> = self.cases.iter().map(|case| format!("    {}", json(case))).collect();
        let models: Vec<String> = self.models.iter().map(model_text).collect();
        let (provenance, own) = (json(&self.provenance), json(&self.own));
        let (models, cases) = (models.join(",\n"), cases.join(",\n"));
        format!(
            "{{\n  \"kind\": \"{DEVICE_KIND}\",\n  \"version\": {VERSION},\n  \"provenance\": {provenance},\n  \"models\": \
             [\n{models}\n  ],\n  \"own\": {own},\n  \"cases\": [\n{cases}\n  ]\n}}\n"
        )
    }

    /// Parses the text of a device file.
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON, has another kind or version, or its parts do not make models.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        let json = saved(text, DEVICE_KIND, VERSION)?;
        if json["version"].as_u64() != Some(VERSION) {
            return Err(damaged(format!(
                "it was written before version {VERSION} and lacks some counts: calibrate again"
            )));
        }
        let Document { provenance, models, own, cases, .. } =
            serde_json::from_value(json).map_err(|error| damaged(error.to_string()))?;
        let file = Self { provenance, models, cases, own };
        file.check().map(|()| file)
    }

    fn check(&self) -> Result<(), ModelError> {
        if self.models.is_empty() {
            return Err(damaged("it has no models"));
        }
        let forms: BTreeSet<Form> = self.models.iter().map(|model| model.form).collect();
        if forms.len() < self.models.len() {
            return Err(damaged("two models have the same form"));
        }
        self.models.iter().try_for_each(check_model)?;
        self.cases.iter().try_for_each(|case| case.check().map_err(|error| damaged(error.to_string())))
    }
}

fn check_model(model: &CostModel) -> Result<(), ModelError> {
    let form = model.form.name();
    if !(model.exponent.is_finite() && model.exponent >= 1.0) {
        return Err(damaged(format!("the exponent of model `{form}` is {}, not a number from 1", model.exponent)));
    }
    let is_number = |number: f64| number.is_finite() && number >= 0.0;
    if model.reach.is_some_and(|reach| !(is_number(reach.error) && is_number(reach.near))) {
        return Err(damaged(format!("the reach of model `{form}` is not a number from 0")));
    }
    if !(model.units.is_finite() && model.units >= 1.0) {
        return Err(damaged(format!("model `{form}` has {} compute units, not a number from 1", model.units)));
    }
    for (at, term) in model.terms.iter().enumerate() {
        let property = &term.property;
        if model.terms[..at].iter().any(|other| other.property == *property) {
            return Err(damaged(format!("model `{form}` has two terms `{property}`")));
        }
        if !term.weight.is_finite() || (term.weight < 0.0 && model.form != Form::Paper) {
            let weight = term.weight;
            return Err(damaged(format!("the weight of `{property}` in model `{form}` cannot be {weight}")));
        }
    }
    Ok(())
}

/// Returns the text of a model with one line for each term.
fn model_text(model: &CostModel) -> String {
    let terms: Vec<String> = model.terms.iter().map(|term| format!("        {}", json(term))).collect();
    let residual = |(class, residual)| format!("        {}: {}", json(class), json(residual));
    let residuals: Vec<String> = model.residuals.iter().map(residual).collect();
    format!(
        "    {{\n      \"form\": {},\n      \"exponent\": {},\n      \"units\": {},\n      \"terms\": [\n{}\n      ],\n      \"rank\": {},\n      \
         \"merged\": {},\n      \"dependent\": {},\n      \"residuals\": {{\n{}\n      }},\n      \"reach\": {}\n    }}",
        json(&model.form),
        json(&model.exponent),
        json(&model.units),
        terms.join(",\n"),
        model.rank,
        json(&model.merged),
        json(&model.dependent),
        residuals.join(",\n"),
        json(&model.reach)
    )
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("texts and finite numbers make a text")
}

fn damaged(what: impl Into<String>) -> ModelError {
    ModelError::Damaged { what: what.into() }
}

#[cfg(test)]
mod tests {
    use super::super::fit;
    use super::super::property::counts_of;
    use super::*;

    fn file() -> DeviceFile {
        let case = |kernel: &str, loads: f64, adds: f64| Case {
            kernel: kernel.into(),
            class: "global".into(),
            sizes: [("n".to_string(), loads as i64)].into(),
            counts: counts_of(&[("g:32:load:s1", loads), ("op:f32:add", adds)]),
            seconds: 1e-5 + 1.1e-9 * loads + 0.7e-9 * adds,
        };
        let cases = vec![case("copy", 1e6, 0.0), case("copy", 3e6, 0.0), case("sum", 1e5, 8e6), case("sum", 2e5, 16e6)];
        let models = Form::ALL.map(|(_, form)| fit(&cases, form).unwrap());
        let provenance = Provenance { device: "a \"device\"".into(), runs: (30, 4), ..Provenance::default() };
        let own = serde_json::from_str(r#"[{"name":"mine","resource":"memory","count":"groups * 2"}]"#).unwrap();
        DeviceFile { provenance, models: models.into(), cases, own }
    }

    #[test]
    fn what_is_written_is_read_back_to_the_bit() {
        let file = file();
        assert_eq!(DeviceFile::parse(&file.text()).unwrap(), file);
        assert_eq!(file.model(Form::Paper).unwrap().form, Form::Paper);
    }

    #[test]
    fn any_cut_is_refused() {
        let text = file().text();
        for end in (0..text.trim_end().len()).step_by(7) {
            assert!(DeviceFile::parse(&text[..end]).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn foreign_later_and_damaged_files_are_refused_with_the_reason() {
        let text = file().text();
        let refused = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            DeviceFile::parse(&text.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(refused("\"device\",", "\"counters\",").contains("kind `counters`"));
        assert!(refused("\"version\": 6", "\"version\": 7").contains("version 7"));
        assert!(refused("\"version\": 6", "\"version\": 5").contains("calibrate again"));
        assert!(refused("\"version\": 6", "\"version\": 0").contains("`version` is not a whole number"));
        assert!(refused("\"form\": \"nnls\"", "\"form\": \"paper\"").contains("same form"));
        assert!(refused("\"exponent\": 1.0", "\"exponent\": 0.5").contains("exponent of model `paper` is 0.5"));
        assert!(refused("\"property\":\"op:f32:add\"", "\"property\":\"const\"").contains("two terms `const`"));
        assert!(refused("\"units\": 1.0", "\"units\": 0.0").contains("model `paper` has 0 compute units"));
        assert!(refused("\"rank\"", "\"range\"").contains("damaged"));
        assert!(refused("\"kernel\":\"copy\"", "\"kernel\":3").contains("damaged"));
        assert!(refused("\"seconds\":", "\"seconds\":-").contains("took -"));
    }
}
