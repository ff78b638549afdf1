//! `tunesmith report`.

use super::journals;
use crate::args::ReportArgs;
use crate::{Ending, output};
use std::path::{Path, PathBuf};
use tunesmith::Error;
use tunesmith::report::counted;

pub(crate) fn report(args: &ReportArgs) -> Result<Ending, Error> {
    let runs = journals(&args.runs)?;
    let first = runs.first().map(PathBuf::as_path).unwrap_or(Path::new("report"));
    let out = args.out.clone().unwrap_or_else(|| first.with_extension("html"));
    let written = tunesmith::page::write_page(&runs, &out)?;
    if args.json {
        output::json(&written);
    } else {
        let (runs, out) = (written.runs, written.out.display());
        output::print(&format!("{}, {}: {out}\n", counted(runs, "run"), counted(written.evaluations, "evaluation")));
    }
    Ok(Ending::Done)
}
