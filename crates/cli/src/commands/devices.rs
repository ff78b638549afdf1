//! `tunesmith devices`.

use super::compilers;
use crate::args::DevicesArgs;
use crate::{Ending, output};
use serde_json::{Value as Json, json};
use tunesmith::Error;
use tunesmith::device::worker::WorkerCommand;
use tunesmith::device::{DeviceInfo, Missing};

pub(crate) fn devices(args: &DevicesArgs) -> Result<Ending, Error> {
    let (devices, missing) = tunesmith::devices(&compilers(), &WorkerCommand::current());
    if args.json {
        let devices: Vec<Json> = devices.iter().map(device).collect();
        let missing: Vec<Json> = missing.iter().map(absent).collect();
        output::json(&json!({ "devices": devices, "missing": missing }));
        return Ok(Ending::Done);
    }
    for device in &devices {
        output::print(&format!("{}  {}, {}\n", device.id, device.name, device.driver));
        for (name, value) in &device.limits {
            output::print(&format!("     {name} = {value}\n"));
        }
    }
    for missing in &missing {
        output::print(&format!("{} is missing: {}; {}\n", missing.backend, missing.reason, missing.remedy));
    }
    Ok(Ending::Done)
}

fn device(device: &DeviceInfo) -> Json {
    let DeviceInfo { id, name, backend, driver, limits } = device;
    json!({ "id": id, "name": name, "backend": backend, "driver": driver, "limits": limits })
}

fn absent(missing: &Missing) -> Json {
    json!({ "backend": missing.backend, "reason": missing.reason, "remedy": missing.remedy })
}
