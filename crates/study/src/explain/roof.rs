//! Explains the best configuration of a loop nest by its counts and by the costs of a device.

use super::Explained;
use super::options::ExplainOptions;
use crate::recorded::problem_of;
use crate::{Error, indices_of, model_kind, values_of};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use tunesmith_cost::{DEVICE_KIND, DeviceFile, Roof, RoofSubject, read_device};
use tunesmith_kernel::Language;
use tunesmith_problem::Problem;
use tunesmith_space::Space;
use tunesmith_store::Header;

/// Explains the `best` configuration of a run, whose kernel is a loop nest. If there is no nest or not
/// everything is known of it, there is nothing to explain, which is an error only if `options` name a
/// device file.
pub(super) fn explain(
    options: &ExplainOptions,
    header: &Header,
    space: Option<&Space>,
    best: &Explained,
) -> Result<Option<Roof>, Error> {
    let device = match &options.on {
        Some(file) => Some((read_device(file)?, file.clone())),
        None => used(header),
    };
    let found = found(options, (header, space), best, device.as_ref());
    if options.on.is_some() { found.map(Some) } else { Ok(found.ok()) }
}

fn found(
    options: &ExplainOptions,
    (header, space): (&Header, Option<&Space>),
    best: &Explained,
    device: Option<&(DeviceFile, PathBuf)>,
) -> Result<Roof, Error> {
    let problem = problem_of(&options.run, header, options.problem.as_deref())?;
    let text = |key: &str| header.identity.get(key).and_then(Json::as_str);
    let config = space.filter(|_| text("problem") == Some(&problem.digest())).and_then(|space| {
        let values = values_of(space.parameters(), &best.config)?;
        Some((space, space.rank_indices(&indices_of(space, &values)?)?))
    });
    let (space, config) = config.ok_or_else(|| another(&problem, &options.run))?;
    let here = text("backend").and_then(Language::from_name).zip(text("device"));
    let subject = RoofSubject { problem: &problem, space, config, time_ms: best.time_ms, here };
    tunesmith_cost::roof(&subject, device.map(|(device, file)| (device, file.as_path())))
}

fn another(problem: &Problem, run: &Path) -> Error {
    let text =
        format!("`{}` is not the problem of `{}`, as it is now", problem.source_file().path.display(), run.display());
    Error::request(text, Some("name the problem that the run tuned with --problem FILE".to_string()))
}

/// Returns the device file with whose estimates the run searched, if it is still there.
fn used(header: &Header) -> Option<(DeviceFile, PathBuf)> {
    let file = Path::new(header.model.as_deref()?);
    (file.is_file() && model_kind(file).ok()? == DEVICE_KIND).then_some(())?;
    Some((read_device(file).ok()?, file.to_path_buf()))
}
