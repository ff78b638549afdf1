//! `tunesmith nest`.

use super::pairs;
use crate::args::{NestCommand, NestImportArgs, Pairs};
use crate::{Ending, output};
use serde_json::json;
use std::path::{Path, PathBuf};
use tunesmith::Error;
use tunesmith::core::Refusal;
use tunesmith::core::output::{is_marked, refuse_overwriting};
use tunesmith_import::{ImportOptions, Imported, import};

/// The value of a size in the problem, unless the user gives one.
const SIZE: i64 = 256;

pub(crate) fn nest(command: &NestCommand) -> Result<Ending, Error> {
    match command {
        NestCommand::Import(args) => import_nest(args),
    }
}

/// The files that an import writes.
struct Files {
    nest: PathBuf,
    problem: PathBuf,
    reference: PathBuf,
}

impl Files {
    fn of(args: &NestImportArgs) -> Self {
        let default = || args.source.with_file_name(format!("{}.nest", args.function));
        let nest = args.out.clone().unwrap_or_else(default);
        Self { problem: nest.with_extension("toml"), reference: nest.with_extension("reference.c"), nest }
    }
}

fn import_nest(args: &NestImportArgs) -> Result<Ending, Error> {
    let path = args.source.display();
    let refused =
        |text: String, remedy: Option<&str>| Error::from(Refusal { text, remedy: remedy.map(str::to_string) });
    let source = tunesmith_import::read_source(&args.source)
        .map_err(|error| refused(format!("`{path}`: {error}"), Some("name a file in C")))?;
    let imported = import(&source, &args.function, &ImportOptions { no_alias: args.no_alias }).map_err(|error| {
        let text = format!("`{path}`: the function `{}` is no loop nest\n{error}", args.function);
        refused(text, Some("change these places; docs/loopnests.md says what nests have"))
    })?;
    let sizes = sizes(&imported, &args.size)?;
    let files = Files::of(args);
    write(args, &files, &imported, &sizes)?;
    if let Some(reason) = &imported.alone {
        output::note(&format!("the nest runs as one work-item, because no loop can run in parallel: {reason}"));
    }
    if args.json {
        let tuning =
            imported.tuning.iter().map(|own| json!({ "name": own.name, "values": own.values, "default": own.default }));
        output::json(&json!({
            "function": imported.function,
            "sizes": imported.sizes,
            "parameters": tuning.collect::<Vec<_>>(),
            "alone": imported.alone,
            "nest": files.nest,
            "problem": files.problem,
            "reference": files.reference,
        }));
    } else {
        let names: Vec<&str> = imported.tuning.iter().map(|own| own.name.as_str()).collect();
        let (nest, problem) = (files.nest.display(), files.problem.display());
        let parameters = if names.is_empty() { "none".to_string() } else { names.join(", ") };
        output::print(&format!("wrote {nest}, with these tuning parameters: {parameters}\nwrote {problem}\n"));
        output::print(&format!("wrote {}, which calls the function to verify results\n", files.reference.display()));
        output::print(&format!("next: tunesmith tune {problem}\n"));
    }
    Ok(Ending::Done)
}

/// Returns the values of the sizes, in their order.
fn sizes(imported: &Imported, given: &Option<Pairs>) -> Result<Vec<(String, i64)>, Error> {
    let given = pairs(given);
    if let Some((name, _)) = given.iter().find(|(name, _)| !imported.sizes.contains(name)) {
        let remedy = format!("it has {}", imported.sizes.join(", "));
        return Err(Refusal { text: format!("the function has no size `{name}`"), remedy: Some(remedy) }.into());
    }
    let value = |name: &String| {
        let Some((_, text)) = given.iter().find(|(known, _)| known == name) else {
            return Ok((name.clone(), SIZE));
        };
        let value = text.parse().map_err(|_| {
            let text = format!("`{name}={text}` is not an integer");
            Error::from(Refusal { text, remedy: Some(format!("write `{name}={SIZE}`")) })
        })?;
        Ok((name.clone(), value))
    };
    imported.sizes.iter().map(value).collect()
}

fn write(args: &NestImportArgs, files: &Files, imported: &Imported, sizes: &[(String, i64)]) -> Result<(), Error> {
    let (nest, reference) = (file_name(&files.nest)?, file_name(&files.reference)?);
    let source = std::path::absolute(&args.source).unwrap_or_else(|_| args.source.clone());
    let is_beside = args.source.parent() == files.nest.parent();
    let source = if is_beside { file_name(&args.source)? } else { included(&source)? };
    let texts = [
        (&files.nest, imported.nest.clone(), "imported from C"),
        (&files.problem, imported.problem(&nest, &reference, sizes), "# The loop nest of the function"),
        (&files.reference, imported.reference(&source), "/* Calls the imported function."),
    ];
    for (file, _, mark) in &texts {
        refuse_overwriting(file, [args.source.as_path()], |file| is_marked(file, &[mark]))?;
    }
    for (file, text, _) in texts {
        tunesmith_import::write(file, &text).map_err(|error| {
            let remedy = Some("name another file with `-o`".to_string());
            Error::from(Refusal { text: format!("cannot write `{}`: {error}", file.display()), remedy })
        })?;
    }
    Ok(())
}

fn file_name(path: &Path) -> Result<String, Error> {
    included(Path::new(path.file_name().unwrap_or_default()))
}

/// Returns a path as a text of the problem, and between the quotation marks of `#include`.
///
/// # Errors
/// It cannot stand there.
fn included(path: &Path) -> Result<String, Error> {
    let is_odd = |letter: char| letter.is_control() || ['"', '\\'].contains(&letter);
    let text = path.to_str().filter(|text| !text.contains(is_odd) && !text.contains("??"));
    text.map(str::to_owned).ok_or_else(|| {
        let text = format!("the name `{}` cannot stand in `#include`", path.display());
        let remedy = "rename it, without quotation marks, backslashes, `??` and control characters".to_string();
        Error::from(Refusal { text, remedy: Some(remedy) })
    })
}
