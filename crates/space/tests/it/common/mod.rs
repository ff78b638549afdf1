//! The published spaces, read from the shared folder.

#![allow(dead_code, unreachable_pub, clippy::print_stdout)]

use std::path::PathBuf;

use serde_json::Value as Json;
use tunesmith_space::{Constraint, Expr, Parameter, Space, SpaceBuilder, Value, parse_values};

/// Returns the folder with the shared data, or `None` with a printed reason if there is none.
#[allow(clippy::disallowed_methods)]
pub fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("TUNESMITH_SHARED").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")));
    if folder.join("spaces").is_dir() {
        return Some(folder);
    }
    println!("skipped: no shared data at {}; set TUNESMITH_SHARED", folder.display());
    None
}

/// Returns the names of all published spaces.
pub fn names() -> Vec<String> {
    let Some(folder) = shared() else {
        return Vec::new();
    };
    let mut names: Vec<String> = std::fs::read_dir(folder.join("spaces"))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str().map(str::to_owned))
        .filter_map(|file| file.strip_suffix(".meta.json").map(str::to_owned))
        .collect();
    names.sort();
    names
}

/// Returns the `NAME.meta.json` of a published space.
pub fn meta(name: &str) -> Json {
    read(&format!("spaces/{name}.meta.json"))
}

/// Returns the published size in decimal. It is read as text: some sizes do not fit into the
/// numbers of JSON libraries.
pub fn true_size(name: &str) -> String {
    let text = std::fs::read_to_string(shared().unwrap().join(format!("spaces/{name}.meta.json"))).unwrap();
    let (_, rest) = text.split_once("\"true_size\":").unwrap();
    rest.trim_start().chars().take_while(char::is_ascii_digit).collect()
}

/// Returns the T1 document of a published space.
pub fn document(name: &str) -> Json {
    read(&format!("spaces/{name}.json"))
}

/// Returns the builder of a published space.
pub fn builder(name: &str) -> SpaceBuilder {
    from_t1(&document(name))
}

/// Returns a published space.
pub fn space(name: &str) -> Space {
    builder(name).build().unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn read(path: &str) -> Json {
    let text = std::fs::read_to_string(shared().unwrap().join(path)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns the tuning parameters and conditions of a T1 document.
pub fn from_t1(document: &Json) -> SpaceBuilder {
    let space = &document["ConfigurationSpace"];
    let mut builder = Space::builder();
    for parameter in space["TuningParameters"].as_array().unwrap() {
        let values: Vec<Value> = parse_values(parameter["Values"].as_str().unwrap(), &|_| None).unwrap();
        builder = builder.parameter(Parameter::new(parameter["Name"].as_str().unwrap(), values).unwrap());
    }
    for (index, condition) in space["Conditions"].as_array().into_iter().flatten().enumerate() {
        let text = condition["Expression"].as_str().unwrap();
        builder = builder.constraint(Constraint::new(format!("condition {index}"), Expr::parse(text).unwrap()));
    }
    builder
}
