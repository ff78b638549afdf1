//! `tunesmith devices`.

use super::compilers;
use crate::args::DevicesArgs;
use crate::{Ending, output};
use serde_json::json;
use tunesmith::Error;

pub(crate) fn devices(args: &DevicesArgs) -> Result<Ending, Error> {
    let (devices, missing) = tunesmith::devices(&compilers());
    if args.json {
        output::json(&json!({ "devices": devices, "missing": missing }));
        return Ok(Ending::Done);
    }
    for device in &devices {
        output::print(&format!("{}  {}\n", device.id, device.name));
        for (name, value) in &device.limits {
            output::print(&format!("     {name} = {value}\n"));
        }
    }
    for missing in &missing {
        output::print(&format!("{} is missing: {}; {}\n", missing.backend, missing.reason, missing.remedy));
    }
    Ok(Ending::Done)
}
