//! `tunesmith estimate`.

use super::pairs;
use crate::args::EstimateArgs;
use crate::{Ending, output};
use tunesmith::report::milliseconds;
use tunesmith::{Error, EstimateOptions, Estimated};

pub(crate) fn estimate(args: &EstimateArgs) -> Result<Ending, Error> {
    let options = EstimateOptions {
        kernel: args.kernel.clone(),
        on: args.on.clone(),
        sizes: pairs(&args.size),
        form: args.form.clone(),
    };
    let estimated = tunesmith::estimate(&options)?;
    estimated.warnings.iter().for_each(|warning| output::note(&format!("warning: {warning}")));
    if args.json {
        output::json(&estimated);
    } else {
        output::print(&text(&estimated));
    }
    Ok(Ending::Done)
}

fn text(estimated: &Estimated) -> String {
    let mut text = format!("{} (model `{}`)\n", milliseconds(estimated.time_ms), estimated.form);
    for term in &estimated.terms {
        let share = 100.0 * term.time_ms / estimated.time_ms;
        text += &format!("{share:6.1} %  {:<28} {:>12.4e} x {:.3e} s\n", term.property, term.count, term.weight);
    }
    text
}
