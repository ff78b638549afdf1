//! Reads Kernel Launcher's format.

use super::super::{Flawed, WisdomError, WisdomFile};
use super::{AXES, VERSION};
use crate::file::line;
use crate::wisdom::{Config, Entry, Input, Provenance};
use serde_json::Value as Json;
use std::path::Path;

/// Reads the numbered `lines` that follow `header`. Lists damaged lines; skips comments (`#`,
/// `//`).
pub(in crate::file) fn read<'a>(
    path: &Path,
    header: &Json,
    lines: impl Iterator<Item = (usize, &'a [u8])>,
) -> Result<WisdomFile, WisdomError> {
    let text = |key: &str| header.get(key).and_then(Json::as_str);
    let flaw = |reason: &str| WisdomError::Header { path: path.to_path_buf(), reason: reason.to_string() };
    match text("version") {
        Some(VERSION) => {}
        found => {
            let found = found.unwrap_or("none").to_string();
            return Err(WisdomError::Version { path: path.to_path_buf(), found, known: VERSION.to_string() });
        }
    }
    let names = header.get("tunable_parameters").and_then(Json::as_array);
    let names = names.and_then(|names| names.iter().map(Json::as_str).collect::<Option<Vec<&str>>>());
    let names = names.ok_or_else(|| flaw("its `tunable_parameters` is not a list of names"))?;
    if let Some(twice) = names.iter().enumerate().find_map(|(at, name)| names[..at].contains(name).then_some(name)) {
        return Err(flaw(&format!("its `tunable_parameters` names `{twice}` twice")));
    }
    let kernel = text("key").ok_or_else(|| flaw("it has no `key`"))?;
    let objective = text("objective").unwrap_or("time");
    if objective != "time" {
        return Err(flaw(&format!("its objective is `{objective}`, but only times can be read; name a file of times")));
    }
    let mut file = WisdomFile::default();
    for (number, line) in lines.filter(|(_, line)| !is_comment(line)) {
        match entry(line, kernel, &names) {
            Ok(entry) => file.wisdom.entries.push(entry),
            Err(reason) => file.flawed.push(Flawed { line: number, reason }),
        }
    }
    Ok(file)
}

fn is_comment(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"#") || line.starts_with(b"//")
}

fn entry(line: &[u8], kernel: &str, names: &[&str]) -> Result<Entry, String> {
    let record: Json = tunesmith_files::json::parse(line).map_err(|error| format!("no JSON: {error}"))?;
    let list = |key: &str| record.get(key).and_then(Json::as_array).ok_or_else(|| format!("no list `{key}`"));
    let values = list("config")?;
    if values.len() != names.len() {
        return Err(format!("{} values for {} parameters", values.len(), names.len()));
    }
    let config: Config =
        names.iter().zip(values).map(|(name, value)| line::parameter(name, value)).collect::<Result<_, _>>()?;
    let size = |(axis, json): (&str, &Json)| {
        let number = json.as_f64().filter(|number| number.is_finite());
        Ok((axis.to_string(), number.ok_or("`problem_size` has an entry that is not a number")?))
    };
    let input: Input = AXES.into_iter().zip(list("problem_size")?).map(size).collect::<Result<_, String>>()?;
    let time_ms = record.get("time").and_then(Json::as_f64).filter(|time| *time > 0.0 && time.is_finite());
    let environment = |key: &str| Some(record.get("environment")?.get(key)?.as_str()?.to_string());
    let version = environment("kernel_tuner_version").map(|version| format!("kernel_tuner {version}"));
    Ok(Entry {
        kernel: kernel.to_string(),
        device: environment("device_name").unwrap_or_default(),
        input,
        config,
        time_ms: time_ms.ok_or("no `time` above 0")?,
        provenance: Provenance { tool: version, ..Provenance::default() },
    })
}
