//! `tunesmith report`.

use crate::args::ReportArgs;
use crate::{Ending, output};
use tunesmith::Error;

pub(crate) fn report(args: &ReportArgs) -> Result<Ending, Error> {
    let written = tunesmith::write_page(&args.runs, &args.out)?;
    if args.json {
        output::json(&written);
    } else {
        let (runs, out) = (written.runs, written.out.display());
        output::print(&format!(
            "{runs} run{}, {} evaluations: {out}\n",
            if runs == 1 { "" } else { "s" },
            written.evaluations
        ));
    }
    Ok(Ending::Done)
}
