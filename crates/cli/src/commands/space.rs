//! `tunesmith space`.

use super::{load, machine};
use crate::args::SpaceArgs;
use crate::{Ending, output, render};
use tunesmith::report::counted;
use tunesmith::{
    Error, report,
    space_info::{SpaceInfo, SpaceQuery},
};

pub(crate) fn space(args: &SpaceArgs) -> Result<Ending, Error> {
    let problem = load(&args.problem)?;
    let limits = machine(args.device.as_deref()).and_then(|machine| tunesmith::devices::limits(&problem, &machine));
    // Without the device, the constraints that need it are left out with a warning each.
    let limits = if args.device.is_some() { limits? } else { limits.unwrap_or_default() };
    let info = SpaceInfo::new(&problem, &limits, &query(args))?;
    if args.json {
        info.fits_document()?;
        output::json(&info);
        return Ok(Ending::Done);
    }
    render::messages(&info.warnings, Some(problem.source_file()));
    match &info.configs {
        None => output::print(&summary(&info)),
        Some(configs) => {
            for config in configs.iter() {
                output::print(&format!("{}  {}\n", config.index, config.arguments()));
            }
        }
    }
    Ok(Ending::Done)
}

fn query(args: &SpaceArgs) -> SpaceQuery {
    match args {
        SpaceArgs { list: true, .. } => SpaceQuery::List,
        SpaceArgs { sample: Some(count), seed, .. } => SpaceQuery::Sample(*count, *seed),
        SpaceArgs { index: Some(rank), .. } => SpaceQuery::Index(*rank),
        SpaceArgs { neighbours: Some(rank), .. } => SpaceQuery::Neighbours(*rank),
        _ => SpaceQuery::Summary,
    }
}

fn summary(info: &SpaceInfo) -> String {
    let groups: Vec<String> = info.groups.iter().map(|group| group.join(", ")).collect();
    format!(
        "{} of {}\n\
         {}, {}, {} of parameters that constraints join:\n  {}\n\
         diagram: {}, {}, {}, built in {}\n\
         digest {}\n",
        counted(report::count(&info.size), "configuration"),
        counted(report::count(&info.cartesian), "combination"),
        counted(info.parameters, "parameter"),
        counted(info.constraints, "constraint"),
        counted(groups.len(), "group"),
        groups.join("\n  "),
        counted(info.nodes, "node"),
        counted(info.arcs, "arc"),
        counted(info.bytes, "byte"),
        report::milliseconds(info.build_seconds * 1e3),
        info.digest,
    )
}
