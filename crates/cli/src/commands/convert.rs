//! `tunesmith convert`.

use crate::args::ConvertArgs;
use crate::{Ending, output};
use tunesmith::report::{amount, counted};
use tunesmith::{
    Error,
    study::{ConvertOptions, Converted},
};

pub(crate) fn convert(args: &ConvertArgs) -> Result<Ending, Error> {
    let options = ConvertOptions { to: args.to.clone(), objective: args.objective.clone() };
    if args.keep_apart {
        let all = tunesmith::study::convert_apart(&args.inputs, &args.out, &options)?;
        if args.json {
            output::json(&all)
        } else {
            all.iter().for_each(show)
        }
        return Ok(Ending::Done);
    }
    let converted = tunesmith::study::convert(&args.inputs, &args.out, &options)?;
    if args.json {
        output::json(&converted)
    } else {
        show(&converted)
    }
    Ok(Ending::Done)
}

fn show(converted: &Converted) {
    let Converted { recording, configurations, correct, objective, value, format, .. } = converted;
    for assumption in &converted.assumptions {
        output::note(&format!("note: {recording}: {assumption}"));
    }
    let best = match (objective, value) {
        (Some(objective), Some(value)) => {
            let what = objective.beside_time(format!(" ({objective})")).unwrap_or_default();
            format!(", best {}{what}", amount(*value, objective))
        }
        _ => String::new(),
    };
    output::print(&format!("{recording}: {}, {correct} correct{best}\n", counted(configurations, "configuration")));
    for path in &converted.out {
        output::print(&format!("{format}  {}\n", path.display()));
    }
}
