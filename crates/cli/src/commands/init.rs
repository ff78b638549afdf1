//! `tunesmith init`.

use crate::args::InitArgs;
use crate::{Ending, output};
use tunesmith::{Error, starter::starter};

pub(crate) fn init(args: &InitArgs) -> Result<Ending, Error> {
    let written = starter(&args.backend)?.write(&args.out)?;
    for path in &written {
        output::print(&format!("wrote {}\n", path.display()));
    }
    if let Some(problem) = written.first() {
        output::print(&format!("next: tunesmith tune {}\n", problem.display()));
    }
    Ok(Ending::Done)
}
