//! Reads device files and their models for commands.

use crate::Error;
use crate::fitted::{CostModel, DeviceFile, Form};
use std::path::Path;
use tunesmith_space::closest;

/// Reads a device file.
///
/// # Errors
///
/// Fails if the file cannot be read or is not a device file.
pub fn read_device(path: &Path) -> Result<DeviceFile, Error> {
    let wrong = |error: String| {
        let remedy = "`tunesmith calibrate -o FILE` writes a device file".to_string();
        Error::request(format!("`{}`: {error}", path.display()), Some(remedy))
    };
    let text = tunesmith_files::read_text(path, tunesmith_files::DATA).map_err(|error| wrong(error.to_string()))?;
    DeviceFile::parse(&text).map_err(|error| wrong(error.to_string()))
}

/// Returns the model of a device file in one form.
///
/// # Errors
///
/// Fails if the file has no model of this form.
pub fn model<'a>(file: &'a DeviceFile, form: Form, path: &Path) -> Result<&'a CostModel, Error> {
    file.model(form).ok_or_else(|| {
        let text = format!("`{}` has no model `{}`", path.display(), form.name());
        Error::request(text, Some("calibrate the device again".to_string()))
    })
}

/// Returns the form of this name, or the default form without a name.
///
/// # Errors
///
/// Fails if there is no such form.
pub fn form(name: Option<&str>) -> Result<Form, Error> {
    let Some(name) = name else { return Ok(Form::Overlap) };
    let found = Form::ALL.iter().find(|(known, _)| *known == name).map(|(_, form)| *form);
    found.ok_or_else(|| {
        let names = Form::ALL.map(|(name, _)| name);
        let remedy = format!("forms are {}", names.join(", "));
        let suggestion = closest(name, names).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        Error::request(format!("there is no form `{name}`{suggestion}"), Some(remedy))
    })
}
