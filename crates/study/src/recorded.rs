//! Finds the problem of a recorded run.

use crate::Error;
use std::path::{Path, PathBuf};
use tunesmith_problem::Problem;
use tunesmith_space::Value;
use tunesmith_store::Header;

/// Returns the problem that `tune` wrote the journal `run` beside: `gemm.toml` for `gemm.jsonl` and
/// `gemm.2.jsonl`.
pub fn beside(run: &Path) -> PathBuf {
    let stem = run.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = match stem.rsplit_once('.') {
        Some((name, number)) if number.parse::<u32>().is_ok() => name,
        _ => stem.as_str(),
    };
    run.with_file_name(format!("{name}.toml"))
}

/// Loads the problem that the user names, or else the one beside `run`, at the sizes of the run.
///
/// # Errors
/// The problem cannot be loaded.
pub fn problem_of(run: &Path, header: &Header, named: Option<&Path>) -> Result<Problem, Error> {
    let file = named.map_or_else(|| beside(run), Path::to_path_buf);
    let sizes: Vec<(String, Value)> =
        header.sizes.iter().filter_map(|(name, json)| Some((name.clone(), Value::of_document(json)?))).collect();
    Ok(Problem::load(&file, &sizes)?.as_recorded(&header.parameters))
}
