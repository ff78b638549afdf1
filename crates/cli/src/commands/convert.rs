//! `tunesmith convert`.

use crate::args::ConvertArgs;
use crate::{Ending, output};
use tunesmith::report::{counted, milliseconds};
use tunesmith::{Converted, Error};

pub(crate) fn convert(args: &ConvertArgs) -> Result<Ending, Error> {
    let converted = tunesmith::convert(&args.inputs, &args.out, args.to.as_deref())?;
    if args.json {
        output::json(&converted);
        return Ok(Ending::Done);
    }
    let Converted { recording, configurations, correct, optimum_ms, format, out } = &converted;
    let best = optimum_ms.map(|best| format!(", best {}", milliseconds(best))).unwrap_or_default();
    output::print(&format!("{recording}: {}, {correct} correct{best}\n", counted(configurations, "configuration")));
    for path in out {
        output::print(&format!("{format}  {}\n", path.display()));
    }
    Ok(Ending::Done)
}
