//! `tunesmith count`.

use super::pairs;
use crate::args::CountArgs;
use crate::{Ending, output};
use tunesmith::{
    Error,
    cost::{CountOptions, NestCount},
    report,
};

pub(crate) fn count(args: &CountArgs) -> Result<Ending, Error> {
    let options = CountOptions {
        kernel: args.kernel.clone(),
        sizes: pairs(&args.size),
        config: pairs(&args.config),
        modern: args.modern,
    };
    let counted = tunesmith::cost::count(&options)?;
    if args.json {
        output::json(&counted);
    } else {
        output::print(&text(&counted));
    }
    Ok(Ending::Done)
}

fn text(counted: &NestCount) -> String {
    let named = counted.sizes.iter().chain(&counted.config).map(|(name, value)| format!("{name}={value}"));
    let heading = format!("{}  {}\n", counted.kernel, named.collect::<Vec<_>>().join(" "));
    let grouped = |count: i128| report::count(&count.to_string());
    let modern = counted.modern.iter();
    let all = counted.properties.iter().chain(modern.clone().flat_map(|modern| &modern.properties));
    let properties = all.map(|own| (own.property.to_string(), grouped(own.count)));
    let refused = modern.flat_map(|modern| &modern.refused);
    let refused = refused.map(|(kind, reason)| (kind.clone(), format!("not counted: {reason}")));
    let footprints = counted.footprints.iter().map(|own| {
        let bytes = own.bytes.map(|bytes| format!("{} bytes", grouped(bytes)));
        let reason = || format!("not counted: {}", own.reason.as_deref().unwrap_or_default());
        (format!("touched of `{}`", own.array), bytes.unwrap_or_else(reason))
    });
    let lines: Vec<(String, String)> = properties.chain(refused).chain(footprints).collect();
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let text = lines.iter().fold(heading, |text, (name, value)| text + &format!("  {name:width$}  {value}\n"));
    text + &formulas(counted, width)
}

/// Returns the counts as formulas in the sizes, for those that depend on them.
fn formulas(counted: &NestCount, width: usize) -> String {
    let modern = counted.modern.iter().flat_map(|modern| &modern.properties);
    let properties = counted.properties.iter().chain(modern);
    let properties = properties.filter_map(|own| Some((own.property.to_string(), own.formula.as_ref()?)));
    let footprints = counted
        .footprints
        .iter()
        .filter_map(|own| Some((format!("touched of `{}`", own.array), own.formula.as_ref()?)));
    let is_constant = |formula: &str| formula.parse::<i128>().is_ok();
    let open: Vec<(String, &String)> =
        properties.chain(footprints).filter(|(_, formula)| !is_constant(formula)).collect();
    if open.is_empty() {
        return String::new();
    }
    let heading = "formulas, for all sizes with the same strides\n".to_string();
    open.iter().fold(heading, |text, (name, formula)| text + &format!("  {name:width$}  {formula}\n"))
}
