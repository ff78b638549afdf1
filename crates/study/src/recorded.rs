//! Finds the problem of a recorded run.

use crate::Error;
use std::path::{Path, PathBuf};
use tunesmith_problem::Problem;
use tunesmith_space::Value;
use tunesmith_store::Header;

/// Returns the problem that `tune` wrote the journal `run` beside: `gemm.toml` for `gemm.jsonl` and
/// `gemm.2.jsonl`. Journals of `tune --inputs` lie in a folder beside it, `gemm.inputs` or `gemm.inputs.2`.
pub fn beside(run: &Path) -> PathBuf {
    let folder = run.parent().filter(|folder| folder.file_name().is_some());
    let of_inputs = folder.and_then(|folder| {
        let (name, number) = folder.file_name()?.to_str()?.rsplit_once(".inputs")?;
        let is_numbered = number.strip_prefix('.').is_some_and(|number| number.parse::<u32>().is_ok());
        (number.is_empty() || is_numbered).then(|| folder.with_file_name(format!("{name}.toml")))
    });
    if let Some(problem) = of_inputs.filter(|problem| problem.is_file()) {
        return problem;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_beside_its_problem_or_in_the_folder_of_its_inputs() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert_eq!(beside(&at("gemm.2.jsonl")), at("gemm.toml"));
        assert_eq!(beside(Path::new("gemm.jsonl")), Path::new("gemm.toml"));
        let absent = beside(&at("gemm.inputs/M=4.grid.jsonl"));
        assert_eq!(absent, at("gemm.inputs/M=4.grid.toml"), "there is no problem");
        std::fs::write(at("gemm.toml"), "").unwrap();
        for name in ["gemm.inputs/M=4.grid.jsonl", "gemm.inputs.2/M=4.jsonl"] {
            assert_eq!(beside(&at(name)), at("gemm.toml"), "{name}");
        }
        assert_eq!(beside(&at("gemm.inputs.old/M=4.jsonl")), at("gemm.inputs.old/M=4.toml"));
    }
}
