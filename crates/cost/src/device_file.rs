//! Reads device files and their models for commands.

use crate::Error;
use crate::fitted::{CostModel, DeviceFile, Form, Provenance};
use std::path::Path;
use tunesmith_kernel::Language;
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

/// Returns a note if the measured device is not the one tuned on, or `None` if it is.
///
/// # Errors
///
/// Its kernels are in another language. Their times mean little even on the same processor.
pub fn foreign(
    measured: &Provenance,
    (language, name): (Language, &str),
    file: &Path,
) -> Result<Option<String>, Error> {
    if measured.backend == language.to_string() {
        let note = format!(
            "the device file was measured on `{}`, but this device is `{name}`: its estimates only order the \
                 configurations and give no limit",
            measured.device
        );
        return Ok((measured.device != name).then_some(note));
    }
    let Provenance { device, backend, .. } = measured;
    let text = format!(
        "`{}` has the times of kernels in {backend} on `{device}`, but these kernels run in {language} on `{name}`",
        file.display()
    );
    let remedy = format!(
        "measure this device (`tunesmith calibrate --device {} -o FILE`), or tune on the other (--device)",
        language.device()
    );
    Err(Error::request(text, Some(remedy)))
}
